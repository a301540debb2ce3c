package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/planner/plan"
	"penstock/runtime"
)

// A fault at any message that goes between a load and its source leaves it done
// or resumable, and every row arrives once: rows passed on as they are, rows
// decoded, and those of partitions.
func TestLoadFromOverAFaultyLineArrivesWhole(t *testing.T) {
	from := postgrestest.Shared(t).Database(t)
	from.Exec(t, `CREATE TABLE a (id integer PRIMARY KEY, v text); INSERT INTO a SELECT i, repeat(md5(i::text), 4) FROM generate_series(1, 150) i;
CREATE TABLE b (id integer, v numeric) PARTITION BY HASH (id); CREATE TABLE b0 PARTITION OF b FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE b1 PARTITION OF b FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO b SELECT i, i / 7.0 FROM generate_series(1, 100) i; ANALYZE`)
	reg := connectors.NewRegistry(brisk.definition())
	throughFaults(t, *sourceFaults, func(t *testing.T, to *postgrestest.Database, run int64, f *faultyLine) string {
		const space = "run"
		to.Exec(t, "CREATE SCHEMA "+space)
		c := &copying{t: t, from: from, to: "postgres " + blockOf(to) + "\n schema = \"" + space + "\"", more: "workers = 2\n memory = \"512KiB\"", tables: "table \"a\" {}\n table \"b\" { filter = \"id > 0\" }"}
		p, problem := c.compile()
		if p == nil {
			t.Fatal(problem)
		}
		for try := 0; ; try++ {
			socket, end := f.listen(t)
			throughLines(t, p, socket)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			res := runtime.Run(ctx, p, runtime.Options{Registry: reg, Dir: c.dir, Backoff: quick})
			hung := ctx.Err() != nil
			cancel()
			end()
			if hung {
				t.Fatal("the run did not end by itself")
			}
			if res.Exit == runtime.ExitOK {
				break
			}
			if try == 2 || run < 0 || res.Exit != runtime.ExitFailed {
				t.Fatalf("try %d: exit %d: %+v", try, res.Exit, res.Pipelines[0].Error)
			}
			f = lineToServer(from, 0, 0)
		}
		got := ""
		for _, table := range []string{"a", "b"} {
			got += fmt.Sprintf("%s: %s\n", table, sum(t, to, space+"."+table))
			if want := sum(t, from, table); sum(t, to, space+"."+table) != want {
				t.Errorf("%s is to hold %s", table, want)
			}
		}
		to.Exec(t, "DROP SCHEMA "+space+" CASCADE")
		return got
	})
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
