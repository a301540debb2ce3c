package planner_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/tools/txtar"
)

// wantLine is a code and the text that it covers; a second text is what it
// covers in YAML, where quotes differ. No text: not checked.
var wantLine = regexp.MustCompile(`^(PEN\d{4})(?: ("(?:[^"\\]|\\.)*"))?(?: ("(?:[^"\\]|\\.)*"))?$`)

// Each file of testdata/bad holds a spec in both syntaxes that reads well and
// can't be planned as it stands, and the codes and covered bytes of all that
// must be said about it. The catalog of the source is testdata/db.json.
func TestBadSpecs(t *testing.T) {
	paths, _ := filepath.Glob("testdata/bad/*.txtar")
	if len(paths) < 60 {
		t.Fatalf("got %d bad specs, want at least 60", len(paths))
	}
	codes := map[diag.Code]bool{}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files, want := map[string][]byte{}, []string(nil)
			for _, f := range ar.Files {
				files[f.Name] = f.Data
				if f.Name == "want" {
					want = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
				}
			}
			for _, name := range []string{"spec.hcl", "spec.yaml"} {
				if files[name] == nil {
					t.Fatalf("%s has no %s", path, name)
				}
				for _, d := range checkBad(t, name, files, want) {
					codes[d.Code] = true
				}
			}
		})
	}
	for _, d := range diag.Codes() {
		if d.Code >= "PEN0400" && d.Code < "PEN0800" && !codes[d.Code] && !slices.Contains(elsewhere, d.Code) {
			t.Errorf("%s (%s) is given by no spec of testdata/bad", d.Code, d.Title)
		}
	}
}

// elsewhere are codes that no spec alone can give: they are on the command line.
var elsewhere = []diag.Code{diag.NothingSelected}

func checkBad(t *testing.T, name string, files map[string][]byte, want []string) diag.List {
	t.Helper()
	spec, l := lang.Parse(map[string][]byte{name: files[name]}, ".", lang.Options{Connectors: planner.Connectors(registry())})
	if len(l) > 0 {
		t.Errorf("%s is no good spec: %v", name, l)
		return nil
	}
	read := func(path string) ([]byte, error) {
		if b, ok := files[filepath.ToSlash(path)]; ok {
			return b, nil
		}
		if filepath.ToSlash(path) == "catalog/db.json" {
			return os.ReadFile("testdata/db.json")
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	plan, l := planner.Compile(t.Context(), spec, registry(), planner.Options{ReadFile: read})
	if (plan == nil) != l.HasErrors() {
		t.Errorf("%s: there is a plan (%v) and there are errors (%v)", name, plan != nil, l.HasErrors())
	}
	var left []string
	for _, d := range l {
		checkSound(t, spec, d)
		left = append(left, fmt.Sprintf("%s %s", d.Code, strconv.Quote(covered(spec, d.Subject))))
	}
	for _, w := range want {
		m := wantLine.FindStringSubmatch(w)
		if m == nil {
			t.Fatalf("bad want line %q", w)
		}
		text := m[2]
		if m[3] != "" && name == "spec.yaml" {
			text = m[3]
		}
		i := slices.IndexFunc(left, func(g string) bool { return g == m[1]+" "+text || text == "" && strings.HasPrefix(g, m[1]+" ") })
		if i < 0 {
			t.Errorf("%s: want %s %s, got:\n%s\n%s", name, m[1], text, messages(l), files[name])
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		t.Errorf("%s: not wanted: %s\nall:\n%s\n%s", name, left, messages(l), files[name])
	}
	return l
}

func messages(l diag.List) string {
	var b strings.Builder
	for _, d := range l {
		fmt.Fprintf(&b, "  %s %s %s: %s / %s\n", d.Severity, d.Code, d.Subject, d.Summary, d.Detail)
	}
	return b.String()
}

func covered(spec *lang.Spec, r hcl.Range) string {
	b := spec.Files[r.Filename]
	if r.Start.Byte > r.End.Byte || r.End.Byte > len(b) {
		return "(outside)"
	}
	return string(b[r.Start.Byte:r.End.Byte])
}

// checkSound is what holds for every diagnostic.
func checkSound(t *testing.T, spec *lang.Spec, d diag.Diagnostic) {
	t.Helper()
	if covered(spec, d.Subject) == "(outside)" || d.Subject.Empty() {
		t.Errorf("%s: subject %s lies outside of the file", d.Code, d.Subject)
	}
	for _, s := range []string{d.Summary, d.Detail} {
		if s == "" || strings.Contains(s, "%!") || strings.Contains(s, "..") && !strings.Contains(s, "...") || strings.Contains(s, "  ") {
			t.Errorf("%s: text %q", d.Code, s)
		}
	}
	if strings.HasSuffix(d.Summary, ".") || strings.Contains(d.Summary, "\n") {
		t.Errorf("%s: summary %q is not one line without a full stop", d.Code, d.Summary)
	}
	for _, r := range d.Related {
		if covered(spec, r.Range) == "(outside)" {
			t.Errorf("%s: related place %s lies outside", d.Code, r.Range)
		}
	}
}
