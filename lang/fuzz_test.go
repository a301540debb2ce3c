package lang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"

	"golang.org/x/tools/txtar"
)

// seeds are all specs in testdata of one syntax, and the slips.
func seeds(f *testing.F, ext string) {
	for _, s := range slips {
		sound, slip := soundHCL, s.hcl
		if ext == ".yaml" {
			sound, slip = soundYAML, s.yaml
		}
		if slip != (swap{}) {
			f.Add([]byte(strings.Replace(sound, slip.old, slip.new, 1)))
		}
	}
	paths, _ := filepath.Glob("../examples/*/*" + ext)
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	paths, _ = filepath.Glob("testdata/bad/*.txtar")
	for _, p := range paths {
		ar, err := txtar.ParseFile(p)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range ar.Files {
			if strings.HasSuffix(x.Name, ext) {
				f.Add(x.Data)
			}
		}
	}
}

// longest is as much of an input as is read: the loaders' bounds are tested where
// they are, and what a hundred lines can't show, more of them don't.
const longest = 4 << 10

// Whatever the bytes, a spec is read without a panic, every diagnostic points
// into its file, and whatever was understood can be used.
func fuzz(t *testing.T, name string, src []byte) {
	src = src[:min(len(src), longest)]
	spec, l := lang.Parse(map[string][]byte{name: src}, ".", lang.Options{Connectors: connectors, Vars: map[string]string{"x": "1"}})
	l = append(l, decodeParts(spec, func(string, any) {})...).Sorted()
	for _, d := range l {
		checkSound(t, spec, d)
	}
	if len(spec.Files[name]) != len(src) {
		t.Errorf("the file shown has %d bytes, want %d", len(spec.Files[name]), len(src))
	}
	for _, p := range spec.Pipelines {
		for _, tab := range p.Tables {
			to, _ := tab.To.Eval(schema.Name{Schema: "S", Name: "T"})
			for _, text := range []lang.Text{to, tab.Filter, tab.Label} {
				for i := range len(text.V) + 1 {
					if covered(spec, text.Sub(i, len(text.V))) == "(outside)" {
						t.Errorf("byte %d of %q lies outside", i, text.V)
					}
				}
			}
		}
	}
	var b strings.Builder
	if err := diag.Write(&b, l, spec.Files, true); err != nil {
		t.Error(err)
	}
	l.Records(spec.Files)
}

func FuzzHCL(f *testing.F) {
	seeds(f, ".hcl")
	f.Fuzz(func(t *testing.T, src []byte) { fuzz(t, "s.hcl", src) })
}

func FuzzYAML(f *testing.F) {
	seeds(f, ".yaml")
	f.Add([]byte("source: &a\n  <<: *a\n"))
	f.Add([]byte("x-a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, src []byte) { fuzz(t, "s.yaml", src) })
}
