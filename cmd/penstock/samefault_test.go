package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/lang"
	"penstock/planner"

	"github.com/hashicorp/hcl/v2"
	"pgregory.net/rapid"
)

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
