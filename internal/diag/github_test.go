package diag

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// rangeIn is the range of a text in a file.
func rangeIn(t *testing.T, file, src, text string) hcl.Range {
	t.Helper()
	i := strings.Index(src, text)
	if i < 0 {
		t.Fatalf("no %q in %q", text, src)
	}
	pos := func(b int) hcl.Pos { return hcl.Pos{Line: 1, Column: 1, Byte: b} } // regions come from bytes
	return hcl.Range{Filename: file, Start: pos(i), End: pos(i + len(text))}
}

func same(path string) string { return path }

func TestGitHubCommandsHoldWhateverASpecSays(t *testing.T) {
	const file = "a,b:c%/spec.hcl"
	src := "x = 1\ny = \"𝒳é\" + bad\nz = [\n1]\n"
	l := List{
		{Code: "PEN0301", Summary: "Unknown: \"a,b\"", Detail: "100%\n::error::not a command\r", Subject: rangeIn(t, file, src, "bad")},
		{Code: "PEN0112", Severity: Warning, Summary: "No detail", Subject: rangeIn(t, file, src, "[\n1]"),
			Fixes: []Edit{{Title: "write it on one line", NewText: "[1]", Range: rangeIn(t, file, src, "[\n1]")}}},
		{Code: "PEN0001", Summary: "Spec can't be read", Subject: hcl.Range{Filename: "gone.hcl"}},
	}
	var b strings.Builder
	if err := WriteGitHub(&b, l, map[string][]byte{file: []byte(src)}, same); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3Ac%25/spec.hcl,line=2,endLine=2,col=13,endColumn=16,title=PEN0301 Unknown%3A \"a%2Cb\"::100%25%0A::error::not a command\ufffd\n" +
		"::warning file=a%2Cb%3Ac%25/spec.hcl,line=3,endLine=4,title=PEN0112 No detail::help: write it on one line: [1]\n" +
		"::error file=gone.hcl,title=PEN0001 Spec can't be read::Spec can't be read\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := GitHubError("a,b\n", "c\nd"), "::error title=a%2Cb%0A::c%0Ad\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
