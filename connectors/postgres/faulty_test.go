package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// A fault at any message of a load leaves it done or resumable; at the end the
// rows are those of an undisturbed load, each once, and so are the discards.
func TestLoadOverAFaultyLineEndsAsAnUndisturbedOne(t *testing.T) {
	reg := connectors.NewRegistry(synthetic.Definition(), brisk.definition())
	const table = ".big_table (id bigint PRIMARY KEY, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL)"
	var catalog []byte // the same of every schema
	// Once over the line, and to its end over others without a fault.
	throughFaults(t, *loadFaults, func(t *testing.T, d *postgrestest.Database, run int64, f *faultyLine) string {
		const schema = "s"
		dir := t.TempDir()
		d.Exec(t, "CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+table)
		if run < 0 {
			catalog = tableCatalog(t, d, schema)
		}
		if err := os.WriteFile(filepath.Join(dir, "catalog.json"), catalog, 0o600); err != nil {
			t.Fatal(err)
		}
		for try := 0; ; try++ {
			socket, end := f.listen(t)
			p := faultyPlan(t, reg, dir, socket, d.Name, schema)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			res := runtime.Run(ctx, p, runtime.Options{Registry: reg, Dir: dir, Backoff: quick})
			hung := ctx.Err() != nil
			cancel()
			end()
			if hung {
				t.Fatal("the run did not end by itself")
			}
			if res.Exit == runtime.ExitFindings {
				break
			}
			if try == 2 || run < 0 || res.Exit != runtime.ExitFailed {
				t.Fatalf("%s at message %d, try %d: exit %d: %+v %+v", faultNames[f.kind], f.at, try, res.Exit, res.Error, res.Pipelines[0].Error)
			}
			f = lineToServer(d, 0, 0)
		}
		discards, err := os.ReadFile(filepath.Join(dir, "bad.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		if run < 0 && (strings.Count(string(discards), "23505") < 40 || !strings.Contains(string(discards), "division")) {
			t.Fatalf("an undisturbed load discards\n%s", discards)
		}
		rows := d.Ask(t, "SELECT count(*), count(DISTINCT id), md5(string_agg(t::text, ',' ORDER BY id)), (SELECT sum(rows) || '+' || sum(bad_rows) FROM "+schema+".penstock_chunk) FROM "+schema+".big_table t")
		d.Exec(t, "DROP SCHEMA "+schema+" CASCADE")
		return rows + "\n" + string(discards)
	})
}

// quick tries again at once.
var quick = runtime.Backoff{Attempts: 5, First: time.Millisecond, Max: 10 * time.Millisecond}

// tableCatalog records the catalog of a schema.
func tableCatalog(t *testing.T, d *postgrestest.Database, schema string) []byte {
	t.Helper()
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
	b, err := cat.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
