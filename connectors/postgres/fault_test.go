package postgres

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
)

// fault is what a line between client and server does, once, to a session that
// sends a text.
type fault struct {
	at      string // in what the client sends
	forward bool   // the server still gets it, and its answer is lost; else the line is cut before
	armed   atomic.Bool
	struck  atomic.Int64
}

// throughFault is a socket that leads to the server's through a fault.
func throughFault(t *testing.T, d *postgrestest.Database, f *fault) *TargetConfig {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("unix", filepath.Join(d.Socket, ".s.PGSQL.5432"))
			if err != nil {
				_ = c.Close()
				continue
			}
			go f.carry(c, s)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	config := configOf(d)
	config.Host = dir
	return config
}

func (f *fault) carry(client, server net.Conn) {
	var lost atomic.Bool // the server's next answer
	go func() {
		defer server.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if lost.Load() || err != nil {
				_ = client.Close()
			}
			if err != nil {
				return
			}
			if !lost.Load() {
				_, _ = client.Write(buf[:n])
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if lost.Load() {
			return // the server's side stays open, as a network's does that is cut
		}
		if err != nil {
			_ = server.Close()
			return
		}
		if bytes.Contains(buf[:n], []byte(f.at)) && f.armed.CompareAndSwap(true, false) {
			f.struck.Add(1)
			if !f.forward {
				_, _ = client.Close(), server.Close()
				return
			}
			lost.Store(true)
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// Whatever a lost session leaves, the chunk's rows and its marker agree, and
// trying again brings the rows in once.
func TestChunkWhoseSessionIsLostGoesInOnce(t *testing.T) {
	for _, f := range []struct {
		at      string
		forward bool
	}{{"BEGIN\x00", false}, {"FOR UPDATE", false}, {"FOR UPDATE", true}, {"COPY ", false}, {"COPY ", true}, {"PGCOPY", false}, {"SET state = 'done'", false}, {"SET state = 'done'", true}, {"COMMIT\x00", false}, {"COMMIT\x00", true}} {
		t.Run(fmt.Sprintf("%q forward %v", f.at, f.forward), func(t *testing.T) {
			d := postgrestest.Shared(t).Database(t)
			flt := &fault{at: f.at, forward: f.forward}
			tg := openTest(t, throughFault(t, d, flt))
			l := loadOf(t, "t", "copy", connectors.TargetColumn{Name: "id", Native: "integer"})
			w := beginTest(t, tg, l, 1)
			b := rowsOf(t, l, []string{"1"}, []string{"2"})
			flt.armed.Store(true)
			n, err := loadChunk(w, marker(l, 1), b)
			if flt.struck.Load() != 1 {
				t.Fatalf("the fault struck %d times", flt.struck.Load())
			}
			done := d.Ask(t, "SELECT state, rows FROM penstock_chunk")
			if err == nil && (n != 2 || done != "done|2") {
				t.Fatalf("%d rows committed, and the marker says %s", n, done)
			}
			if err != nil {
				if got := connectors.ClassOf(err); got != connectors.Transient {
					t.Fatalf("class %s, want transient: %v", got, err)
				}
				if again, err := w.Begin(context.Background(), marker(l, 1)); err != nil || again != (done == "done|2") {
					t.Fatalf("the next try: done %v with the marker at %s, %v", again, done, err)
				}
				if done != "done|2" {
					_ = w.Abort()
					if n, err := loadChunk(w, marker(l, 1), b); err != nil || n != 2 {
						t.Fatalf("the next try: %d rows, %v", n, err)
					}
				}
			}
			if got := d.Ask(t, "SELECT count(*), count(DISTINCT id) FROM t"); got != "2|2" {
				t.Errorf("rows and distinct rows: %s", got)
			}
			if f.at == "COMMIT\x00" && f.forward && err != nil {
				t.Errorf("a commit whose answer was lost was there, and Commit returned %v", err)
			}
		})
	}
}

// The target's own transactions may lose their session too, and run once more.
func TestControlSessionThatIsLostIsOpenedAnew(t *testing.T) {
	for _, at := range []string{"SELECT epoch FROM penstock_owner", "INSERT INTO penstock_chunk", "COMMIT\x00", "UPDATE penstock_table"} {
		for _, forward := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q forward %v", at, forward), func(t *testing.T) {
				d := postgrestest.Shared(t).Database(t)
				flt := &fault{at: at, forward: forward}
				tg := openTest(t, throughFault(t, d, flt))
				l := loadOf(t, "t", "copy", connectors.TargetColumn{Name: "id", Native: "integer"})
				flt.armed.Store(true)
				w := beginTest(t, tg, l, 1)
				if _, err := loadChunk(w, marker(l, 1), rowsOf(t, l, []string{"1"})); err != nil {
					t.Fatal(err)
				}
				if err := tg.Finish(context.Background(), l); err != nil {
					t.Fatal(err)
				}
				if flt.struck.Load() != 1 {
					t.Fatalf("the fault struck %d times", flt.struck.Load())
				}
				if got := d.Ask(t, "SELECT state, (SELECT count(*) FROM t) FROM penstock_table"); got != "loaded|1" {
					t.Errorf("state and rows: %s", got)
				}
				if got := d.Ask(t, "SELECT count(*) FROM penstock_owner o JOIN pg_stat_activity a USING (pid)"); got != "1" {
					t.Errorf("the owner's row names %s living sessions", got)
				}
			})
		}
	}
}
