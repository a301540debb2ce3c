package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/postgres/postgrestest"

	"github.com/jackc/pgx/v5/pgconn"
)

// checkedSpec loads a table of twenty rows; table is the body of its block.
func checkedSpec(t *testing.T, d *postgrestest.Database, user, table string) string {
	t.Helper()
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "t" {
    preset = "big_table"
    rows   = 20
    seed   = 1
  }
}
target "postgres" "d" {
  host     = %q
  database = %q
  user     = %q
}
pipeline "p" {
  from    = source.s
  to      = target.d
  workers = 4
  table "t" {
    %s
  }
}
`, d.Socket, d.Name, user, table))
	return spec
}

const tableT = "CREATE TABLE t (id bigint PRIMARY KEY, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL)"

func TestLivePlanTellsWhatStandsInTheWayOnPostgres(t *testing.T) {
	s := postgrestest.Shared(t)
	for _, c := range []struct {
		name  string
		setup func(t *testing.T, d *postgrestest.Database)
		table string
		exit  int
		want  []string
	}{
		{"nothing", func(*testing.T, *postgrestest.Database) {}, "", 0,
			[]string{"version good; privileges good; connections good; locks good; rows good; claim good; state 0 of 1 table loaded"}},
		{"rows", func(t *testing.T, d *postgrestest.Database) {
			d.Exec(t, tableT+"; INSERT INTO t VALUES (1, 1, 1, '', '2026-01-01')")
		}, "", 0, []string{"PEN0802", "p, target.d: rows", `run: TRUNCATE TABLE "public"."t"`}},
		{"a lock", func(t *testing.T, d *postgrestest.Database) {
			d.Exec(t, tableT)
			if _, err := held(t, d).Exec(t.Context(), "BEGIN; LOCK TABLE t IN SHARE MODE").ReadAll(); err != nil {
				t.Fatal(err)
			}
		}, "", 0, []string{"p, target.d: locks", "ShareLock", "run: SELECT pg_terminate_backend("}},
		{"a reader, before TRUNCATE", func(t *testing.T, d *postgrestest.Database) {
			d.Exec(t, tableT)
			if _, err := held(t, d).Exec(t.Context(), "BEGIN; SELECT * FROM t").ReadAll(); err != nil {
				t.Fatal(err)
			}
		}, `existing = "truncate"`, 0, []string{"p, target.d: locks", "AccessShareLock"}},
		{"few connections", func(t *testing.T, d *postgrestest.Database) {
			d.Exec(t, fmt.Sprintf("ALTER DATABASE %q CONNECTION LIMIT 3", d.Name))
		}, "", 0, []string{"p, target.d: connections", "The plan takes 6 connections", "CONNECTION LIMIT -1"}},
		{"another run", func(t *testing.T, d *postgrestest.Database) {
			_, ddl, _ := command(t, "plan", checkedSpec(t, d, postgrestest.User, ""), "--ddl")
			d.Exec(t, ddl)
			if _, err := held(t, d).Exec(t.Context(), `INSERT INTO penstock_owner SELECT 'p', 1, '{"pid": 4711, "host": "elsewhere"}', pid, (extract(epoch FROM backend_start) * 1000000)::bigint, now() FROM pg_stat_activity WHERE pid = pg_backend_pid()`).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}, "", 0, []string{"p, target.d: claim", "held by process 4711 on elsewhere"}},
		{"a column of another type", func(t *testing.T, d *postgrestest.Database) {
			d.Exec(t, strings.Replace(tableT, "created_date timestamp", "created_date boolean", 1))
		}, "", 2, []string{"PEN0604", "created_date"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := s.Database(t)
			c.setup(t, d)
			exit, out, problems := command(t, "plan", checkedSpec(t, d, postgrestest.User, c.table), "--live")
			if exit != c.exit {
				t.Errorf("exit %d, want %d", exit, c.exit)
			}
			flat := strings.Join(strings.Fields(out+problems), " ")
			for _, w := range c.want {
				if !strings.Contains(flat, w) {
					t.Errorf("no %q in\n%s\n%s", w, problems, out)
				}
			}
		})
	}
}

// What plan --ddl writes can be run as it stands, twice, and a load goes into
// what it made.
func TestDDLOfAPlanMakesWhatItsLoadGoesInto(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	spec := checkedSpec(t, d, postgrestest.User, "")
	exit, ddl, problems := command(t, "plan", spec, "--ddl")
	if exit != 0 {
		t.Fatalf("exit %d: %s", exit, problems)
	}
	d.Exec(t, ddl)
	const shape = "SELECT string_agg(indexdef, '; ') FROM pg_indexes WHERE tablename = 't'"
	before := d.Ask(t, shape)
	if exit, _, problems := command(t, "run", spec); exit != 0 {
		t.Fatalf("run: exit %d: %s", exit, problems)
	}
	if got := d.Ask(t, "SELECT count(*) FROM t"); got != "20" {
		t.Errorf("rows: got %s, want 20", got)
	}
	if after := d.Ask(t, shape); after != before || !strings.Contains(before, "UNIQUE") {
		t.Errorf("indexes: %s, then %s", before, after)
	}
}

// A plan file is compared with the target as it is, column by column.
func TestPlanFileThatDoesNotFitItsTargetIsExit4(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	spec := checkedSpec(t, d, postgrestest.User, "")
	file := filepath.Join(filepath.Dir(spec), "p.plan.json")
	if exit, _, problems := command(t, "plan", spec, "--out", file); exit != 0 {
		t.Fatalf("plan: exit %d: %s", exit, problems)
	}
	d.Exec(t, strings.Replace(strings.Replace(tableT, "id bigint", "id integer", 1), "created_date timestamp NOT NULL", "extra text NOT NULL", 1))
	exit, _, problems := command(t, "run", file)
	if exit != 4 {
		t.Errorf("exit %d, want 4", exit)
	}
	flat := strings.Join(strings.Fields(problems), " ")
	for _, w := range []string{
		"target.d, table t: column id would be made as bigint and is there as integer",
		"target.d, table t: column created_date is not there",
		"target.d, table t: column extra is NOT NULL without a default, and the plan gives it no value",
	} {
		if !strings.Contains(flat, w) {
			t.Errorf("no %q in\n%s", w, problems)
		}
	}
	if got := d.Ask(t, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("%s rows, want none", got)
	}
}

// held is a session that lasts to the end of the test: one that nothing refers
// to any more is closed when its memory is taken.
func held(t *testing.T, d *postgrestest.Database) *pgconn.PgConn {
	c := d.Conn(t)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}
