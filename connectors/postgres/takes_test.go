package postgres

import (
	"strings"
	"testing"

	"penstock/internal/schema"
)

func TestTypesThatTakeFewerValuesThanTexts(t *testing.T) {
	text, json := schema.Of(schema.Text), schema.Of(schema.JSON)
	for _, c := range []struct {
		native string
		from   schema.Type
		source string // of PostgreSQL
		want   schema.FitClass
		why    string
	}{
		{"text", text, "", schema.FitExact, ""},
		{"citext", text, "", schema.FitExact, ""},
		{"json", json, "jsonb", schema.FitExact, ""},
		{"jsonb", json, "jsonb", schema.FitExact, ""},
		{"jsonb", json, "json", schema.FitLossy, "keeps the last"},
		{"jsonb", json, "", schema.FitLossy, "keeps the last"},
		{"inet", text, "inet", schema.FitExact, ""},
		{"inet", text, "text", schema.FitChecked, "read as inet"},
		{"inet", text, "", schema.FitChecked, "read as inet"},
		{"interval", text, "", schema.FitChecked, "read as interval"},
		{"interval", text, "interval day to second(3)", schema.FitExact, ""},
		{"integer[]", text, "", schema.FitChecked, "read as integer[]"},
		{"integer[]", text, "integer[]", schema.FitExact, ""},
		{"enum mood", text, "", schema.FitChecked, "label of mood"},
		{"enum mood", text, "enum mood", schema.FitExact, ""},
		{"type public.geometry", text, "", schema.FitChecked, "public.geometry"},
		{"oid", schema.Of(schema.Int64), "bigint", schema.FitChecked, "4294967295"},
		{"oid", schema.Of(schema.Int64), "oid", schema.FitExact, ""},
		{"name", schema.Type{Kind: schema.Text, Length: 63}, "", schema.FitChecked, "63 octets"},
		{`"char"`, schema.Type{Kind: schema.Text, Length: 1}, "", schema.FitChecked, "one octet"},
		{"bigint", schema.Of(schema.Int64), "", schema.FitExact, ""},
	} {
		if got, why := takes(c.native, c.from, c.source); got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s of %s %q: got %s (%s), want %s (%s)", c.native, c.from, c.source, got, why, c.want, c.why)
		}
	}
}
