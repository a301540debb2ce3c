package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"penstock/internal/schema"

	"pgregory.net/rapid"
)

func TestEveryTypeReadsBackFromItsDeclaration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := schema.Of(schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind")))
		switch typ.Kind {
		case schema.Decimal:
			if typ.Precision = rapid.IntRange(0, 60).Draw(t, "precision"); typ.Precision > 0 {
				typ.Scale = rapid.IntRange(-20, 60).Draw(t, "scale")
			}
		case schema.Text, schema.Bytes:
			if typ.Length = rapid.IntRange(0, 5000).Draw(t, "length"); typ.Length > 0 {
				typ.Fixed = rapid.Bool().Draw(t, "fixed")
			}
		case schema.Time, schema.Timestamp, schema.TimestampTZ:
			typ.Precision = rapid.IntRange(0, 9).Draw(t, "digits")
		}
		native, err := types{}.Render(typ)
		if err != nil {
			t.Fatalf("Render(%s): %v", typ, err)
		}
		got, err := types{}.Parse(native)
		if err != nil || got != typ {
			t.Fatalf("Parse(%q) = %+v, %v; want %+v", native, got, err, typ)
		}
		if err := storable(native, typ); err != nil {
			t.Fatalf("a column declared %s for %s would change it: %v", native, typ, err)
		}
	})
}

// affinityNames asks SQLite itself: a value of each class shows what the column
// does to it.
func affinityByTrial(t *testing.T, c *conn, native string) affinity {
	t.Helper()
	ctx := context.Background()
	for _, s := range []string{"DROP TABLE IF EXISTS t", "CREATE TABLE t (v " + native + ")", "INSERT INTO t VALUES ('1'), (1), (1.0)"} {
		if err := c.exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	got := ""
	if _, err := c.query(ctx, "SELECT group_concat(typeof(v)), CAST(v AS TEXT) FROM t", nil, func(s *stmt) error { got = s.text(0); return nil }); err != nil {
		t.Fatal(err)
	}
	switch got {
	case "text,integer,real":
		return affinityBlob
	case "text,text,text":
		return affinityText
	case "real,real,real":
		return affinityReal
	}
	return affinityNumeric // INTEGER differs from it in CAST alone
}

func TestAffinityIsWhatSQLiteMakesOfTheDeclaration(t *testing.T) {
	c, err := openConn(filepath.Join(t.TempDir(), "t.db"), create, timeout(0))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	names := []string{"", "FLOATING POINT", "STRING", "CHARINT", "TEXT BLOB", "BLOB REAL", "TIMESTAMP", "POINT"}
	for word := range declared {
		names = append(names, word, strings.ToLower(word)+"(5)")
	}
	for _, native := range names {
		got, want := affinityOf(native), affinityByTrial(t, c, native)
		if got == affinityInteger {
			got = affinityNumeric
		}
		if got != want {
			t.Errorf("affinityOf(%q) = %d, SQLite does %d", native, got, want)
		}
	}
}

func TestColumnsThatWouldChangeValuesAreRefused(t *testing.T) {
	decimal := func(p, s int) schema.Type { return schema.Type{Kind: schema.Decimal, Precision: p, Scale: s} }
	for _, c := range []struct {
		native string
		typ    schema.Type
		ok     bool
	}{
		{"NUMERIC(38,0)", decimal(38, 0), false},
		{"NUMERIC", schema.Of(schema.Decimal), false},
		{"NUMERIC(15,2)", decimal(15, 2), true},
		{"DECIMAL_TEXT(38,0)", decimal(38, 0), true},
		{"INTEGER", schema.Of(schema.Text), false},
		{"TEXT", schema.Of(schema.Int64), false},
		{"BLOB", schema.Of(schema.Text), true},
		{"INTEGER", schema.Of(schema.Float64), false},
		{"DATE", schema.Of(schema.Date), true},
		{"DATETIME", schema.Of(schema.Timestamp), true},
		{"UUID", schema.Of(schema.UUID), true},
		{"BOOLEAN", schema.Of(schema.Bool), true},
	} {
		if err := storable(c.native, c.typ); (err == nil) != c.ok {
			t.Errorf("storable(%s, %s) = %v, want ok %v", c.native, c.typ, err, c.ok)
		}
	}
}

func TestParseReadsUsualDeclarations(t *testing.T) {
	for native, want := range map[string]string{
		"integer": "int64", "INT": "int64", "bigint": "int64", "smallint": "int16", "INTEGER(11)": "int64",
		"varchar(50)": "text(50)", "VARCHAR ( 50 )": "text(50)", "character varying(7)": "text(7)", "nchar(3)": "fixed text(3)", "CHAR": "text", "clob": "text",
		"numeric(10, 2)": "decimal(10,2)", "DECIMAL(5)": "decimal(5)", "numeric": "decimal",
		"double precision": "float64", "real": "float64", "boolean": "boolean", "datetime": "timestamp", "timestamp(3)": "timestamp(3)", "timestamp with time zone": "timestamptz",
		"blob": "bytes", "varbinary(16)": "bytes(16)", "uuid": "uuid", "json": "json", "date": "date", "time": "time",
	} {
		if got, err := (types{}).Parse(native); err != nil || got.String() != want {
			t.Errorf("Parse(%q) = %s, %v; want %s", native, got, err, want)
		}
	}
	for native, want := range map[string]string{"": "no declared type", "ANY": "not a type known here", "VARCHAR(": "bracket", "VARCHAR(x)": "whole number", "TIMESTAMP(10)": "0 to 9", "NUMERIC(0)": "1 to 1000"} {
		if _, err := (types{}).Parse(native); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): got %v, want an error that says %q", native, err, want)
		}
	}
}

func FuzzParseType(f *testing.F) {
	for word := range declared {
		f.Add(word + "(3, 2)")
	}
	f.Fuzz(func(t *testing.T, native string) {
		typ, err := types{}.Parse(native)
		if err != nil {
			return
		}
		again, err := types{}.Render(typ)
		if err != nil {
			t.Fatalf("Parse(%q) = %s, which Render refuses: %v", native, typ, err)
		}
		if got, err := (types{}).Parse(again); err != nil || got != typ {
			t.Fatalf("Parse(%q) = %s, rendered %q, parsed %s, %v", native, typ, again, got, err)
		}
	})
}
