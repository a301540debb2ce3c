package diag

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"
)

// at is the range of the nth text in src, with columns in characters.
func at(t testing.TB, src, text string) hcl.Range {
	t.Helper()
	i := strings.Index(src, text)
	if i < 0 {
		t.Fatalf("%q is not in %q", text, src)
	}
	return span2(src, i, i+len(text))
}

func span2(src string, a, b int) hcl.Range {
	pos := func(i int) hcl.Pos {
		line := strings.LastIndexByte(src[:i], '\n') + 1
		return hcl.Pos{Line: strings.Count(src[:i], "\n") + 1, Column: utf8.RuneCountInString(src[line:i]) + 1, Byte: i}
	}
	return hcl.Range{Filename: "spec.hcl", Start: pos(a), End: pos(b)}
}

func text(l List, src string) string {
	var b strings.Builder
	_ = Write(&b, l, map[string][]byte{"spec.hcl": []byte(src)}, false)
	return b.String()
}

func TestTextFormLooksLikeACompilers(t *testing.T) {
	src := "penstock { spec = 1 }\n\npipeline \"p\" {\n  table \"t\" {\n    filter = \"amuont > 1\"\n  }\n}\n"
	var l List
	d := l.Errorf("PEN0301", at(t, src, "amuont"), "Unknown column in filter", "SCOTT.BIG_TABLE has no column %q. It has 34 columns, of which the nearest by name is %q; names match without regard to case.", "amuont", "AMOUNT")
	d.Fixes = []Edit{{Title: "write amount", Range: d.Subject, NewText: "amount"}}
	d.Related = []Related{{Message: "the table", Range: at(t, src, "t\" {\n    f")}}
	d.Related[0].Range = span2(src, strings.Index(src, `t" {`), strings.Index(src, `t" {`)+1)
	l.Warnf("PEN0702", at(t, src, "1 }"), "TLS is off", "")
	want := `warning[PEN0702]: TLS is off
 --> spec.hcl:1:19
  |
1 | penstock { spec = 1 }
  |                   ^^^

error[PEN0301]: Unknown column in filter
 --> spec.hcl:5:15
  |
5 |     filter = "amuont > 1"
  |               ^^^^^^
  |
  = SCOTT.BIG_TABLE has no column "amuont". It has 34 columns, of which the nearest by name is
    "AMOUNT"; names match without regard to case.
  help: write amount
 ::: spec.hcl:4:10
  |
4 |   table "t" {
  |          - the table
`
	if got := text(l, src); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestProseEndsWithinTheTerminal(t *testing.T) {
	l := List{{Code: UnknownBlock, Severity: Error, Summary: "s", Detail: strings.Repeat("word ", 60)}}
	for _, columns := range []int{50, 80, 200} {
		var b strings.Builder
		if err := WriteWithin(&b, l, map[string][]byte{"": nil}, false, columns); err != nil {
			t.Fatal(err)
		}
		longest := 0
		for _, line := range strings.Split(b.String(), "\n") {
			longest = max(longest, len(line))
		}
		if want := min(columns, textWidth+10); longest > want || longest < want-14 {
			t.Errorf("%d columns: the longest line has %d in\n%s", columns, longest, b.String())
		}
	}
}

// Underlines stand below what they mean, whatever the width of what is before.
func TestUnderlineFitsTabsAndWideCharacters(t *testing.T) {
	for _, c := range []struct{ src, of, want string }{
		{"\tx = 日本 + bad\n", "bad", "    x = 日本 + bad\n  |                ^^^"},
		{"a\tbad\n", "bad", "a   bad\n  |     ^^^"},
		{"日本\n", "本", "日本\n  |   ^^"},
		{"e\u0301 bad\n", "bad", "e\u0301 bad\n  |   ^^^"},
		{"bad\r\nx", "bad", "bad\n  | ^^^"},
		{"\x1b[31mbad\n", "bad", "\ufffd[31mbad\n  |      ^^^"},
		{"\xffbad\n", "bad", "\ufffdbad\n  |  ^^^"},
		{"\u202ebad\n", "bad", "\ufffdbad\n  |  ^^^"},
	} {
		var l List
		l.Errorf("PEN0001", at(t, c.src, c.of), "x", "")
		if got := text(l, c.src); !strings.HasSuffix(got, "1 | "+c.want+"\n") {
			t.Errorf("%q: got\n%s\nwant at its end\n%s", c.src, got, c.want)
		}
	}
}

func TestRangeOverLinesIsShownWhole(t *testing.T) {
	src := "a = <<E\n  one\n  two\n  three\n  four\nE\n"
	var l List
	l.Errorf("PEN0001", at(t, src, "one\n  two"), "x", "")
	want := "2 |   one\n  |   ^^^\n3 |   two\n  |   ^^^\n"
	if got := text(l, src); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at its end\n%s", got, want)
	}
	l = nil
	l.Errorf("PEN0001", span2(src, 4, len(src)-2), "x", "")
	want = "1 | a = <<E\n  |     ^^^\n2 |   one\n  |   ^^^\n...\n5 |   four\n  |   ^^^^\n"
	if got := text(l, src); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at its end\n%s", got, want)
	}
}

func TestPlacesWithoutBytesHaveNoSnippet(t *testing.T) {
	for name, r := range map[string]hcl.Range{
		"no such file": {Filename: "gone.hcl"}, "no file at all": {}, "behind the end": {Filename: "spec.hcl", Start: hcl.Pos{Byte: 90}, End: hcl.Pos{Byte: 95}},
	} {
		var l List
		l.Errorf("PEN0001", r, "Spec can't be read", "No such file.")
		if got := text(l, "x\n"); strings.Contains(got, " |") || !strings.Contains(got, "= No such file.") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestAtMostFiftyAreShownErrorsFirst(t *testing.T) {
	src := strings.Repeat("x\n", 200)
	var l List
	for i := range 40 {
		l.Warnf("PEN0001", span2(src, 2*i, 2*i+1), "w", "")
	}
	for i := 40; i < 85; i++ {
		l.Errorf("PEN0002", span2(src, 2*i, 2*i+1), "e", "")
	}
	got := text(l, src)
	if n := strings.Count(got, "error[PEN0002]"); n != 45 {
		t.Errorf("got %d errors, want all 45", n)
	}
	if n := strings.Count(got, "warning[PEN0001]"); n != 5 {
		t.Errorf("got %d warnings, want 5", n)
	}
	if want := "\n... and 35 warnings more; --json lists all of them\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got the end %q, want %q", got[len(got)-60:], want)
	}
	if n := len(l.Records(nil)); n != 85 {
		t.Errorf("got %d records, want all 85", n)
	}
}

func TestColorChangesNothingButColor(t *testing.T) {
	src := "a = 1\n"
	var l List
	d := l.Errorf("PEN0001", at(t, src, "1"), "x", "detail")
	d.Fixes = []Edit{{Title: "do", Range: d.Subject, NewText: "2"}}
	var b strings.Builder
	_ = Write(&b, l, map[string][]byte{"spec.hcl": []byte(src)}, true)
	got := b.String()
	for _, seq := range []string{colorStyle.err, colorStyle.title, colorStyle.gutter, colorStyle.help, colorStyle.reset} {
		got = strings.ReplaceAll(got, seq, "")
	}
	if want := text(l, src); got != want || !strings.Contains(b.String(), "\x1b[1;31m") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRecordHasTheBytesMeant(t *testing.T) {
	src := "# é\na = \"日本 bad\"\n"
	var l List
	d := l.Errorf("PEN0001", at(t, src, "bad"), "x", "y")
	d.Related = []Related{{Message: "m", Range: at(t, src, "é")}}
	d.Fixes = []Edit{{Title: "t", Range: d.Subject, NewText: "good"}}
	b, err := json.Marshal(l.Records(map[string][]byte{"spec.hcl": []byte(src)}))
	want := `[{"code":"PEN0001","severity":"error","summary":"x","detail":"y","range":{"filename":"spec.hcl","start":{"line":2,"column":9,"byte":17},"end":{"line":2,"column":12,"byte":20}},` +
		`"snippet":{"code":"a = \"日本 bad\"","start_line":2,"highlight_start":12,"highlight_end":15},` +
		`"related":[{"message":"m","range":{"filename":"spec.hcl","start":{"line":1,"column":3,"byte":2},"end":{"line":1,"column":4,"byte":4}}}],` +
		`"fixes":[{"title":"t","range":{"filename":"spec.hcl","start":{"line":2,"column":9,"byte":17},"end":{"line":2,"column":12,"byte":20}},"new_text":"good"}]}]`
	if err != nil || string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	if got, _ := json.Marshal(List(nil).Records(nil)); string(got) != "[]" {
		t.Errorf("got %s for no diagnostics, want []", got)
	}
}

// Whatever the bytes and the range: no panic, no control character, no line
// much wider than the screen, and JSON highlights exactly the range's bytes.
func TestAnyRangeOfAnyFileIsShown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		src := rapid.StringOfN(rapid.RuneFrom([]rune("ab \t\n\r日é\u0301\x1b\u202e{}\"")), 0, 400, -1).Draw(rt, "src") + strings.Repeat("x", rapid.IntRange(0, 300).Draw(rt, "tail"))
		a := rapid.IntRange(0, len(src)).Draw(rt, "a")
		b := rapid.IntRange(a, len(src)).Draw(rt, "b")
		for a > 0 && a < len(src) && !utf8.RuneStart(src[a]) {
			a--
		}
		for b < len(src) && !utf8.RuneStart(src[b]) {
			b++
		}
		r := hcl.Range{Filename: "spec.hcl", Start: hcl.Pos{Line: 1, Column: 1, Byte: a}, End: hcl.Pos{Line: 1, Column: 1, Byte: b}}
		var l List
		l.Errorf("PEN0001", r, "summary", "detail")
		for _, line := range strings.Split(text(l, src), "\n") {
			if w := runewidth.StringWidth(line); w > lineWidth+20 {
				rt.Fatalf("a line is %d wide: %q", w, line)
			}
			if strings.ContainsAny(line, "\x1b\t\r\u202e") {
				rt.Fatalf("a control character is shown: %q", line)
			}
		}
		if s := l.Records(map[string][]byte{"spec.hcl": []byte(src)})[0].Snippet; s != nil && b-a <= maxSnippet && s.Code[s.HighlightStart:s.HighlightEnd] != src[a:b] {
			rt.Fatalf("the highlight is %q, want %q", s.Code[s.HighlightStart:s.HighlightEnd], src[a:b])
		}
	})
}

func TestSummaryCountsInWords(t *testing.T) {
	for want, n := range map[string][2]int{"no errors": {0, 0}, "1 error": {1, 0}, "2 errors, 1 warning": {2, 1}, "3 warnings": {0, 3}} {
		var l List
		for i := range n[0] {
			l.Errorf("PEN0001", hcl.Range{}, fmt.Sprint(i), "")
		}
		for i := range n[1] {
			l.Warnf("PEN0001", hcl.Range{}, fmt.Sprint(i), "")
		}
		if got := l.Summary(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
