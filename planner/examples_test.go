package planner_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
)

var update = flag.Bool("update", false, "write the golden plans of examples/ anew")

// Each folder of examples has a spec in HCL and in YAML, the catalogs it names,
// and the plan of both, as JSON and as text.
func TestGoldenPlansOfTheExamples(t *testing.T) {
	folders, _ := filepath.Glob("../examples/*")
	found := 0
	for _, dir := range folders {
		name := filepath.Base(dir)
		if _, err := os.Stat(filepath.Join(dir, name+".hcl")); err != nil {
			continue
		}
		found++
		t.Run(name, func(t *testing.T) {
			var first []byte
			for _, ext := range []string{".hcl", ".yaml"} {
				p := planExample(t, filepath.Join(dir, name+ext))
				b, err := plan.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = b
					golden(t, filepath.Join(dir, name+".plan.json"), b)
					var text bytes.Buffer
					if err := plan.Text(&text, p, plan.TextOptions{Run: "penstock run " + name + ".hcl"}); err != nil {
						t.Fatal(err)
					}
					golden(t, filepath.Join(dir, name+".plan.txt"), text.Bytes())
				}
				if !bytes.Equal(b, first) {
					t.Errorf("the plans of HCL and YAML differ:\n%s", firstDifference(first, b))
				}
			}
			back, err := plan.Parse(first)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := plan.Marshal(back); !bytes.Equal(again, first) {
				t.Errorf("Marshal(Parse(plan)) differs:\n%s", firstDifference(first, again))
			}
		})
	}
	if found < 4 {
		t.Errorf("got %d examples, want at least 4", found)
	}
}

// README shows the plan of its spec, shortened: what goes where, the statement
// that takes rows, what it takes.
func TestGoldenReadmeShowsThePlanOfItsSpec(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile("../examples/quickstart/quickstart.plan.txt")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(page, []byte("```text\npipeline quickstart"))
	_, after, closed := bytes.Cut(rest, []byte("\n```\n"))
	if !found || !closed {
		t.Fatal("README has no block of text that begins with: pipeline quickstart")
	}
	lines := strings.Split(strings.TrimRight(string(whole), "\n"), "\n")
	at := func(begin string) int {
		for i, l := range lines {
			if strings.HasPrefix(l, begin) {
				return i
			}
		}
		t.Fatalf("no line of the plan begins with %q", begin)
		return 0
	}
	const gap = "         ..."
	shown := slices.Concat(lines[:at("    1  prepare")+1], []string{gap}, lines[at("    3  apply"):at("         SELECT state")], []string{gap},
		lines[at("         INSERT"):at("         UPDATE")], []string{gap}, lines[at("  takes"):])
	golden(t, "../README.md", slices.Concat(before, []byte("```text\n"+strings.Join(shown, "\n")+"\n```\n"), after))
}

func planExample(t testing.TB, path string) *plan.Plan {
	t.Helper()
	reg := all.Registry()
	spec, l := lang.Load(path, lang.Options{Connectors: planner.Connectors(reg)})
	if l.HasErrors() {
		t.Fatalf("%s:\n%s", path, messages(l))
	}
	p, l := planner.Compile(t.Context(), spec, reg, planner.Options{})
	if p == nil {
		t.Fatalf("%s:\n%s", path, messages(l))
	}
	return p
}

// An empty environment and a hundred times make no difference.
func TestQuickstartIsPlannedTheSameAHundredTimes(t *testing.T) {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value) // put back when the test ends
	}
	os.Clearenv()
	var first []byte
	for i := range 100 {
		path := "../examples/quickstart/quickstart" + []string{".hcl", ".yaml"}[i%2]
		b, err := plan.Marshal(planExample(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Fatalf("run %d differs:\n%s", i, firstDifference(first, b))
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run `go test ./planner -update` and read what it writes", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not the plan any more (-update writes it anew):\n%s", path, firstDifference(want, got))
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range w {
		if i >= len(g) || !bytes.Equal(w[i], g[i]) {
			have := []byte("(the end)")
			if i < len(g) {
				have = g[i]
			}
			return "want " + string(w[i]) + "\ngot  " + string(have)
		}
	}
	return "want the end\ngot  " + string(g[len(w)])
}
