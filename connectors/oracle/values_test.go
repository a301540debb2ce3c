package oracle_test

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/connectors/oracle"
	"penstock/connectors/oracle/oracletest"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// TestEveryTypeKeepsItsValues sends each type's edges over the wire, alternating
// with NULL, and compares what comes out with what the model holds.
func TestEveryTypeKeepsItsValues(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 6000)
	tests := []struct {
		typ    string
		values []string // as the model takes them
		want   []string // in canonical text; nil: the same
	}{
		{"NUMBER", []string{"0", "-1", "123.456", "1E40", "-0.00000001", strings.Repeat("9", 38), strings.Repeat("9", 40), "1E-32"},
			[]string{"0", "-1", "123.456", "1" + strings.Repeat("0", 40), "-0.00000001", strings.Repeat("9", 38), strings.Repeat("9", 40), "0." + strings.Repeat("0", 31) + "1"}},
		{"NUMBER(38)", []string{strings.Repeat("9", 38), "-" + strings.Repeat("9", 38), "100"}, nil},
		{"NUMBER(10,2)", []string{"99999999.99", "-0.01", "5"}, []string{"99999999.99", "-0.01", "5.00"}},
		{"NUMBER(5,-2)", []string{"1234500", "-100", "0"}, nil},
		{"NUMBER(3,5)", []string{"0.00123", "-0.00999"}, nil},
		{"FLOAT(126)", []string{"3.14159265358979323846264338327950288419", "-1E-100"}, []string{"3.14159265358979323846264338327950288419", "-0." + strings.Repeat("0", 99) + "1"}},
		{"BINARY_FLOAT", []string{"1.5", "-3.4028235e+38", "NaN", "+Inf", "-Inf"}, []string{"1.5", "-3.4028235e+38", "NaN", "Infinity", "-Infinity"}},
		{"BINARY_DOUBLE", []string{"0.1", "-5e-324", "1.7976931348623157e+308", "NaN", "-Inf"}, []string{"0.1", "-5e-324", "1.7976931348623157e+308", "NaN", "-Infinity"}},
		{"VARCHAR2(4000 CHAR)", []string{" ", "NULL", "ünï 你好 😀", "tab\tand\nline", long[:4000]}, nil},
		{"NVARCHAR2(2000)", []string{"ünï 你好 😀", "x", long[:2000]}, nil},
		{"CHAR(5 CHAR)", []string{"ab", "abcde"}, []string{"ab   ", "abcde"}},
		{"NCHAR(3)", []string{"é"}, []string{"é  "}},
		{"LONG", []string{"a", long}, nil},
		{"RAW(2000)", []string{"00", "00ff27", long[:4000]}, []string{`\x00`, `\x00ff27`, `\x` + long[:4000]}},
		{"LONG RAW", []string{"c0de", long}, []string{`\xc0de`, `\x` + long}},
		{"CLOB", []string{"", "a", "ünï 你好 😀", long}, nil},
		{"NCLOB", []string{"", "你好 😀", long}, nil},
		{"BLOB", []string{"", "00", long}, []string{`\x`, `\x00`, `\x` + long}},
		{"DATE", []string{"2026-03-29 02:30:00", "2024-03-10 02:30:00", "9999-12-31 23:59:59", "0001-01-01", "1582-10-04 12:00:00", "2000-02-29", "-4712-01-01"},
			[]string{"2026-03-29 02:30:00", "2024-03-10 02:30:00", "9999-12-31 23:59:59", "0001-01-01 00:00:00", "1582-10-04 12:00:00", "2000-02-29 00:00:00", "-4711-01-01 00:00:00"}},
		{"TIMESTAMP(9)", []string{"2026-03-29 02:30:00.123456789", "1969-12-31 23:59:59.999999999", "-0001-06-01 00:00:00.5"}, []string{"2026-03-29 02:30:00.123456789", "1969-12-31 23:59:59.999999999", "0000-06-01 00:00:00.5"}},
		{"TIMESTAMP(6)", []string{"2026-01-02 03:04:05.000001"}, nil},
		{"TIMESTAMP(6) WITH TIME ZONE", []string{"2026-01-02 03:04:05.5+05:30", "2026-01-02 03:04:05-08:00", "2026-01-02 03:04:05+00:00"}, []string{"2026-01-01 21:34:05.5+00:00", "2026-01-02 11:04:05+00:00", "2026-01-02 03:04:05+00:00"}},
		{"TIMESTAMP(3) WITH LOCAL TIME ZONE", []string{"2026-07-01 00:00:00.25+02:00"}, []string{"2026-06-30 22:00:00.25+00:00"}},
		{"INTERVAL YEAR(2) TO MONTH", []string{"-01-05", "+00-00"}, nil},
		{"INTERVAL DAY(2) TO SECOND(6)", []string{"-00 05:00:00.000001", "+99 23:59:59.999999"}, nil},
		{"XMLTYPE", []string{"<a>ü</a>"}, nil},
		{"JSON", []string{`{"a": [1, null]}`}, nil},
		{"VECTOR", []string{"[1.0,2.5]"}, nil},
		{"BOOLEAN", []string{"TRUE", "FALSE"}, []string{"true", "false"}},
		{"ROWID", []string{"AAASZHAAEAAAAFXAAA"}, nil},
		{"UROWID(4000)", []string{"*BAMAAJMCwQL+"}, nil},
	}
	db := oracletest.NewDatabase()
	for i, c := range tests {
		for kind, unsplit := range []bool{false, true} {
			tab := db.Create(&oracletest.Table{Owner: "T", Name: names[i*2+kind], View: unsplit, Columns: []oracletest.Column{{Name: "ID", Type: "NUMBER(9)", NotNull: true}, {Name: "V", Type: c.typ}}})
			for n, v := range c.values {
				db.Insert(tab, 0, []any{2 * n, v}, []any{2*n + 1, nil})
			}
		}
	}
	src := open(t, double(t, db))
	for i, c := range tests {
		t.Run(c.typ, func(t *testing.T) {
			for kind := range 2 {
				want := map[string]string{}
				for n := range c.values {
					v := c.values[n]
					if c.want != nil {
						v = c.want[n]
					}
					want[number(2*n)], want[number(2*n+1)] = v, conformance.Null
				}
				got := map[string]string{}
				for _, r := range conformance.ReadAll(t, src, schema.Name{Schema: "T", Name: names[i*2+kind]}, []string{"ID", "V"}) {
					got[r[0]] = r[1]
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got  %.300q\nwant %.300q", got, want)
				}
			}
		})
	}
}

// names are those of tables for which tests care for no other.
var names = func() (out []string) {
	for i := range 200 {
		out = append(out, "T"+number(i))
	}
	return out
}()

func number(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return number(i/10) + number(i%10)
}

func TestEmptyTextIsNull(t *testing.T) {
	db := oracletest.NewDatabase()
	tab := db.Create(&oracletest.Table{Owner: "T", Name: "T", Columns: []oracletest.Column{{Name: "V", Type: "VARCHAR2(10)"}}})
	db.Insert(tab, 0, []any{""})
	if got := conformance.ReadAll(t, open(t, double(t, db)), schema.Name{Schema: "T", Name: "T"}, []string{"V"}); len(got) != 1 || got[0][0] != conformance.Null {
		t.Errorf("an empty VARCHAR2 reads as %q, want NULL", got)
	}
}

// TestDatesThatCantBeToldAreBadRows: the driver makes 1 March of a leap day that
// only the Julian calendar has.
func TestDatesThatCantBeToldAreBadRows(t *testing.T) {
	db := oracletest.NewDatabase()
	tab := db.Create(&oracletest.Table{Owner: "T", Name: "T", Columns: []oracletest.Column{{Name: "ID", Type: "NUMBER(5)"}, {Name: "V", Type: "DATE"}}})
	for i, v := range []string{"1500-02-28", "1500-02-29", "1500-03-01", "1500-03-02", "-4712-02-29", "1600-02-29", "1600-03-01"} {
		db.Insert(tab, 0, []any{i, v})
	}
	src := open(t, double(t, db))
	rows, bad, err := readTable(t, src, "T", connectors.SplitNone, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 || len(bad) != 3 {
		t.Errorf("%d rows and %d bad ones (%v), want 4 and 3", len(rows), len(bad), bad)
	}
	for _, b := range bad {
		if b.Column != "V" || !strings.Contains(b.Place, "row ") || strings.Contains(b.Reason, "1500") {
			t.Errorf("a bad row is told of as %+v", b)
		}
	}
	if _, _, err := readTable(t, src, "T", connectors.SplitNone, false); connectors.ClassOf(err) != connectors.Data {
		t.Errorf("with nobody to tell, a bad row gives %v; want an error of class data", err)
	}
}

// readTable reads T.<name> whole, chunk by chunk.
func readTable(t testing.TB, src connectors.Source, name string, kind connectors.SplitKind, tell bool) (rows [][]string, bad []connectors.BadRow, err error) {
	t.Helper()
	ctx := context.Background()
	cat, err := src.Catalog(ctx)
	if err != nil {
		return nil, nil, err
	}
	tab := cat.Find(schema.Name{Schema: "T", Name: name})
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		return nil, nil, err
	}
	defer snap.Close()
	x := connectors.Extract{Table: tab, Split: connectors.Split{Kind: kind, Count: 3, ChunkRows: 40}}
	if tell {
		x.Bad = func(b connectors.BadRow) error { bad = append(bad, b); return nil }
	}
	var types []schema.Type
	for _, c := range tab.Columns {
		x.Columns, types = append(x.Columns, c.Name), append(types, c.Type)
	}
	x.Statement = oracle.Definition().Source.Explain.Read(x)[0].SQL
	chunks, err := snap.Split(ctx, tab, x.Split)
	if err != nil {
		return nil, nil, err
	}
	pool := batch.NewPool(types, batch.Limits{Rows: 30})
	for _, k := range chunks {
		r, err := snap.OpenChunk(ctx, x, k)
		if err != nil {
			return rows, bad, err
		}
		for {
			b := pool.Builder()
			err := r.Read(ctx, b)
			if err == io.EOF {
				break
			}
			if err != nil {
				_ = r.Close()
				return rows, bad, err
			}
			sealed := b.Seal()
			for i := range sealed.Rows {
				var row []string
				for _, c := range sealed.Columns {
					row = append(row, string(batch.AppendText(nil, c, i)))
				}
				rows = append(rows, row)
			}
			sealed.Release()
		}
		if err := r.Close(); err != nil {
			return rows, bad, err
		}
	}
	return rows, bad, nil
}
