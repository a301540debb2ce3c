package rowexpr

import (
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// generator makes random expressions that compile.
type generator struct {
	t     *rapid.T
	plain bool // what the expr VM computes as SQL does
}

func (g generator) pick(options ...string) string {
	return rapid.SampledFrom(options).Draw(g.t, "pick")
}

func (g generator) bool(depth int) string {
	if depth <= 0 {
		return g.pick("flag", "flag2", "true", "false", "flag")
	}
	d := depth - 1
	switch rapid.IntRange(0, 9).Draw(g.t, "bool") {
	case 0, 1:
		return g.pick("(", "not (") + g.bool(d) + g.pick(" and ", " or ", " && ", " || ") + g.bool(d) + ")"
	case 2:
		return "not " + g.pick("flag", "flag2", "("+g.bool(d)+")")
	case 3, 4:
		return "(" + g.int(d) + g.compare() + g.int(d) + ")"
	case 5:
		return "(" + g.text(d) + g.compare() + g.text(d) + ")"
	case 6:
		if g.plain {
			return "(" + g.float(d) + g.compare() + g.float(d) + ")"
		}
		return "(" + g.pick("f", "g", g.int(d), "1.5", "-0.25") + g.compare() + g.pick("f", "g", "i64") + ")"
	case 7:
		list := g.int(0) + ", " + g.pick("1", "2", "-3")
		if !g.plain {
			list += ", " + g.pick("i16", "i32", "4")
		}
		return "(" + g.int(d) + g.pick(" in [", " not in [") + list + "])"
	case 8:
		return "(" + g.text(d) + g.pick(" in [", " not in [") + g.pick("'a', 'b'", "'', t", "s, t, 'ab'") + "])"
	}
	if g.plain {
		return "(" + g.bool(d) + " ? " + g.bool(d) + " : " + g.bool(d) + ")"
	}
	return g.pick("("+g.int(d)+" == nil)", "("+g.text(d)+" != nil)", "("+g.bool(d)+" == nil)", "(flag == flag2)", "("+g.bool(d)+" ?? "+g.bool(d)+")",
		"("+g.bool(d)+" ? "+g.bool(d)+" : "+g.bool(d)+")", "(day == nil)", "(n != nil)")
}

func (g generator) compare() string { return g.pick(" == ", " != ", " < ", " <= ", " > ", " >= ") }

func (g generator) int(depth int) string {
	if depth <= 0 {
		return g.pick("i16", "i32", "i16", strconv.Itoa(rapid.IntRange(-5, 5).Draw(g.t, "n")), "0", "i64")
	}
	d := depth - 1
	switch rapid.IntRange(0, 5).Draw(g.t, "int") {
	case 0, 1:
		return "(" + g.pick("i16", "i32", "3", g.int(d)) + g.pick(" + ", " - ", " * ") + g.pick("i16", "i32", "-7", g.int(d)) + ")"
	case 2:
		if g.plain {
			return "(" + g.int(d) + " % " + g.pick("2", "-3", "5") + ")"
		}
		return "(" + g.pick("i16", "i32", g.int(d)) + g.pick(" / ", " % ") + g.pick("2", "-3", "5", "100") + ")"
	case 3:
		return "(" + g.bool(d) + " ? " + g.int(d) + " : " + g.int(d) + ")"
	case 4:
		return g.pick("abs("+g.pick("i16", "i32")+")", "-"+g.pick("i16", "i32", "("+g.int(d)+")"))
	}
	if g.plain {
		return g.pick("len("+g.text(d)+")", "int("+g.int(d)+")")
	}
	return "(" + g.int(d) + " ?? " + g.int(d) + ")"
}

func (g generator) float(depth int) string {
	if depth <= 0 {
		return g.pick("f", "g", "0.5", "-1.25")
	}
	d := depth - 1
	return g.pick("f", "("+g.float(d)+g.pick(" + ", " - ", " * ")+g.pick("f", "g")+")", "abs("+g.float(d)+")", "round(f)", "(f + i32)", "float(i16)", "(g / 4)")
}

func (g generator) text(depth int) string {
	if depth <= 0 {
		return g.pick("s", "t", "'a'", "''", "'ab'", `"it's"`)
	}
	d := depth - 1
	options := []string{"s", "(" + g.text(d) + " + " + g.text(d) + ")", "(" + g.bool(d) + " ? " + g.text(d) + " : " + g.text(d) + ")"}
	if g.plain {
		options = append(options, "upper("+g.text(d)+")", "lower("+g.text(d)+")", "trim("+g.text(d)+")", "string("+g.int(d)+")")
	} else {
		options = append(options, "("+g.text(d)+" ?? "+g.text(d)+")")
	}
	return g.pick(options...)
}

var (
	texts  = []string{"", "a", "ab", "b", "A", "it's", "zz top", "ä", "€ü", "aaaaaaaaaaaaaaaaaaaa"}
	ints   = []int{0, 1, -1, 2, 3, -3, 5, 100, 32767, -32768}
	floats = []float64{0, 0.5, -1.25, 1, -3, 1e10, 2.5}
)

// randomRow fills the columns that the generator uses; with nulls some are NULL.
func randomRow(t *rapid.T, nulls bool) row {
	r := row{}
	set := func(name string, v any) {
		if !nulls || rapid.IntRange(0, 3).Draw(t, "null") > 0 {
			r[name] = v
		}
	}
	set("i16", rapid.SampledFrom(ints).Draw(t, "i16"))
	set("i32", rapid.SampledFrom(ints).Draw(t, "i32"))
	i64 := rapid.SampledFrom(ints).Draw(t, "i64")
	if nulls {
		i64 = rapid.SampledFrom([]int{0, 1, -3, 9007199254740993, math.MaxInt64, math.MinInt64}).Draw(t, "big")
	}
	set("i64", i64)
	set("f", rapid.SampledFrom(floats).Draw(t, "f"))
	set("g", rapid.SampledFrom(append(floats, 9007199254740992)).Draw(t, "g"))
	set("s", rapid.SampledFrom(texts).Draw(t, "s"))
	set("t", rapid.SampledFrom(texts).Draw(t, "t"))
	set("flag", rapid.Bool().Draw(t, "flag"))
	set("flag2", rapid.Bool().Draw(t, "flag2"))
	if nulls {
		set("n", "1.5")
		set("day", "2024-01-31")
	}
	return r
}

func (g generator) any() string {
	depth := rapid.IntRange(1, 4).Draw(g.t, "depth")
	switch rapid.IntRange(0, 3).Draw(g.t, "kind") {
	case 0:
		return g.int(depth)
	case 1:
		return g.text(depth)
	}
	return g.bool(depth)
}

// What an expression gives here it must give in the database that it is pushed
// down to, NULLs included.
func TestSQLiteAgreesWithSQL(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	used := []string{"ID", "i16", "i32", "i64", "f", "g", "s", "t", "flag", "flag2", "n", "day"}
	if _, err := db.Exec(`CREATE TABLE r ("ID" INTEGER, i16 INTEGER, i32 INTEGER, i64 INTEGER, f REAL, g REAL, s TEXT COLLATE NOCASE, t TEXT, flag INTEGER, flag2 INTEGER, n TEXT, day TEXT)`); err != nil {
		t.Fatal(err)
	}
	insert := "INSERT INTO r VALUES (" + strings.Repeat("?, ", len(used)-1) + "?)"
	printed, total := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) row { return randomRow(rt, true) }), 1, 12).Draw(rt, "rows")
		src := generator{t: rt}.any()
		e := mustCompile(t, src)
		total++
		query, ok := e.SQL(SQLite())
		if !ok {
			return
		}
		printed++
		if _, err := db.Exec("DELETE FROM r"); err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			values := []any{i}
			for _, c := range used[1:] {
				values = append(values, r[c])
			}
			if _, err := db.Exec(insert, values...); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		found, err := db.Query("SELECT " + query + ` FROM r ORDER BY "ID"`)
		if err != nil {
			rt.Fatalf("%s as %s: %v", src, query, err)
		}
		defer found.Close()
		for found.Next() {
			var v any
			if err := found.Scan(&v); err != nil {
				rt.Fatal(err)
			}
			want = append(want, sqliteText(v, e.Type()))
		}
		got := compute(t, src, rows, nil)
		for i := range rows {
			if got[i] != want[i] {
				rt.Fatalf("%s with %v: got %s, SQLite has %s for %s", src, rows[i], got[i], want[i], query)
			}
		}
	})
	if printed*3 < total {
		t.Errorf("only %d of %d expressions were printed as SQL: the test says little", printed, total)
	}
}

func sqliteText(v any, t schema.Type) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(v)
	case int64:
		if t.Kind == schema.Bool {
			return fmt.Sprint(v != 0)
		}
	}
	return fmt.Sprint(v)
}

// On rows without NULLs, in what it computes exactly, the expr VM agrees.
func TestExprVMAgreesWithoutNulls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) row { return randomRow(rt, false) }), 1, 8).Draw(rt, "rows")
		src := generator{t: rt, plain: true}.any()
		got := compute(t, src, rows, nil)
		for i, r := range rows {
			env := map[string]any{}
			for k, v := range r {
				env[k] = v
			}
			p, err := expr.Compile(src, expr.Env(env))
			if err != nil {
				rt.Fatalf("%s: %v", src, err)
			}
			v, err := expr.Run(p, env)
			if err != nil {
				rt.Fatalf("%s with %v: %v", src, r, err)
			}
			if want := fmt.Sprint(v); got[i] != want && strings.IndexFunc(src+fmt.Sprint(r), func(c rune) bool { return c > 127 }) < 0 {
				rt.Fatalf("%s with %v: got %s, the VM has %s", src, r, got[i], want)
			}
		}
	})
}

// A value does not depend on which other rows are asked for, nor on what the
// program computed before; rows that are not asked for never become bad.
func TestSelectionChangesNoValue(t *testing.T) {
	programs := map[string]*Program{}
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) row { return randomRow(rt, true) }), 1, 20).Draw(rt, "rows")
		g := generator{t: rt}
		src := g.any()
		if rapid.Bool().Draw(rt, "fallible") {
			src = g.pick("1 / i64", "i64 * i64", "i64 + 1 > 0 and 10 / i32 > 1", "i64 == 0 or 5 % i32 == 1", "upper(s) + lower(t)", "flag ? i64 * 2 : 1 / i32", "int(s) ?? 1", "upper(s)", "trim(s)[1:2]", "len(upper(t))", "string(flag)", "n + i32", "d / i32")
		}
		whole := compute(t, src, rows, nil)
		sel := batch.Selection{}
		for i := range rows {
			if rapid.Bool().Draw(rt, "in") {
				sel = append(sel, int32(i))
			}
		}
		e := mustCompile(t, src)
		p := programs[src]
		if p == nil {
			p = e.Program(position)
			programs[src] = p
		}
		b := rowsBatch(t, rows)
		defer b.Release()
		into := batch.NewColumn(e.Type())
		bad := p.Compute(b, sel, into, nil)
		got := map[int]string{}
		for _, i := range sel {
			got[int(i)] = valueText(into, int(i))
		}
		for _, r := range bad {
			if _, in := got[int(r.Row)]; !in {
				rt.Fatalf("%s: row %d is bad and was not asked for: %s", src, r.Row, r.Reason)
			}
			got[int(r.Row)] = "BAD " + r.Reason
		}
		for i, v := range got {
			if v != whole[i] {
				rt.Fatalf("%s with %v: got %s among %v, %s among all", src, rows[i], v, sel, whole[i])
			}
		}
		if e.Type().Kind != schema.Bool {
			return
		}
		passed, bad := p.Select(b, sel, nil, nil)
		var want []int32
		for _, i := range sel {
			if whole[i] == "true" {
				want = append(want, i)
			}
		}
		if fmt.Sprint(passed) != fmt.Sprint(want) || passed == nil {
			rt.Fatalf("%s with %v: Select gives %v (bad %v), want %v", src, rows, passed, bad, want)
		}
	})
}

// String reads back as the same expression, and is its own String.
func TestStringIsStable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		src := generator{t: rt, plain: rapid.Bool().Draw(rt, "plain")}.any()
		checkStable(rt, mustCompile(t, src), src)
	})
}

type fataler interface{ Fatalf(string, ...any) }

func checkStable(t fataler, e *Expr, src string) {
	s := e.String()
	again, problems := Compile(s, table)
	if again == nil {
		t.Fatalf("%q prints as %q, which has problems: %+v", src, s, problems)
		return
	}
	if again.String() != s || again.Type() != e.Type() || again.Nullable() != e.Nullable() || fmt.Sprint(again.Columns()) != fmt.Sprint(e.Columns()) {
		t.Fatalf("%q prints as %q, which prints as %q (types %s, %s)", src, s, again.String(), e.Type(), again.Type())
	}
}

func TestStringHasOneForm(t *testing.T) {
	cases := map[string]string{
		"id=='x' ? 1:2":            "",
		"(id == 1)&&!(flag)":       "ID == 1 and not flag",
		"((flag)) || flag2":        "flag or flag2",
		"flag and (flag2 or flag)": "flag and (flag2 or flag)",
		"(flag and flag2) or flag": "flag and flag2 or flag",
		"not (i32 in [1,2])":       "i32 not in [1, 2]",
		"not (s == nil)":           "s != nil",
		"not not flag":             "not not flag",
		"not (flag and flag2)":     "not (flag and flag2)",
		"(i32 + 1) * 2":            "(i32 + 1) * 2",
		"i32 - (1 - 2)":            "i32 - (1 - 2)",
		"(i32 - 1) - 2":            "i32 - 1 - 2",
		"-(-5)":                    "5",
		"- (i32)":                  "-i32",
		"+i32":                     "i32",
		"1.50 + 0x10":              "1.5 + 16",
		"-9223372036854775808":     "-9223372036854775808",
		"9223372036854775808":      "9223372036854775808",
		"100000000000000000000000000000000000000000.50": "100000000000000000000000000000000000000000.5",
		"-100000000000000000000000000000000000000000":   "-100000000000000000000000000000000000000000",
		"string(flag ? nil : nil)":                      "string(nil)",
		"2.0":                                           "2.0",
		"s[ :3 ]":                                       "s[:3]",
		"s[0:3]":                                        "s[:3]",
		"'it''s'":                                       "",
		`'a"b\n'`:                                       `"a\"b\n"`,
		"day > '2024-01-31'":                            `day > "2024-01-31"`,
		"at > '2024-01-31T10:20'":                       `at > "2024-01-31 10:20:00"`,
		"tz > '2024-01-31T10:20Z'":                      `tz > "2024-01-31 10:20:00+00:00"`,
		`$env["Order Id"] == $env.i32`:                  `$env["Order Id"] == i32`,
		`$env["and"]`:                                   `$env["and"]`,
		"(i32 ?? 1) == 1":                               "(i32 ?? 1) == 1",
		"flag ? (flag2 ? 1 : 2) : 3":                    "flag ? flag2 ? 1 : 2 : 3",
		"(flag ? flag : flag2) ? 1: 2":                  "(flag ? flag : flag2) ? 1 : 2",
		"f > 0.10":                                      "f > 0.1",
		"U == '123E4567-E89B-12D3-A456-426614174000'": `u == "123e4567-e89b-12d3-a456-426614174000"`,
		"string( nil )":     "string(nil)",
		"s matches `^a\\.`": `s matches "^a\\."`,
	}
	for src, want := range cases {
		e, _ := Compile(src, table)
		if e == nil {
			if want != "" {
				t.Errorf("Compile(%q) has problems", src)
			}
			continue
		}
		if got := e.String(); got != want {
			t.Errorf("%q prints as %q, want %q", src, got, want)
		}
		checkStable(t, e, src)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"i32 = 1 AND s like 'a%'", "upper(s)[0:3] + '\\u00e4'", "(a ? b : c) ?? d", "1e999 == 0x_1", "$env['x'] in (1,2", "not not -- 5", "a<b<c", "'", "s matches '['",
		"at > '2024-01-31T10:20:30.123456789'", "let x = 1; x", "[[[", "f(g(h(", "i32 between 1 and", "\x00\xff", "ä ?: ß", "/* */ // x", "1..2", "if a {b} else {c}", "b'x'", "{a:1}.a", "x?.y?.z"} {
		f.Add(s)
	}
	b := rowsBatch(f, []row{{}, {"i16": 1, "i32": 2, "i64": 3, "f": 0.5, "g": 1.5, "d": "1.25", "e": "2.5", "n": "7", "m": "0.1", "s": "ab", "t": "c", "c": "x   ", "flag": true, "flag2": false,
		"day": "2024-01-31", "clock": "10:20", "at": "2024-01-31", "at9": "2024-01-31", "tz": "2024-01-31T00:00:00Z", "u": "123e4567-e89b-12d3-a456-426614174000", "js": "{}", "raw": "\x00"}})
	f.Fuzz(func(t *testing.T, src string) {
		e, problems := Compile(src, table)
		if (e == nil) != (len(problems) > 0) {
			t.Fatalf("Compile(%q) gives %v with %d problems", src, e, len(problems))
		}
		for _, p := range problems {
			if p.From < 0 || p.From > p.To || p.To > len(src) || p.Summary == "" || p.Detail == "" {
				t.Fatalf("Compile(%q): problem outside the text, or without words: %+v", src, p)
			}
		}
		if e == nil {
			return
		}
		checkStable(t, e, src)
		e.SQL(SQLite())
		into := batch.NewColumn(e.Type())
		bad := e.Program(position).Compute(b, nil, into, nil)
		if into.Len() != 2 {
			t.Fatalf("%q gives %d values for 2 rows", src, into.Len())
		}
		if !e.Nullable() && len(bad) == 0 && (into.IsNull(0) || into.IsNull(1)) {
			t.Fatalf("%q is NULL and says it can't be", src)
		}
	})
}
