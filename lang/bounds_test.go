package lang_test

import (
	"fmt"
	"strings"
	"testing"

	"penstock/lang"
)

// Specs come from strangers' pull requests: none may take the machine.
func TestNoSpecTakesMoreThanItShould(t *testing.T) {
	var doubled, replaced strings.Builder
	doubled.WriteString("  l0 = \"aaaaaaaaaaaaaaaa\"\n")
	replaced.WriteString("  l0 = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\n")
	for i := range 40 {
		fmt.Fprintf(&doubled, "  l%d = \"${local.l%d}${local.l%d}\"\n", i+1, i, i)
		fmt.Fprintf(&replaced, "  l%d = replace(local.l%d, \"a\", local.l%d)\n", i+1, i, i)
	}
	for name, locals := range map[string]string{
		"doubling":           doubled.String(),
		"replace":            replaced.String(),
		"replace by pattern": "  s = \"" + strings.Repeat("a", 5000) + "\"\n  t = replace(local.s, \"/a/\", local.s)\n",
		"format":             "  s = format(\"%1000000000d\", 1)\n",
		"formatlist":         "  s = formatlist(\"%.1000000000f\", [1, 2])\n",
		"for in for":         "  s = [for a in [1, 2]: [for b in [1, 2]: a]]\n",
		"list of lists":      "  a = [\"" + strings.Repeat("x\", \"", 2000) + "x\"]\n  b = [for x in local.a: local.a]\n",
	} {
		src := "penstock { spec = 1 }\nlocals {\n" + locals + "}\n"
		_, l := lang.Parse(map[string][]byte{"spec.hcl": []byte(src)}, ".", lang.Options{Connectors: connectors})
		bounded := false
		for _, d := range l {
			bounded = bounded || d.Code == "PEN0218"
		}
		if !bounded {
			t.Errorf("%s: no diagnostic PEN0218 in %v", name, l)
		}
	}
	sound := "penstock { spec = 1 }\nlocals {\n  a = formatlist(\"%s.%03d\", [\"x\", \"y\"], [1, 2])\n  b = replace(\"a-b-c\", \"-\", \"_\")\n  c = [for x in local.a: upper(x)]\n  d = format(\"%5.2f\", 1.5)\n}\n"
	if _, l := lang.Parse(map[string][]byte{"spec.hcl": []byte(sound)}, ".", lang.Options{Connectors: connectors}); l.HasErrors() {
		for _, d := range l {
			if d.Code == "PEN0218" {
				t.Errorf("a sound spec is refused: %s: %s", d.Summary, d.Detail)
			}
		}
	}
}
