package postgres

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"penstock/connectors/postgres/postgrestest"
	"penstock/planner/plan"
)

// cutting is a socket that leads to a server's and cuts, at random, some of what
// goes through it: after so many octets either way.
type cutting struct {
	dir  string
	cuts atomic.Int64
	left atomic.Int64 // cuts that are still to come
	seed uint64
	line atomic.Uint64
}

func cutLines(t *testing.T, d *postgrestest.Database, seed uint64, cuts int64) *cutting {
	t.Helper()
	c := &cutting{dir: t.TempDir(), seed: seed}
	c.left.Store(cuts)
	l, err := net.Listen("unix", filepath.Join(c.dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(d.Socket, ".s.PGSQL.5432"))
			if err != nil {
				_ = client.Close()
				continue
			}
			go c.carry(client, server)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return c
}

func (c *cutting) carry(client, server net.Conn) {
	r := rand.New(rand.NewPCG(c.seed, c.line.Add(1)))
	limit := int64(1) << 62
	if r.IntN(2) == 0 && c.left.Add(-1) >= 0 {
		limit = r.Int64N(1 << (6 + r.IntN(12))) // of the few octets of a session that waits, or of many rows
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	if n, _ := io.CopyN(client, server, limit); n == limit {
		c.cuts.Add(1)
	}
	_, _ = client.Close(), server.Close()
}

// cutRuns is how many copies are made: PENSTOCK_CUT_RUNS, 100 for one, asks
// for more than CI has time for.
func cutRuns(t testing.TB) int {
	s := os.Getenv("PENSTOCK_CUT_RUNS")
	if s == "" {
		return 20
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("PENSTOCK_CUT_RUNS is %q: %v", s, err)
	}
	return n
}

// Sessions that read are cut at random: a run ends well, or the next one does,
// and every row is there once.
func TestCopyOverLinesThatAreCutArrivesWhole(t *testing.T) {
	from := postgrestest.Shared(t).Database(t)
	from.Exec(t, `CREATE TABLE a (id integer PRIMARY KEY, v text); INSERT INTO a SELECT i, repeat(md5(i::text), 4) FROM generate_series(1, 3000) i;
CREATE TABLE b (id integer, v numeric) PARTITION BY HASH (id); CREATE TABLE b0 PARTITION OF b FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE b1 PARTITION OF b FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO b SELECT i, i / 7.0 FROM generate_series(1, 2000) i; ANALYZE`)
	to := postgrestest.Shared(t).Database(t)
	started := uint64(time.Now().UnixNano())
	cut, failed := int64(0), 0
	for k := range cutRuns(t) {
		seed := started + uint64(k)
		func() {
			space := fmt.Sprintf("run%d", k)
			to.Exec(t, "CREATE SCHEMA "+space)
			lines := cutLines(t, from, seed, 3)
			c := &copying{t: t, from: from, to: "postgres " + blockOf(to) + "\n schema = \"" + space + "\"", more: "workers = 2\n memory = \"512KiB\"", tables: `table "*" {}`}
			p, problem := c.compile()
			if p == nil {
				t.Fatal(problem)
			}
			throughLines(t, p, lines.dir)
			for attempt := 1; ; attempt++ {
				res := c.carryOut(p)
				if res.Exit == 0 {
					break
				}
				failed++
				if res.Exit != 1 || attempt > 8 {
					t.Fatalf("seed %d, run %d: exit %d: %+v", seed, attempt, res.Exit, res.Pipelines[0].Error)
				}
			}
			cut += lines.cuts.Load()
			for _, table := range []string{"a", "b"} {
				if got, want := sum(t, to, space+"."+table), sum(t, from, table); got != want {
					t.Fatalf("seed %d: %s has %s, want %s", seed, table, got, want)
				}
			}
		}()
	}
	t.Logf("%d lines were cut in %d copies, %d runs had to be done again", cut, cutRuns(t), failed)
	if cut < int64(cutRuns(t))/2 {
		t.Errorf("only %d lines were cut", cut)
	}
}

func sum(t testing.TB, d *postgrestest.Database, table string) string {
	t.Helper()
	return d.Ask(t, fmt.Sprintf("SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM %s AS t", table))
}

// throughLines has the plan's source reached through another socket.
func throughLines(t testing.TB, p *plan.Plan, dir string) {
	t.Helper()
	e := p.Endpoint("source.s")
	config := &SourceConfig{}
	if err := e.Settings(config); err != nil {
		t.Fatal(err)
	}
	config.Host = dir
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	e.Config = text
}
