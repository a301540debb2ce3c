package sqlserver

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
		{"bit", schema.Of(schema.Bool)},
		{"tinyint", schema.Of(schema.Int16)},
		{"int", schema.Of(schema.Int32)},
		{"bigint", schema.Of(schema.Int64)},
		{"decimal", schema.Type{Kind: schema.Decimal, Precision: 18}},
		{"numeric(38, 10)", schema.Type{Kind: schema.Decimal, Precision: 38, Scale: 10}},
		{"money", schema.Type{Kind: schema.Decimal, Precision: 19, Scale: 4}},
		{"float", schema.Of(schema.Float64)},
		{"float(24)", schema.Of(schema.Float32)},
		{"real", schema.Of(schema.Float32)},
		{"varchar(100)", schema.Type{Kind: schema.Text, Length: 100}},
		{"varchar", schema.Type{Kind: schema.Text, Length: 1}},
		{"NVARCHAR(MAX)", schema.Of(schema.Text)},
		{"nchar(5)", schema.Type{Kind: schema.Text, Length: 5, Fixed: true}},
		{"varbinary(max)", schema.Of(schema.Bytes)},
		{"binary(16)", schema.Type{Kind: schema.Bytes, Length: 16, Fixed: true}},
		{"rowversion", schema.Type{Kind: schema.Bytes, Length: 8, Fixed: true}},
		{"timestamp", schema.Type{Kind: schema.Bytes, Length: 8, Fixed: true}},
		{"date", schema.Of(schema.Date)},
		{"time", schema.Type{Kind: schema.Time, Precision: 7}},
		{"datetime", schema.Type{Kind: schema.Timestamp, Precision: 3}},
		{"smalldatetime", schema.Type{Kind: schema.Timestamp}},
		{"datetime2", schema.Type{Kind: schema.Timestamp, Precision: 7}},
		{"datetime2(3)", schema.Type{Kind: schema.Timestamp, Precision: 3}},
		{"datetimeoffset(7)", schema.Type{Kind: schema.TimestampTZ, Precision: 7}},
		{"uniqueidentifier", schema.Of(schema.UUID)},
		{"xml", schema.Of(schema.Text)},
		{"sys.sysname", schema.Type{Kind: schema.Text, Length: 128}},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.native, got, err, c.want)
		}
	}
}

func TestParseSaysWhatToDoInstead(t *testing.T) {
	tests := []struct{ native, want string }{
		{"sql_variant", "casts it to one"},
		{"hierarchyid", "ToString()"},
		{"geography", "STAsText()"},
		{"dbo.Phone", "CREATE TYPE"},
		{"int(5)", "nothing in brackets"},
		{"decimal(39)", "precision must be 1 to 38"},
		{"varchar(9000)", "must be 1 to 8000"},
		{"datetime2(8)", "must be 0 to 7"},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %+v, %v; want an error with %q", c.native, got, err, c.want)
		}
	}
}

func TestRenderedTypesHoldWhatTheyAreFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := schema.Of(schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind")))
		switch in.Kind {
		case schema.Text, schema.Bytes:
			in.Length = rapid.IntRange(0, 9000).Draw(t, "length")
			in.Fixed = in.Length > 0 && in.Length <= 4000 && rapid.Bool().Draw(t, "fixed")
		case schema.Decimal:
			in.Precision = rapid.IntRange(1, 38).Draw(t, "precision")
			in.Scale = rapid.IntRange(0, in.Precision).Draw(t, "scale")
		case schema.Time, schema.Timestamp, schema.TimestampTZ:
			in.Precision = rapid.IntRange(0, 7).Draw(t, "digits")
		}
		native, err := types{}.Render(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := types{}.Parse(native)
		if err != nil {
			t.Fatalf("%s renders as %s: %v", in, native, err)
		}
		if class, why := schema.Fit(in, out); class != schema.FitExact {
			t.Fatalf("%s renders as %s, which is %s: %s", in, native, class, why)
		}
	})
}

func TestTypesWithoutACounterpartListTheChoices(t *testing.T) {
	for _, in := range []schema.Type{schema.Of(schema.Decimal), {Kind: schema.Decimal, Precision: 40, Scale: 2}} {
		if got, err := (types{}).Render(in); err == nil || !strings.Contains(err.Error(), "type = ") {
			t.Errorf("Render(%s) = %q, %v; want an error with the choices", in, got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		config SourceConfig
		path   string
		port   int
	}{
		{SourceConfig{Join: "exact"}, "", 1433},
		{SourceConfig{Instance: "i", Join: "exact"}, "", 0},
		{SourceConfig{Instance: "i", Port: 1500, Join: "exact"}, "instance", 1500},
		{SourceConfig{ReadOnly: true, Join: "exact"}, "read_only", 1433},
		{SourceConfig{ReadOnly: true, Join: "window"}, "", 1433},
		{SourceConfig{ReadOnly: true, Join: "window", Capture: "self"}, "capture", 1433},
	}
	for _, c := range tests {
		got := check(&c.config)
		if c.path == "" && len(got) > 0 || c.path != "" && (len(got) != 1 || got[0].Path != c.path) {
			t.Errorf("check(%+v) = %+v, want a problem at %q", c.config, got, c.path)
		}
		if got := c.config.port(); got != c.port {
			t.Errorf("port of %+v = %d, want %d", c.config, got, c.port)
		}
	}
}

func TestTablesWithoutAKeyAreReadWhole(t *testing.T) {
	if got := splits(&schema.Table{}); len(got) != 1 || got[0] != "none" {
		t.Errorf("without a key: %q", got)
	}
	if got := splits(&schema.Table{PrimaryKey: &schema.Key{Columns: []string{"id"}}}); len(got) != 2 || got[0] != "key" {
		t.Errorf("with a key: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("nvarchar(max)")
	f.Add("decimal(10,2)")
	f.Fuzz(func(t *testing.T, native string) {
		typ, err := types{}.Parse(native)
		if err == nil && typ.Kind == schema.Invalid {
			t.Fatalf("Parse(%q) gives no type and no error", native)
		}
	})
}
