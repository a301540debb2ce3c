package rowexpr

import (
	"strings"
	"testing"

	"penstock/internal/diag"
)

func TestProblemsPointAtTheBytes(t *testing.T) {
	cases := []struct {
		src, covered string
		code         diag.Code
		fixed        string // the source with the fix made, "" = no fix
	}{
		{"amuont > 1", "amuont", diag.RowUnknownColumn, ""},
		{"i33 > 1 and ä", "i33", diag.RowUnknownColumn, "i32 > 1 and ä"},
		{"'ä€' == s and i63 > 1", "i63", diag.RowUnknownColumn, "'ä€' == s and i64 > 1"},
		{`$env["Order Ids"] > 1`, `"Order Ids"`, diag.RowUnknownColumn, ""},
		{"Ambig > 1", "Ambig", diag.RowAmbiguousColumn, ""},
		{"shape != nil", "shape", diag.RowUnreadable, ""},

		{"i32", "i32", diag.RowNotCondition, ""},
		{" (i32 + 1) ", "i32 + 1", diag.RowNotCondition, ""},
		{"s + t", "s + t", diag.RowNotCondition, ""},
		{"upper(s)", "upper(s)", diag.RowNotCondition, ""},

		{"i32 = 4", "=", diag.RowSQLOperator, "i32 == 4"},
		{"i32 <> 4", "<>", diag.RowSQLOperator, "i32 != 4"},
		{"flag AND flag2", "AND", diag.RowSQLOperator, "flag and flag2"},
		{"flag Or flag2", "Or", diag.RowSQLOperator, "flag or flag2"},
		{"NOT flag", "NOT", diag.RowSQLOperator, "not flag"},
		{"NOT (flag)", "NOT", diag.RowSQLOperator, "not (flag)"},
		{"flag & flag2", "&", diag.RowSQLOperator, "flag and flag2"},
		{"flag | flag2", "|", diag.RowSQLOperator, "flag or flag2"},
		{"i32 IN [1]", "IN", diag.RowSQLOperator, "i32 in [1]"},
		{"i32 in (1, 2)", "(1, 2)", diag.RowSQLOperator, "i32 in [1, 2]"},
		{"i32 not in (1, (2))", "(1, (2))", diag.RowSQLOperator, "i32 not in [1, (2)]"},
		{"i32 is null", "is null", diag.RowSQLOperator, "i32 == nil"},
		{"i32 IS NOT NULL", "IS NOT NULL", diag.RowSQLOperator, "i32 != nil"},
		{"upper(s) is null", "is null", diag.RowSQLOperator, "upper(s) == nil"},
		{"i32 == NULL", "NULL", diag.RowSQLOperator, "i32 == nil"},
		{"i32 between 1 and 2", "between", diag.RowSQLOperator, ""},
		{"s like 'A%'", "like 'A%'", diag.RowSQLOperator, `s matches "^A"`},
		{"s like '%A'", "like '%A'", diag.RowSQLOperator, `s matches "A$"`},
		{"s like '%a.b%'", "like '%a.b%'", diag.RowSQLOperator, `s matches "a\\.b"`},
		{"s not like 'a_b'", "not like 'a_b'", diag.RowSQLOperator, `s not matches "(?s)^a.b$"`},
		{"s LIKE t", "LIKE", diag.RowSQLOperator, ""},
		{"case when flag then 1 else 2 end", "case", diag.RowSQLOperator, ""},

		{"s == 1", "s == 1", diag.RowMismatch, ""},
		{"(s) == (1)", "(s) == (1)", diag.RowMismatch, ""},
		{"flag and i32 == 'x'", "i32 == 'x'", diag.RowMismatch, ""},
		{`"s" == 1`, `"s"`, diag.RowMismatch, `s == 1`},
		{"s in ['a', 1]", "s in ['a', 1]", diag.RowMismatch, ""},
		{"(s ?? 1) == 's'", "s ?? 1", diag.RowMismatch, ""},
		{"(flag ? 1 : 'x') == 1", "flag ? 1 : 'x'", diag.RowMismatch, ""},
		{"tz > at", "tz > at", diag.RowMismatch, ""},
		{"at > 2025-06-01", "2025-06-01", diag.RowMismatch, "at > '2025-06-01'"},
		{"2025-06-01 <= day", "2025-06-01", diag.RowMismatch, "'2025-06-01' <= day"},
		{"day == 2025-6-1", "2025-6-1", diag.RowMismatch, "day == '2025-06-01'"},
		{"day == 2025-13-1", "2025-13-1", diag.RowMismatch, ""},
		{"at > 2025 - 6", "at > 2025 - 6", diag.RowMismatch, ""},
		{"js == '{}'", "js == '{}'", diag.RowMismatch, ""},
		{"flag == 1", "flag == 1", diag.RowMismatch, ""},

		{"upper(i32) == 'A'", "i32", diag.RowOperand, ""},
		{"s || t", "||", diag.RowOperand, "s + t"},
		{"s || 1", "s || 1", diag.RowOperand, "s + string(1)"},
		{"(i32) || s", "(i32) || s", diag.RowOperand, "string((i32)) + s"},
		{"not i32 == 1", "i32", diag.RowOperand, ""},
		{"i32 and flag", "i32", diag.RowOperand, ""},
		{"s + 1 == 'x'", "s + 1", diag.RowOperand, ""},
		{"flag < flag2", "flag < flag2", diag.RowOperand, ""},
		{"i32 < nil", "i32 < nil", diag.RowOperand, ""},
		{"i32 in [1, nil]", "i32 in [1, nil]", diag.RowOperand, ""},
		{"f % 2 == 0", "f % 2", diag.RowOperand, ""},
		{"day + 1 > day", "day", diag.RowOperand, ""},
		{"s[i32:2] == 'a'", "i32", diag.RowOperand, ""},
		{"i32[0:2] == 'a'", "i32", diag.RowOperand, ""},
		{"i32 matches 'a'", "i32", diag.RowOperand, ""},
		{"i32 ? true : false", "i32", diag.RowOperand, ""},
		{"nil + 1 > 2", "nil", diag.RowOperand, ""},

		{"day > '31.01.2024'", "'31.01.2024'", diag.RowLiteral, ""},
		{"day > '2024-02-30'", "'2024-02-30'", diag.RowLiteral, ""},
		{"tz > '2024-01-31 10:00:00'", "'2024-01-31 10:00:00'", diag.RowLiteral, ""},
		{"'x' == u", "'x'", diag.RowLiteral, ""},
		{"i64 == 0xffffffffffffffffff", "0xffffffffffffffffff", diag.RowLiteral, ""},
		{"i64 == 1e9999", "1e9999", diag.RowLiteral, ""},

		{"s matches '('", "'('", diag.RowPattern, ""},
		{"s matches t", "t", diag.RowPattern, ""},

		{"let x = i32; x > 1", "let x = i32; x > 1", diag.RowNotAllowed, ""},
		{"now() > at", "now", diag.RowNotAllowed, ""},
		{"all([1], # > 1)", "all", diag.RowNotAllowed, ""},
		{"i32 in 1..3", "1..3", diag.RowNotAllowed, ""},
		{"i32 in []", "[]", diag.RowNotAllowed, ""},
		{"[1, 2] == i32", "[1, 2]", diag.RowNotAllowed, ""},
		{"{a: 1} == i32", "{a: 1}", diag.RowNotAllowed, ""},
		{"s.foo() == 'x'", "s.foo()", diag.RowNotAllowed, ""},
		{"tbl.i32 == 1", "tbl.i32", diag.RowNotAllowed, "i32 == 1"},
		{"s[0] == 'x'", "s[0]", diag.RowNotAllowed, ""},
		{"i32 ** 2 > 1", "i32 ** 2", diag.RowNotAllowed, ""},
		{"s contains 'x'", "s contains 'x'", diag.RowNotAllowed, ""},
		{"if flag { true } else { false }", "if flag { true } else { false }", diag.RowNotAllowed, ""},
		{"flag ?: flag2", "flag ?: flag2", diag.RowNotAllowed, ""},
		{"1 < i32 < 5", "<", diag.RowNotAllowed, "1 < i32 and i32 < 5"},
		{"s | upper()", "|", diag.RowNotAllowed, ""},
		{"$env == 1", "$env", diag.RowNotAllowed, ""},
		{"flag; flag2", "flag; flag2", diag.RowNotAllowed, ""},
		{"b'x' == raw", "b'x'", diag.RowNotAllowed, ""},

		{"coalesce(i32, 1) == 1", "coalesce", diag.RowFunction, ""},
		{"UPPER(s) == 'A'", "UPPER", diag.RowFunction, "upper(s) == 'A'"},
		{"length(s) == 1", "length", diag.RowFunction, "len(s) == 1"},
		{"uper(s) == 'A'", "uper", diag.RowFunction, "upper(s) == 'A'"},
		{"upper(s, t) == 'A'", "upper(s, t)", diag.RowFunction, ""},
		{"upper() == 'A'", "upper()", diag.RowFunction, ""},

		{"i32 >", ">", diag.RowSyntax, ""},
		{"(i32 > 1", "1", diag.RowSyntax, ""},
		{"i32 > 1)", ")", diag.RowSyntax, ""},
		{"s == 'x", "'x", diag.RowSyntax, ""},
		{"i32 @ 1", "@", diag.RowSyntax, ""},
		{"(i32 ?? 1 > 0)", ">", diag.RowSyntax, ""},
		{"i32 i32", "i32", diag.RowSyntax, ""},
		{"", "", diag.RowSyntax, ""},
		{"  ", "  ", diag.RowSyntax, ""},
		{"i32 == 1 ? nil : nil", "i32 == 1 ? nil : nil", diag.RowNoType, ""},
		{strings.Repeat("1+", 6000) + "1 > 0", strings.Repeat("1+", 6000) + "1 > 0", diag.RowTooLarge, ""},
	}
	for _, c := range cases {
		e, problems := CompileFilter(c.src, table)
		if e != nil || len(problems) == 0 {
			t.Errorf("CompileFilter(%.60q) gives no problem, want %s", c.src, c.code)
			continue
		}
		p := problems[0]
		if covered := c.src[p.From:p.To]; p.Code != c.code || covered != c.covered {
			t.Errorf("CompileFilter(%.60q): got %s at %q, want %s at %q (%s: %s)", c.src, p.Code, covered, c.code, c.covered, p.Summary, p.Detail)
		}
		fixed := ""
		if p.Fix != "" {
			fixed = c.src[:p.From] + p.Fix + c.src[p.To:]
		}
		if fixed != c.fixed {
			t.Errorf("CompileFilter(%.60q): fix gives %q, want %q", c.src, fixed, c.fixed)
		}
		if p.Summary == "" || p.Detail == "" || strings.HasSuffix(p.Summary, ".") || !strings.HasSuffix(p.Detail, ".") && !strings.HasSuffix(p.Detail, "?") {
			t.Errorf("CompileFilter(%.60q): summary %q, detail %q: want a line without and sentences with a full stop", c.src, p.Summary, p.Detail)
		}
	}
}

func TestAllProblemsAreReported(t *testing.T) {
	_, problems := CompileFilter("amuont > 1 and upper(i32) == 'x' or s == 1", table)
	var got []diag.Code
	for _, p := range problems {
		got = append(got, p.Code)
	}
	want := []diag.Code{diag.RowUnknownColumn, diag.RowOperand, diag.RowMismatch}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, want %v", got, want)
	}
	// Several slips, each with its own fix.
	_, problems = CompileFilter("i32 = 1 AND s <> 'x'", table)
	if len(problems) != 3 {
		t.Errorf("got %d problems for three slips: %+v", len(problems), problems)
	}
}

func TestColumnsNamedLikeOperatorsAreNoSlips(t *testing.T) {
	for _, src := range []string{`$env["and"] == 1`, "flag and flag2", "not flag"} {
		if e, problems := Compile(src, table); e == nil {
			t.Errorf("Compile(%q): %+v", src, problems)
		}
	}
}

func TestEveryCodeHasADoc(t *testing.T) {
	seen := map[diag.Code]bool{}
	for _, d := range diag.Codes() {
		if strings.HasPrefix(string(d.Code), "PEN03") {
			seen[d.Code] = true
			if d.Title == "" || d.Meaning == "" || d.Bad == "" || d.Good == "" {
				t.Errorf("%s lacks a part of its doc", d.Code)
			}
		}
	}
	for _, c := range []diag.Code{diag.RowSyntax, diag.RowUnknownColumn, diag.RowAmbiguousColumn, diag.RowNotCondition, diag.RowUnreadable, diag.RowSQLOperator,
		diag.RowNoType, diag.RowMismatch, diag.RowOperand, diag.RowLiteral, diag.RowPattern, diag.RowNotAllowed, diag.RowFunction, diag.RowTooLarge} {
		if !seen[c] {
			t.Errorf("%s has no doc", c)
		}
	}
}
