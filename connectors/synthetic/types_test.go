package synthetic

import (
	"testing"

	"penstock/internal/schema"
	"penstock/internal/workload"
)

func TestNativeTypesNameTheColumnsTypes(t *testing.T) {
	for _, p := range workload.Presets() {
		for _, c := range p.Columns {
			if got, err := (types{}).Parse(c.Native); err != nil || got != c.Type {
				t.Errorf("%s.%s: %s is parsed as %s, %v; want %s", p.Name, c.Name, c.Native, got, err, c.Type)
			}
			if got, err := (types{}).Render(c.Type); err != nil || got != c.Native {
				t.Errorf("%s.%s: %s is rendered as %q, %v; want %q", p.Name, c.Name, c.Type, got, err, c.Native)
			}
		}
	}
}

func TestForeignTypesAreRefused(t *testing.T) {
	for _, native := range []string{"", "BIGINT", "varchar", "varchar(0)", "varchar(-1)", "varchar(50", "numeric", "numeric(39,0)", "numeric(5,6)", "numeric(0,0)", "number(5)", "timestamp(3)"} {
		if got, err := (types{}).Parse(native); err == nil {
			t.Errorf("%q: got %s, want an error", native, got)
		}
	}
	for _, typ := range []schema.Type{
		schema.Of(schema.Text), schema.Of(schema.Bool), schema.Of(schema.Decimal), schema.Of(schema.TimestampTZ), schema.Of(schema.UUID),
		{Kind: schema.Text, Length: 5, Fixed: true}, {Kind: schema.Timestamp, Precision: 9}, {Kind: schema.Decimal, Precision: 50},
	} {
		if got, err := (types{}).Render(typ); err == nil {
			t.Errorf("%s: got %q, want an error", typ, got)
		}
	}
}

func TestRenderWidensWhatHasNoNameOfItsOwn(t *testing.T) {
	for typ, want := range map[schema.Type]string{
		schema.Of(schema.Int16): "integer", schema.Of(schema.Float32): "double", {Kind: schema.Timestamp, Precision: 3}: "timestamp",
	} {
		if got, err := (types{}).Render(typ); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", typ, got, err, want)
		}
	}
}
