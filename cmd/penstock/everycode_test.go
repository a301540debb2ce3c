package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"
)

// oneSyntax are codes of faults that can be made in one syntax alone.
var oneSyntax = map[diag.Code]string{
	diag.HCLOneLine:    ".hcl",  // YAML has no blocks of one line
	diag.ExtraLabel:    ".hcl",  // a label too many is another setting in YAML
	diag.TwoDocuments:  ".yaml", // HCL has no documents, tabs that matter, tags or aliases
	diag.YAMLTab:       ".yaml",
	diag.YAMLTag:       ".yaml",
	diag.YAMLFlowBrace: ".yaml",
	diag.YAMLStart:     ".yaml",
	diag.YAMLSyntax:    ".yaml",
	diag.YAMLAlias:     ".yaml",
}

// noSyntax are codes about files, before there is a syntax.
var noSyntax = []diag.Code{diag.NotASpecFile, diag.NoSpecFiles}

// needServer are codes of what only a server can tell: live_postgres_test.go shows them.
var needServer = []diag.Code{diag.EndpointRefuses, diag.EndpointWarns, diag.CatalogChanged, diag.OtherLoad, diag.EarlierLoad}

// Every code has a case with the text that it covers, in both syntaxes where
// the fault can be made in both: the tables of lang and planner, and what takes
// more than a file, here.
func TestEveryCodeHasACaseInBothSyntaxes(t *testing.T) {
	have := map[diag.Code]map[string]bool{}
	add := func(code diag.Code, ext string) {
		if have[code] == nil {
			have[code] = map[string]bool{}
		}
		have[code][ext] = true
	}
	code := regexp.MustCompile(`(?m)^PEN\d{4}`)
	for _, pattern := range []string{"../../lang/testdata/bad/*.txtar", "../../planner/testdata/bad/*.txtar"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			ar, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, f := range ar.Files {
				if f.Name == "want" {
					codes = code.FindAllString(string(f.Data), -1)
				}
			}
			for _, f := range ar.Files {
				for _, c := range codes {
					if strings.HasPrefix(f.Name, "spec.") {
						add(diag.Code(c), filepath.Ext(f.Name))
					}
				}
			}
		}
	}
	for _, c := range casesOfCommandLines(t) {
		for _, ext := range c.syntaxes {
			add(c.code, ext)
		}
	}
	for _, d := range diag.Codes() {
		if slices.Contains(needServer, d.Code) {
			continue
		}
		want := []string{".hcl", ".yaml"}
		if only := oneSyntax[d.Code]; only != "" {
			want = []string{only}
		}
		if slices.Contains(noSyntax, d.Code) {
			want = []string{""}
		}
		for _, ext := range want {
			if !have[d.Code][ext] {
				t.Errorf("%s (%s) has no case in %q", d.Code, d.Title, ext)
			}
		}
	}
}

type commandLineCase struct {
	code     diag.Code
	syntaxes []string
}

// casesOfCommandLines checks the faults that a spec alone can't have: its code
// and what it covers.
func casesOfCommandLines(t *testing.T) []commandLineCase {
	t.Helper()
	var out []commandLineCase
	known := planner.Connectors(all.Registry())
	check := func(code diag.Code, ext, covers string, spec *lang.Spec, l diag.List) {
		t.Helper()
		i := slices.IndexFunc(l, func(d diag.Diagnostic) bool { return d.Code == code })
		if i < 0 {
			t.Errorf("%s in %q: got %v", code, ext, l)
			return
		}
		if got := coveredBy(spec, l[i].Subject); got != covers {
			t.Errorf("%s in %q covers %q, want %q", code, ext, got, covers)
		}
		out = append(out, commandLineCase{code, []string{ext}})
	}
	dir := t.TempDir()
	spec, l := lang.Load(dir, lang.Options{Connectors: known})
	check(diag.NoSpecFiles, "", "", spec, l)
	writeFile(t, filepath.Join(dir, "spec.txt"), "x")
	spec, l = lang.Load(filepath.Join(dir, "spec.txt"), lang.Options{Connectors: known})
	check(diag.NotASpecFile, "", "", spec, l)
	for ext, text := range map[string]string{".hcl": mistakesHCL, ".yaml": mistakesYAML} {
		path := filepath.Join(t.TempDir(), "spec"+ext)
		writeFile(t, path, text)
		load := func(o lang.Options) (*lang.Spec, diag.List) {
			o.Connectors = known
			return lang.Load(path, o)
		}
		spec, l := load(lang.Options{VarFiles: []string{filepath.Join(dir, "nosuch"+ext)}})
		check(diag.CannotRead, ext, "", spec, l)
		spec, l = load(lang.Options{Vars: map[string]string{"rows": "many"}})
		check(diag.BadVariableValue, ext, "rows", spec, l)
		spec, l = load(lang.Options{Vars: map[string]string{"nope": "1"}})
		check(diag.UndeclaredAssignment, ext, "nope", spec, l)
		spec, _ = load(lang.Options{})
		_, l = planner.Compile(t.Context(), spec, all.Registry(), planner.Options{Only: []string{"nope"}})
		check(diag.NothingSelected, ext, "", spec, l)

		// Where the language is told of no connectors, the planner finds the role.
		wrong := map[string]string{
			".hcl":  "penstock { spec = 1 }\nsource \"kafka\" \"k\" { brokers = [\"h:1\"] }\n",
			".yaml": "penstock: {spec: 1}\nsource: {kafka: {k: {brokers: ['h:1']}}}\n",
		}[ext]
		spec, _ = lang.Parse(map[string][]byte{"spec" + ext: []byte(wrong)}, ".", lang.Options{})
		_, l = planner.Compile(t.Context(), spec, all.Registry(), planner.Options{})
		check(diag.WrongRole, ext, "kafka", spec, l)
	}
	return out
}

func coveredBy(spec *lang.Spec, r hcl.Range) string {
	b := spec.Files[r.Filename]
	if r.Start.Byte < 0 || r.Start.Byte > r.End.Byte || r.End.Byte > len(b) {
		return "(outside)"
	}
	return string(b[r.Start.Byte:r.End.Byte])
}

// fault is one that can be made in both forms of the spec of the mistakes.
type fault struct {
	name      string
	hcl, yaml edit
}

// faults draws one: a slip in the name of a setting or block, or a value of
// another type.
func drawFault(t *rapid.T) fault {
	words := []string{"workers", "memory", "mode", "filter", "expect", "range", "apply", "report", "every", "preset", "seed", "path", "host", "database", "user", "key", "from"}
	w := rapid.SampledFrom(words).Draw(t, "setting")
	if rapid.Bool().Draw(t, "name") {
		i := rapid.IntRange(0, len(w)-1).Draw(t, "at")
		slip := ""
		switch rapid.IntRange(0, 2).Draw(t, "slip") {
		case 0:
			slip = w[:i] + w[i+1:]
		case 1:
			slip = w[:i] + rapid.StringMatching(`[a-z]`).Draw(t, "letter") + w[i:]
		default:
			slip = w[:i] + rapid.StringMatching(`[a-z]`).Draw(t, "letter") + w[i+1:]
		}
		h := regexp.MustCompile(`\b` + w + `(\s*[={])`).FindString(mistakesHCL)
		y := regexp.MustCompile(`\b` + w + `:`).FindString(mistakesYAML)
		return fault{w + " as " + slip, edit{h, slip + h[len(w):]}, edit{y, slip + ":"}}
	}
	values := []struct{ hcl, yaml string }{
		{`workers = 2`, `workers: 2`}, {`memory  = "64MiB"`, `memory: 64MiB`}, {`mode    = "snapshot"`, `mode: snapshot`}, {`every = "60s"`, `every: 60s`},
		{`filter = "small_number != 4"`, `filter: small_number != 4`}, {`expect = 1`, `expect: 1`}, {`count = 2`, `count: 2`}, {`key    = ["id"]`, `key: [id]`},
		{`seed   = 1`, `seed: 1`}, {`path = "shop.db"`, `path: shop.db`}, {`host     = "pg.example.net"`, `host: pg.example.net`},
	}
	v := rapid.SampledFrom(values).Draw(t, "value")
	bad := rapid.SampledFrom([]struct{ hcl, yaml string }{
		{`7`, `7`}, {`-1`, `-1`}, {`true`, `true`}, {`"x"`, `"x"`}, {`""`, `""`}, {`["a"]`, `["a"]`}, {`[]`, `[]`}, {`1.5`, `1.5`}, {`var.nope`, `${var.nope}`}, {`"smal_number != 4"`, `"smal_number != 4"`}, {`"12 MiB"`, `"12 MiB"`}, {`null`, `null`},
	}).Draw(t, "bad")
	hname, _, _ := strings.Cut(v.hcl, "=")
	yname, _, _ := strings.Cut(v.yaml, ":")
	return fault{v.hcl + " becomes " + bad.hcl, edit{v.hcl, hname + "= " + bad.hcl}, edit{v.yaml, yname + ": " + quotedInFlow(bad.yaml)}}
}

// quotedInFlow quotes a template, which YAML can't hold bare inside of { }.
func quotedInFlow(s string) string {
	if strings.HasPrefix(s, "$") {
		return "'" + s + "'"
	}
	return s
}

// The same fault gives the same codes in both syntaxes, covering the same text.
func TestSameFaultCoversTheSameTextInBothSyntaxes(t *testing.T) {
	dir := t.TempDir()
	reg := all.Registry()
	known := planner.Connectors(reg)
	rapid.Check(t, func(t *rapid.T) {
		f := drawFault(t)
		tell := func(name, base string, e edit) (lines []string, text string) {
			text = strings.Replace(base, e.old, e.new, 1)
			spec, l := lang.Parse(map[string][]byte{name: []byte(text)}, dir, lang.Options{Connectors: known})
			_, more := planner.Compile(t.Context(), spec, reg, planner.Options{})
			l = append(l, more.Apart(l)...).Sorted()
			for _, d := range l {
				got := coveredBy(spec, d.Subject)
				if got == "(outside)" {
					t.Fatalf("%s: %s lies outside of its file", f.name, d.Code)
				}
				lines = append(lines, fmt.Sprintf("%s %s", d.Code, strings.Trim(got, `"'`)))
			}
			slices.Sort(lines)
			return lines, text
		}
		a, ta := tell("spec.hcl", mistakesHCL, f.hcl)
		b, tb := tell("spec.yaml", mistakesYAML, f.yaml)
		if !slices.Equal(sameForm(a), sameForm(b)) {
			t.Errorf("%s: HCL gives %q, YAML %q\n%s\n%s", f.name, a, b, ta, tb)
		}
	})
}

// sameForm takes off what only one syntax writes: the mark of a template.
func sameForm(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		l = strings.ReplaceAll(strings.ReplaceAll(l, "${", ""), "}", "")
		out[i] = strings.Join(strings.Fields(l), " ")
	}
	return out
}
