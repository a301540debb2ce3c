package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/connectors/postgres/postgrestest"
)

// postgresSpec is crashSpec into a schema of a PostgreSQL database.
func postgresSpec(d *postgrestest.Database, schema, table string) string {
	return fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "t" {
    preset = "big_table"
    rows   = %d
    seed   = 7
  }
}
target "postgres" "d" {
  host     = %q
  database = %q
  user     = %q
  schema   = %q
}
pipeline "crash" {
  from    = source.s
  to      = target.d
  workers = 2
  memory  = "2MiB"
  table "t" {
    %s
    range { count = 4 }
  }
}
`, crashRows, d.Socket, d.Name, postgrestest.User, schema, table)
}

// whole loads the same rows without a kill, into the schema whole.
func whole(t *testing.T, bin string, d *postgrestest.Database, table string) {
	t.Helper()
	d.Exec(t, "CREATE SCHEMA whole")
	spec := filepath.Join(t.TempDir(), "whole.hcl")
	writeFile(t, spec, postgresSpec(d, "whole", table))
	(&crasher{t: t, bin: bin, spec: spec}).finish()
}

// unequal counts the rows that are there another number of times in one table
// than in the other, by content alone.
func unequal(t *testing.T, d *postgrestest.Database, a, b string) string {
	t.Helper()
	const more = "(SELECT count(*) FROM (SELECT * FROM %s EXCEPT ALL SELECT * FROM %s) AS x)"
	return d.Ask(t, "SELECT "+fmt.Sprintf(more, a, b)+" + "+fmt.Sprintf(more, b, a))
}

// One load into PostgreSQL, killed at every durable step and at random moments
// as the one into SQLite is; each run goes on by itself.
func TestCrashOfPostgresLoadAndEveryRowIsThereOnce(t *testing.T) {
	bin := buildWithFailpoints(t)
	server := postgrestest.Shared(t)
	for name, table := range map[string]string{"with a key": "", "without a key": keyless} {
		t.Run(name, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			d := server.Database(t)
			spec := filepath.Join(t.TempDir(), "spec.hcl")
			writeFile(t, spec, postgresSpec(d, "public", table))
			c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
			c.killAt("claim.after", 1)
			c.killAt("begin.before", 1)
			c.killAt("begin.after", 1)
			for range 5 {
				for _, point := range []string{"chunk.begin", "chunk.rows", "chunk.marker", "chunk.commit.before"} {
					c.killAt(point, 1+r.IntN(2))
				}
			}
			c.killAt("chunk.commit.after", 1)
			c.killAt("chunk.commit.after", 2)
			for range 5 {
				c.killLater(r)
			}
			c.killAt("finish.before", 1)
			c.killAt("finish.after", 1)
			for _, k := range slices.Sorted(maps.Keys(c.histogram)) {
				t.Logf("killed at %-20s %d", k, c.histogram[k])
			}
			c.finish()
			whole(t, bin, d, table)
			if got := d.Ask(t, "SELECT count(*) FROM t"); got != fmt.Sprint(crashRows) {
				t.Errorf("rows: got %s, want %d", got, crashRows)
			}
			if n := unequal(t, d, "public.t", "whole.t"); n != "0" {
				t.Errorf("%s rows are there another number of times than in a load without kills", n)
			}
			key := "SELECT coalesce(string_agg(conname || ' ' || pg_get_constraintdef(oid), ', '), '') FROM pg_constraint WHERE conrelid = '%s.t'::regclass"
			if got, want := d.Ask(t, fmt.Sprintf(key, "public")), d.Ask(t, fmt.Sprintf(key, "whole")); got != want {
				t.Errorf("key: got %q, want %q", got, want)
			}
		})
	}
}

// Rows of the user's own, in a table with its key, are there at the end too.
func TestCrashOfPostgresAppendKeepsTheRowsThatWereThere(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, `CREATE TABLE t (id bigint PRIMARY KEY, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL);
INSERT INTO t SELECT -i, 1, 1, 'mine', '2025-01-01' FROM generate_series(1, 1000) AS i`)
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, postgresSpec(d, "public", `existing = "append"`))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	for _, point := range []string{"begin.after", "chunk.rows", "chunk.marker", "chunk.commit.before", "chunk.commit.after", "finish.before"} {
		c.killAt(point, 1)
		if got := d.Ask(t, "SELECT count(*) FROM t WHERE short_string = 'mine'"); got != "1000" {
			t.Fatalf("after a kill at %s: %s of the user's rows, want 1000", point, got)
		}
	}
	c.finish()
	whole(t, bin, d, "")
	d.Exec(t, "INSERT INTO whole.t SELECT -i, 1, 1, 'mine', '2025-01-01' FROM generate_series(1, 1000) AS i")
	if n := unequal(t, d, "public.t", "whole.t"); n != "0" {
		t.Errorf("%s rows are there another number of times than they should", n)
	}
	if got := d.Ask(t, "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 't'::regclass"); strings.Count(got, "CREATE") != 1 {
		t.Errorf("indexes at the end: %s", got)
	}
}

// The negative control: with the marker written after the rows' transaction, a
// kill between the two doubles rows, and the tests above would see it.
func TestCrashOfPostgresWithMarkerOutsideTheTransactionDoublesRows(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, postgresSpec(d, "public", keyless))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}, env: []string{"PENSTOCK_GUARD_OFF=marker"}}
	c.killAt("chunk.marker", 3)
	c.finish()
	whole(t, bin, d, keyless)
	if n := unequal(t, d, "public.t", "whole.t"); n == "0" {
		t.Error("no row is there twice: the control shows nothing")
	}
}
