package postgres

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/connectors/postgres/postgrestest"
)

// What happens to the message that a faulty line strikes at.
const (
	faultCut     = iota // it does not arrive, and the line is gone
	faultHalf           // a part of it arrives, and the line is gone
	faultSwallow        // it arrives, its answer does not, and the line is gone
	faultStall          // neither it nor anything after it arrives, and the line lives
	faultMute           // it arrives, nothing after it does, and the line lives
	faultDelay          // it and all behind it come late
	faultKinds
)

var faultNames = [...]string{"cut", "half", "swallow", "stall", "mute", "delay"}

// brisk finds a silent line in a moment: what a run does in seconds.
var brisk = patience{silence: 200 * time.Millisecond, connect: 3 * time.Second}

// faultyLine is a socket in front of the server's, which counts the messages of
// both sides on all sessions and strikes once, at one of them.
type faultyLine struct {
	server string // its socket
	kind   int
	at     int64        // 0 = never
	passed atomic.Int64 // messages
	struck atomic.Bool

	mu   sync.Mutex
	open []net.Conn
	wg   sync.WaitGroup
	done chan struct{}
}

// lineToServer makes a line to a database's server that strikes at a message.
func lineToServer(d *postgrestest.Database, kind int, at int64) *faultyLine {
	return &faultyLine{server: filepath.Join(d.Socket, ".s.PGSQL.5432"), kind: kind, at: at}
}

// listen lets clients in, by the folder; end cuts what is open and waits.
func (f *faultyLine) listen(t *testing.T) (dir string, end func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "line")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	f.done = make(chan struct{})
	f.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("unix", f.server)
			if err != nil {
				_ = c.Close()
				continue
			}
			f.mu.Lock()
			f.open = append(f.open, c, s)
			f.mu.Unlock()
			p := &pair{f: f}
			f.wg.Go(func() { p.carry(c, s, 4) }) // a client's first message has no type
			f.wg.Go(func() { p.carry(s, c, 5) })
		}
	})
	return dir, func() {
		close(f.done)
		_ = l.Close()
		f.mu.Lock()
		for _, c := range f.open {
			_ = c.Close()
		}
		f.mu.Unlock()
		f.wg.Wait()
		_ = os.RemoveAll(dir)
	}
}

// pair is one session's two ways.
type pair struct {
	f      *faultyLine
	lost   atomic.Bool // what comes next ends the line
	silent atomic.Bool // nothing passes any more, not even its end
}

// carry takes messages from one end to the other. head is the length of the
// first one's head.
func (p *pair) carry(from, to net.Conn, head int) {
	defer func() {
		if !p.silent.Load() {
			_, _ = from.Close(), to.Close()
		}
	}()
	r, w := bufio.NewReaderSize(from, 64<<10), bufio.NewWriterSize(to, 64<<10)
	fromClient := head == 4
	for ; ; head = 5 {
		h, err := r.Peek(head)
		if p.silent.Load() {
			p.vanish(r)
			return
		}
		if err != nil || p.lost.Load() && !fromClient {
			return
		}
		size := int64(binary.BigEndian.Uint32(h[head-4:])) + int64(head-4)
		if p.f.passed.Add(1) == p.f.at {
			p.f.struck.Store(true)
			_ = w.Flush()
			kind := p.f.kind
			if !fromClient && kind == faultSwallow { // it is the answer
				kind = faultCut
			}
			switch kind {
			case faultCut:
				return
			case faultHalf:
				_, _ = io.CopyN(w, r, size/2)
				_ = w.Flush()
				return
			case faultSwallow:
				p.lost.Store(true)
			case faultStall:
				p.silent.Store(true)
				p.vanish(r)
				return
			case faultMute:
				_, _ = io.CopyN(w, r, size)
				_ = w.Flush()
				p.silent.Store(true)
				p.vanish(r)
				return
			case faultDelay:
				time.Sleep(20 * time.Millisecond) // the fault itself
			}
		}
		if _, err := io.CopyN(w, r, size); err != nil {
			return
		}
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// vanish takes what is sent, so that the sender sees nothing, or takes nothing,
// so that it waits in its write; which of them goes by the message struck.
func (p *pair) vanish(r io.Reader) {
	if p.f.at%2 == 0 {
		_, _ = io.Copy(io.Discard, r)
	}
	<-p.f.done
}

// loadFaults and sourceFaults are how often a load meets a fault. make faults
// has 200 and 100 of them.
var (
	loadFaults   = flag.Int64("faults", 60, "loads over a faulty line to the target")
	sourceFaults = flag.Int64("sourcefaults", 30, "loads over a faulty line to the source")
)

// throughFaults runs f over a line that strikes nowhere, and then over n lines
// that strike at a message each: those of the first run are gone through from
// the first to the last, and the kinds of faults take turns. f returns what the
// target holds at the end; it has the target's database to itself, run is -1
// where nothing strikes.
func throughFaults(t *testing.T, n int64, f func(t *testing.T, to *postgrestest.Database, run int64, l *faultyLine) string) {
	t.Helper()
	server := postgrestest.Shared(t)
	d := server.Database(t)
	clean := lineToServer(d, 0, 0)
	want := f(t, d, -1, clean)
	messages := clean.passed.Load()
	seed := uint64(time.Now().UnixNano())
	t.Logf("%d messages; seed %d; undisturbed: %.200s", messages, seed, want)
	random := rand.New(rand.NewPCG(seed, 1))
	goroutines := goruntime.NumGoroutine()
	began := time.Now()
	lines := make([]*faultyLine, n)
	for i := range n {
		lines[i] = lineToServer(d, int(i%faultKinds), 1+min(messages-1, i*messages/n+random.Int64N(max(1, messages/20))))
	}
	// Most of a run is waiting: several go side by side.
	var side sync.WaitGroup
	var next atomic.Int64
	for range 4 {
		d := server.Database(t)
		side.Go(func() {
			for i := next.Add(1) - 1; i < n && !t.Failed(); i = next.Add(1) - 1 {
				l := lines[i]
				name := fmt.Sprintf("run %d, %s at message %d of %d, seed %d", i, faultNames[l.kind], l.at, messages, seed)
				run := time.Now()
				t.Run(name, func(t *testing.T) {
					if got := f(t, d, i, l); got != want {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
				})
				if took := time.Since(run); took > 3*time.Second {
					t.Logf("%s took %s", name, took)
				}
			}
		})
	}
	side.Wait()
	struck := map[string]int{}
	for _, l := range lines {
		if l.struck.Load() {
			struck[faultNames[l.kind]]++
		}
	}
	if len(struck) != faultKinds {
		t.Errorf("faults that struck: %v", struck)
	}
	t.Logf("%d runs in %s, struck: %v", n, time.Since(began).Round(time.Second), struck)
	// pgconn ends lost sessions beside us.
	for deadline := time.Now().Add(20 * time.Second); goruntime.NumGoroutine() > goroutines; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", goruntime.NumGoroutine(), goroutines, stacks[:goruntime.Stack(stacks, true)])
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
}
