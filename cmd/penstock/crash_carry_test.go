package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// circle is two tables that refer to each other, with what carry brings.
const circle = `CREATE TABLE a (id serial PRIMARY KEY, b integer, v text NOT NULL DEFAULT 'x');
CREATE TABLE b (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a integer REFERENCES a ON DELETE CASCADE, v text UNIQUE);
INSERT INTO a (b) SELECT i FROM generate_series(1, 3000) AS i; INSERT INTO b (a, v) SELECT i, i FROM generate_series(1, 3000) AS i;
ALTER TABLE a ADD CONSTRAINT of_b FOREIGN KEY (b) REFERENCES b DEFERRABLE; CREATE INDEX a_v ON a (lower(v) DESC) WHERE id > 5;
DELETE FROM b WHERE id > 3000; SELECT setval('a_id_seq', 5000)`

const madeOfCircle = `SELECT string_agg(x, E'\n' ORDER BY x) FROM (SELECT pg_get_indexdef(indexrelid) || indisvalid AS x FROM pg_index WHERE indrelid IN ('a'::regclass, 'b'::regclass)
UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || convalidated FROM pg_constraint WHERE conrelid IN ('a'::regclass, 'b'::regclass)
UNION ALL SELECT attrelid::regclass || '.' || attname || ' ' || attidentity::text || coalesce(pg_get_expr(adbin, adrelid), '') FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid IN ('a'::regclass, 'b'::regclass) AND attnum > 0
UNION ALL SELECT 'rows ' || (SELECT count(*) FROM a) || ' ' || (SELECT count(*) FROM b)
UNION ALL SELECT 'at ' || (SELECT last_value FROM a_id_seq) || ' ' || (SELECT last_value FROM b_id_seq)) AS y`

func carryCrasher(t *testing.T, from, to *postgrestest.Database, env ...string) *crasher {
	t.Helper()
	block := func(d *postgrestest.Database) string {
		return fmt.Sprintf("host = %q\n database = %q\n user = %q", d.Socket, d.Name, postgrestest.User)
	}
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, fmt.Sprintf(`penstock { spec = 1 }
source "postgres" "s" {
  %s
}
target "postgres" "d" {
  %s
}
pipeline "circle" {
  from    = source.s
  to      = target.d
  workers = 1
  table "*" { carry = ["indexes", "foreign_keys", "defaults"] }
}
`, block(from), block(to)))
	return &crasher{t: t, bin: buildWithFailpoints(t), spec: spec, histogram: map[string]int{}, env: env}
}

// A load that carries all that two tables have, foreign keys in a circle too,
// killed at every step that makes something: the target has what the source has.
func TestCrashOfCarriedObjectsLeavesWhatTheSourceHas(t *testing.T) {
	server := postgrestest.Shared(t)
	from, to := server.Database(t), server.Database(t)
	from.Exec(t, circle)
	c := carryCrasher(t, from, to)
	for _, point := range []string{"begin.before", "begin.dropped", "begin.after", "chunk.commit.after", "finish.before"} {
		c.killAt(point, 1)
	}
	for range 4 {
		c.killAt("ddl.commit.before", 1)
		c.killAt("ddl.commit.after", 1)
	}
	c.finish()
	if got, want := to.Ask(t, madeOfCircle), from.Ask(t, madeOfCircle); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := to.Ask(t, "SELECT count(*) FROM penstock_ddl"); n != "0" {
		t.Errorf("%s lines are left in the journal", n)
	}
	// Loaded anew, one table gives way to the foreign keys of the other for the time.
	from.Exec(t, "UPDATE a SET v = 'anew'")
	if out, err := exec.Command(c.bin, "run", c.spec, "--only", "circle.a", "--reload", "a").CombinedOutput(); err != nil {
		t.Fatalf("reload: %v\n%s", err, out)
	}
	if got, want := to.Ask(t, madeOfCircle), from.Ask(t, madeOfCircle); got != want {
		t.Errorf("loaded anew: got\n%s\nwant\n%s", got, want)
	}
	if got := to.Ask(t, "SELECT DISTINCT v FROM a"); got != "anew" {
		t.Errorf("loaded anew: rows %q", got)
	}
}

// The negative control: where a table counts as loaded before the foreign keys
// that waited for it are made, a kill in between loses them.
func TestCrashOfForeignKeysAfterTheirTablesLosesThem(t *testing.T) {
	server := postgrestest.Shared(t)
	from, to := server.Database(t), server.Database(t)
	from.Exec(t, circle)
	c := carryCrasher(t, from, to, "PENSTOCK_GUARD_OFF=foreign")
	c.killAt("finish.marked", 2)
	c.finish()
	if got := to.Ask(t, madeOfCircle); strings.Contains(got, "of_b") {
		t.Errorf("nothing is lost: the control shows nothing\n%s", got)
	}
}
