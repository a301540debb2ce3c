package rowexpr

import (
	"math"
	"strings"
	"testing"
)

func TestTruthTables(t *testing.T) {
	values := map[string]any{"true": true, "false": false, "NULL": nil}
	tables := map[string]map[string]string{
		"flag and flag2": {"true,true": "true", "true,false": "false", "true,NULL": "NULL", "false,true": "false", "false,false": "false",
			"false,NULL": "false", "NULL,true": "NULL", "NULL,false": "false", "NULL,NULL": "NULL"},
		"flag or flag2": {"true,true": "true", "true,false": "true", "true,NULL": "true", "false,true": "true", "false,false": "false",
			"false,NULL": "NULL", "NULL,true": "true", "NULL,false": "NULL", "NULL,NULL": "NULL"},
		"flag == flag2": {"true,true": "true", "true,false": "false", "true,NULL": "NULL", "false,true": "false", "false,false": "true",
			"false,NULL": "NULL", "NULL,true": "NULL", "NULL,false": "NULL", "NULL,NULL": "NULL"},
		"not flag": {"true,true": "false", "false,true": "true", "NULL,true": "NULL"},
	}
	for src, want := range tables {
		for pair, w := range want {
			a, b, _ := strings.Cut(pair, ",")
			if got := one(t, src, row{"flag": values[a], "flag2": values[b]}); got != w {
				t.Errorf("%s with %s: got %s, want %s", src, pair, got, w)
			}
		}
	}
}

func TestValues(t *testing.T) {
	big := row{"i64": int64(9007199254740993), "f": 9007199254740992.0}
	cases := []struct {
		src  string
		row  row
		want string
	}{
		// Literals are exact.
		{"0.1 + 0.2 == 0.3", nil, "true"},
		{"0.1 + 0.2", nil, "0.3"},
		{"1.50", nil, "1.5"},
		{"12345678901234567890123456789012345678 + 0", nil, "12345678901234567890123456789012345678"},
		{"1e3", nil, "1000"},
		{"0xff + 0b11 + 1_000", nil, "1258"},
		{"-9223372036854775808", nil, "-9223372036854775808"},
		{"i64 == -9223372036854775808", row{"i64": int64(math.MinInt64)}, "true"},
		{"n > 123456789012345678901234567890123456789012.5", row{"n": "123456789012345678901234567890123456789012.6"}, "true"},
		{"n ?? 5", nil, "5"}, {"(n ?? 5) + 0.5", nil, "5.5"},
		{`"ä\n\u00fc'" + 'b"'`, nil, "ä\nü'b\""},

		// Numbers of different kinds are compared exactly.
		{"i64 == 9007199254740992.0", big, "false"},
		{"i64 == f", big, "false"},
		{"i64 > f", big, "true"},
		{"f < i64", big, "true"},
		{"i64 == 9007199254740993.0", big, "true"},
		{"d == 1.5", row{"d": "1.50"}, "true"},
		{"d == e", row{"d": "1.50", "e": "1.5000"}, "true"},
		{"d > 1.499999999999999999999999", row{"d": "1.50"}, "true"},
		{"d < 100000000000000000000000000000000000000", row{"d": "1.50"}, "true"},
		{"d == i32", row{"d": "7.00", "i32": 7}, "true"},
		{"i32 < d", row{"d": "7.01", "i32": 7}, "true"},
		{"d == f", row{"d": "0.50", "f": 0.5}, "true"},
		{"d == f", row{"d": "0.10", "f": 0.1}, "false"},
		{"f > d", row{"d": "0.10", "f": 0.1}, "true"}, // the double is a little more
		{"f == 0.1", row{"f": 0.1}, "true"},           // a literal takes the double nearest to it
		{"f32 == 0.1", row{"f32": float64(float32(0.1))}, "true"},
		{"f32 < f", row{"f32": 0.25, "f": 0.5}, "true"},
		{"f32 < 1e300", row{"f32": 0.25}, "true"},
		{"f32 in [0.1, f]", row{"f32": 0.5, "f": 0.5}, "true"},
		{"f32 ?? f", row{"f": 0.1}, "0.1"},
		{"f32 + 0.5", row{"f32": 0.5}, "1"},
		{"string(f32)", row{"f32": float64(float32(0.1))}, "0.1"},
		{"-f32", row{"f32": 0.5}, "-0.5"},
		{"i16 < i64", row{"i16": 1, "i64": 2}, "true"},
		{"n == 1.5", row{"n": "1.5"}, "true"},
		{"n > m", row{"n": "123456789012345678901234567890123456789012345", "m": "123456789012345678901234567890123456789012344.9"}, "true"},
		{"n == f", row{"n": "0.1000000000000000055511151231257827021181583404541015625", "f": 0.1}, "true"},
		{"n > 1", row{"n": "NaN"}, "true"},
		{"n < 1", row{"n": "-Infinity"}, "true"},
		{"f > 1e300", row{"f": math.NaN()}, "true"},
		{"f == g", row{"f": math.NaN(), "g": math.NaN()}, "true"},
		{"f < g", row{"f": math.Inf(1), "g": math.NaN()}, "true"},
		{"i64 < f", row{"i64": 5, "f": math.NaN()}, "true"},
		{"d < f", row{"d": "5", "f": math.Inf(1)}, "true"},

		// Arithmetic.
		{"7 / 2", nil, "3"}, {"-7 / 2", nil, "-3"}, {"7 % -2", nil, "1"}, {"-7 % 2", nil, "-1"},
		{"i64 % -1", row{"i64": int64(math.MinInt64)}, "0"},
		{"i16 * i32", row{"i16": 300, "i32": 2000000000}, "600000000000"},
		{"d * 1.19", row{"d": "100.00"}, "119.0000"},
		{"d * 1.19 + 5", row{"d": "-0.01"}, "4.9881"},
		{"d / 3", row{"d": "10.00"}, "3.333333"},
		{"d / 3", row{"d": "-20.00"}, "-6.666667"},
		{"d % 3", row{"d": "-10.50"}, "-1.50"},
		{"d - i32", row{"d": "1.25", "i32": 2}, "-0.75"},
		{"f / 4", row{"f": 1.0}, "0.25"},
		{"f + 0.1", row{"f": 0.2}, "0.30000000000000004"},
		{"f + d", row{"f": 0.5, "d": "0.25"}, "0.75"},
		{"n + 1", row{"n": "99999999999999999999999999999999999999999999"}, "100000000000000000000000000000000000000000000"},
		{"n * m", row{"n": "0.5", "m": "-0.20"}, "-0.1"},
		{"n - n", row{"n": "1e3"}, "0"},
		{"n / 3", row{"n": "1"}, "0.33333333333333333333333333333333333333"},
		{"n % 3", row{"n": "-10.5"}, "-1.5"},
		{"e * e", row{"e": "1.5000"}, "2.25000000"},
		{"-i32", row{"i32": 5}, "-5"}, {"-d", row{"d": "5"}, "-5.00"}, {"-f", row{"f": 5.0}, "-5"}, {"-n", row{"n": "5"}, "-5"},

		// Functions.
		{"abs(i32)", row{"i32": -5}, "5"}, {"abs(d)", row{"d": "-5.5"}, "5.50"}, {"abs(f)", row{"f": -5.5}, "5.5"}, {"abs(n)", row{"n": "-5.5"}, "5.5"},
		{"round(i32)", row{"i32": -5}, "-5"}, {"round(d)", row{"d": "2.50"}, "3"}, {"round(d)", row{"d": "-2.50"}, "-3"}, {"round(d)", row{"d": "2.49"}, "2"},
		{"round(f)", row{"f": 2.5}, "3"}, {"round(n)", row{"n": "-2.5"}, "-3"}, {"round(n)", row{"n": "-0.4"}, "0"},
		{"int(d)", row{"d": "-2.99"}, "-2"}, {"int(f)", row{"f": -2.99}, "-2"}, {"int(n)", row{"n": "2.99"}, "2"}, {"int(s)", row{"s": "-12"}, "-12"}, {"int(e)", row{"e": "9223372036854775807.9"}, "9223372036854775807"},
		{"float(s)", row{"s": "1.5e3"}, "1500"}, {"float(d)", row{"d": "0.1"}, "0.1"}, {"float(i64)", big, "9.007199254740992e+15"}, {"float(n)", row{"n": "0.1"}, "0.1"},
		{"float(e)", row{"e": "1234567890123456789012345678.1234"}, "1.2345678901234569e+27"},
		{"string(i32)", row{"i32": -5}, "-5"}, {"string(d)", row{"d": "5"}, "5.00"}, {"string(f)", row{"f": 0.1}, "0.1"}, {"string(n)", row{"n": "5.5"}, "5.5"},
		{"string(e)", row{"e": "-1234567890123456789012345678.1234"}, "-1234567890123456789012345678.1234"},
		{"string(flag)", row{"flag": true}, "true"}, {"string(flag)", row{"flag": false}, "false"}, {"string(flag)", nil, "NULL"},
		{"string(day)", row{"day": "2024-02-29"}, "2024-02-29"}, {"string(at)", row{"at": "0001-01-01 00:00:00.5"}, "0001-01-01 00:00:00.5"},
		{"string(tz)", row{"tz": "2024-01-31T10:20:30+01:00"}, "2024-01-31 09:20:30+00:00"}, {"string(clock)", row{"clock": "10:20:30.000001"}, "10:20:30.000001"},
		{"string(u)", row{"u": "123E4567-e89b-12d3-a456-426614174000"}, "123e4567-e89b-12d3-a456-426614174000"}, {"string(js)", row{"js": `{"a":1}`}, `{"a":1}`},
		{"string(at9)", row{"at9": "9548-01-01 00:00:00.000000001"}, "9548-01-01 00:00:00.000000001"},
		{"upper(s)", row{"s": "abcdefghij{z`a"}, "ABCDEFGHIJ{Z`A"}, {"lower(s)", row{"s": "ABCDEFGHIJ[Z@A"}, "abcdefghij[z@a"},
		{"upper(s)", row{"s": "straße äö\xff"}, "STRAßE ÄÖ\xff"}, {"lower(s)", row{"s": "ÄÖ X"}, "äö x"},
		{"trim(s)", row{"s": "\t a b \u00a0\n"}, "a b"}, {"trim(s)", row{"s": "  "}, ""},
		{"len(s)", row{"s": "äöü"}, "3"}, {"len(raw)", row{"raw": "äöü"}, "6"},
		{"s[0:3]", row{"s": "äöüß"}, "äöü"}, {"s[1:]", row{"s": "äöüß"}, "öüß"}, {"s[:2]", row{"s": "a"}, "a"}, {"s[5:9]", row{"s": "abc"}, ""},
		{"s[-2:]", row{"s": "äöü"}, "öü"}, {"s[:-1]", row{"s": "äöü"}, "äö"}, {"s[-9:2]", row{"s": "äöü"}, "äö"}, {"s[2:1]", row{"s": "abc"}, ""},
		{"s + t + '!'", row{"s": "a", "t": "ö"}, "aö!"}, {"s + t", row{"s": "a"}, "NULL"},
		{"trim(s)[0:1] + upper(s)", row{"s": " ab"}, "a AB"},

		// Text compares by bytes; CHAR keeps its blanks.
		{"s < t", row{"s": "B", "t": "a"}, "true"}, {"s < t", row{"s": "z", "t": "ä"}, "true"}, {"c == 'ab'", row{"c": "ab  "}, "false"}, {"c == 'ab  '", row{"c": "ab  "}, "true"},
		{"s matches '^a.c$'", row{"s": "abc"}, "true"}, {"s not matches 'b'", row{"s": "abc"}, "false"}, {"s matches 'b'", nil, "NULL"}, {"s not matches 'b'", nil, "NULL"},

		// NULL.
		{"i32 == i32", nil, "NULL"}, {"i32 == nil", nil, "true"}, {"i32 != nil", nil, "false"}, {"nil == i32", row{"i32": 1}, "false"}, {"not (i32 == nil)", nil, "false"},
		{"(flag and flag2) == nil", row{"flag": true}, "true"}, {"(flag and flag2) == nil", row{"flag": false}, "false"},
		{"i32 in [1, 2]", nil, "NULL"}, {"not (i32 in [1, 2])", nil, "NULL"}, {"i32 not in [1, 2]", row{"i32": 3}, "true"},
		{"i32 in [1, i16]", row{"i32": 2}, "NULL"}, {"i32 in [1, i16]", row{"i32": 1}, "true"}, {"i32 not in [1, i16]", row{"i32": 2}, "NULL"}, {"2 in [i16, i32]", row{"i32": 2}, "true"},
		{"i32 in [1,2,3,4,5,6,7,8,9,10]", row{"i32": 10}, "true"}, {"s in ['a', 'b']", row{"s": "b"}, "true"}, {"s in ['a', 'b']", row{"s": ""}, "false"},
		{"i32 in [1.5, 2.0]", row{"i32": 2}, "true"}, {"d in [1, 2.5]", row{"d": "2.50"}, "true"}, {"f in [0.1]", row{"f": 0.1}, "true"}, {"i64 in [9007199254740992.0]", big, "false"},
		{"i32 ?? 7", nil, "7"}, {"i32 ?? 7", row{"i32": 1}, "1"}, {"s ?? t ?? 'z'", row{"t": "y"}, "y"}, {"flag ?? true", nil, "true"}, {"i32 ?? i16", nil, "NULL"},
		{"i32 ?? 0.5", nil, "0.5"}, {"i32 ?? 0.5", row{"i32": 3}, "3.0"}, {"f ?? i32", row{"i32": 3}, "3"}, {"n ?? i32", row{"i32": 3}, "3"}, {"d ?? 0", nil, "0.00"},
		{"flag ? 1 : 2", row{"flag": true}, "1"}, {"flag ? 1 : 2", row{"flag": false}, "2"}, {"flag ? 1 : 2", nil, "2"}, {"flag ? s : nil", row{"flag": false, "s": "x"}, "NULL"},
		{"flag ? s : t", row{"flag": true, "s": "x", "t": "y"}, "x"}, {"flag ? nil : i32", row{"i32": 4}, "4"}, {"flag ? i32 : 1.5", row{"flag": true, "i32": 2}, "2.0"},
		{"string(nil)", nil, "NULL"}, {"int(nil)", nil, "NULL"}, {"float(nil)", nil, "NULL"}, {"i32 + int(nil)", row{"i32": 1}, "NULL"}, {"upper(s)", nil, "NULL"}, {"s[0:1]", nil, "NULL"},

		{"flag ? (flag2 ? nil : nil) : true", nil, "true"}, {"flag ? (flag2 ? nil : nil) : true", row{"flag": true}, "NULL"}, {"string(flag ? nil : nil) ?? s", row{"s": "x"}, "x"},
		{"nil == nil", nil, "true"}, {"(nil ?? nil) != nil", nil, "false"}, {"nil ?? i32", row{"i32": 3}, "3"}, {"i32 == int(nil)", row{"i32": 3}, "NULL"}, {"i32 in [int(nil), 3]", row{"i32": 3}, "true"},

		// Dates and times.
		{"day == '2024-02-29'", row{"day": "2024-02-29"}, "true"}, {"day < '2024-02-29 00:00:01'", row{"day": "2024-02-29"}, "true"},
		{"at >= '2024-02-29'", row{"at": "2024-02-29 00:00:00"}, "true"}, {"at == day", row{"at": "2024-02-29", "day": "2024-02-29"}, "true"}, {"day < at", row{"at": "2024-02-29 12:00", "day": "2024-02-29"}, "true"},
		{"tz == '2024-01-31T10:20:30+01:00'", row{"tz": "2024-01-31T09:20:30Z"}, "true"}, {"clock > '10:20'", row{"clock": "10:20:00.000001"}, "true"},
		{"at9 > at", row{"at9": "2024-01-31 00:00:00.000000001", "at": "2024-01-31"}, "true"}, {"at9 == '2024-01-31 00:00:00.000000001'", row{"at9": "2024-01-31 00:00:00.000000001"}, "true"},
		{"at == '2024-01-31 00:00:00.000000001'", row{"at": "2024-01-31"}, "false"}, {"day ?? at", row{"day": "2024-01-31"}, "2024-01-31 00:00:00"}, {"at9 ?? at", row{"at": "2024-01-31"}, "2024-01-31 00:00:00"},
		{"flag ? at9 : at", row{"flag": true, "at9": "2024-01-31 00:00:00.000000001"}, "2024-01-31 00:00:00.000000001"}, {"day ?? '2024-01-01'", nil, "2024-01-01"}, {"day in ['2024-01-31']", row{"day": "2024-01-31"}, "true"},
		{"u == '123E4567-E89B-12D3-A456-426614174000'", row{"u": "123e4567-e89b-12d3-a456-426614174000"}, "true"}, {"u < '223e4567-e89b-12d3-a456-426614174000'", row{"u": "123e4567-e89b-12d3-a456-426614174000"}, "true"},

		// Names.
		{`$env["Order Id"] + $env["and"]`, row{"Order Id": 3, "and": 4}, "7"}, {"id", nil, "0"}, {"$env.id", nil, "0"}, {"ambig", row{"ambig": 1, "AMBIG": 2}, "1"}, {"AMBIG", row{"ambig": 1, "AMBIG": 2}, "2"},
	}
	for _, c := range cases {
		if got := one(t, c.src, c.row); got != c.want {
			t.Errorf("%s with %v: got %s, want %s", c.src, c.row, got, c.want)
		}
	}
}

func TestWhatCannotBeComputedIsABadRow(t *testing.T) {
	min64, max64 := int64(math.MinInt64), int64(math.MaxInt64)
	cases := []struct {
		src  string
		row  row
		want string
	}{
		{"i64 + 1", row{"i64": max64}, "integer overflow"}, {"i64 - 1", row{"i64": min64}, "integer overflow"}, {"i64 * 2", row{"i64": max64}, "integer overflow"},
		{"i64 * -1", row{"i64": min64}, "integer overflow"}, {"-i64", row{"i64": min64}, "integer overflow"}, {"abs(i64)", row{"i64": min64}, "integer overflow"}, {"i64 / -1", row{"i64": min64}, "integer overflow"},
		{"1 / i64", row{"i64": 0}, "division by zero"}, {"1 % i64", row{"i64": 0}, "division by zero"}, {"f / 0", row{"f": 1.0}, "division by zero"}, {"d / 0", row{"d": "1"}, "division by zero"}, {"d % 0.0", row{"d": "1"}, "division by zero"}, {"n / 0", row{"n": "1"}, "division by zero"},
		{"f * 1e300", row{"f": 1e300}, "out of range of a double"}, {"e * 1000000", row{"e": "1234567890123456789012345678901234.5"}, "more than decimal(38,4)"}, {"e + 1", row{"e": "9999999999999999999999999999999999.0000"}, "more than"},
		{"n + 1", row{"n": "NaN"}, "not a decimal number"}, {"n > 1", row{"n": "12x"}, "not a decimal number"}, {"n * n", row{"n": "1e600"}, "more than 1,000 digits"},
		{"int(s)", row{"s": "12x"}, "not a whole number"}, {"int(s)", row{"s": " 12"}, "not a whole number"}, {"int(s)", row{"s": "9223372036854775808"}, "integer overflow"}, {"int(f)", row{"f": 1e19}, "integer overflow"},
		{"int(f)", row{"f": math.NaN()}, "integer overflow"}, {"int(e)", row{"e": "9223372036854775808"}, "integer overflow"}, {"int(n)", row{"n": "1e19"}, "integer overflow"},
		{"float(s)", row{"s": "x"}, "not a number"}, {"float(s)", row{"s": "0x1p3"}, "not a number"}, {"float(s)", row{"s": "nan"}, "not a number"}, {"float(s)", row{"s": "1e999"}, "out of range"},
	}
	for _, c := range cases {
		if got := one(t, c.src, c.row); !badReason(got, c.want) {
			t.Errorf("%s with %v: got %s, want a bad row: %s", c.src, c.row, got, c.want)
		}
		// A NULL operand gives NULL before anything can fail.
		if got := one(t, c.src, nil); got != "NULL" {
			t.Errorf("%s of NULL: got %s, want NULL", c.src, got)
		}
	}
}

// A value of a row may be secret; reasons go to logs and discard files.
func TestReasonsHoldNoValues(t *testing.T) {
	for src, r := range map[string]row{"int(s)": {"s": "secret"}, "float(s)": {"s": "secret"}, "n + 1": {"n": "secret"}} {
		if got := one(t, src, r); strings.Contains(got, "secret") {
			t.Errorf("%s: the reason holds the value: %s", src, got)
		}
	}
}

func TestWhatIsDecidedIsNotEvaluated(t *testing.T) {
	zero := row{"i64": 0, "flag": true, "flag2": false}
	cases := []struct{ src, want string }{
		{"i64 != 0 and 1 / i64 > 2", "false"},
		{"i64 == 0 or 1 / i64 > 2", "true"},
		{"i64 == 0 ? 7 : 1 / i64", "7"},
		{"i64 ?? (1 / i64)", "0"},
		{"flag2 and (flag or 1 / i64 > 2)", "false"},
		{"not flag and 1 / i64 > 2", "false"},
		{"flag2 ? 1 / i64 : (flag ? 3 : 1 / i64)", "3"},
	}
	for _, c := range cases {
		if got := one(t, c.src, zero); got != c.want {
			t.Errorf("%s with %v: got %s, want %s", c.src, zero, got, c.want)
		}
	}
	// The left side comes first, and unknown decides nothing.
	for _, src := range []string{"1 / i64 > 2 and i64 != 0", "1 / i64 > 2 or flag", "(i32 == 1) and 1 / i64 > 2", "(i32 == 1) or 1 / i64 > 2"} {
		if got := one(t, src, zero); !badReason(got, "division by zero") {
			t.Errorf("%s with %v: got %s, want a bad row", src, zero, got)
		}
	}
}
