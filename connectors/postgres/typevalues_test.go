package postgres

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// typeValues are values of a type, as its input function reads them.
type typeValues struct {
	native string
	edges  []string
	gen    *rapid.Generator[string]
	// left says of which values another end has no place, by its kind.
	left map[string]func(row string) bool
}

func ints(lo, hi int64) *rapid.Generator[string] {
	return rapid.Map(rapid.Int64Range(lo, hi), func(v int64) string { return strconv.FormatInt(v, 10) })
}

// numbers have up to whole digits before the point and scale after it.
func numbers(whole, scale int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + rapid.StringMatching(fmt.Sprintf("[0-9]{1,%d}", max(whole, 1))).Draw(t, "digits")
		if whole == 0 {
			s = s[:len(s)-1] + "0"
		}
		if scale > 0 {
			s += "." + rapid.StringMatching(fmt.Sprintf("[0-9]{0,%d}", scale)).Draw(t, "fraction")
		}
		return s
	})
}

// texts have the characters that some format on the way has a meaning for.
func texts(most int) *rapid.Generator[string] {
	odd := []rune("\t\n\r\\\"',|;{}()[]NnUuLl \b\f\v\x01\x7f\u0085\u00a0äß€\u0301\u2028\ufeff😀\U0010ffff0-")
	return rapid.StringOfN(rapid.OneOf(rapid.SampledFrom(odd), rapid.Rune().Filter(func(r rune) bool { return r != 0 && !(r >= 0xd800 && r < 0xe000) })), 0, most, -1)
}

func bitsOf(least, most int) *rapid.Generator[string] {
	return rapid.StringMatching(fmt.Sprintf("[01]{%d,%d}", least, most))
}

func days() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		y := rapid.IntRange(1, 9999).Draw(t, "year")
		era := rapid.SampledFrom([]string{"", "", " BC"}).Draw(t, "era")
		if era != "" {
			y = y%4712 + 1
		}
		return fmt.Sprintf("%04d-%02d-%02d%s", y, rapid.IntRange(1, 12).Draw(t, "month"), rapid.IntRange(1, 28).Draw(t, "day"), era)
	})
}

func clocks(digits int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := fmt.Sprintf("%02d:%02d:%02d", rapid.IntRange(0, 23).Draw(t, "h"), rapid.IntRange(0, 59).Draw(t, "m"), rapid.IntRange(0, 59).Draw(t, "s"))
		if digits > 0 {
			s += "." + rapid.StringMatching(fmt.Sprintf("[0-9]{1,%d}", digits)).Draw(t, "fraction")
		}
		return s
	})
}

func momentsOf(digits int, zones ...string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		day, era, _ := strings.Cut(days().Draw(t, "day"), " ")
		s := day + " " + clocks(digits).Draw(t, "clock")
		if len(zones) > 0 {
			s += rapid.SampledFrom(zones).Draw(t, "zone")
		}
		return strings.TrimSpace(s + " " + era)
	})
}

func floats(size int) *rapid.Generator[string] {
	if size == 32 {
		return rapid.Map(rapid.Float32(), func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) })
	}
	return rapid.Map(rapid.Float64(), func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
}

// documents are JSON; those of plain have nothing that jsonb would write in
// another way.
func documents() *rapid.Generator[string] {
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			most := 3
			if depth > 0 {
				most = 5
			}
			switch rapid.IntRange(0, most).Draw(t, "kind") {
			case 0:
				return rapid.SampledFrom([]string{"null", "true", "false", " { } ", "[]", `""`}).Draw(t, "word")
			case 1:
				return rapid.SampledFrom([]string{"0", "-1.10", "1e30", "123456789012345678901234567890.000", "-0.0"}).Draw(t, "number")
			case 2, 3:
				return strconv.QuoteToASCII(rapid.StringMatching(`[a-zäö€"/ ]{0,8}`).Draw(t, "text"))
			case 4:
				return "[" + strings.Join(rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "items"), " , ") + "]"
			}
			return `{"a": ` + value(depth-1).Draw(t, "a") + `,"b":` + value(depth-1).Draw(t, "b") + "}"
		})
	}
	return value(2)
}

// arrayOf writes arrays of one or two dimensions, with NULLs and lower bounds.
func arraysOf(element *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		row := func(n int) string {
			var items []string
			for range n {
				if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
					items = append(items, "NULL")
					continue
				}
				items = append(items, quoteElement(element.Draw(t, "element")))
			}
			return "{" + strings.Join(items, ",") + "}"
		}
		n := rapid.IntRange(1, 3).Draw(t, "n")
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 0:
			return row(n)
		case 1:
			return "{" + row(n) + "," + row(n) + "}"
		}
		lo := rapid.IntRange(-3, 3).Draw(t, "bound")
		return fmt.Sprintf("[%d:%d]=%s", lo, lo+n-1, row(n))
	})
}

func quoteElement(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func rangesOf(lo, hi string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"[", "("}).Draw(t, "from") + rapid.SampledFrom([]string{"", quoteElement(lo)}).Draw(t, "lo")
		return s + "," + rapid.SampledFrom([]string{"", quoteElement(hi)}).Draw(t, "hi") + rapid.SampledFrom([]string{"]", ")"}).Draw(t, "to")
	})
}

func oneOf(values ...string) *rapid.Generator[string] { return rapid.SampledFrom(values) }

// hexOf are octets as bytea reads them.
func hexOf(most int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, most), func(b []byte) string { return fmt.Sprintf(`\x%x`, b) })
}

// typesOfPostgres are all types of PostgreSQL 15 that a table's column may have,
// those of its extensions and of its users for examples.
func typesOfPostgres() []typeValues {
	specials := []string{"NaN", "Infinity", "-Infinity"}
	never := []string{"infinity", "-infinity"}
	zones := []string{"+00", "+14", "-11:30", "+05:45"}
	nan := func(row string) bool { return strings.Contains(row, "NaN") }
	types := []typeValues{
		{native: "boolean", edges: []string{"t", "f"}, gen: oneOf("t", "f")},
		{native: "smallint", edges: []string{"-32768", "32767", "0"}, gen: ints(math.MinInt16, math.MaxInt16)},
		{native: "integer", edges: []string{"-2147483648", "2147483647"}, gen: ints(math.MinInt32, math.MaxInt32)},
		{native: "bigint", edges: []string{"-9223372036854775808", "9223372036854775807"}, gen: ints(math.MinInt64, math.MaxInt64)},
		{native: "oid", edges: []string{"0", "4294967295"}, gen: ints(0, math.MaxUint32)},
		{native: "real", edges: append(specials, "-0", "3.4028235e38", "1e-45"), gen: floats(32), left: map[string]func(string) bool{"sqlite": nan}},
		{native: "double precision", edges: append(specials, "-0", "1.7976931348623157e308", "5e-324"), gen: floats(64), left: map[string]func(string) bool{"sqlite": nan}},
		{native: "numeric", edges: append(specials, "0", "0.000", "1e-300", "-1e300", "12345678901234567890123456789012345678901.1200"), gen: numbers(60, 40)},
		{native: "numeric(10,2)", edges: []string{"NaN", "99999999.99", "-99999999.99", "0.01", "0"}, gen: numbers(8, 2)},
		{native: "numeric(38,0)", edges: []string{"NaN", strings.Repeat("9", 38), "-" + strings.Repeat("9", 38)}, gen: numbers(38, 0)},
		{native: "numeric(38,38)", edges: []string{"NaN", "0." + strings.Repeat("9", 38)}, gen: numbers(0, 38)},
		{native: "numeric(7,-3)", edges: []string{"NaN", "9999999000", "-1000"}, gen: ints(-999_999, 999_999)},
		{native: "numeric(3,6)", edges: []string{"NaN", "0.000999", "-0.000001"}, gen: oneOf("0.000123", "0")},
		{native: "numeric(60,20)", edges: []string{"NaN", strings.Repeat("9", 40) + "." + strings.Repeat("9", 20)}, gen: numbers(40, 20)},
		{native: "numeric(1000,500)", edges: []string{"NaN", strings.Repeat("9", 500) + "." + strings.Repeat("9", 500)}, gen: numbers(100, 100)},
		{native: "money", edges: []string{"-92233720368547758.08", "92233720368547758.07"}, gen: numbers(9, 2)},
		{native: "text", edges: []string{"", `\N`, "NULL", `\.`, "\r\n", " padded ", strings.Repeat("long ", 30_000)}, gen: texts(30)},
		{native: "varchar(20)", edges: []string{"", "  ", strings.Repeat("😀", 20)}, gen: texts(20)},
		{native: "char(8)", edges: []string{"", "a", " a", "12345678", "ä😀"}, gen: rapid.StringMatching("[a-zäö€ ]{0,8}")},
		{native: "bpchar", edges: []string{"", "a  "}, gen: rapid.StringMatching("[a-zäö€ ]{0,8}")},
		{native: `"char"`, edges: []string{"", "a", "\\"}, gen: rapid.StringMatching("[ -~]")},
		{native: "name", edges: []string{"", strings.Repeat("n", 63)}, gen: rapid.StringMatching("[a-z\"A-Z ]{0,20}")},
		{native: "citext", edges: []string{"", "ABC"}, gen: texts(10)},
		{native: "bytea", edges: []string{`\x`, `\x00ff5c0a27`}, gen: hexOf(40)},
		{native: "uuid", edges: []string{"00000000-0000-0000-0000-000000000000"}, gen: rapid.StringMatching("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")},
		{native: "date", edges: append(never, "4713-11-24 BC", "0001-12-31 BC", "0001-01-01", "9999-12-31", "294277-01-01", "5874897-12-31"), gen: days()},
		{native: "time", edges: []string{"00:00", "24:00", "23:59:59.999999"}, gen: clocks(6)},
		{native: "time(0)", edges: []string{"24:00"}, gen: clocks(0)},
		{native: "timetz", edges: []string{"24:00-15:59:59", "00:00+15:59"}, gen: rapid.Map(clocks(6), func(s string) string { return s + "+05:45" })},
		{native: "timestamp", edges: append(never, "4713-11-24 00:00 BC", "1969-12-31 23:59:59.999999", "294246-12-31 23:59:59.999999", "294276-12-31 23:59:59.999999"), gen: momentsOf(6)},
		{native: "timestamp(3)", edges: never, gen: momentsOf(3)},
		{native: "timestamptz", edges: append(never, "4713-11-24 00:00+00 BC", "294246-12-31 23:59:59.999999+00", "294276-12-31 23:59:59+00"), gen: momentsOf(6, zones...)},
		{native: "timestamptz(0)", edges: never, gen: momentsOf(0, zones...)},
		{native: "interval", edges: []string{"0", "-178000000 years", "1 year -2 days 03:04:05.000006", "-0.000001s"}, gen: rapid.Map(ints(-9e12, 9e12), func(s string) string { return s + " us 3 days -1 mon" })},
		{native: "interval day to second(3)", edges: []string{"1 02:03:04.567"}, gen: oneOf("-1 day", "2:00")},
		{native: "json", edges: []string{`{"a" : 1, "a":2}`, "null", `"\u00e4"`}, gen: documents()},
		{native: "jsonb", edges: []string{`{"b":1,"a":[1.10]}`, "1e400", `"\ud83d\ude00"`}, gen: documents()},
		{native: "xml", edges: []string{"", "<a>x</a>", "a &lt; b"}, gen: rapid.Map(rapid.StringMatching("[a-zä ]{0,9}"), func(s string) string { return "<a b=\"1\">" + s + "</a>" })},
		{native: "integer[]", edges: []string{"{}", "{{1,2},{3,NULL}}", "[0:1]={1,2}"}, gen: arraysOf(ints(math.MinInt32, math.MaxInt32))},
		{native: "text[]", edges: []string{"{}", `{"a\"b","c,d",NULL,"NULL","","\\"}`}, gen: arraysOf(texts(6))},
		{native: "numeric(9,2)[]", edges: []string{"{NaN,1.10}"}, gen: arraysOf(numbers(7, 2))},
		{native: "timestamptz[]", edges: []string{"{infinity,-infinity,NULL}"}, gen: arraysOf(momentsOf(6, zones...))},
		{native: "bytea[]", edges: []string{`{"\\x00ff"}`}, gen: arraysOf(hexOf(5))},
		{native: "boolean[]", edges: []string{"{t,f,NULL}"}, gen: arraysOf(oneOf("t", "f"))},
		{native: "mood[]", edges: []string{`{"sad",""}`}, gen: arraysOf(oneOf("sad", "ä 😀"))},
		{native: "mood", edges: []string{"sad", "", `it's "ok", \fine`}, gen: oneOf("sad", "ä 😀")},
		{native: "positive", edges: []string{"NaN", "0.001", "999999999.999"}, gen: rapid.Map(numbers(9, 3), func(s string) string { return strings.TrimPrefix(s, "-") })},
		{native: "nested", edges: []string{"", "0123456789"}, gen: texts(10)},
		{native: "pair", edges: []string{"(,,)", `(1,"a ""b"", c",sad)`}, gen: rapid.Map(ints(0, 99), func(s string) string { return "(" + s + `,"x, y",)` })},
		{native: "floatrange", edges: []string{"empty", "(,)", "[-Infinity,NaN]"}, gen: rangesOf("-1.5", "2.5")},
		{native: "hstore", edges: []string{"", `"a"=>NULL, "b c"=>"x\"y"`}, gen: oneOf(`k=>v`, `"ä"=>"😀"`)},
		{native: "ltree", edges: []string{"", "a.b.c"}, gen: rapid.StringMatching("[a-z]{1,5}\\.[a-z0-9]{1,5}")},
		{native: "int4range", edges: []string{"empty", "(,)", "[1,5]"}, gen: rangesOf("-7", "12")},
		{native: "int8range", gen: rangesOf("-9000000000", "12")},
		{native: "numrange", edges: []string{"empty", "[NaN,NaN]"}, gen: rangesOf("-1.50", "2.000")},
		{native: "tsrange", edges: []string{"[-infinity,infinity)"}, gen: rangesOf("0044-03-15 00:00:00 BC", "2026-01-01 10:00:00.5")},
		{native: "tstzrange", gen: rangesOf("2025-01-01 00:00:00+00", "2026-01-01 00:00:00+02")},
		{native: "daterange", edges: []string{"[,infinity]"}, gen: rangesOf("2025-01-01", "2026-01-01")},
		{native: "int4multirange", edges: []string{"{}", "{[1,3),[5,)}"}, gen: oneOf("{[1,2)}")},
		{native: "nummultirange", edges: []string{"{}", "{(,1.5],[2,3)}"}, gen: oneOf("{[1.10,2)}")},
		{native: "inet", edges: []string{"0.0.0.0/0", "10.1.2.3/8", "::1", "::ffff:1.2.3.4/128"}, gen: rapid.Map(ints(0, 255), func(s string) string { return "192.168.0." + s + "/24" })},
		{native: "cidr", edges: []string{"0.0.0.0/0", "fe80::/10"}, gen: rapid.Map(ints(0, 255), func(s string) string { return "10." + s + ".0.0/16" })},
		{native: "macaddr", gen: rapid.StringMatching("[0-9a-f]{2}(:[0-9a-f]{2}){5}")},
		{native: "macaddr8", gen: rapid.StringMatching("[0-9a-f]{2}(:[0-9a-f]{2}){7}")},
		{native: "bit(7)", edges: []string{"0000000", "1111111"}, gen: bitsOf(7, 7)},
		{native: "bit varying", edges: []string{""}, gen: bitsOf(0, 70)},
		{native: "tsvector", edges: []string{"", "'it''s':1A,2B fat:3"}, gen: oneOf("a:1 b:2C")},
		{native: "tsquery", edges: []string{"", "'a b' & !c:*AB"}, gen: oneOf("a <-> b")},
		{native: "point", edges: []string{"(Infinity,-0)", "(NaN,1e300)"}, gen: oneOf("(1,2.5)")},
		{native: "line", gen: oneOf("{1,-1,0.5}")}, {native: "lseg", gen: oneOf("[(0,0),(1,1.5)]")}, {native: "box", gen: oneOf("(2,2),(0,0)")},
		{native: "path", gen: oneOf("[(0,0),(1,1)]", "((0,0),(1,1),(2,0))")}, {native: "polygon", gen: oneOf("((0,0),(1,1),(2,0))")}, {native: "circle", gen: oneOf("<(0,0),2.5>")},
		{native: "pg_lsn", edges: []string{"0/0", "FFFFFFFF/FFFFFFFF"}, gen: oneOf("16/B374D848")},
		{native: "jsonpath", gen: oneOf("$.a[*] ? (@ > 1)")}, {native: "xid8", gen: ints(0, math.MaxInt64)}, {native: "pg_snapshot", gen: oneOf("10:20:10,14,15")},
		{native: "int2vector", gen: oneOf("1 2 3", "")}, {native: "oidvector", gen: oneOf("1 4294967295")}, {native: "regclass", gen: oneOf("pg_class", "-")},
	}
	return types
}
