package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
)

// write puts files into a folder of the test's own.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for n, s := range files {
		if err := os.WriteFile(filepath.Join(dir, n), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// codes lists codes and covered bytes.
func codes(spec *lang.Spec, l diag.List) string {
	var out []string
	for _, d := range l {
		out = append(out, fmt.Sprintf("%s %s %q", d.Severity, d.Code, covered(spec, d.Subject)))
	}
	return strings.Join(out, "; ")
}

const endpoints = `penstock { spec = 1 }
source "sqlite" "in" { path = "in.db" }
target "sqlite" "out" { path = "out.db" }
`

func TestFolderIsReadAsOneSpec(t *testing.T) {
	dir := write(t, map[string]string{
		"a.hcl":     endpoints,
		"b.yaml":    "pipeline:\n  p:\n    from: source.in\n    to: target.out\n    table: {t: {filter: '${local.f}'}}\n",
		"c.yml":     "locals: {f: id > 0}\n",
		"notes.txt": "not a spec",
		".d.hcl":    "hidden {",
		"vars.hcl":  "x = 1\n",
	})
	spec, l := lang.Load(dir, lang.Options{Connectors: connectors, VarFiles: []string{filepath.Join(dir, "vars.hcl")}})
	if got := codes(spec, l); got != `warning PEN0219 "x"` {
		t.Errorf("got %s", got)
	}
	if len(spec.Endpoints) != 2 || len(spec.Pipelines) != 1 || spec.Pipelines[0].Tables[0].Filter.V != "id > 0" || spec.Dir != dir {
		t.Errorf("got %d endpoints, %d pipelines, dir %s", len(spec.Endpoints), len(spec.Pipelines), spec.Dir)
	}
	if got := covered(spec, spec.Pipelines[0].Tables[0].Filter.Range); got != "local.f" {
		t.Errorf("filter covers %q, want local.f", got)
	}
}

func TestWhatCannotBeReadIsADiagnostic(t *testing.T) {
	dir := write(t, map[string]string{"spec.json": "{}"})
	for path, want := range map[string]diag.Code{
		filepath.Join(dir, "gone.hcl"): diag.CannotRead, filepath.Join(dir, "spec.json"): diag.NotASpecFile, dir: diag.NoSpecFiles,
	} {
		spec, l := lang.Load(path, lang.Options{})
		if spec == nil || len(l) != 1 || l[0].Code != want || l[0].Subject.Filename == "" {
			t.Errorf("%s: got %v, want %s", path, l, want)
		}
	}
	spec, l := lang.Parse(map[string][]byte{"a.hcl": []byte(endpoints)}, dir, lang.Options{VarFiles: []string{filepath.Join(dir, "gone.hcl")}})
	if got := codes(spec, l); got != `error PEN0001 ""` {
		t.Errorf("got %s", got)
	}
}

func TestSyntaxErrorHidesWhatFollowsFromIt(t *testing.T) {
	spec, l := lang.Parse(map[string][]byte{"a.hcl": []byte(endpoints), "b.hcl": []byte("pipeline \"p\" {\n  from = = \n}\n")}, ".", lang.Options{})
	if len(l) == 0 || l[0].Code != diag.HCLSyntax || strings.Contains(codes(spec, l), "PEN01") {
		t.Errorf("got %s, want syntax errors alone", codes(spec, l))
	}
	if !spec.Partial || len(spec.Endpoints) != 2 {
		t.Errorf("got %d endpoints, partial %v, want the 2 that could be read", len(spec.Endpoints), spec.Partial)
	}
}

const withVariables = endpoints + `
variable "host" { default = "fallback" }
variable "n" {
  type    = number
  default = 8
}
variable "names" { type = list(string) }
variable "pw" { sensitive = true }
pipeline "p" {
  from    = source.in
  to      = target.out
  workers = var.n
  start   = var.host
  table "t" { tables = var.names }
}
`

func TestCommandLineBeatsFilesBeatsEnvironmentBeatsDefault(t *testing.T) {
	dir := write(t, map[string]string{
		"one.hcl":  "host = \"first\"\nn = 2\nnames = [\"a\"]\npw = \"from file\"\n",
		"two.yaml": "host: second\nnames: [b, c]\n",
	})
	env := func(n string) (string, bool) {
		v, ok := map[string]string{"PENSTOCK_VAR_host": "env", "PENSTOCK_VAR_n": "3", "PENSTOCK_VAR_names": `["e"]`, "PENSTOCK_VAR_pw": "from env"}[n]
		return v, ok
	}
	one, two := filepath.Join(dir, "one.hcl"), filepath.Join(dir, "two.yaml")
	for _, c := range []struct {
		name                   string
		o                      lang.Options
		host, n, names, secret string
	}{
		{"environment", lang.Options{LookupEnv: env}, "env", "3", "[e]", "from env"},
		{"file", lang.Options{LookupEnv: env, VarFiles: []string{one}}, "first", "2", "[a]", "from file"},
		{"later file", lang.Options{LookupEnv: env, VarFiles: []string{one, two}}, "second", "2", "[b c]", "from file"},
		{"command line", lang.Options{LookupEnv: env, VarFiles: []string{one, two}, Vars: map[string]string{"host": "cli", "n": "5", "names": `["x"]`, "pw": "from cli"}}, "cli", "5", "[x]", "from cli"},
		{"default", lang.Options{Vars: map[string]string{"names": "[]"}}, "fallback", "8", "[]", ""},
	} {
		spec, l := lang.Parse(map[string][]byte{"a.hcl": []byte(withVariables)}, ".", c.o)
		if c.name == "default" {
			l = nil // an empty list of tables is reported
		}
		p := spec.Pipelines[0]
		var names []string
		for _, n := range p.Tables[0].Tables.V {
			names = append(names, n.V)
		}
		secret, _ := spec.Sensitive["pw"]()
		if len(l) > 0 || p.Start.V != c.host || fmt.Sprint(p.Workers.V) != c.n || fmt.Sprint(names) != c.names || secret != c.secret {
			t.Errorf("%s: got host %q, n %d, names %v, secret %q, diagnostics %s", c.name, p.Start.V, p.Workers.V, names, secret, codes(spec, l))
		}
	}
}

func TestValuesFromOutsideAreCheckedAndNotShown(t *testing.T) {
	dir := write(t, map[string]string{"v.yaml": "n: \"8\"\nhots: x\npw: topsecret\n"})
	spec, l := lang.Parse(map[string][]byte{"a.hcl": []byte(withVariables)}, ".", lang.Options{
		Vars: map[string]string{"names": "[1, 2]", "nmae": "x", "pw": "hunter2"}, VarFiles: []string{filepath.Join(dir, "v.yaml")}})
	want := `error PEN0219 "nmae"; error PEN0216 "names"; warning PEN0219 "hots"; error PEN0216 "*"`
	got := codes(spec, l)
	for _, w := range strings.Split(want, "; ") {
		if !strings.Contains(got, w) {
			t.Errorf("got %s, want %s", got, w)
		}
	}
	if len(l) != 4 {
		t.Errorf("got %d diagnostics, want 4: %s", len(l), got)
	}
	var b strings.Builder
	if err := diag.Write(&b, l, spec.Files, false); err != nil {
		t.Fatal(err)
	}
	for name, f := range spec.Files {
		b.WriteString(name + string(f))
	}
	for _, s := range []string{"hunter2", "topsecret"} {
		if strings.Contains(b.String(), s) {
			t.Errorf("%q is shown:\n%s", s, b.String())
		}
	}
}

func TestDefaultsAreMergedSettingBySetting(t *testing.T) {
	src := `penstock { spec = 1 }
source "sqlite" "in" { path = "in.db" }
target "kafka" "k" { brokers = ["a"] }
pipeline "p" {
  from = source.in
  to   = target.k
  defaults {
    to       = "all.${table.name}"
    existing = "append"
    on_nul   = "strip"
    range {
      count = 4
      split = "hash"
    }
    commit { rows = 10 }
    kafka {
      partitions = 12
      format     = "debezium"
    }
  }
  table "a" {
    existing = "error"
    range { count = 2 }
    kafka { partitions = 3 }
  }
  table "b" {
    to = "b2"
    range { count = "auto" }
  }
}
`
	spec, l := lang.Parse(map[string][]byte{"a.hcl": []byte(src)}, ".", lang.Options{Connectors: connectors})
	d, l := decodeAll(spec, l)
	if len(l) > 0 {
		t.Fatal(messages(l))
	}
	a, b := spec.Pipelines[0].Tables[0], spec.Pipelines[0].Tables[1]
	at, _ := a.To.Eval(schema.Name{Schema: "S", Name: "A"})
	bt, _ := b.To.Eval(schema.Name{Schema: "S", Name: "B"})
	got := fmt.Sprint(at.V, a.Existing.V, a.OnNUL.V, a.Split.Count.V, a.Split.Kind.V, a.Commit.Rows.V, d.Options["p.a.kafka"],
		" / ", bt.V, b.Existing.V, b.Split.Count.V, b.Split.Count.Set, b.Split.Kind.V, d.Options["p.b.kafka"])
	want := fmt.Sprint("all.A", "error", "strip", 2, "hash", 10, &kafkaTable{3, "debezium", true},
		" / ", "b2", "append", 0, true, "hash", &kafkaTable{12, "debezium", true})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if covered(spec, a.Split.Kind.Range) != "hash" || covered(spec, a.Carry.Range) != "a" {
		t.Errorf("inherited setting covers %q, unset one %q; want the defaults' bytes and the table's header", covered(spec, a.Split.Kind.Range), covered(spec, a.Carry.Range))
	}
}

func TestDecodedKnowsWhereASettingStands(t *testing.T) {
	src := "penstock: {spec: 1}\nsource:\n  synthetic:\n    s:\n      table:\n        big_table: {preset: big_table, rows: 5}\n"
	spec, l := lang.Parse(map[string][]byte{"a.yaml": []byte(src)}, ".", lang.Options{Connectors: connectors})
	d, dl := spec.Endpoints[0].Decode(&syntheticConfig{})
	if len(l)+len(dl) > 0 {
		t.Fatal(messages(l), messages(dl))
	}
	for path, want := range map[string]string{
		"table.big_table.rows": "5", "table.big_table.preset": "big_table", "table.big_table": "big_table",
		"table.big_table.seed": "big_table", "table": "big_table", "nothing": "s", "": "s",
	} {
		if got := covered(spec, d.Range(path)); got != want {
			t.Errorf("Range(%q) covers %q, want %q", path, got, want)
		}
	}
	if !d.Set("table.big_table.rows") || d.Set("table.big_table.seed") {
		t.Error("want rows set and seed not")
	}
}
