package lang_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/lang"

	"golang.org/x/tools/txtar"
)

// wantLine is a code and the text that it covers; a second text is what it
// covers in YAML, where the two can't be the same. No text: not checked.
var wantLine = regexp.MustCompile(`^(PEN\d{4})(?: ("(?:[^"\\]|\\.)*"))?(?: ("(?:[^"\\]|\\.)*"))?$`)

// Each file of testdata/bad holds a faulty spec in one syntax or in both, and
// the codes and covered bytes of what must be said about it, in any order.
func TestBadSpecs(t *testing.T) {
	paths, _ := filepath.Glob("testdata/bad/*.txtar")
	if len(paths) < 80 {
		t.Fatalf("got %d bad specs, want at least 80", len(paths))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			specs := 0
			for _, f := range ar.Files {
				if f.Name == "want" {
					want = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
				}
			}
			for _, f := range ar.Files {
				if strings.HasPrefix(f.Name, "spec.") {
					specs++
					checkBad(t, f, want)
				}
			}
			if specs == 0 || len(want) == 0 {
				t.Errorf("%s has %d specs and %d wants", path, specs, len(want))
			}
		})
	}
}

func checkBad(t *testing.T, f txtar.File, want []string) {
	t.Helper()
	spec, l := lang.Parse(map[string][]byte{f.Name: f.Data}, ".", lang.Options{Connectors: connectors})
	_, l = decodeAll(spec, l)
	var got []string
	for _, d := range l {
		checkSound(t, spec, d)
		got = append(got, fmt.Sprintf("%s %q", d.Code, covered(spec, d.Subject)))
	}
	left := slices.Clone(got)
	for _, w := range want {
		m := wantLine.FindStringSubmatch(w)
		if m == nil {
			t.Fatalf("bad want line %q", w)
		}
		text := m[2]
		if m[3] != "" && f.Name == "spec.yaml" {
			text = m[3]
		}
		i := slices.IndexFunc(left, func(g string) bool {
			return g == m[1]+" "+requote(text) || text == "" && strings.HasPrefix(g, m[1]+" ")
		})
		if i < 0 {
			t.Errorf("%s: want %s %s, got:\n  %s\n%s", f.Name, m[1], text, messages(l), f.Data)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		t.Errorf("%s: not wanted: %s\nall:\n  %s\n%s", f.Name, left, messages(l), f.Data)
	}
}

func requote(s string) string {
	u, err := strconv.Unquote(s)
	if err != nil {
		return s
	}
	return strconv.Quote(u)
}

func messages(l diag.List) string {
	var out []string
	for _, d := range l {
		out = append(out, fmt.Sprintf("%s %s: %s / %s", d.Code, d.Subject, d.Summary, d.Detail))
	}
	return strings.Join(out, "\n  ")
}

var position = regexp.MustCompile(`\w+\.(hcl|yaml):\d|line \d`)

// checkSound is what holds for every diagnostic.
func checkSound(t *testing.T, spec *lang.Spec, d diag.Diagnostic) {
	t.Helper()
	if covered(spec, d.Subject) == "(outside)" {
		t.Errorf("%s: subject %s (bytes %d to %d) lies outside of the file", d.Code, d.Subject, d.Subject.Start.Byte, d.Subject.End.Byte)
	}
	if d.Summary == "" || strings.HasSuffix(d.Summary, ".") || strings.Contains(d.Summary, "\n") || position.MatchString(d.Summary) {
		t.Errorf("%s: summary %q is not one line without full stop and position", d.Code, d.Summary)
	}
	if d.Detail == "" || badVerb(spec, d.Detail) || badVerb(spec, d.Summary) {
		t.Errorf("%s: detail %q of %q", d.Code, d.Detail, d.Summary)
	}
	for _, r := range d.Related {
		if covered(spec, r.Range) == "(outside)" {
			t.Errorf("%s: related place %s lies outside", d.Code, r.Range)
		}
	}
	for _, e := range d.Fixes {
		if covered(spec, e.Range) == "(outside)" || e.Title == "" {
			t.Errorf("%s: fix %q at %s lies outside or has no title", d.Code, e.Title, e.Range)
		}
	}
}

// badVerb reports whether a text holds what fmt writes for a mistaken verb, unless
// the spec might have it from its author.
func badVerb(spec *lang.Spec, text string) bool {
	return strings.Contains(text, "%!") && !bytes.Contains(spec.Files[spec.Path], []byte("%!"))
}

// Applied as it stands, an offered edit removes the fault that it is offered for.
func TestFixesMendTheFault(t *testing.T) {
	paths, _ := filepath.Glob("testdata/bad/*.txtar")
	mended := 0
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(b).Files {
			if !strings.HasPrefix(f.Name, "spec.") {
				continue
			}
			spec, l := lang.Parse(map[string][]byte{f.Name: f.Data}, ".", lang.Options{Connectors: connectors})
			_, l = decodeAll(spec, l)
			for _, d := range l {
				for _, e := range d.Fixes {
					src := string(f.Data[:e.Range.Start.Byte]) + e.NewText + string(f.Data[e.Range.End.Byte:])
					spec2, l2 := lang.Parse(map[string][]byte{f.Name: []byte(src)}, ".", lang.Options{Connectors: connectors})
					_, l2 = decodeAll(spec2, l2)
					if slices.ContainsFunc(l2, func(x diag.Diagnostic) bool {
						return x.Code == d.Code && x.Summary == d.Summary && x.Subject.Start == d.Subject.Start
					}) {
						t.Errorf("%s %s: the fix %q leaves %s %q:\n%s", path, f.Name, e.Title, d.Code, d.Summary, src)
					}
					mended++
				}
			}
		}
	}
	if mended < 20 {
		t.Errorf("got %d fixes, want at least 20", mended)
	}
}
