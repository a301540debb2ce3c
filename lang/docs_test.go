package lang_test

import (
	"bytes"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"

	_ "modernc.org/sqlite"
)

// fence is a piece of code on a page.
type fence struct{ syntax, text string }

var fences = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

func page(t *testing.T, path string) (string, []fence) {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	var out []fence
	for _, m := range fences.FindAllSubmatch(b, -1) {
		out = append(out, fence{string(m[1]), string(m[2])})
	}
	return string(b), out
}

// section is what a page says under the heading that names a block, up to the
// next heading.
func section(text, block string) string {
	_, rest, ok := strings.Cut(text, "\n### `"+block+"`")
	if !ok {
		return ""
	}
	head, body, _ := strings.Cut(rest, "\n")
	body, _, _ = strings.Cut(body, "\n#")
	return head + body
}

func TestSpecPageNamesEveryBlockAndSetting(t *testing.T) {
	text, _ := page(t, "../docs/spec.md")
	words := lang.Words(planner.Connectors(all.Registry()))
	if len(words) < 100 {
		t.Fatalf("got %d words, want at least 100", len(words))
	}
	for _, w := range words {
		in := section(text, w.In)
		if in == "" && w.In == "target" {
			in = section(text, "source")
		}
		if in == "" {
			in = text // a spec's own blocks, and the settings of connectors
		}
		if !strings.Contains(in, "`"+w.Name+"`") {
			t.Errorf("docs/spec.md says nothing of `%s` in %s", w.Name, w.In)
		}
	}
	for _, f := range lang.Functions() {
		if !strings.Contains(text, "`"+f+"`") {
			t.Errorf("docs/spec.md says nothing of the function `%s`", f)
		}
	}
}

// planOf plans a spec in a folder of its own, in which the SQL of the page has
// been run.
func planOf(t *testing.T, name, text, ddl string) ([]byte, diag.List, *lang.Spec) {
	t.Helper()
	dir := t.TempDir()
	if ddl != "" {
		db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(ddl); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	spec, l := lang.Parse(map[string][]byte{name: []byte(text)}, dir, lang.Options{Connectors: planner.Connectors(all.Registry())})
	p, found := planner.Compile(t.Context(), spec, all.Registry(), planner.Options{ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist }})
	l = append(l, found.Apart(l)...).Sorted()
	if p == nil {
		return nil, l, spec
	}
	b, err := plan.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b, l, spec
}

func TestSpecsOnThePageAreValidAndMeanTheSameInBothSyntaxes(t *testing.T) {
	_, all := page(t, "../docs/spec.md")
	ddl, hcl, whole := "", []byte(nil), 0
	for _, f := range all {
		switch f.syntax {
		case "sql":
			ddl = f.text
		case "hcl", "yaml":
			if !strings.Contains(f.text, "penstock") {
				continue
			}
			whole++
			b, l, _ := planOf(t, "spec."+f.syntax, f.text, ddl)
			if len(l) > 0 || b == nil {
				t.Errorf("%s\n%s", messages(l), f.text)
			}
			if f.syntax == "hcl" {
				hcl = b
			} else if !bytes.Equal(hcl, b) {
				t.Errorf("this plans otherwise than the HCL before it:\n%s", f.text)
			}
		}
	}
	if whole < 4 {
		t.Errorf("got %d whole specs on the page, want at least 4", whole)
	}
}

// README shows what is said of its own spec with a letter left out.
func TestReadmeShowsItsSpecAndWhatIsSaidOfASlipInIt(t *testing.T) {
	text, all := page(t, "../README.md")
	spec := ""
	for _, f := range all {
		if f.syntax == "hcl" {
			spec = f.text
			break
		}
	}
	if b, l, _ := planOf(t, "spec.hcl", spec, ""); len(l) > 0 || b == nil {
		t.Errorf("README's spec: %s", messages(l))
	}
	slip := strings.Replace(spec, "small_number", "smal_number", 1)
	_, l, read := planOf(t, "spec.hcl", slip, "")
	var b strings.Builder
	if err := diag.Write(&b, l, read.Files, false); err != nil {
		t.Fatal(err)
	}
	if want := "```\n" + strings.TrimSpace(b.String()) + "\n```"; slip == spec || !strings.Contains(text, want) {
		t.Errorf("README does not show what is said of smal_number:\n%s", want)
	}
}
