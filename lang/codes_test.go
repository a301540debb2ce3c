package lang_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/lang"

	"golang.org/x/tools/txtar"
)

// The fragments in the documentation do what it says of them.
func TestDocumentedFragmentsGiveTheirCode(t *testing.T) {
	n := 0
	for _, d := range diag.Codes() {
		if d.Code >= "PEN0300" || d.Bad == "" {
			continue
		}
		n++
		gives := func(frag string) (hcl, yaml bool) {
			check := func(name, before string) bool {
				if strings.HasPrefix(frag, "penstock") {
					before = ""
				}
				spec, l := lang.Parse(map[string][]byte{name: []byte(before + frag + "\n")}, ".", lang.Options{Connectors: connectors})
				_, l = decodeAll(spec, l)
				return slices.ContainsFunc(l, func(x diag.Diagnostic) bool { return x.Code == d.Code })
			}
			return check("spec.hcl", "penstock { spec = 1 }\n"), check("spec.yaml", "penstock: {spec: 1}\n")
		}
		bh, by := gives(d.Bad)
		gh, gy := gives(d.Good)
		if !(bh && !gh) && !(by && !gy) {
			t.Errorf("%s: the bad fragment gives it: %v in HCL, %v in YAML; the mended one: %v, %v\n%s", d.Code, bh, by, gh, gy, d.Bad)
		}
	}
	if n < 40 {
		t.Errorf("got %d codes with fragments, want at least 40", n)
	}
}

// elsewhere are codes that no single file can give; each has a test of its own.
var elsewhere = []diag.Code{diag.CannotRead, diag.NotASpecFile, diag.NoSpecFiles, diag.BadVariableValue, diag.UndeclaredAssignment}

func TestEveryCodeOfTheLanguageHasABadSpec(t *testing.T) {
	seen := map[string]bool{}
	paths, _ := filepath.Glob("testdata/bad/*.txtar")
	for _, p := range paths {
		ar, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			for line := range strings.Lines(string(f.Data)) {
				if f.Name == "want" && len(line) >= 7 {
					seen[line[:7]] = true
				}
			}
		}
	}
	for _, d := range diag.Codes() {
		if d.Code < "PEN0300" && !seen[string(d.Code)] && !slices.Contains(elsewhere, d.Code) {
			t.Errorf("no bad spec gives %s", d.Code)
		}
	}
}
