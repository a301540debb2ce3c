package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/connectors/synthetic"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
)

// What happens to the message that a faulty line strikes at.
const (
	faultCut     = iota // it does not arrive, and the line is gone
	faultHalf           // a part of it arrives
	faultSwallow        // it arrives, and its answer does not
	faultDelay          // it and all behind it come late
	faultKinds
)

var faultNames = [...]string{"cut", "half", "swallow", "delay"}

// faultyLine is a socket in front of the server's, which counts the messages
// that clients send on all their sessions and strikes once, at one of them.
type faultyLine struct {
	server string
	kind   int
	at     int64 // 0 = never
	sent   atomic.Int64
	struck atomic.Bool
	wg     sync.WaitGroup
}

func (f *faultyLine) listen(t *testing.T, dir string) (end func()) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
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
			mu.Lock()
			open = append(open, c, s)
			mu.Unlock()
			var lost atomic.Bool // the server's answers
			f.wg.Go(func() { f.answers(c, s, &lost) })
			f.wg.Go(func() { f.messages(c, s, &lost) })
		}
	})
	return func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		f.wg.Wait()
	}
}

func (f *faultyLine) answers(c, s net.Conn, lost *atomic.Bool) {
	defer c.Close()
	defer s.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := s.Read(buf)
		if err != nil || lost.Load() {
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

// messages carries what the client sends, message by message: the first has no type.
func (f *faultyLine) messages(c, s net.Conn, lost *atomic.Bool) {
	defer c.Close()
	defer s.Close()
	for head := 4; ; head = 5 {
		m := make([]byte, head)
		if _, err := io.ReadFull(c, m); err != nil {
			return
		}
		rest := make([]byte, int(binary.BigEndian.Uint32(m[head-4:]))-4)
		if _, err := io.ReadFull(c, rest); err != nil {
			return
		}
		m = append(m, rest...)
		if f.sent.Add(1) == f.at {
			f.struck.Store(true)
			switch f.kind {
			case faultCut:
				return
			case faultHalf:
				_, _ = s.Write(m[:len(m)/2])
				return
			case faultSwallow:
				lost.Store(true)
			case faultDelay:
				time.Sleep(20 * time.Millisecond) // the fault itself
			}
		}
		if _, err := s.Write(m); err != nil {
			return
		}
	}
}

// faultyPlan loads 300 rows in three chunks, of which some are bad for the
// engine, and others have a key that is there.
func faultyPlan(t *testing.T, reg *connectors.Registry, dir, socket, database, schema string) *plan.Plan {
	t.Helper()
	spec := fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "big_table" {
    preset = "big_table"
    rows   = 300
    seed   = 5
  }
}
target "postgres" "d" {
  host     = %q
  database = %q
  user     = %q
  schema   = %q
  catalog  = "catalog.json"
}
pipeline "p" {
  from    = source.s
  to      = target.d
  workers = 1
  bad_rows {
    action = "discard"
    file   = "bad.ndjson"
  }
  table "big_table" {
    range { count = 3 }
    existing = "append"
    column "id" { value = "id %% 250" }
    column "big_number" { value = "1 / (id %% 29 - 7)" }
  }
}
`, socket, database, postgrestest.User, schema)
	parsed, found := lang.Parse(map[string][]byte{"spec.hcl": []byte(spec)}, dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		t.Fatalf("%s: %s", found[0].Summary, found[0].Detail)
	}
	p, found := planner.Compile(t.Context(), parsed, reg, planner.Options{})
	if p == nil {
		t.Fatalf("%s: %s", found[0].Summary, found[0].Detail)
	}
	return p
}

// faultRuns is how often a load meets a fault: its messages are gone through
// from the first to the last, and the kinds of faults take turns. make faults
// has 200 of them.
var faultRuns = flag.Int64("faults", 60, "loads over a faulty line")

// A fault at any message of a load leaves it done or resumable; at the end the
// rows are those of an undisturbed load, each once, and so are the discards.
func TestLoadOverAFaultyLineEndsAsAnUndisturbedOne(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	reg := connectors.NewRegistry(synthetic.Definition(), Definition())
	server := filepath.Join(d.Socket, ".s.PGSQL.5432")
	var catalog []byte // of a schema with the table
	// load runs once over a line, and to its end over another without a fault.
	load := func(t *testing.T, schema string, f *faultyLine) (rows, discards string) {
		dir := t.TempDir()
		d.Exec(t, "CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".big_table (id bigint PRIMARY KEY, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL)")
		if catalog == nil {
			config := configOf(d)
			config.Schema = schema
			tg, err := openTarget(t.Context(), config, connectors.Env{Pipeline: "p"})
			if err != nil {
				t.Fatal(err)
			}
			cat, err := tg.Catalog(t.Context())
			if err := errors.Join(err, tg.Close()); err != nil {
				t.Fatal(err)
			}
			if catalog, err = cat.Marshal(); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "catalog.json"), catalog, 0o600); err != nil {
			t.Fatal(err)
		}
		socket, err := os.MkdirTemp("", "line")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(socket)
		p := faultyPlan(t, reg, dir, socket, d.Name, schema)
		for try := 0; ; try++ {
			end := f.listen(t, socket)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			res := runtime.Run(ctx, p, runtime.Options{Registry: reg, Dir: dir, Backoff: runtime.Backoff{Attempts: 5, First: time.Millisecond, Max: 10 * time.Millisecond}})
			cancel()
			end()
			if res.Exit == runtime.ExitFindings {
				break
			}
			if try == 2 || f.at == 0 && try == 0 {
				t.Fatalf("try %d: exit %d: %+v %+v", try, res.Exit, res.Error, res.Pipelines[0].Error)
			}
			f = &faultyLine{server: server}
		}
		b, err := os.ReadFile(filepath.Join(dir, "bad.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		rows = d.Ask(t, "SELECT count(*), count(DISTINCT id), md5(string_agg(t::text, ',' ORDER BY id)), (SELECT sum(rows) || '+' || sum(bad_rows) FROM "+schema+".penstock_chunk) FROM "+schema+".big_table t")
		d.Exec(t, "DROP SCHEMA "+schema+" CASCADE")
		return rows, string(b)
	}
	clean := &faultyLine{server: server}
	rows, discards := load(t, "clean", clean)
	messages := clean.sent.Load()
	if strings.Count(discards, "23505") < 40 || strings.Count(discards, "division") == 0 {
		t.Fatalf("an undisturbed load discards\n%s", discards)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("%d messages, %s rows, %d discards; seed %d", messages, rows, strings.Count(discards, "\n"), seed)
	random := rand.New(rand.NewPCG(seed, 1))
	goroutines := goruntime.NumGoroutine()
	struck := map[string]int{}
	for i := range *faultRuns {
		f := &faultyLine{server: server, kind: int(i % faultKinds), at: 1 + min(messages-1, i*messages / *faultRuns + random.Int64N(max(1, messages/20)))}
		what := fmt.Sprintf("run %d, %s at message %d of %d, seed %d", i, faultNames[f.kind], f.at, messages, seed)
		gotRows, gotDiscards := load(t, fmt.Sprintf("s%d", i), f)
		if f.struck.Load() {
			struck[faultNames[f.kind]]++
		}
		if gotRows != rows {
			t.Errorf("%s: rows %s, want %s", what, gotRows, rows)
		}
		if gotDiscards != discards {
			t.Errorf("%s: discards\n%s\nwant\n%s", what, gotDiscards, discards)
		}
		if t.Failed() {
			return
		}
	}
	if len(struck) != faultKinds {
		t.Errorf("faults that struck: %v", struck)
	}
	t.Logf("struck: %v", struck)
	// pgconn ends lost sessions beside us.
	for deadline := time.Now().Add(20 * time.Second); goruntime.NumGoroutine() > goroutines; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", goruntime.NumGoroutine(), goroutines, stacks[:goruntime.Stack(stacks, true)])
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
}
