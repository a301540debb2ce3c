package batch

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"penstock/internal/schema"

	"pgregory.net/rapid"
)

func column(t testing.TB, typ schema.Type, values ...string) *Column {
	t.Helper()
	c := NewColumn(typ)
	for _, v := range values {
		if v == "NULL" {
			c.AppendNull()
		} else if err := ParseText(c, []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func texts(c *Column) []string {
	var out []string
	for i := range c.Len() {
		if c.IsNull(i) {
			out = append(out, "NULL")
		} else {
			out = append(out, string(AppendText(nil, c, i)))
		}
	}
	return out
}

func TestConvert(t *testing.T) {
	tests := []struct {
		src, dst schema.Type
		in, want []string
		bad      string // in the reasons, joined by "; "
	}{
		{typ(schema.Int64), typ(schema.Int16), []string{"1", "NULL", "40000", "-32768"}, []string{"1", "NULL", "NULL", "-32768"}, "40000 is above 32767, the most that int16 takes"},
		{typ(schema.Int16), typ(schema.Int64), []string{"1", "NULL"}, []string{"1", "NULL"}, ""},
		{typ(schema.Int64), typ(schema.Decimal, 5, 2), []string{"999", "-1000", "0"}, []string{"999.00", "NULL", "0.00"}, "-1000 has more than the 3 digits before the point that decimal(5,2) takes"},
		{typ(schema.Int64), typ(schema.Decimal, 38, 19), []string{"9223372036854775807"}, []string{"9223372036854775807.0000000000000000000"}, ""},
		{typ(schema.Int64), typ(schema.Decimal, 2, 2), []string{"0", "1"}, []string{"0.00", "NULL"}, "1 has more than the 0 digits"},
		{typ(schema.Int64), typ(schema.Float64), []string{"9007199254740993", "1152921504606846976", "9223372036854775807"}, []string{"NULL", "1152921504606847000", "NULL"}, "9007199254740993 needs more digits"},
		{typ(schema.Float64), typ(schema.Float32), []string{"0.1", "1e300", "-inf"}, []string{"0.1", "NULL", "-Infinity"}, "1e+300 is outside of float32"},
		{typ(schema.Float64), typ(schema.Int32), []string{"-3", "2.5", "3e9", "nan"}, []string{"-3", "NULL", "NULL", "NULL"}, "2.5 has a fraction and int32 takes none; 3000000000 is above 2147483647, the most that int32 takes; NaN is outside of int32"},
		{typ(schema.Float64), typ(schema.Decimal, 10, 2), []string{"0.1", "1e-3", "NaN"}, []string{"0.10", "NULL", "NULL"}, "0.001 has 3 digits after the point"},
		{typ(schema.Float64), typ(schema.Decimal), []string{"1e300"}, []string{"1" + strings.Repeat("0", 300)}, ""},
		{typ(schema.Decimal), typ(schema.Int64), []string{"12", "12.5", "12.0", "1e30"}, []string{"12", "NULL", "12", "NULL"}, "12.5 has a fraction and int64 takes none"},
		{typ(schema.Decimal, 20, 2), typ(schema.Int32), []string{"12.00", "12.50", "-2147483648.00", "123456789012345678.00"}, []string{"12", "NULL", "-2147483648", "NULL"}, "12.50 has a fraction and int32 takes none; 123456789012345678 is above 2147483647"},
		{typ(schema.Decimal, 38), typ(schema.Int64), []string{"9223372036854775807", "9223372036854775808"}, []string{"9223372036854775807", "NULL"}, "9223372036854775808 is outside of int64"},
		{typ(schema.Decimal, 10, 2), typ(schema.Decimal, 10, 4), []string{"123456.78", "1234567.00"}, []string{"123456.7800", "NULL"}, "1234567.00 has 7 digits before the point and decimal(10,4) takes 6"},
		{typ(schema.Decimal, 10, 4), typ(schema.Decimal, 10, 2), []string{"1.2300", "1.2345"}, []string{"1.23", "NULL"}, "1.2345 has 4 digits after the point and decimal(10,2) takes 2"},
		{typ(schema.Decimal, 38, 0), typ(schema.Decimal, 10, 0), []string{"1234567890", "12345678901"}, []string{"1234567890", "NULL"}, "12345678901 has 11 digits before the point and decimal(10) takes 10"},
		{typ(schema.Decimal, 38, 0), typ(schema.Decimal, 38, 20), []string{"123456789012345678", "1234567890123456789"}, []string{"123456789012345678.00000000000000000000", "NULL"}, "has 19 digits before the point"},
		{typ(schema.Decimal), typ(schema.Decimal, 38, 9), []string{"1.5", "NaN"}, []string{"1.500000000", "NULL"}, "NaN is no value of decimal(38,9)"},
		{typ(schema.Decimal), typ(schema.Decimal, 40, 1), []string{"1.5", "1.55"}, []string{"1.5", "NULL"}, "1.55 has 2 digits after the point"},
		{typ(schema.Decimal), typ(schema.Float64), []string{"0.1", "0.12345678901234567890123456789", "1152921504606846976", "NaN"}, []string{"0.1", "NULL", "1152921504606847000", "NaN"}, "0.12345678901234567890123456789 needs more digits than a float64 has"},
		{typ(schema.Decimal, 1), typ(schema.Bool), []string{"1", "0", "2"}, []string{"true", "false", "NULL"}, `"2" is neither true nor false`},
		{typ(schema.Bool), typ(schema.Int16), []string{"true", "false"}, []string{"1", "0"}, ""},
		{typ(schema.Bool), typ(schema.Decimal, 3, 1), []string{"true"}, []string{"1.0"}, ""},
		{typ(schema.Bool), typ(schema.Text), []string{"true"}, []string{"true"}, ""},
		{typ(schema.Text, 100), typ(schema.Text, 3), []string{"äöü", "abcd", "NULL"}, []string{"äöü", "NULL", "NULL"}, `"abcd" has 4 characters and text(3) takes 3`},
		{typ(schema.Text), fixed(typ(schema.Text, 3)), []string{"é", "abcd"}, []string{"é  ", "NULL"}, "4 characters"},
		{typ(schema.Text), typ(schema.Int64), []string{"12", "x"}, []string{"12", "NULL"}, `"x" is not a whole number`},
		{typ(schema.Text), typ(schema.JSON), []string{"[1]", "["}, []string{"[1]", "NULL"}, "not JSON"},
		{typ(schema.UUID), typ(schema.Bytes), []string{"123e4567-e89b-12d3-a456-426614174000"}, []string{`\x123e4567e89b12d3a456426614174000`}, ""},
		{typ(schema.Bytes), typ(schema.UUID), []string{`\x123e4567e89b12d3a456426614174000`, `\x00`}, []string{"123e4567-e89b-12d3-a456-426614174000", "NULL"}, "1 octets and a UUID has 16"},
		{typ(schema.Date), typ(schema.Timestamp), []string{"1969-12-31"}, []string{"1969-12-31 00:00:00"}, ""},
		{typ(schema.Date), typ(schema.Timestamp, 9), []string{"1969-12-31"}, []string{"1969-12-31 00:00:00"}, ""},
		{typ(schema.Timestamp), typ(schema.Date), []string{"1969-12-31", "1969-12-31 00:00:01"}, []string{"1969-12-31", "NULL"}, "1969-12-31 00:00:01 is not at midnight"},
		{typ(schema.Timestamp, 9), typ(schema.Timestamp), []string{"1969-12-31 23:59:59.9999995", "2000-01-01 00:00:00.000000499"}, []string{"1970-01-01 00:00:00", "2000-01-01 00:00:00"}, ""},
		{typ(schema.Timestamp, 6), typ(schema.Timestamp, 0), []string{"9548-01-01 00:00:00.5", "9548-01-01 00:00:00.499999"}, []string{"9548-01-01 00:00:01", "9548-01-01 00:00:00"}, ""},
		{typ(schema.Timestamp, 6), typ(schema.Timestamp, 9), []string{"2000-01-01 00:00:00.5", "NULL"}, []string{"2000-01-01 00:00:00.5", "NULL"}, ""},
		{typ(schema.Timestamp, 9), typ(schema.Timestamp, 7), []string{"2000-01-01 00:00:00.123456789"}, []string{"2000-01-01 00:00:00.1234568"}, ""},
		{typ(schema.TimestampTZ), typ(schema.Timestamp), []string{"2000-01-01 00:00:00+02:00"}, []string{"1999-12-31 22:00:00"}, ""},
		{typ(schema.Int32), typ(schema.Text, 2), []string{"12", "123"}, []string{"12", "NULL"}, "3 characters and text(2)"},
	}
	for _, c := range tests {
		conv, err := NewConverter(c.src, c.dst)
		if err != nil {
			t.Errorf("%s to %s: %v", c.src, c.dst, err)
			continue
		}
		src := column(t, c.src, c.in...)
		dst := column(t, c.dst, "NULL") // not empty, so that offsets into dst show
		bad := conv.Convert(src, nil, dst, nil)
		dst.check()
		var reasons []string
		for _, b := range bad {
			reasons = append(reasons, b.Reason)
		}
		if got := texts(dst)[1:]; fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s to %s of %q = %q, want %q", c.src, c.dst, c.in, got, c.want)
		}
		if got := strings.Join(reasons, "; "); !strings.Contains(got, c.bad) || (got == "") != (c.bad == "") {
			t.Errorf("%s to %s of %q: bad %q, want %q", c.src, c.dst, c.in, got, c.bad)
		}
		if conv.Same() && !conv.InPlace() || conv.InPlace() && fmt.Sprint(conv.Check(src, nil, nil)) != fmt.Sprint(bad) {
			t.Errorf("%s to %s of %q: Check and Convert disagree", c.src, c.dst, c.in)
		}
	}
}

// rational reads a canonical number.
func rational(t *rapid.T, text []byte) *big.Rat {
	v, ok := new(big.Rat).SetString(string(text))
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return v
}

// TestExactChangesNoValue holds Convert to what Fit promises, for any two types:
// exact values arrive unchanged; a checked value arrives unchanged or is bad;
// every pair that is not none works.
func TestExactChangesNoValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := types().Draw(t, "src"), types().Draw(t, "dst")
		class, _ := schema.Fit(from, to)
		conv, err := NewConverter(from, to)
		if (err != nil) != (class == schema.FitNone) {
			t.Fatalf("%s to %s is %s, NewConverter: %v", from, to, class, err)
		}
		if err != nil {
			return
		}
		src, dst := NewColumn(from), NewColumn(to)
		rows := rapid.IntRange(0, 20).Draw(t, "rows")
		for range rows {
			if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
				src.AppendNull()
			} else {
				appendAny(t, src)
			}
		}
		var sel Selection
		if rapid.Bool().Draw(t, "selected") {
			sel = Selection{}
			for i := range rows {
				if rapid.Bool().Draw(t, "in") {
					sel = append(sel, int32(i))
				}
			}
		}
		for range rapid.IntRange(0, 9).Draw(t, "before") {
			dst.AppendNull()
		}
		base := dst.Len()
		bad := conv.Convert(src, sel, dst, nil)
		dst.check()
		if dst.Len() != base+rows {
			t.Fatalf("%s to %s: %d values of %d rows", from, to, dst.Len()-base, rows)
		}
		if conv.InPlace() {
			for i := range rows { // what is passed on is read by either type
				if !src.IsNull(i) && !dst.IsNull(base+i) && !bytes.Equal(AppendText(nil, src, i), AppendText(nil, dst, base+i)) {
					t.Fatalf("%s to %s: passed on as it is, %q reads as %q", from, to, AppendText(nil, src, i), AppendText(nil, dst, base+i))
				}
			}
		}
		if class == schema.FitExact && len(bad) > 0 {
			t.Fatalf("%s to %s is exact and refuses %s", from, to, bad[0].Reason)
		}
		if conv.InPlace() && fmt.Sprint(conv.Check(src, sel, nil)) != fmt.Sprint(bad) {
			t.Fatalf("%s to %s: Check and Convert disagree", from, to)
		}
		selected, refused := map[int]bool{}, map[int]bool{}
		for i := range sel.Len(rows) {
			selected[sel.Row(i)] = true
		}
		for i, b := range bad {
			refused[int(b.Row)] = true
			if !selected[int(b.Row)] || src.IsNull(int(b.Row)) || i > 0 && bad[i-1].Row >= b.Row {
				t.Fatalf("%s to %s: row %d is reported out of turn", from, to, b.Row)
			}
		}
		for i := range rows {
			if want := !selected[i] || refused[i] || src.IsNull(i); dst.IsNull(base+i) != want {
				t.Fatalf("%s to %s: row %d NULL is %v, want %v", from, to, i, !want, want)
			}
			if dst.IsNull(base+i) || class == schema.FitLossy {
				continue
			}
			a, b := AppendText(nil, src, i), AppendText(nil, dst, base+i)
			special := bytes.ContainsAny(a, "NI")
			switch {
			case from.IsFloat() && to.IsInteger():
				if src.Floats[i] != float64(dst.Ints[base+i]) {
					t.Fatalf("%s to %s: %s became %s", from, to, a, b)
				}
			case from.IsFloat() && to.IsFloat():
				if math.Float64bits(src.Floats[i]) != math.Float64bits(dst.Floats[base+i]) {
					t.Fatalf("%s to %s: %s became %s", from, to, a, b)
				}
			case from.IsInteger() && to.IsFloat():
				if int64(dst.Floats[base+i]) != src.Ints[i] {
					t.Fatalf("%s to %s: %s became %s", from, to, a, b)
				}
			case from.IsNumber() && to.IsFloat() && !special:
				if f, _ := rational(t, a).Float64(); to.Kind == schema.Float64 && f != dst.Floats[base+i] {
					t.Fatalf("%s to %s: %s became %s", from, to, a, b)
				}
			case from.IsNumber() && to.IsNumber() && !special:
				if rational(t, a).Cmp(rational(t, b)) != 0 {
					t.Fatalf("%s to %s: %s became %s", from, to, a, b)
				}
			case from.Kind == to.Kind || to.Kind == schema.Text:
				if !bytes.Equal(a, b) && !to.IsNumber() {
					t.Fatalf("%s to %s: %s became %s", from, to, a, b)
				}
			}
		}
	})
}

func TestFitsTellsWhatConvertRefuses(t *testing.T) {
	c := column(t, typ(schema.Int64), "1", "70000", "80000", "NULL")
	bad := Fits(c, typ(schema.Int16), Selection{0, 2, 3}, nil)
	if len(bad) != 1 || bad[0].Row != 2 {
		t.Fatalf("got %v, want row 2 alone", bad)
	}
}

func TestConvertAllocatesNothingPerRow(t *testing.T) {
	pairs := [][2]schema.Type{
		{typ(schema.Int64), typ(schema.Int16)},
		{typ(schema.Int64), typ(schema.Decimal, 38, 2)},
		{typ(schema.Decimal, 10, 2), typ(schema.Decimal, 20, 4)},
		{typ(schema.Decimal), typ(schema.Int64)},
		{typ(schema.Decimal), typ(schema.Float64)},
		{typ(schema.Float64), typ(schema.Decimal, 38, 2)},
		{typ(schema.Text), typ(schema.Timestamp)},
		{typ(schema.Timestamp), typ(schema.Text)},
		{typ(schema.Text), fixed(typ(schema.Text, 30))},
		{typ(schema.Timestamp, 9), typ(schema.Timestamp)},
	}
	for _, p := range pairs {
		src := NewColumn(p[0])
		value := "12"
		if p[1].Kind == schema.Timestamp || p[0].Kind == schema.Timestamp {
			value = "2024-02-29 12:34:56"
		}
		for range 1000 {
			if err := ParseText(src, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		conv, err := NewConverter(p[0], p[1])
		if err != nil {
			t.Fatal(err)
		}
		dst := NewColumn(p[1])
		var bad []BadValue
		got := testing.AllocsPerRun(10, func() { dst.Reset(); bad = conv.Convert(src, nil, dst, bad[:0]) })
		if got > 1 || len(bad) > 0 {
			t.Errorf("%s to %s: %.0f allocations for 1000 rows, bad %v", p[0], p[1], got, bad)
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	for _, p := range []struct {
		src, dst schema.Type
		value    string
	}{
		{typ(schema.Int64), typ(schema.Int16), "12"},
		{typ(schema.Decimal), typ(schema.Int64), "1234567"},
		{typ(schema.Decimal, 10, 2), typ(schema.Decimal, 20, 4), "1234567.25"},
		{typ(schema.Decimal), typ(schema.Float64), "0.123456"},
		{typ(schema.Text, 100), typ(schema.Text, 50), "a text of some thirty letters"},
		{typ(schema.Timestamp), typ(schema.Text), "2024-02-29 12:34:56.123456"},
		{typ(schema.Text), typ(schema.Timestamp), "2024-02-29 12:34:56.123456"},
	} {
		b.Run(fmt.Sprintf("%s_%s", p.src, p.dst), func(b *testing.B) {
			src := NewColumn(p.src)
			for range 8192 {
				if err := ParseText(src, []byte(p.value)); err != nil {
					b.Fatal(err)
				}
			}
			conv, err := NewConverter(p.src, p.dst)
			if err != nil {
				b.Fatal(err)
			}
			dst := NewColumn(p.dst)
			b.ReportAllocs()
			for b.Loop() {
				dst.Reset()
				conv.Convert(src, nil, dst, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8192, "ns/value")
		})
	}
}
