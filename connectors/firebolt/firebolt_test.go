package firebolt

import (
	"strings"
	"testing"

	"penstock/internal/schema"
	"penstock/internal/secret"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	tests := []struct {
		native string
		want   schema.Type
	}{
		{"INTEGER", schema.Of(schema.Int32)},
		{"bigint null", schema.Of(schema.Int64)},
		{"long", schema.Of(schema.Int64)},
		{"NUMERIC", schema.Type{Kind: schema.Decimal, Precision: 38, Scale: 9}},
		{"numeric(38, 0)", schema.Type{Kind: schema.Decimal, Precision: 38}},
		{"Decimal(10)", schema.Type{Kind: schema.Decimal, Precision: 10}},
		{"REAL", schema.Of(schema.Float32)},
		{"double precision", schema.Of(schema.Float64)},
		{"TEXT", schema.Of(schema.Text)},
		{"BYTEA", schema.Of(schema.Bytes)},
		{"pgdate", schema.Of(schema.Date)},
		{"TIMESTAMPNTZ", schema.Of(schema.Timestamp)},
		{"timestamptz", schema.Of(schema.TimestampTZ)},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.native, got, err, c.want)
		}
	}
	for _, bad := range []string{"array(int)", "GEOGRAPHY", "SMALLINT", "NUMERIC(39,0)", "TEXT(5)"} {
		if got, err := (types{}).Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestRender(t *testing.T) {
	dec := func(p, s int) schema.Type { return schema.Type{Kind: schema.Decimal, Precision: p, Scale: s} }
	tests := []struct {
		in   schema.Type
		want string
	}{
		{dec(5, 0), "INTEGER"},
		{dec(18, 0), "BIGINT"},
		{dec(19, 0), "NUMERIC(19,0)"},
		{dec(38, 0), "NUMERIC(38,0)"},
		{dec(10, 2), "NUMERIC(10,2)"},
		{dec(5, -2), "INTEGER"},
		{dec(3, 5), "NUMERIC(5,5)"},
		{schema.Type{Kind: schema.Decimal, Floating: true}, "DOUBLE PRECISION"},
		{schema.Of(schema.Int16), "INTEGER"},
		{schema.Of(schema.UUID), "TEXT"},
		{schema.Of(schema.Time), "TEXT"},
	}
	for _, c := range tests {
		if got, err := (types{}).Render(c.in); err != nil || got != c.want {
			t.Errorf("Render(%s) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestTypesWithoutACounterpartListTheChoices(t *testing.T) {
	for _, in := range []schema.Type{schema.Of(schema.Decimal), {Kind: schema.Decimal, Precision: 40, Scale: 2}, {Kind: schema.Decimal, Precision: 38, Scale: -2}} {
		got, err := types{}.Render(in)
		if err == nil || !strings.Contains(err.Error(), `"NUMERIC(38,`) || !strings.Contains(err.Error(), `"TEXT"`) {
			t.Errorf("Render(%s) = %q, %v; want an error with the choices", in, got, err)
		}
	}
}

func TestRenderedTypesHoldWhatTheyAreFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := schema.Of(schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind")))
		switch in.Kind {
		case schema.Text:
			in.Length = rapid.IntRange(0, 300).Draw(t, "length")
			in.Fixed = in.Length > 0 && rapid.Bool().Draw(t, "fixed")
		case schema.Decimal:
			in.Precision = rapid.IntRange(1, 38).Draw(t, "precision")
			in.Scale = rapid.IntRange(0, in.Precision).Draw(t, "scale")
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

func TestCheck(t *testing.T) {
	managed := TargetConfig{Account: "a", Engine: "e", ClientID: "c", ClientSecret: secret.Ref{Env: "S"}, Database: "d"}
	with := func(change func(*TargetConfig)) TargetConfig { c := managed; change(&c); return c }
	tests := []struct {
		config TargetConfig
		paths  string
	}{
		{managed, ""},
		{TargetConfig{URL: "http://localhost:3473", Database: "d"}, ""},
		{TargetConfig{Database: "d"}, "account engine client_id client_secret"},
		{with(func(c *TargetConfig) { c.Engine = "" }), "engine"},
		{with(func(c *TargetConfig) { c.URL = "http://localhost:3473" }), "account engine client_id client_secret"},
		{TargetConfig{URL: "localhost:3473"}, "url"},
		{TargetConfig{URL: "http://u:p@host"}, "url"},
		{with(func(c *TargetConfig) { c.Location = "l" }), "staging"},
		{with(func(c *TargetConfig) { c.Location, c.Staging = "l", "s3://b/p" }), ""},
		{with(func(c *TargetConfig) { c.Location, c.Staging = "l", "/tmp" }), "staging"},
	}
	for _, c := range tests {
		var got []string
		for _, p := range check(&c.config) {
			got = append(got, p.Path)
		}
		if strings.Join(got, " ") != c.paths {
			t.Errorf("check(%+v): problems at %q, want %q", c.config, got, c.paths)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Decimal(38, 9) null")
	f.Fuzz(func(t *testing.T, native string) {
		typ, err := types{}.Parse(native)
		if err == nil && typ.Kind == schema.Invalid {
			t.Fatalf("Parse(%q) gives no type and no error", native)
		}
	})
}
