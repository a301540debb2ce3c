package postgres

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// state is one state of a database, to be read.
type state struct {
	cat  *schema.Catalog
	snap connectors.Snapshot
}

func stateOf(t testing.TB, d *postgrestest.Database) state {
	t.Helper()
	src, err := openSource(t.Context(), sourceOf(d), connectors.Env{Pipeline: "test"})
	if err != nil {
		t.Fatal(err)
	}
	cat, err := src.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Snapshot(t.Context(), connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close(); src.Close() })
	return state{cat, snap}
}

// read reads a table by one chunk; bad rows are given as texts.
func (s state) read(t testing.TB, table string) (rows [][]string, bad []string) {
	t.Helper()
	tab, snap := s.cat.Find(schema.Name{Name: table}), s.snap
	x := connectors.Extract{Table: tab, Split: connectors.Split{Kind: connectors.SplitNone, Count: 1, ChunkRows: 1000},
		Bad: func(b connectors.BadRow) error { bad = append(bad, b.String()); return nil }}
	var types []schema.Type
	for _, c := range tab.Columns {
		if c.Problem != "" {
			t.Fatalf("column %s: %s", c.Name, c.Problem)
		}
		x.Columns, types = append(x.Columns, c.Name), append(types, c.Type)
	}
	chunks, err := snap.Split(t.Context(), tab, x.Split)
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.OpenChunk(t.Context(), x, chunks[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pool := batch.NewPool(types, batch.Limits{Rows: 70})
	for {
		b := pool.Builder()
		if err := r.Read(t.Context(), b); errors.Is(err, io.EOF) {
			return rows, bad
		} else if err != nil {
			t.Fatal(err)
		}
		for sealed, i := b.Seal(), 0; i < sealed.Rows; i++ {
			var row []string
			for _, c := range sealed.Columns {
				v := "NULL"
				if !c.IsNull(i) {
					v = string(batch.AppendText(nil, c, i))
				}
				row = append(row, v)
			}
			rows = append(rows, row)
		}
	}
}

// everyType is each type with values at its edges, as a list of SQL.
var everyType = []struct {
	native string
	values string // of SQL
	want   string // "" = as the server writes it
}{
	{"boolean", "true, false, NULL", ""},
	{"smallint", "-32768, 0, 32767, NULL", ""},
	{"integer", "-2147483648, 0, 2147483647, NULL", ""},
	{"bigint", "-9223372036854775808, 0, 9223372036854775807", ""},
	{"oid", "0, 4294967295", ""},
	{"real", "'NaN', 'Infinity', '-Infinity', -0.0, 0.1, 3.4e38, 1e-45", "NaN, Infinity, -Infinity, 0, 0.1, 3.4e+38, 1e-45"},
	{"double precision", "'NaN', '-Infinity', 0.1, 1.7976931348623157e308, 5e-324", "NaN, -Infinity, 0.1, 1.7976931348623157e+308, 5e-324"},
	{"numeric(10,2)", "0, 1.5, -0.01, 12345678.90, 99999999.99, -99999999.99, 100, 10000, 20000.5, NULL", ""},
	{"numeric(38,0)", "0, 99999999999999999999999999999999999999, -12345678901234567890123456789012345678, 10000000000000000000000000000000000000, 1", ""},
	{"numeric(38,38)", "0, 0.99999999999999999999999999999999999999, -0.00000000000000000000000000000000000001", ""},
	{"numeric(38,37)", "-9.9999999999999999999999999999999999999, 0.0000000000000000000000000000000000001, 1", ""},
	{"numeric(38,2)", "999999999999999999999999999999999999.99, -999999999999999999999999999999999999.01", ""},
	{"numeric(5,-2)", "1234500, -100, 0", ""},
	{"numeric(3,5)", "0.00999, -0.00001, 0", ""},
	{"numeric", "0, 0.00, 1.10, -12345678901234567890123456789012345678901234567890.000100, 'NaN', 'Infinity', '-Infinity', 1e20, 1e-20, 10000, 0.0001, 100000000.00000001", ""},
	{"numeric(1000,500)", "1, -0." + strings.Repeat("0", 499) + "1", ""},
	{"text", "'', 'ä € 😀', E'tab\\tnew\\nback\\\\', NULL, repeat('x', 300000)", ""},
	{"varchar(3)", "'', 'abc', 'ä  '", ""},
	{"char(5)", "'', 'ab', ' a'", ""},
	{`"char"`, "'a', ''", ""},
	{"name", "'a name'", ""},
	{"bytea", `'', '\x00ff5c'`, ""},
	{"uuid", "'00112233-4455-6677-8899-aabbccddeeff'", ""},
	{"date", "'2026-02-28', '0001-01-01', '4713-11-24 BC', '0044-03-15 BC', '9999-12-31', '10000-01-01', '5874897-12-31'", "2026-02-28, 0001-01-01, -4712-11-24, -0043-03-15, 9999-12-31, 10000-01-01, 5874897-12-31"},
	{"time", "'00:00', '24:00:00', '23:59:59.999999', '12:00:00.5'", ""},
	{"timestamp", "'2026-01-01 00:00:00', '4713-11-24 00:00:00 BC', '1969-12-31 23:59:59.999999', '294246-12-31 23:59:59'", "2026-01-01 00:00:00, -4712-11-24 00:00:00, 1969-12-31 23:59:59.999999, 294246-12-31 23:59:59"},
	{"timestamptz(3)", "'2026-01-01 02:00:00.123+02'", "2026-01-01 00:00:00.123+00:00"},
	{"timetz", "'12:00:00+02', '24:00:00-15:59:59'", ""},
	{"interval", "'1 year -2 days 03:04:05.000006', '-178000000 years', '0'", ""},
	{"json", `'{"a" : 1, "a":2}', 'null'`, ""},
	{"jsonb", `'{"b":1,"a":[1.10]}'`, ""},
	{"integer[]", "'{}', '{1,NULL,3}', '{{1,2},{3,4}}', '[0:1]={1,2}'", ""},
	{"text[]", `ARRAY['a"b', 'c,d', NULL, '', E'\\'], NULL`, ""},
	{"int4range", "'empty', '[1,5)', '(,)'", ""},
	{"nummultirange", "'{[1,2),[3.5,4]}'", ""},
	{"inet", "'10.0.0.1/8', '::1'", ""}, {"cidr", "'10.0.0.0/8'", ""}, {"macaddr", "'08:00:2b:01:02:03'", ""},
	{"bit(3)", "B'101'", ""}, {"bit varying", "B'', B'1101'", ""},
	{"money", "12.34, -1234567.89", ""},
	{"xml", "'<a>x</a>', 'text'", ""},
	{"tsvector", "'a:1A fat:2'", ""}, {"tsquery", "'a & b:*'", ""}, {"point", "'(1,2.5)'", ""}, {"pg_lsn", "'16/B374D848'", ""}, {"regclass", "'pg_class'", ""},
}

// Values that are read are those that the server writes, but for the forms in
// which the canonical text differs from it.
func TestValuesReadAreThoseOfTheServer(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	var sql strings.Builder
	for i, c := range everyType {
		fmt.Fprintf(&sql, "CREATE TABLE t%d (n serial, v %s);\n", i, c.native)
		for _, v := range splitValues(c.values) {
			fmt.Fprintf(&sql, "INSERT INTO t%d (v) VALUES ((%s)::%s);\n", i, v, c.native)
		}
	}
	d.Exec(t, sql.String())
	s := stateOf(t, d)
	for i, c := range everyType {
		rows, bad := s.read(t, fmt.Sprintf("t%d", i))
		var got, want []string
		for _, r := range rows {
			got = append(got, r[1])
		}
		if c.want != "" {
			want = strings.Split(c.want, ", ")
		} else {
			for _, r := range d.Query(t, fmt.Sprintf("SET TimeZone = 'UTC'; SET lc_monetary = 'C'; SELECT v::text FROM t%d ORDER BY n", i)) {
				switch {
				case r[0] == nil:
					want = append(want, "NULL")
				case strings.HasPrefix(c.native, "char("):
					want = append(want, fmt.Sprintf("%-5s", r[0])) // the cast takes the padding off
				default:
					want = append(want, string(r[0]))
				}
			}
		}
		if g, w := strings.Join(got, ", "), strings.Join(want, ", "); g != w || len(bad) > 0 {
			t.Errorf("%s:\n got %.400s\nwant %.400s\n bad %v", c.native, g, w, bad)
		}
	}
}

// splitValues takes a list of SQL literals apart at the commas outside of quotes
// and brackets.
func splitValues(s string) []string {
	var out []string
	depth, quoted, from := 0, false, 0
	for i, r := range s {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		case r == ',' && depth == 0:
			out, from = append(out, s[from:i]), i+1
		}
	}
	return append(out, s[from:])
}

// What no batch holds is told, with its column, and the row is left out.
func TestValuesThatNoBatchHoldsAreBadRows(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, `CREATE TABLE t (n integer, x text, d date, ts timestamp, num numeric(5,2), b boolean, u uuid);
INSERT INTO t SELECT i, 'x' || i, '2026-01-01', '2026-01-01', 1, true, '00112233-4455-6677-8899-aabbccddeeff' FROM generate_series(1, 200) i;
UPDATE t SET d = 'infinity' WHERE n = 3; UPDATE t SET ts = '-infinity' WHERE n = 65; UPDATE t SET num = 'NaN' WHERE n = 130; UPDATE t SET ts = '294276-12-31 23:59:59' WHERE n = 131`)
	rows, bad := stateOf(t, d).read(t, "t")
	if len(rows) != 196 || len(bad) != 4 {
		t.Errorf("got %d rows and %d bad ones, want 196 and 4: %v", len(rows), len(bad), bad)
	}
	for _, r := range rows {
		if r[1] != "x"+r[0] || r[2] != "2026-01-01" || r[4] != "1.00" || r[5] != "true" {
			t.Errorf("a row beside a bad one: %v", r)
		}
	}
	for i, want := range []string{"column d: infinity", "column ts: infinity", "column num: NaN", "column ts: a time after the year 294246"} {
		if i < len(bad) && !strings.Contains(strings.Join(bad, "\n"), want) {
			t.Errorf("no bad row says %q: %v", want, bad)
		}
	}
}
