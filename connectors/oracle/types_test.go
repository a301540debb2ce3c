package oracle

import (
	"strings"
	"testing"

	"penstock/internal/schema"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	tests := []struct {
		native string
		want   schema.Type
	}{
		{"NUMBER", schema.Of(schema.Decimal)},
		{"NUMBER(*)", schema.Of(schema.Decimal)},
		{"NUMBER(5)", schema.Type{Kind: schema.Decimal, Precision: 5}},
		{"number(10, 2)", schema.Type{Kind: schema.Decimal, Precision: 10, Scale: 2}},
		{"NUMBER(*,0)", schema.Type{Kind: schema.Decimal, Precision: 38}},
		{"NUMBER(5,-2)", schema.Type{Kind: schema.Decimal, Precision: 5, Scale: -2}},
		{"NUMBER(3,5)", schema.Type{Kind: schema.Decimal, Precision: 3, Scale: 5}},
		{"INTEGER", schema.Type{Kind: schema.Decimal, Precision: 38}},
		{"DECIMAL", schema.Type{Kind: schema.Decimal, Precision: 38}},
		{"FLOAT(126)", schema.Type{Kind: schema.Decimal, Floating: true}},
		{"BINARY_DOUBLE", schema.Of(schema.Float64)},
		{"BINARY_FLOAT", schema.Of(schema.Float32)},
		{"VARCHAR2(50)", schema.Type{Kind: schema.Text, Length: 50}},
		{"VARCHAR2(50 CHAR)", schema.Type{Kind: schema.Text, Length: 50}},
		{"VARCHAR2(50 BYTE)", schema.Type{Kind: schema.Text, Length: 50}},
		{"NVARCHAR2(20)", schema.Type{Kind: schema.Text, Length: 20}},
		{"CHAR(3 BYTE)", schema.Type{Kind: schema.Text, Length: 3, Fixed: true}},
		{"CHAR", schema.Type{Kind: schema.Text, Length: 1, Fixed: true}},
		{"CLOB", schema.Of(schema.Text)},
		{"LONG", schema.Of(schema.Text)},
		{"LONG RAW", schema.Of(schema.Bytes)},
		{"RAW(16)", schema.Type{Kind: schema.Bytes, Length: 16}},
		{"DATE", schema.Type{Kind: schema.Timestamp}},
		{"TIMESTAMP(9)", schema.Type{Kind: schema.Timestamp, Precision: 9}},
		{"TIMESTAMP", schema.Of(schema.Timestamp)},
		{"TIMESTAMP(3) WITH TIME ZONE", schema.Type{Kind: schema.TimestampTZ, Precision: 3}},
		{"TIMESTAMP(6) WITH LOCAL TIME ZONE", schema.Of(schema.TimestampTZ)},
		{"INTERVAL DAY(2) TO SECOND(6)", schema.Of(schema.Text)},
		{"INTERVAL YEAR(2) TO MONTH", schema.Of(schema.Text)},
		{"SYS.XMLTYPE", schema.Of(schema.Text)},
		{"UROWID", schema.Of(schema.Text)},
		{"JSON", schema.Of(schema.JSON)},
		{"BOOLEAN", schema.Of(schema.Bool)},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.native, got, err, c.want)
		}
	}
}

func TestParseSaysWhatToDoInstead(t *testing.T) {
	tests := []struct{ native, want string }{
		{"BFILE", "leave the column out"},
		{"MDSYS.SDO_GEOMETRY", "TO_WKTGEOMETRY"},
		{"SYS.ANYDATA", "casts it to one type"},
		{"SCOTT.ADDRESS_T", "no built-in type"},
		{"NUMBER(39)", "precision must be 1 to 38"},
		{"NUMBER(5,200)", "scale must be -84 to 127"},
		{"VARCHAR2", "needs a length"},
		{"RAW", "needs a length"},
		{"TIMESTAMP(10)", "must be 0 to 9"},
		{"VARCHAR2(x)", "not a whole number"},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %+v, %v; want an error with %q", c.native, got, err, c.want)
		}
	}
}

func TestEveryParsedTypeRendersAsOneThatHoldsIt(t *testing.T) {
	for _, native := range []string{"NUMBER", "FLOAT(126)", "NUMBER(5)", "NUMBER(10,2)", "NUMBER(5,-2)", "BINARY_FLOAT", "BINARY_DOUBLE", "VARCHAR2(50 CHAR)", "CHAR(3 CHAR)", "CLOB", "RAW(16)", "BLOB", "DATE", "TIMESTAMP(9)", "TIMESTAMP(6) WITH TIME ZONE"} {
		from, err := types{}.Parse(native)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := (types{}).Render(from); err != nil || got != native {
			t.Errorf("Render(Parse(%q)) = %q, %v", native, got, err)
		}
	}
}

func TestSplits(t *testing.T) {
	key := &schema.Key{Columns: []string{"ID"}}
	columns := []schema.Column{{Name: "ID", Native: "NUMBER", Type: schema.Of(schema.Decimal)}}
	tests := []struct {
		name  string
		table schema.Table
		want  string
	}{
		{"heap with a key", schema.Table{Storage: "heap", PrimaryKey: key, Columns: columns}, "blocks key none"},
		{"heap without", schema.Table{Storage: "heap"}, "blocks none"},
		{"index-organized", schema.Table{Storage: "iot", PrimaryKey: key, Columns: columns}, "key none"},
		{"view", schema.Table{View: true}, "none"},
		{"view with a key", schema.Table{View: true, PrimaryKey: key, Columns: columns}, "key none"},
		{"external", schema.Table{Storage: "external"}, "none"},
	}
	for _, c := range tests {
		var got []string
		for _, s := range splits(&c.table) {
			got = append(got, string(s))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCheckNeedsOneNameOfTheDatabase(t *testing.T) {
	tests := []struct {
		config SourceConfig
		path   string
	}{
		{SourceConfig{Service: "s"}, ""},
		{SourceConfig{SID: "s"}, ""},
		{SourceConfig{}, "host"},
		{SourceConfig{Service: "s", SID: "t"}, "sid"},
	}
	for _, c := range tests {
		got := check(&c.config)
		if c.path == "" && len(got) > 0 || c.path != "" && (len(got) != 1 || got[0].Path != c.path) {
			t.Errorf("check(%+v) = %+v, want a problem at %q", c.config, got, c.path)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("TIMESTAMP(6) WITH TIME ZONE")
	f.Add("NUMBER(*,0)")
	f.Fuzz(func(t *testing.T, native string) {
		typ, err := types{}.Parse(native)
		if err == nil && typ.Kind == schema.Invalid {
			t.Fatalf("Parse(%q) gives no type and no error", native)
		}
	})
}

func TestRenderedTypesParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := schema.Of(schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind")))
		if in.Kind == schema.Text || in.Kind == schema.Bytes {
			in.Length = rapid.IntRange(0, 5000).Draw(t, "length")
			in.Fixed = in.Length > 0 && rapid.Bool().Draw(t, "fixed")
		}
		native, err := types{}.Render(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := types{}.Parse(native)
		if err != nil {
			t.Fatalf("%s renders as %s: %v", in, native, err)
		}
		if class, why := schema.Fit(in, out); class == schema.FitNone {
			t.Fatalf("%s renders as %s, which takes none of it: %s", in, native, why)
		}
	})
}
