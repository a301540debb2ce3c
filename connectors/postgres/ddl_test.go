package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
)

// made is all that a schema has by way of indexes and constraints, as the server
// tells it, with what their definitions leave out.
const made = `SELECT string_agg(x, E'\n' ORDER BY x) FROM (
SELECT 'index ' || pg_get_indexdef(i.indexrelid) || ' in ' || c.reltablespace || ' ' || i.indisclustered || i.indisreplident || i.indisvalid || i.indimmediate || ' ' || coalesce(obj_description(c.oid, 'pg_class'), '')
  || (SELECT coalesce(string_agg(' ' || a.attnum || ':' || a.attstattarget, ''), '') FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attstattarget >= 0)
  || coalesce(' of ' || (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = c.oid)::text, '') AS x
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = to_regnamespace('"%[1]s"') AND NOT starts_with(c.relname, 'penstock_')
UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated || ' ' || coalesce(obj_description(oid, 'pg_constraint'), '')
FROM pg_constraint WHERE connamespace = to_regnamespace('"%[1]s"') AND conrelid <> 0 AND NOT starts_with(conname, 'penstock_')) AS y`

func madeIn(t testing.TB, d *postgrestest.Database, space string) string {
	t.Helper()
	return d.Ask(t, fmt.Sprintf(made, space))
}

// existingLoad is a load into a table that is there, as a plan from the live
// catalog has it. The table has a column id.
func existingLoad(t testing.TB, tg connectors.Target, table string) connectors.Load {
	t.Helper()
	cat, err := tg.Catalog(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	there := cat.Find(schema.Name{Name: table})
	if there == nil {
		t.Fatalf("no table %q in the catalog", table)
	}
	l := loadOf(t, table, "copy", connectors.TargetColumn{Name: "id", Native: "integer"})
	l.Create, l.Indexes, l.Objects, l.Existing, l.Builders = false, "defer", objectsOf(there), connectors.ExistingAppend, 3
	return explained(l)
}

// Whatever a table has, it has again after a load, to the letter; gone says how
// many objects are away meanwhile.
var definitions = []struct {
	name, sql string
	table     string
	gone      int
	kept      string // a part of why something stays
}{
	{name: "three indexes, a key and a foreign key", gone: 5, sql: `CREATE TABLE other (id integer PRIMARY KEY);
CREATE TABLE t (id integer PRIMARY KEY, a text, b text, o integer REFERENCES other);
CREATE INDEX ON t (a); CREATE INDEX ON t (b, a); CREATE UNIQUE INDEX ON t (a, id)`},
	{name: "odd names", table: `odd "T"`, gone: 4, sql: `CREATE TABLE "odd ""T""" (id integer, "a b" text, "select" integer, "Ä""x" text, CONSTRAINT "the 'key' ON ONLY" PRIMARY KEY (id, "select"));
CREATE INDEX "i ""1"" ON ONLY" ON "odd ""T""" ("a b"); CREATE INDEX "Größe;--" ON "odd ""T""" ("Ä""x", "select"); ALTER TABLE "odd ""T""" ADD CONSTRAINT "u k" UNIQUE ("Ä""x")`},
	{name: "expressions, predicates, orders, operator classes", gone: 8, sql: `CREATE FUNCTION f(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT lower($1)';
CREATE TABLE t (id integer, a text, b integer[], p point);
CREATE INDEX ON t (lower(a), (id + 1)); CREATE INDEX ON t (f(a)); CREATE INDEX ON t (a) WHERE id > 3 AND a <> 'it''s \ WHERE';
CREATE INDEX ON t (a DESC NULLS LAST, id ASC NULLS FIRST); CREATE INDEX ON t (a text_pattern_ops); CREATE INDEX ON t USING gin (b); CREATE INDEX ON t USING gist (p) WITH (fillfactor = 60); CREATE INDEX ON t (a COLLATE "C") INCLUDE (id)`},
	{name: "keys with what belongs to them", gone: 4, sql: `CREATE TABLE t (id integer, a text, b text, c text, CONSTRAINT k PRIMARY KEY (id) INCLUDE (a) WITH (fillfactor = 70), CONSTRAINT u UNIQUE NULLS NOT DISTINCT (a), UNIQUE (b, c));
CREATE UNIQUE INDEX ON t (b) NULLS NOT DISTINCT WHERE c IS NULL`},
	{name: "what a definition does not say", gone: 3, sql: `CREATE TABLE t (id integer PRIMARY KEY, a text NOT NULL); CREATE INDEX e ON t ((a || 'x')); CREATE UNIQUE INDEX r ON t (a);
ALTER INDEX e ALTER COLUMN 1 SET STATISTICS 500; ALTER TABLE t CLUSTER ON t_pkey; ALTER TABLE t REPLICA IDENTITY USING INDEX r;
COMMENT ON INDEX e IS 'it''s a \ comment'; COMMENT ON CONSTRAINT t_pkey ON t IS 'the key'; COMMENT ON INDEX t_pkey IS 'its index'`},
	{name: "a table that refers to itself", gone: 3, sql: `CREATE TABLE t (id integer PRIMARY KEY, up integer, CONSTRAINT up FOREIGN KEY (up) REFERENCES t ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED); CREATE INDEX ON t (up)`},
	{name: "a key that another table refers to", gone: 1, kept: "foreign key child_up_fkey of another table refers to it", sql: `CREATE TABLE t (id integer PRIMARY KEY, a text); CREATE INDEX ON t (a); CREATE TABLE child (up integer REFERENCES t)`},
	{name: "a foreign key that was never validated", gone: 2, sql: `CREATE TABLE other (id integer PRIMARY KEY); CREATE TABLE t (id integer, o integer, p integer REFERENCES other);
INSERT INTO t VALUES (-1, 7); ALTER TABLE t ADD CONSTRAINT late FOREIGN KEY (o) REFERENCES other MATCH FULL ON UPDATE SET NULL NOT VALID; COMMENT ON CONSTRAINT late ON t IS 'late'`},
	{name: "deferrable keys, exclusion constraints, views", kept: "a view or a rule needs it", gone: 1, sql: `CREATE TABLE t (id integer PRIMARY KEY, a integer UNIQUE DEFERRABLE, p point, EXCLUDE USING gist (p WITH ~=)); CREATE INDEX ON t (a);
CREATE VIEW v AS SELECT id, a FROM t GROUP BY id`},
	{name: "a foreign key whose triggers are off, and its key", kept: "stays and relies on it", gone: 0, sql: `CREATE TABLE t (id integer PRIMARY KEY, up integer REFERENCES t); ALTER TABLE t DISABLE TRIGGER ALL`},
	{name: "a partitioned table", gone: 13, sql: `CREATE TABLE other (id integer PRIMARY KEY);
CREATE TABLE t (id integer, a text, o integer REFERENCES other, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (10); CREATE TABLE t2 (id integer NOT NULL, a text, o integer); CREATE INDEX own ON t2 (a DESC); CREATE INDEX named ON t2 (a);
ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (10) TO (MAXVALUE); CREATE INDEX whole ON t (a); COMMENT ON INDEX named IS 'attached by name'; ALTER TABLE t1 ADD CONSTRAINT mine UNIQUE (id, a);
CREATE INDEX ON t (o); ALTER TABLE t2 ADD CONSTRAINT lone FOREIGN KEY (id) REFERENCES other NOT VALID`},
	{name: "a partition of a partition", gone: 6, sql: `CREATE TABLE t (id integer, a text) PARTITION BY RANGE (id);
CREATE TABLE m PARTITION OF t FOR VALUES FROM (MINVALUE) TO (MAXVALUE) PARTITION BY RANGE (id); CREATE TABLE m1 PARTITION OF m FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE INDEX ON t (a); ALTER TABLE t ADD UNIQUE (id)`},
	{name: "a partition by itself", table: "m1", gone: 1, kept: "of the table that this is a partition of", sql: `CREATE TABLE t (id integer, a text) PARTITION BY RANGE (id);
CREATE TABLE m1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (MAXVALUE); CREATE INDEX ON t (a); CREATE INDEX ON m1 (id)`},
}

func TestTableHasAgainWhatALoadDropped(t *testing.T) {
	ctx := context.Background()
	d := postgrestest.Shared(t).Database(t)
	for i, c := range definitions {
		t.Run(c.name, func(t *testing.T) {
			config := configOf(d)
			config.Schema = fmt.Sprintf("S %d", i)
			inSchema := fmt.Sprintf(`SET search_path = "%s"; `, config.Schema)
			d.Exec(t, fmt.Sprintf(`CREATE SCHEMA "%s"; `, config.Schema)+inSchema+c.sql)
			tg := openTest(t, config)
			table := "t"
			if c.table != "" {
				table = c.table
			}
			before := madeIn(t, d, config.Schema)
			shown, err := tg.Catalog(ctx)
			if err != nil {
				t.Fatal(err)
			}
			l := existingLoad(t, tg, table)
			var keeps []string
			for _, o := range l.Objects {
				keeps = append(keeps, o.Keep)
			}
			if !strings.Contains(strings.Join(keeps, "\n"), c.kept) {
				t.Errorf("nothing stays because %q: %q", c.kept, keeps)
			}
			w := beginTest(t, tg, l, 1)
			if got := d.Ask(t, inSchema+"SELECT count(*) FROM penstock_ddl"); got != fmt.Sprint(c.gone) {
				t.Errorf("%s objects are away, want %d: %s", got, c.gone, d.Ask(t, inSchema+"SELECT kind, object_name FROM penstock_ddl"))
			}
			if c.gone > 0 && madeIn(t, d, config.Schema) == before {
				t.Error("nothing is dropped")
			}
			// What the journal explains is no drift.
			during, err := tg.Catalog(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := marshal(t, during), marshal(t, shown); got != want {
				t.Errorf("the catalog while things are away has %s", difference(got, want))
			}
			if _, err := loadChunk(w, marker(l, 1), rowsOf(t, l, []string{"1"})); err != nil && c.gone > 0 {
				t.Logf("the row: %v", err) // a NOT NULL column: what is tested is the table
				d.Exec(t, inSchema+"UPDATE penstock_chunk SET state = 'done'")
			}
			if err := tg.Finish(ctx, l); err != nil {
				t.Fatal(err)
			}
			if after := madeIn(t, d, config.Schema); after != before {
				t.Errorf("after the load:\ngot\n%s\nwant\n%s", after, before)
			}
			if got := d.Ask(t, inSchema+"SELECT count(*) FROM penstock_ddl"); got != "0" {
				t.Errorf("%s lines are left in the journal", got)
			}
		})
	}
}

// difference is the first line in which two texts differ, with its surroundings.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(g), len(w)) && g[i] == w[i] {
		i++
	}
	part := func(s []string) string { return strings.Join(s[min(max(i-8, 0), len(s)):min(i+8, len(s))], "\n") }
	return "\n" + part(g) + "\nand not\n" + part(w)
}

func marshal(t testing.TB, c *schema.Catalog) string {
	t.Helper()
	for i := range c.Tables {
		c.Tables[i].Stats = nil
	}
	b, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
