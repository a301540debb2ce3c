package postgres

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/connectors/synthetic"
	"penstock/internal/event"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"

	"github.com/jackc/pgx/v5/pgproto3"
)

// serverLoad is a load of 40 chunks by two workers, to which something happens.
type serverLoad struct {
	t    *testing.T
	reg  *connectors.Registry
	dir  string
	plan *plan.Plan
}

const serverRows = 20_000

func newServerLoad(t *testing.T, d *postgrestest.Database) *serverLoad {
	t.Helper()
	l := &serverLoad{t: t, reg: connectors.NewRegistry(synthetic.Definition(), Definition()), dir: t.TempDir()}
	spec := fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "t" {
    preset = "big_table"
    rows   = %d
    seed   = 3
  }
}
target "postgres" "d" {
  %s
}
pipeline "p" {
  from    = source.s
  to      = target.d
  workers = 2
  memory  = "512KiB"
  table "t" {
    range { count = 4 }
  }
}
`, serverRows, blockOf(d))
	parsed, found := lang.Parse(map[string][]byte{"spec.hcl": []byte(spec)}, l.dir, lang.Options{Connectors: planner.Connectors(l.reg)})
	if found.HasErrors() {
		t.Fatalf("%s: %s", found[0].Summary, found[0].Detail)
	}
	if l.plan, found = planner.Compile(t.Context(), parsed, l.reg, planner.Options{}); l.plan == nil {
		t.Fatalf("%s: %s", found[0].Summary, found[0].Detail)
	}
	return l
}

// run loads; once, when a few chunks are durable, it lets something happen.
func (l *serverLoad) run(b runtime.Backoff, happen func()) *runtime.Results {
	l.t.Helper()
	chunks, once := 0, sync.Once{}
	var happened sync.WaitGroup
	var mu sync.Mutex
	sink := event.SinkFunc(func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := e.(event.ChunkCommitted); !ok || happen == nil {
			return
		}
		if chunks++; chunks >= 3 {
			once.Do(func() { happened.Go(happen) })
		}
	})
	res := runtime.Run(l.t.Context(), l.plan, runtime.Options{Registry: l.reg, Dir: l.dir, Events: sink, Backoff: b})
	happened.Wait()
	if happen != nil && chunks < 3 {
		l.t.Fatalf("it happened too late: %+v", res.Pipelines[0].Error)
	}
	return res
}

// ends runs until the load is done, and compares what it left.
func (l *serverLoad) ends(d *postgrestest.Database, res *runtime.Results, exit int) {
	l.t.Helper()
	if res.Exit != 0 && res.Exit != exit {
		l.t.Fatalf("exit %d, want 0 or %d: %+v", res.Exit, exit, res.Pipelines[0].Error)
	}
	for try := 0; res.Exit != 0; try++ {
		if try == 3 {
			l.t.Fatalf("exit %d: %+v", res.Exit, res.Pipelines[0].Error)
		}
		res = l.run(patient, nil)
	}
	if got := d.Ask(l.t, "SELECT count(*), count(DISTINCT id), min(id), max(id), (SELECT sum(rows) FROM penstock_chunk), (SELECT state FROM penstock_table) FROM t"); got != fmt.Sprintf("%d|%d|1|%d|%d|loaded", serverRows, serverRows, serverRows, serverRows) {
		l.t.Errorf("at the end: %s", got)
	}
}

// patient waits for a server that starts; hasty does not try again.
var (
	patient = runtime.Backoff{Attempts: 100, First: 20 * time.Millisecond, Max: 200 * time.Millisecond}
	hasty   = runtime.Backoff{Attempts: 1, First: time.Millisecond, Max: time.Millisecond}
)

// A server that is stopped in the midst of a load, and started again, is waited
// for, or the run ends with exit 1 and the next one goes on.
func TestLoadOutlivesARestartOfItsServer(t *testing.T) {
	server, err := postgrestest.Start(postgrestest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	for how, restart := range map[string]func(testing.TB){"fast": server.RestartFast, "immediate": server.Restart} {
		for name, b := range map[string]runtime.Backoff{"waits": patient, "ends": hasty} {
			t.Run(how+", "+name, func(t *testing.T) {
				d := server.Database(t)
				l := newServerLoad(t, d)
				l.ends(d, l.run(b, func() { restart(t) }), runtime.ExitFailed)
			})
		}
	}
}

// Each of a load's sessions may be ended by a DBA.
func TestLoadOutlivesTheEndOfEachOfItsSessions(t *testing.T) {
	for _, role := range []string{roleControl, roleLoad + "/1", roleLoad + "/2", ""} {
		t.Run("session "+role, func(t *testing.T) {
			d := postgrestest.Shared(t).Database(t)
			l := newServerLoad(t, d)
			res := l.run(patient, func() {
				d.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND starts_with(application_name, 'penstock/p/"+role+"')")
			})
			if res.Exit != 0 {
				t.Errorf("exit %d: %+v", res.Exit, res.Pipelines[0].Error)
			}
			l.ends(d, res, 0)
		})
	}
}

// A server whose disk is full ends the run with exit 8; with room it goes on.
func TestFullDiskEndsTheRunWithItsCode(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	l := newServerLoad(t, d)
	res := l.run(patient, func() {
		d.Exec(t, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$;
CREATE TRIGGER full_disk BEFORE INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION full_disk()`)
	})
	if res.Exit != runtime.ExitFull || !strings.Contains(fmt.Sprint(res.Pipelines[0].Error), "No space left on device") {
		t.Fatalf("exit %d, want %d: %+v", res.Exit, runtime.ExitFull, res.Pipelines[0].Error)
	}
	d.Exec(t, "DROP TRIGGER full_disk ON t")
	l.ends(d, res, runtime.ExitFull)
}

// A server without room says how many connections are wanted, and what to write.
func TestServerWithoutConnectionsSaysHowManyAreNeeded(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	role := "few_" + d.Name
	d.Exec(t, "CREATE ROLE "+role+" LOGIN CONNECTION LIMIT 1; GRANT ALL ON SCHEMA public TO "+role)
	defer d.Exec(t, "DROP OWNED BY "+role+"; DROP ROLE "+role)
	config := configOf(d)
	config.User = role
	tg, err := openTarget(t.Context(), config, connectors.Env{Pipeline: "p", Connections: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	if _, err := tg.Claim(t.Context(), connectors.Owner{}); err != nil {
		t.Fatal(err)
	}
	_, err = tg.OpenLoad(t.Context(), loadOf(t, "t", "copy", connectors.TargetColumn{Name: "id", Native: "integer"}))
	if connectors.ClassOf(err) != connectors.Transient {
		t.Errorf("class %s, want transient", connectors.ClassOf(err))
	}
	for _, want := range []string{"too many connections", "53300", "up to 9 connections", "`workers`", "max_connections"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v: does not say %s", err, want)
		}
	}
}

// A server that is starting refuses sessions: that goes away by itself.
func TestServerThatStartsIsTriedAgain(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	config := configOf(d)
	config.Host = t.TempDir()
	l, err := net.Listen("unix", filepath.Join(config.Host, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b := pgproto3.NewBackend(c, c)
			if _, err := b.ReceiveStartupMessage(); err == nil {
				b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P03", Message: "the database system is starting up"})
				_ = b.Flush()
			}
			_ = c.Close()
		}
	})
	defer answering.Wait()
	defer l.Close()
	_, err = openTarget(t.Context(), config, connectors.Env{Pipeline: "p"})
	var e *connectors.Error
	if !errors.As(err, &e) || e.Class != connectors.Transient || !strings.Contains(err.Error(), "starting up") {
		t.Errorf("class %s, want transient: %v", connectors.ClassOf(err), err)
	}
}
