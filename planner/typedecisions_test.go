package planner_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
)

var updateTypes = flag.Bool("update-types", false, "write testdata/types/*_to_*.txt anew")

// settings are what endpoints of each kind need in a spec.
var settings = map[string]string{
	"synthetic": "table \"t\" {\n    preset = \"big_table\"\n    rows   = 1\n  }",
	"sqlite":    "path = \"x.db\"", "delimited": "table \"t\" { path = \"x.csv\" }",
	"postgres":  "host     = \"%s\"\n  database = \"d\"\n  user     = \"u\"",
	"sqlserver": "host     = \"h\"\n  database = \"d\"\n  user     = \"u\"\n  password = env(\"P\")",
	"oracle":    "host     = \"h\"\n  service  = \"s\"\n  user     = \"u\"\n  password = env(\"P\")",
	"firebolt":  "url      = \"http://h:3473\"\n  database = \"d\"", "kafka": "brokers = [\"h:9092\"]",
}

// targetSettings are those of a target where they differ from a source's.
var targetSettings = map[string]string{"sqlite": "path = \"y.db\"", "delimited": "path = \"out\""}

// decision is what becomes of a type in a plan.
type decision struct{ native, class, reason string }

func (d decision) String() string {
	return strings.TrimRight(d.native+" | "+d.class+" | "+d.reason, " |")
}

// decide plans a table of one column and reads the decision off the plan, or off
// the error that refuses it.
func decide(t *testing.T, from, to, native string) decision {
	t.Helper()
	reg := all.Registry()
	target := settings[to]
	if s := targetSettings[to]; s != "" {
		target = s
	}
	filled := func(s, host string) string { return strings.ReplaceAll(s, "%s", host) }
	text := fmt.Sprintf("penstock { spec = 1 }\nsource %q \"s\" {\n  %s\n}\ntarget %q \"d\" {\n  %s\n}\npipeline \"p\" {\n  from = source.s\n  to   = target.d\n  table \"t\" {}\n}\n",
		from, filled(settings[from], "a"), to, filled(target, "b"))
	spec, l := lang.Parse(map[string][]byte{"spec.hcl": []byte(text)}, ".", lang.Options{Connectors: planner.Connectors(reg)})
	if l.HasErrors() {
		t.Fatalf("%v\n%s", l, text)
	}
	col := schema.Column{Name: "v", Native: native, Nullable: true}
	typ, err := reg.Find(from).Types.Parse(native)
	if col.Type = typ; err != nil {
		col.Type, col.Problem = schema.Type{}, err.Error()
	}
	catalog := &schema.Catalog{Kind: from, Tables: []schema.Table{{Name: schema.Name{Name: "t"}, Columns: []schema.Column{col}}}}
	p, l := planner.Compile(t.Context(), spec, reg, planner.Options{Catalogs: map[string]*schema.Catalog{"source.s": catalog}})
	if p != nil {
		c := p.Pipelines[0].Tables[0].Columns[0]
		return decision{c.Native, c.Decision, c.Reason}
	}
	class := map[diag.Code]string{diag.LossyColumn: "lossy", diag.UndecidableColumn: "undecidable", diag.NoConversion: "none", diag.UnsupportedType: "refused"}
	for _, d := range l {
		if c := class[d.Code]; c != "" {
			made := ""
			if c == "lossy" {
				made, _ = reg.Find(to).Types.Render(col.Type)
			}
			return decision{made, c, d.Detail}
		}
	}
	t.Fatalf("%s %s to %s: %v", from, native, to, l)
	return decision{}
}

func rows(t *testing.T, path string) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var cells []string
		for _, c := range strings.Split(line, " | ") {
			cells = append(cells, strings.TrimSpace(c))
		}
		out = append(out, cells)
	}
	return out
}

func sides(source bool) []string {
	var out []string
	reg := all.Registry()
	for _, k := range reg.Kinds() {
		if source && reg.Find(k).Source != nil || !source && reg.Find(k).Target != nil {
			out = append(out, k)
		}
	}
	return out
}

// testdata/types holds the types of each source (SOURCE.txt), and what becomes
// of each at each target (SOURCE_to_TARGET.txt): its type there, the decision, the
// reason. Rows are written with -update-types and read by a person.
func TestTypeDecisionsOfEveryPair(t *testing.T) {
	n := 0
	for _, from := range sides(true) {
		natives := rows(t, filepath.Join("testdata/types", from+".txt"))
		for _, to := range sides(false) {
			path := filepath.Join("testdata/types", from+"_to_"+to+".txt")
			if *updateTypes {
				var b strings.Builder
				fmt.Fprintf(&b, "# %s | %s | decision | reason\n", from, to)
				for _, r := range natives {
					fmt.Fprintf(&b, "%s | %s\n", r[0], decide(t, from, to, r[0]))
				}
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want := map[string]string{}
			for _, r := range rows(t, path) {
				want[r[0]] = strings.Join(r[1:], " | ")
			}
			for _, r := range natives {
				n++
				t.Run(from+" "+r[0]+" to "+to, func(t *testing.T) {
					if got := decide(t, from, to, r[0]).String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want[r[0]]), " ") {
						t.Errorf("got  %s\nwant %s", got, want[r[0]])
					}
				})
			}
			if len(want) != len(natives) {
				t.Errorf("%s has %d rows, %s.txt %d", path, len(want), from, len(natives))
			}
		}
	}
	if !*updateTypes && n < 600 {
		t.Errorf("got %d rows, want at least 600", n)
	}
}

// testdata/types/facts.txt says what the databases' own documents say should
// come of a type, whatever the code does: source, type, target, type there,
// decision.
func TestTypeDecisionsFollowTheDocuments(t *testing.T) {
	for _, r := range rows(t, "testdata/types/facts.txt") {
		if len(r) < 5 || len(r) > 6 {
			t.Fatalf("%q has %d cells, want 5 or 6", r, len(r))
		}
		t.Run(strings.Join(r[:3], " "), func(t *testing.T) {
			got := decide(t, r[0], r[2], r[1])
			if got.class != r[4] || r[3] != "-" && !strings.EqualFold(got.native, r[3]) {
				t.Errorf("%s %s to %s: got %s, want %s | %s", r[0], r[1], r[2], got, r[3], r[4])
			}
			if len(r) == 6 && !strings.Contains(got.reason, r[5]) {
				t.Errorf("%s %s to %s: the reason is %q, want %q in it", r[0], r[1], r[2], got.reason, r[5])
			}
		})
	}
}
