package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"

	"github.com/jackc/pgx/v5/pgconn"
)

// tap is a socket in front of the server's whose sessions can be made to fall
// silent: nothing passes any more, and nobody is told.
type tap struct {
	dir  string
	shut chan struct{} // of the sessions that are open
	all  bool          // and of those to come
	mu   sync.Mutex
	open []net.Conn
	wg   sync.WaitGroup
}

func newTap(t *testing.T, d *postgrestest.Database) *tap {
	t.Helper()
	p := &tap{shut: make(chan struct{})}
	var err error
	if p.dir, err = os.MkdirTemp("", "tap"); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(p.dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	p.wg.Go(func() {
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
			p.mu.Lock()
			p.open = append(p.open, c, s)
			shut := p.shut
			p.mu.Unlock()
			p.wg.Go(func() { p.carry(c, s, shut) })
			p.wg.Go(func() { p.carry(s, c, shut) })
		}
	})
	t.Cleanup(func() {
		p.silence(false)
		_ = l.Close()
		p.mu.Lock()
		for _, c := range p.open {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.wg.Wait()
		_ = os.RemoveAll(p.dir)
	})
	return p
}

// silence shuts the sessions that are open, and those to come if all is set.
func (p *tap) silence(all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all {
		return
	}
	close(p.shut)
	if p.all = all; !all {
		p.shut = make(chan struct{})
	}
}

func (p *tap) carry(from, to net.Conn, shut chan struct{}) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-shut: // neither what was sent nor its end arrives, and nothing more is taken
			return
		default:
		}
		if err == nil {
			_, err = to.Write(buf[:n])
		}
		if err != nil {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// watchedServer opens sessions through a tap, with a patience that a test has time for.
func watchedServer(t *testing.T, d *postgrestest.Database, p *tap, told func(string)) *server {
	t.Helper()
	c := configOf(d).Connection
	c.Host = p.dir
	s, err := newServer(c, patience{silence: 100 * time.Millisecond, connect: time.Second}, connectors.Env{Pipeline: "p", Tell: told})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func watchedSession(t *testing.T, s *server) *pgconn.PgConn {
	t.Helper()
	c, err := s.connect(t.Context(), "load/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNow(c) })
	return c
}

// Whatever a session waits for, a line that lives and carries nothing is noticed,
// and its process at the server holds nothing afterwards.
func TestSilentLineIsNoticed(t *testing.T) {
	waits := map[string]func(ctx context.Context, c *pgconn.PgConn, silence func()) error{
		"an answer": func(ctx context.Context, c *pgconn.PgConn, silence func()) error {
			silence()
			_, err := exec(ctx, c, "SELECT 1")
			return err
		},
		"rows to be taken": func(ctx context.Context, c *pgconn.PgConn, silence func()) error {
			rows := &endless{after: 4 << 20, then: silence}
			_, err := c.CopyFrom(ctx, rows, "COPY t FROM STDIN")
			return orCancelled(ctx, err)
		},
		"rows to come": func(ctx context.Context, c *pgconn.PgConn, silence func()) error {
			f, err := newFeed(ctx, c)
			if err == nil {
				err = f.start(ctx, "COPY (SELECT repeat('x', 1000)::text FROM generate_series(1, 100000)) TO STDOUT (FORMAT binary)")
			}
			for n := 0; err == nil; n++ {
				if _, err = f.next(); n == 5000 {
					silence()
				}
			}
			f.close()
			return err
		},
		"COMMIT": func(ctx context.Context, c *pgconn.PgConn, silence func()) error {
			silence()
			return commit(ctx, c)
		},
	}
	for what, wait := range waits {
		t.Run(what, func(t *testing.T) {
			d := postgrestest.Shared(t).Database(t)
			d.Exec(t, "CREATE TABLE t (v text)")
			p := newTap(t, d)
			c := watchedSession(t, watchedServer(t, d, p, nil))
			if err := begin(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			err := wait(t.Context(), c, func() { p.silence(false) })
			if connectors.ClassOf(err) != connectors.Transient || !strings.Contains(fmt.Sprint(err), "waits for this program") {
				t.Fatalf("class %s: %v", connectors.ClassOf(err), err)
			}
			if !isLost(c, err) {
				t.Errorf("the session lives on after %v", err)
			}
			await(t, d, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'penstock/p/load/1'", "0")
		})
	}
}

// endless is text that has no end.
type endless struct {
	given, after int
	then         func()
}

func (e *endless) Read(p []byte) (int, error) {
	if e.given < e.after && e.given+len(p) >= e.after {
		e.then()
	}
	line := bytes.Repeat([]byte("x"), len(p))
	line[len(line)-1] = '\n'
	e.given += len(p)
	return copy(p, line), nil
}

var _ io.Reader = (*endless)(nil)

// await looks until the database gives an answer.
func await(t testing.TB, d *postgrestest.Database, sql, want string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // between two looks
		got := d.Ask(t, sql)
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s gives %s, want %s", sql, got, want)
		}
	}
}

func TestProcessThatEndedUnheardIsNoticed(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	p := newTap(t, d)
	c := watchedSession(t, watchedServer(t, d, p, nil))
	p.silence(false)
	d.Exec(t, fmt.Sprintf("SELECT pg_terminate_backend(%d)", c.PID()))
	_, err := exec(t.Context(), c, "SELECT 1")
	if connectors.ClassOf(err) != connectors.Transient || !strings.Contains(fmt.Sprint(err), "has ended") {
		t.Fatalf("class %s: %v", connectors.ClassOf(err), err)
	}
}

func TestSilentHostIsGivenUp(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	p := newTap(t, d)
	c := watchedSession(t, watchedServer(t, d, p, nil))
	p.silence(true)
	_, err := exec(t.Context(), c, "SELECT 1")
	if connectors.ClassOf(err) != connectors.Transient || !strings.Contains(fmt.Sprint(err), "answers no new connection") {
		t.Fatalf("class %s: %v", connectors.ClassOf(err), err)
	}
}

// A session is never ended for what takes long: not for a statement, nor for
// waiting for its user.
func TestSessionThatWorksOrRestsIsLeftAlone(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	p := newTap(t, d)
	s := watchedServer(t, d, p, nil)
	c := watchedSession(t, s)
	if _, err := exec(t.Context(), c, "SELECT pg_sleep(1.5)"); err != nil {
		t.Fatal(err)
	}
	if err := begin(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	time.Sleep(8 * s.patience.silence) // what the test is about
	if err := commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// A wait for a lock is told while it lasts, once, with who holds it; so is the
// error of one that lasts too long.
func TestWaitForALockNamesItsHolder(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, "CREATE TABLE t (v text)")
	holder := d.Conn(t)
	defer closeNow(holder)
	if _, err := run(t.Context(), holder, "SET application_name = 'somebody'; BEGIN; LOCK TABLE t"); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 10)
	s := watchedServer(t, d, newTap(t, d), func(text string) { heard <- text })
	c := watchedSession(t, s)
	if _, err := run(t.Context(), c, "SET lock_timeout = '3s'"); err != nil {
		t.Fatal(err)
	}
	_, err := exec(t.Context(), c, "INSERT INTO t VALUES ('x')")
	by := fmt.Sprintf("process %d of postgres (somebody, idle in transaction) holds it", holder.PID())
	if connectors.ClassOf(err) != connectors.Transient || !strings.Contains(fmt.Sprint(err), by) {
		t.Errorf("class %s: %v\nwant in it: %s", connectors.ClassOf(err), err, by)
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "55P03" {
		t.Errorf("not the server's error: %v", err)
	}
	if got := <-heard; !strings.Contains(got, "session penstock/p/load/1 has waited for a lock for") || !strings.HasSuffix(got, by) {
		t.Errorf("told %q", got)
	}
	if len(heard) > 0 {
		t.Errorf("told once more: %q", <-heard)
	}
}
