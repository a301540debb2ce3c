package batch

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"pgregory.net/rapid"
)

func typ(k schema.Kind, limits ...int) schema.Type {
	t := schema.Of(k)
	switch k {
	case schema.Decimal:
		if len(limits) > 0 {
			t.Precision = limits[0]
		}
		if len(limits) > 1 {
			t.Scale = limits[1]
		}
	case schema.Text, schema.Bytes:
		if len(limits) > 0 {
			t.Length = limits[0]
		}
	case schema.Time, schema.Timestamp, schema.TimestampTZ:
		if len(limits) > 0 {
			t.Precision = limits[0]
		}
	}
	return t
}

func fixed(t schema.Type) schema.Type { t.Fixed = true; return t }

func TestCanonicalText(t *testing.T) {
	tests := []struct {
		typ      schema.Type
		in, want string // want "" = in
	}{
		{typ(schema.Bool), "true", ""},
		{typ(schema.Bool), "F", "false"},
		{typ(schema.Int16), "-32768", ""},
		{typ(schema.Int64), "9223372036854775807", ""},
		{typ(schema.Int64), "-9223372036854775808", ""},
		{typ(schema.Int32), "+007", "7"},
		{typ(schema.Int32), "12.00", "12"},
		{typ(schema.Int32), "1.2e3", "1200"},
		{typ(schema.Float64), "0.1", ""},
		{typ(schema.Float64), "-0", ""},
		{typ(schema.Float64), "1e21", "1e+21"},
		{typ(schema.Float64), "123456789012345680000", ""},
		{typ(schema.Float64), "0.000001", ""},
		{typ(schema.Float64), "0.0000001", "1e-07"},
		{typ(schema.Float64), "nan", "NaN"},
		{typ(schema.Float64), "-inf", "-Infinity"},
		{typ(schema.Float64), "5e-324", ""},
		{typ(schema.Float32), "0.1", ""},
		{typ(schema.Decimal, 5, 2), "12.5", "12.50"},
		{typ(schema.Decimal, 5, 2), "-0.05", ""},
		{typ(schema.Decimal, 5, 2), ".05", "0.05"},
		{typ(schema.Decimal, 5, 2), "-0", "0.00"},
		{typ(schema.Decimal, 38), "99999999999999999999999999999999999999", ""},
		{typ(schema.Decimal, 38), "-10000000000000000000000000000000000000", ""},
		{typ(schema.Decimal, 38, 38), "0.00000000000000000000000000000000000001", ""},
		{typ(schema.Decimal, 38), "18446744073709551616", ""}, // 2^64
		{typ(schema.Decimal, 38), "1e37", "10000000000000000000000000000000000000"},
		{typ(schema.Decimal), "1.500", ""},
		{typ(schema.Decimal), "-000.5", "-0.5"},
		{typ(schema.Decimal), "1E+40", "10000000000000000000000000000000000000000"},
		{typ(schema.Decimal), "1.23e-5", "0.0000123"},
		{typ(schema.Decimal), "1.25e1", "12.5"},
		{typ(schema.Decimal), "NaN", ""},
		{typ(schema.Decimal, 5, -2), "12300", ""},
		{typ(schema.Decimal, 40), "1234567890123456789012345678901234567890", ""},
		{typ(schema.Text), "any \x00 thing", ""},
		{fixed(typ(schema.Text, 4)), "é", "é   "},
		{fixed(typ(schema.Bytes, 3)), `\xFF`, `\xff0000`},
		{typ(schema.Bytes), `\x`, ""},
		{typ(schema.Date), "2006-01-02", ""},
		{typ(schema.Date), "0000-02-29", ""},
		{typ(schema.Date), "-0043-03-15", ""},
		{typ(schema.Date), "12006-01-02", ""},
		{typ(schema.Date), "-290000-12-31", ""},
		{typ(schema.Time), "15:04:05", ""},
		{typ(schema.Time), "15:04:05.500000", "15:04:05.5"},
		{typ(schema.Time), "24:00:00", ""},
		{typ(schema.Timestamp), "9548-12-31T23:59:59.999999", "9548-12-31 23:59:59.999999"},
		{typ(schema.Timestamp), "1969-12-31 23:59:59.9", ""},
		{typ(schema.Timestamp), "2006-01-02", "2006-01-02 00:00:00"},
		{typ(schema.Timestamp, 9), "1969-12-31 23:59:59.999999999", ""},
		{typ(schema.TimestampTZ), "2006-01-02 15:04:05-07:00", "2006-01-02 22:04:05+00:00"},
		{typ(schema.TimestampTZ), "2006-01-02T15:04:05Z", "2006-01-02 15:04:05+00:00"},
		{typ(schema.TimestampTZ), "2006-01-01 00:00:00+05:30:15", "2005-12-31 18:29:45+00:00"},
		{typ(schema.UUID), "123E4567-E89B-12D3-A456-426614174000", "123e4567-e89b-12d3-a456-426614174000"},
		{typ(schema.JSON), `{"a": 1}`, ""},
	}
	for _, c := range tests {
		if c.want == "" {
			c.want = c.in
		}
		col := NewColumn(c.typ)
		if err := ParseText(col, []byte(c.in)); err != nil {
			t.Errorf("ParseText(%s, %q): %v", c.typ, c.in, err)
			continue
		}
		col.check()
		if got := string(AppendText(nil, col, 0)); got != c.want {
			t.Errorf("text of %s %q = %q, want %q", c.typ, c.in, got, c.want)
		}
	}
}

func TestParseTextSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		typ      schema.Type
		in, want string
	}{
		{typ(schema.Int64), "12.5", "12.5 has a fraction and int64 takes none"},
		{typ(schema.Int16), "40000", "40000 is above 32767, the most that int16 takes"},
		{typ(schema.Int16), "-40000", "-40000 is below -32768"},
		{typ(schema.Int64), "9223372036854775808", "outside of int64"},
		{typ(schema.Int64), "99999999999999999999999", "outside of int64"},
		{typ(schema.Int64), "", `"" is not a whole number`},
		{typ(schema.Int64), "1_000", "not a whole number"},
		{typ(schema.Int64), "1e999999", "not a whole number"},
		{typ(schema.Float64), "0x1p3", "not a number"},
		{typ(schema.Float64), "1e400", "outside of float64"},
		{typ(schema.Float64), "", "not a number"},
		{typ(schema.Decimal, 5, 2), "1.239", "1.239 has 3 digits after the point and decimal(5,2) takes 2"},
		{typ(schema.Decimal, 5, 2), "1234", "1234 has 4 digits before the point and decimal(5,2) takes 3"},
		{typ(schema.Decimal, 5), "1.5", "1.5 has a fraction and decimal(5) takes none"},
		{typ(schema.Decimal, 5, 2), "NaN", "NaN is no value of decimal(5,2)"},
		{typ(schema.Decimal), "1.2.3", "not a decimal number"},
		{typ(schema.Decimal), ".", "not a decimal number"},
		{typ(schema.Text, 3), "äöüß", `"äöüß" has 4 characters and text(3) takes 3`},
		{typ(schema.Bytes, 1), `\x0102`, "2 octets and bytes(1) takes 1"},
		{typ(schema.Bytes), "0102", `does not begin with \x`},
		{typ(schema.Bytes), `\x012`, "odd number"},
		{typ(schema.Bytes), `\xzz`, "not hexadecimal"},
		{typ(schema.Date), "2023-02-29", "not a date of the form 2006-01-02"},
		{typ(schema.Date), "2023-2-9", "not a date"},
		{typ(schema.Date), "5874898-01-01", "not a date"},
		{typ(schema.Time), "24:00:01", "not a time"},
		{typ(schema.Time), "15:04:05.", "not a time"},
		{typ(schema.Timestamp), "2006-01-02 15:04:05Z", "not a timestamp"},
		{typ(schema.Timestamp, 3), "2006-01-02 15:04:05.1234", "4 digits of a second and timestamp(3) takes 3"},
		{typ(schema.TimestampTZ), "2006-01-02 15:04:05", "with an offset or Z"},
		{typ(schema.UUID), "123e4567e89b12d3a456426614174000", "not a UUID"},
		{typ(schema.UUID), "123e4567-e89b-12d3-a456-42661417400g", "not a UUID"},
		{typ(schema.Bool), "yes", "neither true nor false"},
		{typ(schema.JSON), "{", "not JSON"},
	}
	for _, c := range tests {
		col := NewColumn(c.typ)
		err := ParseText(col, []byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseText(%s, %q) = %v, want %q in it", c.typ, c.in, err, c.want)
		}
		if col.check(); col.Len() != 0 {
			t.Errorf("ParseText(%s, %q) appended a value with its error", c.typ, c.in)
		}
	}
}

// types draws any type that a column can have.
func types() *rapid.Generator[schema.Type] {
	return rapid.Custom(func(t *rapid.T) schema.Type {
		k := schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind"))
		out := schema.Of(k)
		switch k {
		case schema.Decimal:
			out.Precision = rapid.IntRange(0, 42).Draw(t, "precision")
			if out.Precision > 0 {
				out.Scale = rapid.IntRange(-3, out.Precision+2).Draw(t, "scale")
			}
		case schema.Text, schema.Bytes:
			out.Length = rapid.SampledFrom([]int{0, 1, 5, 12, 36, 60}).Draw(t, "length")
			out.Fixed = out.Length > 0 && rapid.Bool().Draw(t, "fixed")
		case schema.Time, schema.Timestamp, schema.TimestampTZ:
			out.Precision = rapid.IntRange(0, 9).Draw(t, "digits")
		}
		return out
	})
}

// appendAny appends a value of the column's type, drawn with a taste for edges.
func appendAny(t *rapid.T, c *Column) {
	switch c.Type.Kind {
	case schema.Bool:
		c.AppendBool(rapid.Bool().Draw(t, "bool"))
	case schema.Int16, schema.Int32, schema.Int64:
		lo, hi := c.Type.Kind.IntRange()
		c.AppendInt(rapid.Int64Range(lo, hi).Draw(t, "int"))
	case schema.Float32:
		c.AppendFloat(float64(rapid.Float32().Draw(t, "float32")))
	case schema.Float64:
		c.AppendFloat(rapid.Float64().Draw(t, "float64"))
	case schema.Decimal:
		digits := rapid.StringMatching(`[0-9]{1,45}`).Draw(t, "digits")
		p, s := c.Type.Precision, c.Type.Scale
		if p == 0 {
			p, s = len(digits), rapid.IntRange(0, 10).Draw(t, "scale")
		}
		digits = digits[:min(p, len(digits))]
		text := digits + "e" + big.NewInt(int64(-s)).String()
		if rapid.Bool().Draw(t, "negative") {
			text = "-" + text
		}
		if err := ParseText(c, []byte(text)); err != nil {
			t.Fatalf("%s takes no %s: %v", c.Type, text, err)
		}
	case schema.Text, schema.Bytes:
		n := c.Type.Length
		v := rapid.StringN(0, max(n, 8), -1).Draw(t, "text")
		if c.Type.Kind == schema.Bytes && n > 0 {
			v = v[:min(len(v), n)]
		}
		count, pad := len([]rune(v)), " "
		if c.Type.Kind == schema.Bytes {
			count, pad = len(v), "\x00"
		}
		if n > 0 && count > n {
			v, count = v[:0], 0
		}
		if c.Type.Fixed {
			v += strings.Repeat(pad, n-count)
		}
		c.AppendString(v)
	case schema.Date:
		c.AppendInt(rapid.Int64Range(-106_000_000, 106_000_000).Draw(t, "days"))
	case schema.UUID:
		c.AppendBytes(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
	case schema.JSON:
		c.AppendString(rapid.SampledFrom([]string{"1", `"a"`, `{"b": [true, null]}`}).Draw(t, "json"))
	default:
		lo, hi := int64(-106_000_000*microsPerDay), int64(106_000_000*microsPerDay)
		if c.Type.Kind == schema.Time {
			lo, hi = 0, microsPerDay-1
		}
		micros, nanos := rapid.Int64Range(lo, hi).Draw(t, "micros"), rapid.Int64Range(0, 999).Draw(t, "nanos")
		step := int64(1)
		for p := c.Type.Precision; p < 9; p++ {
			step *= 10
		}
		s := floorDiv(micros, microsPerSecond) * microsPerSecond
		below := ((micros-s)*1000 + nanos) / step * step
		c.AppendNanos(s+below/1000, int16(below%1000))
	}
}

func TestParseTextReadsWhatAppendTextWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewColumn(types().Draw(t, "type"))
		appendAny(t, c)
		text := AppendText(nil, c, 0)
		back := NewColumn(c.Type)
		if err := ParseText(back, text); err != nil {
			t.Fatalf("%s: %q is refused: %v", c.Type, text, err)
		}
		c.check()
		back.check()
		if got := AppendText(nil, back, 0); !bytes.Equal(got, text) {
			t.Fatalf("%s: wrote %q, read and wrote %q", c.Type, text, got)
		}
		if c.store == schema.StoreInt && (c.Ints[0] != back.Ints[0] || c.nanos(0) != back.nanos(0)) ||
			c.store == schema.StoreFloat && math.Float64bits(c.Floats[0]) != math.Float64bits(back.Floats[0]) ||
			c.store == schema.StoreDecimal && c.Decimals[0] != back.Decimals[0] ||
			c.store == schema.StoreBytes && !bytes.Equal(c.Bytes(0), back.Bytes(0)) {
			t.Fatalf("%s: the value behind %q did not come back", c.Type, text)
		}
	})
}

func TestDatesAgreeWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.Int64Range(-719_528, 2_932_896).Draw(t, "days") // years 0 to 9999
		want := time.Unix(days*86_400, 0).UTC().Format("2006-01-02")
		if got := string(appendDate(nil, days)); got != want {
			t.Fatalf("day %d = %s, want %s", days, got, want)
		}
	})
}

// TestFloatsAgreeWithStrconv: the short way to a float rounds as the long one.
func TestFloatsAgreeWithStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{1,18}(\.[0-9]{0,12})?(e[+-]?[0-9]{1,2})?`).Draw(t, "text")
		want, _ := strconv.ParseFloat(s, 64)
		got, why := parseFloat([]byte(s), schema.Of(schema.Float64))
		if why != "" || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q = %v, %s; want %v", s, got, why, want)
		}
	})
}

func TestTextOfGarbageDoesNotPanic(t *testing.T) {
	for _, k := range []schema.Kind{schema.Date, schema.Time, schema.Timestamp, schema.TimestampTZ} {
		c := NewColumn(schema.Of(k))
		for _, v := range []int64{math.MinInt64, -1, math.MaxInt64, microsPerDay * 5} {
			c.AppendInt(v)
			AppendText(nil, c, c.Len()-1)
		}
	}
}

func TestDecimalTextAgreesWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := decimal128.New(rapid.Int64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo"))
		if got, want := string(appendDecimal(nil, v, 0)), v.BigInt().String(); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func FuzzParseText(f *testing.F) {
	for _, s := range []string{"12.5e-3", "-0043-03-15 24:00:00.5+05:30", `\xff`, "NaN", "123e4567-e89b-12d3-a456-426614174000", `{"a":1}`} {
		for k := schema.Bool; k <= schema.JSON; k++ {
			f.Add(uint8(k), int8(9), int8(2), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, precision, scale int8, s []byte) {
		typ := schema.Type{Kind: schema.Bool + schema.Kind(kind)%schema.JSON, Precision: int(max(precision, 0)), Scale: int(scale)}
		if typ.Kind != schema.Decimal {
			typ.Precision, typ.Scale = typ.Precision%10, 0
		}
		if typ.Kind == schema.Text || typ.Kind == schema.Bytes {
			typ.Precision, typ.Length, typ.Fixed = 0, int(max(precision, 0)), scale > 0 && precision > 0
		}
		c := NewColumn(typ)
		if err := ParseText(c, s); err != nil {
			if c.check(); c.Len() != 0 {
				t.Fatalf("%s: %q was refused and appended", typ, s)
			}
			return
		}
		c.check()
		text := AppendText(nil, c, 0)
		if err := ParseText(c, text); err != nil {
			t.Fatalf("%s: %q was written as %q, which is refused: %v", typ, s, text, err)
		}
		if again := AppendText(nil, c, 1); !bytes.Equal(again, text) {
			t.Fatalf("%s: %q was written as %q, then as %q", typ, s, text, again)
		}
	})
}

// The fast ways give what the general ones give, whatever the text.
func TestFastParsersAgreeWithTheGeneralOnes(t *testing.T) {
	types := []schema.Type{schema.Of(schema.Int16), schema.Of(schema.Int64), schema.Of(schema.Timestamp), {Kind: schema.Timestamp, Precision: 9}, {Kind: schema.Text, Length: 3}, {Kind: schema.Text, Length: 3, Fixed: true}}
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(types).Draw(t, "type")
		s := []byte(rapid.SampledFrom([]string{"2024-02-29 23:59:59", "0001-01-01 00:00:00", "1899-06-15 12:30:01", "-32768", "007", "äöü"}).Draw(t, "text"))
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			s[rapid.IntRange(0, len(s)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0123456789-: .T\xff")).Draw(t, "byte")
		}
		fast, slow := NewColumn(typ), NewColumn(typ)
		err := ParseText(fast, s)
		why := parseText(slow, s)
		if (err == nil) != (why == "") || err == nil && string(AppendText(nil, fast, 0)) != string(AppendText(nil, slow, 0)) || fast.Len() != slow.Len() {
			t.Fatalf("%s of %q: %v, in general %q", typ, s, err, why)
		}
	})
}

func TestTruncateTakesRowsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind"))
		typ := schema.Type{Kind: kind}
		switch kind {
		case schema.Timestamp:
			typ.Precision = 9
		case schema.Decimal:
			typ.Precision = rapid.SampledFrom([]int{0, 10}).Draw(t, "precision")
		}
		values := map[schema.Kind][]string{schema.Bool: {"true", "false"}, schema.Date: {"2026-01-02"}, schema.Time: {"01:02:03"}, schema.Timestamp: {"2026-01-02 03:04:05.123456789"}, schema.TimestampTZ: {"2026-01-02 03:04:05+00:00"}, schema.UUID: {"00000000-0000-0000-0000-000000000001"}, schema.Bytes: {`\x01`, `\x`}}[kind]
		if values == nil {
			values = []string{"1", "23"}
		}
		got, want := NewColumn(typ), NewColumn(typ)
		var kept []string
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				n := rapid.IntRange(0, len(kept)).Draw(t, "rows")
				got.Truncate(n)
				kept = kept[:n]
				continue
			}
			v := rapid.SampledFrom(append([]string{""}, values...)).Draw(t, "value")
			kept = append(kept, v)
			if v == "" {
				got.AppendNull()
			} else if err := ParseText(got, []byte(v)); err != nil {
				t.Fatalf("%v", err)
			}
		}
		for _, v := range kept {
			if v == "" {
				want.AppendNull()
			} else if err := ParseText(want, []byte(v)); err != nil {
				t.Fatalf("%v", err)
			}
		}
		got.check()
		for i := range kept {
			if got.IsNull(i) != want.IsNull(i) || string(AppendText(nil, got, i)) != string(AppendText(nil, want, i)) {
				t.Fatalf("%s: row %d of %q is %q (null %v)", typ, i, kept, AppendText(nil, got, i), got.IsNull(i))
			}
		}
		if got.Len() != len(kept) {
			t.Fatalf("%d rows, want %d", got.Len(), len(kept))
		}
	})
}
