package postgres

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
		{"boolean", schema.Of(schema.Bool)},
		{"smallint", schema.Of(schema.Int16)},
		{"int4", schema.Of(schema.Int32)},
		{"bigserial", schema.Of(schema.Int64)},
		{"double precision", schema.Of(schema.Float64)},
		{"float(24)", schema.Of(schema.Float32)},
		{"real", schema.Of(schema.Float32)},
		{"numeric", schema.Of(schema.Decimal)},
		{"numeric(38,0)", schema.Type{Kind: schema.Decimal, Precision: 38}},
		{"numeric(5,-2)", schema.Type{Kind: schema.Decimal, Precision: 5, Scale: -2}},
		{"decimal(10)", schema.Type{Kind: schema.Decimal, Precision: 10}},
		{"character varying(50)", schema.Type{Kind: schema.Text, Length: 50}},
		{"character varying", schema.Of(schema.Text)},
		{"varchar(50)", schema.Type{Kind: schema.Text, Length: 50}},
		{"character(3)", schema.Type{Kind: schema.Text, Length: 3, Fixed: true}},
		{"char", schema.Type{Kind: schema.Text, Length: 1, Fixed: true}},
		{`"char"`, schema.Type{Kind: schema.Text, Length: 4}},
		{"bpchar", schema.Of(schema.Text)},
		{"bytea", schema.Of(schema.Bytes)},
		{"date", schema.Of(schema.Date)},
		{"time(3) without time zone", schema.Type{Kind: schema.Time, Precision: 3}},
		{"timestamp", schema.Of(schema.Timestamp)},
		{"timestamp(0) without time zone", schema.Type{Kind: schema.Timestamp}},
		{"timestamp(3) with time zone", schema.Type{Kind: schema.TimestampTZ, Precision: 3}},
		{"timestamptz", schema.Of(schema.TimestampTZ)},
		{"interval day to second(3)", schema.Of(schema.Text)},
		{"time with time zone", schema.Of(schema.Text)},
		{"integer[]", schema.Of(schema.Text)},
		{"numeric(5,2)[][]", schema.Of(schema.Text)},
		{"bit varying(5)", schema.Of(schema.Text)},
		{"inet", schema.Of(schema.Text)},
		{"uuid", schema.Of(schema.UUID)},
		{"jsonb", schema.Of(schema.JSON)},
		{"money", schema.Of(schema.Text)},
		{`enum shop."Mood"`, schema.Of(schema.Text)},
		{"composite addr", schema.Of(schema.Text)},
		{`"Mood"[]`, schema.Of(schema.Text)},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.native, got, err, c.want)
		}
	}
}

func TestParseSaysWhatToDoInstead(t *testing.T) {
	tests := []struct{ native, want string }{
		{"mood", `an enum as "enum name"`},
		{"enum ", "no built-in type"},
		{"numeric(2000)", "precision must be 1 to 1000"},
		{"timestamp(7)", "must be 0 to 6"},
		{"integer(5)", "takes nothing in brackets"},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %+v, %v; want an error with %q", c.native, got, err, c.want)
		}
	}
}

func TestRenderPicksTheSmallestTypeThatHoldsEveryValue(t *testing.T) {
	dec := func(p, s int) schema.Type { return schema.Type{Kind: schema.Decimal, Precision: p, Scale: s} }
	tests := []struct {
		in   schema.Type
		want string
	}{
		{dec(4, 0), "smallint"},
		{dec(5, 0), "integer"},
		{dec(9, 0), "integer"},
		{dec(18, 0), "bigint"},
		{dec(19, 0), "numeric(19,0)"},
		{dec(38, 0), "numeric(38,0)"},
		{dec(16, -2), "bigint"},
		{dec(3, 5), "numeric(5,5)"},
		{dec(0, 0), "numeric"},
		{schema.Type{Kind: schema.Text, Length: 50}, "varchar(50)"},
		{schema.Type{Kind: schema.Text, Length: 3, Fixed: true}, "char(3)"},
		{schema.Of(schema.Text), "text"},
		{schema.Type{Kind: schema.Timestamp}, "timestamp(0)"},
		{schema.Of(schema.Timestamp), "timestamp"},
		{schema.Of(schema.TimestampTZ), "timestamptz"},
	}
	for _, c := range tests {
		if got, err := (types{}).Render(c.in); err != nil || got != c.want {
			t.Errorf("Render(%s) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestRenderedTypesHoldWhatTheyAreFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := schema.Of(schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind")))
		switch in.Kind {
		case schema.Text, schema.Bytes:
			in.Length = rapid.IntRange(0, 300).Draw(t, "length")
			in.Fixed = in.Length > 0 && rapid.Bool().Draw(t, "fixed")
		case schema.Decimal:
			if in.Precision = rapid.IntRange(0, 60).Draw(t, "precision"); in.Precision > 0 {
				in.Scale = rapid.IntRange(-10, 70).Draw(t, "scale")
			}
		case schema.Time, schema.Timestamp, schema.TimestampTZ:
			in.Precision = rapid.IntRange(0, 6).Draw(t, "digits")
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

func TestSplits(t *testing.T) {
	key := &schema.Key{Columns: []string{"id"}}
	tests := []struct {
		name  string
		table schema.Table
		want  string
	}{
		{"heap", schema.Table{Storage: "heap", PrimaryKey: key}, "blocks key none"},
		{"heap without a key", schema.Table{}, "blocks none"},
		{"partitioned", schema.Table{Storage: "partitioned", PrimaryKey: key}, "blocks key none"},
		{"view", schema.Table{View: true}, "none key"},
		{"materialized view", schema.Table{View: true, Storage: "heap"}, "blocks none"},
		{"foreign", schema.Table{Storage: "foreign", PrimaryKey: key}, "none"},
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

func TestNamesThatPostgreSQLWouldCutAreProblems(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, slot := range []string{long, "Slot", "a-b"} {
		if got := checkSource(&SourceConfig{Slot: slot}); len(got) != 1 || got[0].Path != "slot" {
			t.Errorf("slot %q: %+v, want a problem", slot, got)
		}
	}
	if got := checkSource(&SourceConfig{Slot: "penstock_1", Publication: long}); len(got) != 1 || got[0].Path != "publication" {
		t.Errorf("publication: %+v, want a problem", got)
	}
	if got := checkTarget(&TargetConfig{Schema: long}); len(got) != 1 || got[0].Path != "schema" {
		t.Errorf("schema: %+v, want a problem", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("timestamp(3) without time zone")
	f.Add(`"char"`)
	f.Add("numeric(5,2)[]")
	f.Fuzz(func(t *testing.T, native string) {
		typ, err := types{}.Parse(native)
		if err == nil && typ.Kind == schema.Invalid {
			t.Fatalf("Parse(%q) gives no type and no error", native)
		}
	})
}
