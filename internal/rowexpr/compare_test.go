package rowexpr

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"pgregory.net/rapid"

	"penstock/internal/batch"
)

// A hundred random expressions, rapid's own number, rarely meet the same
// operator, kind and NULL; a thousand do, in about two seconds.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", "1000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Every operator between every two kinds that compare, as columns and with a
// literal on either side, for all rows and for some.
func TestEveryComparison(t *testing.T) {
	holds := map[string]func(int) bool{
		"==": func(c int) bool { return c == 0 }, "!=": func(c int) bool { return c != 0 }, "<": func(c int) bool { return c < 0 },
		"<=": func(c int) bool { return c <= 0 }, ">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
	}
	numbers := []string{"-2", "0", "1", "3"}
	var rows []row
	type pair struct{ x, y string }
	var pairs []pair
	for _, x := range numbers {
		for _, y := range numbers {
			f, _ := new(big.Rat).SetString(x)
			fx, _ := f.Float64()
			g, _ := new(big.Rat).SetString(y)
			gy, _ := g.Float64()
			rows = append(rows, row{"i64": int(fx), "i16": int(gy), "f": fx, "g": gy, "f32": gy, "d": x, "e": y, "n": x, "m": y, "s": "x" + string(rune('a'+int(fx)+2)), "t": "x" + string(rune('a'+int(gy)+2)),
				"day": fmt.Sprintf("2024-01-%02d", int(fx)+10), "at": fmt.Sprintf("2024-01-%02d 00:00:00", int(gy)+10), "at9": fmt.Sprintf("2024-01-%02d 00:00:00", int(gy)+10)})
			pairs = append(pairs, pair{x, y})
		}
	}
	value := map[string]float64{"-2": -2, "0": 0, "1": 1, "3": 3}
	sides := [][2]string{{"i64", "i16"}, {"i64", "g"}, {"f", "g"}, {"f", "f32"}, {"f", "i16"}, {"d", "e"}, {"d", "i16"}, {"i64", "e"}, {"d", "g"}, {"f", "e"},
		{"n", "m"}, {"n", "i16"}, {"n", "e"}, {"n", "g"}, {"d", "m"}, {"f", "m"}, {"i64", "m"}, {"s", "t"}, {"day", "at"}, {"day", "at9"}}
	literals := map[string][]string{ // of the value 1
		"i64": {"1", "1.0"}, "f": {"1", "1.0"}, "d": {"1", "1.0"}, "n": {"1", "1.0"}, "s": {"'xd'"}, "day": {"'2024-01-11'", "'2024-01-11 00:00:00'"},
	}
	some := batch.Selection{1, 3, 4, 7, 8, 9, 14}
	for op, want := range holds {
		for _, side := range sides {
			src := side[0] + " " + op + " " + side[1]
			for _, sel := range []batch.Selection{nil, some} {
				got := compute(t, src, rows, sel)
				for k := range sel.Len(len(rows)) {
					i := sel.Row(k)
					if w := fmt.Sprint(want(cmp.Compare(value[pairs[i].x], value[pairs[i].y]))); got[i] != w {
						t.Errorf("%s with %s and %s (selection %v): got %s, want %s", src, pairs[i].x, pairs[i].y, sel, got[i], w)
					}
				}
			}
			for _, lit := range literals[side[0]] {
				for _, sel := range []batch.Selection{nil, some} {
					right, left := compute(t, side[0]+" "+op+" "+lit, rows, sel), compute(t, lit+" "+op+" "+side[0], rows, sel)
					for k := range sel.Len(len(rows)) {
						i := sel.Row(k)
						c := cmp.Compare(value[pairs[i].x], 1)
						if right[i] != fmt.Sprint(want(c)) || left[i] != fmt.Sprint(want(-c)) {
							t.Errorf("%s of %s with %s: got %s, turned %s, want %v and %v", side[0], pairs[i].x, op+" "+lit, right[i], left[i], want(c), want(-c))
						}
					}
				}
			}
		}
	}
}

// 128-bit arithmetic against math/big.
func TestDecimalsAgreeWithBigInts(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	fits := func(v *big.Int) bool { return new(big.Int).Abs(v).Cmp(limit) < 0 }
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) decimal128.Num {
			v := decimal128.New(rapid.Int64().Draw(rt, name+" high")>>rapid.IntRange(1, 63).Draw(rt, name+" shift"), rapid.Uint64().Draw(rt, name+" low"))
			if rapid.Bool().Draw(rt, name+" small") {
				v = decimal128.FromI64(rapid.Int64().Draw(rt, name))
			}
			return v
		}
		a, b := draw("a"), draw("b")
		sa, sb := rapid.IntRange(0, 38).Draw(rt, "sa"), rapid.IntRange(0, 38).Draw(rt, "sb")
		x, y := a.BigInt(), b.BigInt()
		check := func(name string, got decimal128.Num, ok bool, want *big.Int) {
			if ok != fits(want) || ok && got.BigInt().Cmp(want) != 0 {
				rt.Fatalf("%s of %s and %s: got %s, %t, want %s", name, x, y, got.BigInt(), ok, want)
			}
		}
		p, ok := multiply(a, b)
		check("product", p, ok, new(big.Int).Mul(x, y))
		s, ok := add(a, b)
		check("sum", s, ok, new(big.Int).Add(x, y))
		ten := func(k int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(k)), nil) }
		if got, want := compareDecimals(a, sa, b, sb), new(big.Int).Mul(x, ten(sb)).Cmp(new(big.Int).Mul(y, ten(sa))); got != want {
			rt.Fatalf("compare %s/10^%d with %s/10^%d: got %d, want %d", x, sa, y, sb, got, want)
		}
		f := rapid.Float64().Draw(rt, "f")
		if rapid.Bool().Draw(rt, "near") {
			f, _ = new(big.Rat).SetFrac(x, ten(sa)).Float64()
		}
		var d decimals
		if got, want := d.compareFloat(a, sa, f), new(big.Rat).SetFrac(x, ten(sa)).Cmp(new(big.Rat).SetFloat64(f)); got != want {
			rt.Fatalf("compare %s/10^%d with %v: got %d, want %d", x, sa, f, got, want)
		}
		if got, _ := new(big.Rat).SetFrac(x, ten(sa)).Float64(); decimalFloat(&d.wide, a, sa) != got {
			rt.Fatalf("%s/10^%d as a double: got %v, want %v", x, sa, decimalFloat(&d.wide, a, sa), got)
		}
		n := rapid.Int64().Draw(rt, "n")
		if got, want := compareIntFloat(n, f), new(big.Rat).SetInt64(n).Cmp(new(big.Rat).SetFloat64(f)); got != want {
			rt.Fatalf("compare %d with %v: got %d, want %d", n, f, got, want)
		}
		m := rapid.Int64().Draw(rt, "m")
		for name, op := range map[string]func() (int64, bool, *big.Int){
			"+": func() (int64, bool, *big.Int) {
				v, ok := addInt(n, m)
				return v, ok, new(big.Int).Add(big.NewInt(n), big.NewInt(m))
			},
			"-": func() (int64, bool, *big.Int) {
				v, ok := subInt(n, m)
				return v, ok, new(big.Int).Sub(big.NewInt(n), big.NewInt(m))
			},
			"*": func() (int64, bool, *big.Int) {
				v, ok := mulInt(n, m)
				return v, ok, new(big.Int).Mul(big.NewInt(n), big.NewInt(m))
			},
		} {
			if v, ok, want := op(); ok != want.IsInt64() || ok && v != want.Int64() {
				rt.Fatalf("%d %s %d: got %d, %t, want %s", n, name, m, v, ok, want)
			}
		}
	})
}

func TestUpperAndLowerAgreeWithUnicode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.String()).Draw(rt, "s")
		if strings.ContainsRune(s, '\ufffd') {
			return
		}
		if got := string(appendCase(nil, []byte(s), true)); got != strings.ToUpper(s) {
			rt.Fatalf("upper(%q): got %q, want %q", s, got, strings.ToUpper(s))
		}
		if got := string(appendCase(nil, []byte(s), false)); got != strings.ToLower(s) {
			rt.Fatalf("lower(%q): got %q, want %q", s, got, strings.ToLower(s))
		}
	})
	all := make([]byte, 128)
	for i := range all {
		all[i] = byte(i)
	}
	if got, want := string(appendCase(nil, all, true)), strings.ToUpper(string(all)); got != want {
		t.Errorf("upper of all of ASCII: got %q, want %q", got, want)
	}
	if got, want := string(appendCase(nil, all, false)), strings.ToLower(string(all)); got != want {
		t.Errorf("lower of all of ASCII: got %q, want %q", got, want)
	}
}

func TestTextBesideNonASCIIRowsStaysRight(t *testing.T) {
	rows := []row{{"s": "abc"}, {"s": "ä"}, {}, {"s": "xyz"}}
	if got := fmt.Sprint(compute(t, "upper(s)", rows, nil)); got != "[ABC Ä NULL XYZ]" {
		t.Errorf("got %s", got)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	var rows []row
	for i := range 100 {
		rows = append(rows, row{"i32": i % 4, "i64": i, "s": fmt.Sprintf("row %d", i), "d": "1.50", "f": float64(i), "flag": i%2 == 0})
		if i%7 == 0 {
			rows[i] = row{}
		}
	}
	b := rowsBatch(t, rows)
	defer b.Release()
	for _, src := range []string{"i32 != 4", "i32 > 1 and f < 50 and i64 % 2 == 0", "upper(s)", "upper(s) + '-' + s[0:2]", "d * 1.19 + 5", "d / 3", "i64 * i32", "flag ? s : 'none'", "i32 ?? 0", "string(i64)", "s in ['row 1', 'row 2']"} {
		e := mustCompile(t, src)
		p, into := e.Program(position), batch.NewColumn(e.Type())
		var bad []BadRow
		if n := testing.AllocsPerRun(20, func() { into.Reset(); bad = p.Compute(b, nil, into, bad[:0]) }); n > 0 {
			t.Errorf("%s allocates %v times a batch of %d rows", src, n, len(rows))
		}
	}
}

func TestComputeRefusesAColumnOfAnotherStorage(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Compute of text into int64 does not panic")
		}
	}()
	e := mustCompile(t, "s")
	e.Program(position).Compute(rowsBatch(t, []row{{}}), nil, batch.NewColumn(table[0].Type), nil)
}

// A column that already has rows, as one of a builder that holds a batch's
// beginning, keeps them.
func TestComputeAppends(t *testing.T) {
	for src, want := range map[string]string{"upper(s)": "[A NULL A NULL]", "i32 + 1": "[2 NULL 2 NULL]", "flag": "[true NULL true NULL]", "d * d": "[2.2500 NULL 2.2500 NULL]", "1": "[1 1 1 1]", "'x'": "[x x x x]"} {
		e := mustCompile(t, src)
		b := rowsBatch(t, []row{{"s": "a", "i32": 1, "flag": true, "d": "1.5"}, {}})
		into, p := batch.NewColumn(e.Type()), e.Program(position)
		p.Compute(b, nil, into, nil)
		p.Compute(b, nil, into, nil)
		var got []string
		for i := range into.Len() {
			got = append(got, valueText(into, i))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s twice: got %v, want %s", src, got, want)
		}
	}
}

func TestSelectOfNothingIsNotAll(t *testing.T) {
	p := mustCompile(t, "i32 == 1").Program(position)
	b := rowsBatch(t, []row{{"i32": 1}, {"i32": 2}})
	for _, in := range []batch.Selection{{}, {1}} {
		if got, bad := p.Select(b, in, nil, nil); got == nil || len(got) != 0 || len(bad) != 0 {
			t.Errorf("Select among %v: got %v, %v, want none that is not nil", in, got, bad)
		}
	}
	in := batch.Selection{0, 1}
	if got, _ := p.Select(b, in, in, nil); fmt.Sprint(got) != "[0]" {
		t.Errorf("Select in its own memory: got %v, want [0]", got)
	}
}

func TestBadRowsDoNotPass(t *testing.T) {
	p := mustCompile(t, "1 / i64 > 0 or true").Program(position)
	b := rowsBatch(t, []row{{"i64": 1}, {"i64": 0}, {"i64": math.MaxInt64}})
	got, bad := p.Select(b, nil, nil, []BadRow{{Row: 9, Reason: "before"}})
	if fmt.Sprint(got) != "[0 2]" || len(bad) != 2 || bad[0].Row != 9 || bad[1].Row != 1 {
		t.Errorf("got %v and bad %v, want rows 0 and 2, and row 1 bad after the one that was there", got, bad)
	}
}
