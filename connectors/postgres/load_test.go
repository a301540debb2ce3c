package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/internal/workload"
)

var modes = Definition().Target.Capabilities.Modes

// openTest opens a target over the server's socket and claims pipeline p.
func openTest(t testing.TB, config *TargetConfig) connectors.Target {
	t.Helper()
	tg, err := openTarget(context.Background(), config, connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	if _, err := tg.Claim(context.Background(), connectors.Owner{Run: "r", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	return tg
}

// loadOf describes a table that the run creates.
func loadOf(t testing.TB, name, mode string, columns ...connectors.TargetColumn) connectors.Load {
	t.Helper()
	for i, c := range columns {
		typ, err := types{}.Parse(c.Native)
		if err != nil {
			t.Fatal(err)
		}
		columns[i].Type = typ
	}
	l := connectors.Load{Source: name, Table: schema.Name{Name: name}, Columns: columns, Create: true, Existing: connectors.ExistingError, Mode: mode, Digest: "d", Definition: "{}"}
	return explained(l)
}

func explained(l connectors.Load) connectors.Load {
	l.Prepare, l.Finish = nil, nil
	for _, s := range (explainer{}).Prepare(l) {
		l.Prepare = append(l.Prepare, s.SQL)
	}
	for _, s := range (explainer{}).Finish(l) {
		l.Finish = append(l.Finish, s.SQL)
	}
	l.Insert = insertRows(l).SQL
	return l
}

func pending(n int) (out []ranges.Chunk) {
	for i := range n {
		out = append(out, ranges.Chunk{ID: i + 1, Range: 1})
	}
	return out
}

func beginTest(t testing.TB, tg connectors.Target, l connectors.Load, chunks int) connectors.BulkWriter {
	t.Helper()
	if err := tg.Begin(context.Background(), l, connectors.Start{Generation: 1, Chunks: pending(chunks)}); err != nil {
		t.Fatal(err)
	}
	w, err := tg.OpenLoad(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func marker(l connectors.Load, chunk int) connectors.Marker {
	return connectors.Marker{Table: l.Source, Generation: 1, Chunk: chunk}
}

// loadChunk loads one chunk, and returns the first error.
func loadChunk(w connectors.BulkWriter, m connectors.Marker, bs ...*batch.Batch) (int64, error) {
	ctx := context.Background()
	if done, err := w.Begin(ctx, m); err != nil || done {
		return 0, fmt.Errorf("begin: done %v: %w", done, err)
	}
	for _, b := range bs {
		if err := w.Write(ctx, b, nil); err != nil {
			_ = w.Abort()
			return 0, err
		}
	}
	return w.Commit(ctx, m)
}

// rowsOf parses rows of canonical texts; "NULL" is NULL.
func rowsOf(t testing.TB, l connectors.Load, rows ...[]string) *batch.Batch {
	t.Helper()
	var typs []schema.Type
	for _, c := range l.Columns {
		typs = append(typs, c.Type)
	}
	b := batch.NewPool(typs, batch.Limits{}).Builder()
	for _, r := range rows {
		for i, v := range r {
			if v == "NULL" {
				b.Column(i).AppendNull()
			} else if err := batch.ParseText(b.Column(i), []byte(v)); err != nil {
				t.Fatalf("%q: %v", v, err)
			}
		}
	}
	return b.Seal()
}

// natives are types with values as the server writes them, beside those that
// conformance loads: the ones without a binary form among them.
var natives = []struct {
	native string
	values []string
}{
	{"jsonb", []string{`{"a": 1}`, `[]`}},
	{"oid", []string{"0", "4294967295"}},
	{"name", []string{"a name", ""}},
	{`"char"`, []string{"x", ""}},
	{"inet", []string{"10.0.0.1", "::1"}},
	{"interval", []string{"1 year 2 mons -3 days", "-00:00:01.5"}},
	{"bit(5)", []string{"10101"}},
	{"bit varying(8)", []string{"1", "10101010"}},
	{"integer[]", []string{"{1,NULL,3}", "{{1,2},{3,4}}", "{}"}},
	{"text[]", []string{`{"a b","c\"d",NULL}`}},
	{"numeric(5,2)[]", []string{"{1.50,2.25}"}},
	{"time with time zone", []string{"12:00:00+02"}},
	{"int4range", []string{"[1,5)", "empty"}},
	{"point", []string{"(1,2.5)"}},
	{"xml", []string{"<a>b</a>"}},
	{"float(24)", []string{"1.5"}},
	{"character varying(3)", []string{"äöü", ""}},
	{"timestamp(3) without time zone", []string{"2026-01-02 03:04:05.123"}},
	{"numeric", []string{"NaN", "Infinity", "-Infinity", "100000000", "0.00010000", "-12345678901234567890.00001", "0", "0.000"}},
	{"numeric(6,2)", []string{"1234.50", "-0.01", "0.00"}},
}

func TestEveryNativeTypeRoundTripsInEveryMode(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	tg := openTest(t, configOf(d))
	for i, n := range natives {
		for _, mode := range modes {
			t.Run(n.native+"/"+mode, func(t *testing.T) {
				l := loadOf(t, fmt.Sprintf("t%d_%s", i, mode), mode, connectors.TargetColumn{Name: "id", Native: "integer"}, connectors.TargetColumn{Name: "v", Native: n.native, Nullable: true})
				w := beginTest(t, tg, l, 1)
				var rows [][]string
				var want []string
				for k, v := range append(n.values, "NULL", n.values[0]) {
					rows = append(rows, []string{fmt.Sprint(k), v})
					want = append(want, strings.ReplaceAll(fmt.Sprintf("%d|%s", k, v), "|NULL", "|<null>"))
				}
				if _, err := loadChunk(w, marker(l, 1), rowsOf(t, l, rows...)); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range d.Query(t, "SELECT id, v FROM "+quoteName(l.Table)+" ORDER BY id") {
					v := string(r[1])
					if r[1] == nil {
						v = "<null>"
					}
					got = append(got, string(r[0])+"|"+v)
				}
				if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
					t.Errorf("got\n%s\nwant\n%s", g, w)
				}
			})
		}
	}
}

// presetLoad is a made-up table as the planner would describe it.
func presetLoad(t testing.TB, name, mode string) (connectors.Load, workload.Table) {
	t.Helper()
	p := workload.Find(name)
	var columns []connectors.TargetColumn
	for _, c := range p.Columns {
		native, err := types{}.Render(c.Type)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, connectors.TargetColumn{Name: c.Name, Native: native})
	}
	l := loadOf(t, name, mode, columns...)
	l.Key, l.Indexes = p.Key, "defer"
	return explained(l), workload.Table{Preset: p, Seed: 1, Number: 1}
}

func presetBatch(w workload.Table, from int64, n int) *batch.Batch {
	var typs []schema.Type
	var columns []int
	for i, c := range w.Preset.Columns {
		typs, columns = append(typs, c.Type), append(columns, i)
	}
	b := batch.NewPool(typs, batch.Limits{}).Builder()
	w.Fill(b, columns, from, n)
	return b.Seal()
}

// The same rows by every mode, and by COPY in text, are the same table.
func TestModesLoadEqualTables(t *testing.T) {
	const rows = 20_000
	for _, preset := range []string{"big_table", "firenibble"} {
		first := ""
		for _, mode := range append(modes, "text") {
			d := postgrestest.Shared(t).Database(t)
			tg := openTest(t, configOf(d))
			l, made := presetLoad(t, preset, mode)
			if mode == "text" {
				l.Mode = "copy"
			}
			w := beginTest(t, tg, l, 2)
			if mode == "text" {
				c := w.(*writer).enter.(*copier)
				c.binary, c.sql = false, strings.Replace(c.sql, "binary", "text", 1)
			}
			for k := range 2 {
				if n, err := loadChunk(w, marker(l, k+1), presetBatch(made, int64(k*rows/2+1), rows/4), presetBatch(made, int64(k*rows/2+rows/4+1), rows/4)); err != nil || n != rows/2 {
					t.Fatalf("%s by %s: %d rows, %v", preset, mode, n, err)
				}
			}
			if err := tg.Finish(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			got := d.Ask(t, fmt.Sprintf("SELECT count(*), md5(string_agg(t::text, ',' ORDER BY %s)) FROM %s AS t", quoteList(l.Key), quoteName(l.Table)))
			if first == "" {
				first = got
			}
			if got != first || !strings.HasPrefix(got, fmt.Sprint(rows)) {
				t.Errorf("%s by %s: %s, by %s: %s", preset, mode, got, modes[0], first)
			}
			if key := d.Ask(t, "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conrelid = '"+quoteName(l.Table)+"'::regclass"); key != "PRIMARY KEY ("+l.Key[0]+")" {
				t.Errorf("%s by %s: key %q", preset, mode, key)
			}
		}
	}
}

// More than one COPY fits into a chunk, and all of them are one transaction.
func TestChunkOfSeveralCopiesIsOneTransaction(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	tg := openTest(t, configOf(d))
	l := loadOf(t, "wide", "copy", connectors.TargetColumn{Name: "id", Native: "integer"}, connectors.TargetColumn{Name: "v", Native: "text"})
	w := beginTest(t, tg, l, 2)
	text := strings.Repeat("x", 1<<20)
	var rows [][]string
	for i := range 20 {
		rows = append(rows, []string{fmt.Sprint(i), text})
	}
	bs := []*batch.Batch{rowsOf(t, l, rows[:9]...), rowsOf(t, l, rows[9:]...)}
	ctx := context.Background()
	if _, err := w.Begin(ctx, marker(l, 1)); err != nil {
		t.Fatal(err)
	}
	for _, b := range bs {
		if err := w.Write(ctx, b, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Ask(t, "SELECT count(*) FROM wide"); got != "0" {
		t.Errorf("%s rows are there before the commit", got)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if n, err := loadChunk(w, marker(l, 1), bs...); err != nil || n != 20 {
		t.Errorf("%d rows, %v", n, err)
	}
	if got := d.Ask(t, "SELECT count(*), sum(length(v)) FROM wide"); got != fmt.Sprintf("20|%d", 20<<20) {
		t.Errorf("rows and characters: %s", got)
	}
}

func TestErrorsOfTheServerHaveTheirClass(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, `CREATE TABLE parent (id integer PRIMARY KEY); INSERT INTO parent VALUES (1);
CREATE TABLE t (id integer PRIMARY KEY, n integer CHECK (n < 10), v varchar(3), p integer REFERENCES parent);
CREATE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.n = 7 THEN RETURN NULL; END IF; RETURN NEW; END';
CREATE TRIGGER drop_row BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION drop_row()`)
	tg := openTest(t, configOf(d))
	tests := []struct {
		name string
		rows [][]string
		want connectors.Class
		says string
	}{
		{"twice", [][]string{{"1", "1", "a", "1"}, {"1", "1", "a", "1"}}, connectors.Data, "(id)=(1)"},
		{"check", [][]string{{"2", "11", "a", "1"}}, connectors.Data, "t_n_check"},
		{"too long", [][]string{{"3", "1", "abcd", "1"}}, connectors.Data, "varying(3)"},
		{"no parent", [][]string{{"4", "1", "a", "2"}}, connectors.Data, "t_p_fkey"},
		{"taken by a trigger", [][]string{{"5", "7", "a", "1"}}, connectors.Mismatch, "trigger"},
	}
	for _, mode := range modes {
		l := loadOf(t, "t", mode, connectors.TargetColumn{Name: "id", Native: "integer"}, connectors.TargetColumn{Name: "n", Native: "integer", Nullable: true},
			connectors.TargetColumn{Name: "v", Native: "character varying(3)", Nullable: true}, connectors.TargetColumn{Name: "p", Native: "integer", Nullable: true})
		l.Source, l.Create, l.Columns[2].Type.Length = "t "+mode, false, 3
		w := beginTest(t, tg, explained(l), 1)
		for _, c := range tests {
			_, err := loadChunk(w, marker(l, 1), rowsOf(t, connectors.Load{Columns: []connectors.TargetColumn{l.Columns[0], l.Columns[1], {Type: schema.Of(schema.Text)}, l.Columns[3]}}, c.rows...))
			if got := connectors.ClassOf(err); err == nil || got != c.want || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s by %s: class %s, %v; want %s and %q", c.name, mode, got, err, c.want, c.says)
			}
		}
		if _, err := loadChunk(w, marker(l, 1)); err != nil {
			t.Errorf("%s: the writer does not go on: %v", mode, err)
		}
	}
	if got := d.Ask(t, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("%s rows of refused chunks are there", got)
	}
}

func TestTableThatIsNotThePlannedOneIsASchemaError(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, "CREATE TABLE t (id bigint, v text, g integer GENERATED ALWAYS AS (1) STORED, j jsonb)")
	tg := openTest(t, configOf(d))
	for _, c := range []connectors.TargetColumn{{Name: "id", Native: "integer"}, {Name: "absent", Native: "integer"}, {Name: "v", Native: "varchar(5)"}, {Name: "g", Native: "integer"}, {Name: "j", Native: "json"}} {
		l := loadOf(t, "t", "copy", c)
		err := tg.Begin(context.Background(), l, connectors.Start{Generation: 1, Chunks: pending(1)})
		if got := connectors.ClassOf(err); err == nil || got != connectors.Schema {
			t.Errorf("%s %s: class %s, %v; want schema", c.Name, c.Native, got, err)
		}
	}
	config := configOf(d)
	config.Schema = "absent"
	other, err := openTarget(context.Background(), config, connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, err = other.Claim(context.Background(), connectors.Owner{})
	if got := connectors.ClassOf(err); got != connectors.Schema || !strings.Contains(err.Error(), "CREATE SCHEMA") {
		t.Errorf("a schema that is not there: class %s, %v", got, err)
	}
}

func TestCatalogTellsKeysIndexesAndDomains(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, `CREATE SCHEMA other; CREATE DOMAIN cents AS numeric(10,2) NOT NULL; CREATE TYPE mood AS ENUM ('sad');
CREATE TABLE other.parent ("od,d ""name" integer, b integer, PRIMARY KEY (b, "od,d ""name"));
CREATE TABLE t (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, c cents, u text UNIQUE, m mood, d date DEFAULT now(), g integer GENERATED ALWAYS AS (id + 1) STORED, x integer, y integer,
  FOREIGN KEY (y, x) REFERENCES other.parent);
CREATE INDEX t_x ON t (x, y DESC) WHERE x > 0; COMMENT ON COLUMN t.c IS 'money';
CREATE VIEW v AS SELECT id FROM t; CREATE TABLE p (id integer) PARTITION BY RANGE (id);
INSERT INTO t (c, u) VALUES (1, 'a'); ANALYZE t`)
	cat, err := openTest(t, configOf(d)).Catalog(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := cat.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	for _, want := range []string{
		`"primary_key": {
        "name": "parent_pkey",
        "columns": [
          "b",
          "od,d \"name"
        ]`, `"type": "numeric(10,2)"`, `"comment": "money"`, `"identity": true`, `"generated": "(id + 1)"`, `"default": "now()"`,
		`"name": "t_u_key"`, `WHERE (x > 0)`, `"storage": "partitioned"`, `"view": true`, `"rows": 1`, `"to_columns": [
            "b",`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the catalog lacks %s", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	tab := cat.Find(schema.Name{Name: "t"})
	if c := tab.Column("m"); c == nil || c.Native != "enum mood" || c.Problem != "" {
		t.Errorf("an enum: %+v, want enum mood", c)
	}
	if c := tab.Column("c"); c.Nullable {
		t.Errorf("a domain that is NOT NULL: %+v", c)
	}
}

func TestSequencesGoOnAfterTheGreatestValueAndNeverBack(t *testing.T) {
	ctx := context.Background()
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, `CREATE SCHEMA "it's"; CREATE TABLE "it's"."se""rial" ("the id" serial, v text);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY, v text); CREATE TABLE ahead (id integer GENERATED BY DEFAULT AS IDENTITY, v text);
SELECT setval('ahead_id_seq', 500); CREATE TABLE owned_by_none (id integer, v text); CREATE TABLE empty (id serial, v text)`)
	tg := openTest(t, configOf(d))
	for _, c := range []struct {
		table  schema.Name
		id     string
		native string
		rows   [][]string
		want   string
	}{
		{schema.Name{Schema: "it's", Name: `se"rial`}, "the id", "integer", [][]string{{"7", "a"}, {"41", "b"}}, "42"},
		{schema.Name{Name: "identity"}, "id", "bigint", [][]string{{"41", "a"}}, "42"},
		{schema.Name{Name: "ahead"}, "id", "integer", [][]string{{"41", "a"}}, "501"},
		{schema.Name{Name: "owned_by_none"}, "id", "integer", [][]string{{"41", "a"}}, ""},
		{schema.Name{Name: "empty"}, "id", "integer", nil, "1"},
	} {
		l := loadOf(t, c.table.Name, "copy", connectors.TargetColumn{Name: c.id, Native: c.native, Numbered: true}, connectors.TargetColumn{Name: "v", Native: "text", Nullable: true})
		l.Table, l.Create = c.table, false
		l = explained(l)
		w := beginTest(t, tg, l, 1)
		if _, err := loadChunk(w, marker(l, 1), rowsOf(t, l, c.rows...)); err != nil {
			t.Fatal(err)
		}
		if err := tg.Finish(ctx, l); err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			continue
		}
		d.Exec(t, "INSERT INTO "+quoteName(c.table)+" (v) VALUES ('next')")
		if got := d.Ask(t, "SELECT "+quote(c.id)+" FROM "+quoteName(c.table)+" WHERE v = 'next'"); got != c.want {
			t.Errorf("%s: the next number is %s, want %s", c.table, got, c.want)
		}
	}
}
