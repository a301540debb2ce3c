package batch

import (
	"testing"

	"penstock/internal/schema"
)

// Infinity and NaN pass through each conversion that has a place for them, and
// no other: there they are bad.
func TestSpecialValuesAreConvertedWhereTheyHaveAPlace(t *testing.T) {
	dec := func(p, s int) schema.Type { return schema.Type{Kind: schema.Decimal, Precision: p, Scale: s} }
	at := func(digits int) schema.Type { return schema.Type{Kind: schema.Timestamp, Precision: digits} }
	text := schema.Of(schema.Text)
	for _, c := range []struct {
		src   schema.Type
		value string
		dst   schema.Type
		want  string // "" = bad
	}{
		{schema.Of(schema.Date), "294246-12-31", at(6), "294246-12-31 00:00:00"}, {schema.Of(schema.Date), "294300-01-01", at(6), ""}, {text, "5874897-12-31", schema.Of(schema.Date), "5874897-12-31"},
		{schema.Of(schema.Date), "infinity", at(6), "infinity"}, {schema.Of(schema.Date), "-infinity", at(0), "-infinity"},
		{at(6), "infinity", at(3), "infinity"}, {at(6), "-infinity", at(9), "-infinity"},
		{at(6), "-infinity", schema.Of(schema.Date), ""}, {at(6), "infinity", text, "infinity"},
		{schema.Of(schema.TimestampTZ), "-infinity", text, "-infinity"},
		{text, "Infinity", at(6), "infinity"}, {text, "-infinity", schema.Of(schema.Date), "-infinity"}, {text, "NaN", at(6), ""},
		{dec(9, 2), "NaN", dec(12, 4), "NaN"}, {dec(9, 2), "NaN", dec(7, 2), "NaN"}, {dec(9, 2), "NaN", dec(0, 0), "NaN"}, {dec(9, 2), "NaN", dec(60, 2), "NaN"},
		{dec(0, 0), "NaN", dec(9, 2), "NaN"}, {dec(0, 0), "Infinity", dec(9, 2), ""}, {dec(60, 2), "NaN", dec(40, 2), "NaN"},
		{dec(9, 2), "NaN", schema.Of(schema.Int64), ""}, {dec(9, 2), "NaN", text, "NaN"}, {text, "nan", dec(38, 0), "NaN"},
	} {
		src, dst := NewColumn(c.src), NewColumn(c.dst)
		if !AppendSpecial(src, []byte(c.value)) {
			if err := ParseText(src, []byte(c.value)); err != nil {
				t.Fatalf("%s %s: %v", c.src, c.value, err)
			}
		}
		k, err := NewConverter(c.src, c.dst)
		if err != nil {
			t.Fatal(err)
		}
		k.TakeSpecial()
		bad := k.Convert(src, nil, dst, nil)
		if got := string(AppendText(nil, dst, 0)); got != c.want || (len(bad) > 0) != (c.want == "") {
			t.Errorf("%s %s to %s: got %q, %v, want %q", c.src, c.value, c.dst, got, bad, c.want)
		}
	}
	k, _ := NewConverter(text, at(6))
	if dst := NewColumn(at(6)); len(k.Convert(textColumn("infinity"), nil, dst, nil)) != 1 {
		t.Error("a target that was not said to have infinity was given it")
	}
}

func textColumn(s string) *Column {
	c := NewColumn(schema.Of(schema.Text))
	c.AppendString(s)
	return c
}
