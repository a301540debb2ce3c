package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"penstock/connectors/postgres/postgrestest"
)

// movingRows is how many rows the source has: PENSTOCK_CRASH_ROWS, 2000000 for
// one, asks for more than CI has time for.
func movingRows(t *testing.T) int {
	if s := os.Getenv("PENSTOCK_CRASH_ROWS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("PENSTOCK_CRASH_ROWS is %q: %v", s, err)
		}
		return n
	}
	return 100_000
}

// moving is a database whose table is written to while it is copied.
type moving struct {
	t        *testing.T
	from, to *postgrestest.Database
	rows     int
	spec     string
}

func newMoving(t *testing.T) *moving {
	m := &moving{t: t, from: postgrestest.Shared(t).Database(t), to: postgrestest.Shared(t).Database(t), rows: movingRows(t)}
	m.from.Exec(t, fmt.Sprintf(`CREATE TABLE t (id bigint PRIMARY KEY, n integer NOT NULL, v text NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i, md5(i::text) FROM generate_series(1, %d) i`, m.rows))
	m.from.Exec(t, "VACUUM ANALYZE t")
	m.spec = filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, m.spec, fmt.Sprintf(`penstock { spec = 1 }
source "postgres" "s" {
  host     = %q
  database = %q
  user     = %q
}
target "postgres" "d" {
  host     = %q
  database = %q
  user     = %q
}
pipeline "moving" {
  from    = source.s
  to      = target.d
  workers = 2
  memory  = "1MiB"
  table "t" {}
}
`, m.from.Socket, m.from.Name, postgrestest.User, m.to.Socket, m.to.Name, postgrestest.User))
	return m
}

// write changes rows until it is stopped: most of what it does moves a row to
// another block.
func (m *moving) write(seed uint64) (stop func()) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		r := rand.New(rand.NewPCG(seed, 2))
		c, err := m.from.Connect(ctx, m.from.Name)
		if err != nil {
			done <- err
			return
		}
		defer c.Close(context.Background())
		for next := m.rows; ctx.Err() == nil; next += 100 {
			lo := r.IntN(m.rows)
			for _, sql := range []string{
				fmt.Sprintf("UPDATE t SET n = n + 1, v = md5(v) WHERE id BETWEEN %d AND %d", lo, lo+400),
				fmt.Sprintf("UPDATE t SET id = -id WHERE id BETWEEN %d AND %d", lo+500, lo+520),
				fmt.Sprintf("DELETE FROM t WHERE id BETWEEN %d AND %d", lo+600, lo+700),
				fmt.Sprintf("INSERT INTO t SELECT i, 0, md5(i::text) FROM generate_series(%d, %d) i", next+1, next+100),
				"VACUUM (TRUNCATE off) t", // the room that is free is taken by the next rows
			} {
				if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
					if ctx.Err() == nil {
						done <- fmt.Errorf("%s: %w", sql, err)
						return
					}
					break
				}
			}
		}
		done <- nil
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			m.t.Fatal(err)
		}
	}
}

// contents are the two tables, each in a word.
func (m *moving) contents() (from, to string) {
	const all = "SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM t"
	return m.from.Ask(m.t, all), m.to.Ask(m.t, all)
}

// Rows that move between blocks while a copy is killed again and again are all
// there, once, when it has ended.
func TestCrashOfPostgresSourceWhoseRowsMove(t *testing.T) {
	bin := buildWithFailpoints(t)
	m := newMoving(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	c := &crasher{t: t, bin: bin, spec: m.spec, histogram: map[string]int{}}
	stop := m.write(seed)
	for range 10 {
		c.killLater(r)
	}
	stop()
	c.finish()
	if from, to := m.contents(); from != to {
		t.Errorf("rows and their sum: source %s, target %s", from, to)
	}
	if out, err := exec.Command(bin, "verify", m.spec).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	if got := m.to.Ask(t, "SELECT state, generation > 1 FROM penstock_table"); got != "loaded|t" {
		t.Errorf("the table's state and whether it was begun anew: %s", got)
	}
}

// The negative control: chunks that were left are read at a later point, and
// rows that have moved into blocks which had been read are missing.
func TestCrashOfPostgresSourceContinuedAtALaterPointLosesRows(t *testing.T) {
	bin := buildWithFailpoints(t)
	m := newMoving(t)
	c := &crasher{t: t, bin: bin, spec: m.spec, histogram: map[string]int{}}
	t.Setenv("PENSTOCK_GUARD_OFF", "point")               // of every run
	c.killAt("chunk.commit.after", max(4, m.rows/25_000)) // of many rows, as large a share
	m.from.Exec(t, fmt.Sprintf("DELETE FROM t WHERE id <= %d", m.rows/2))
	m.from.Exec(t, "VACUUM (TRUNCATE off) t")
	// The last quarter, since two halves would move in step: what was read to
	// where was read, the rest to the rest.
	m.from.Exec(t, fmt.Sprintf("UPDATE t SET n = n + 1 WHERE id > %d", m.rows/4*3))
	c.finish()
	kept := fmt.Sprintf("SELECT count(*) FROM t WHERE id > %d", m.rows/4*3)
	if from, to := m.from.Ask(t, kept), m.to.Ask(t, kept); from == to {
		t.Errorf("no row of %s is missing: the control shows nothing", from)
	} else {
		t.Logf("%s of %s rows came", to, from)
	}
}
