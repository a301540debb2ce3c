package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/all"
	"penstock/internal/secret"
)

// secretSettings are the settings of every connector that take a secret, as
// "source oracle password".
func secretSettings(reg *connectors.Registry) (out []secretSetting) {
	for _, kind := range reg.Kinds() {
		d := reg.Find(kind)
		configs := map[string]any{}
		if d.Source != nil {
			configs["source"] = d.Source.Config()
		}
		if d.Target != nil {
			configs["target"] = d.Target.Config()
		}
		for _, side := range []string{"source", "target"} {
			if configs[side] == nil {
				continue
			}
			t := reflect.TypeOf(configs[side]).Elem()
			for _, f := range reflect.VisibleFields(t) {
				if f.Type == reflect.TypeFor[secret.Ref]() {
					name, _, _ := strings.Cut(f.Tag.Get("spec"), ",")
					out = append(out, secretSetting{side, kind, name, t})
				}
			}
		}
	}
	return out
}

type secretSetting struct {
	side, kind, name string
	config           reflect.Type
}

// spec is one in which the setting is written so, with whatever else its
// connector requires.
func (s secretSetting) spec(written string) string {
	var b strings.Builder
	for _, f := range reflect.VisibleFields(s.config) {
		name, options, _ := strings.Cut(f.Tag.Get("spec"), ",")
		if name == s.name || !strings.Contains(options, "required") {
			continue
		}
		switch {
		case f.Type == reflect.TypeFor[secret.Ref]():
			fmt.Fprintf(&b, "  %s = env(\"OTHER\")\n", name)
		case f.Type.Kind() == reflect.Slice:
			fmt.Fprintf(&b, "  %s = [\"x:1\"]\n", name)
		default:
			fmt.Fprintf(&b, "  %s = \"x\"\n", name)
		}
	}
	switch s.kind { // what is required together with the secret, or to plan at all
	case "firebolt":
		b.WriteString("  account = \"x\"\n  engine = \"x\"\n  client_id = \"x\"\n")
	case "kafka":
		b.WriteString("  sasl = \"plain\"\n  user = \"x\"\n")
	}
	if s.side == "source" {
		b.WriteString("  catalog = \"catalog.json\"\n")
	}
	other := `source "synthetic" "o" {
  table "t" {
    preset = "big_table"
    rows   = 3
    seed   = 1
  }
}
`
	from, to := "source.o", "target.e"
	if s.side == "source" {
		other, from, to = "target \"sqlite\" \"o\" { path = \"t.db\" }\n", "source.e", "target.o"
	}
	return fmt.Sprintf("penstock { spec = 1 }\nvariable \"pw\" {\n  type = string\n  sensitive = true\n}\n%s%s %q \"e\" {\n%s  %s\n}\npipeline \"p\" {\n  from = %s\n  to = %s\n  table \"t\" {}\n}\n",
		other, s.side, s.kind, b.String(), written, from, to)
}

// A secret that is written where it may be, or where it may not, comes out of no
// command in no form.
func TestSecretsComeOutOfNoCommand(t *testing.T) {
	const canary = "c4n4ry<5&x9" // with what some forms escape
	const trace = "c4n4ry"       // which none does
	planned, masked := 0, 0
	settings := secretSettings(all.Registry())
	if len(settings) < 5 {
		t.Fatalf("got %d settings that take a secret, want more: %v", len(settings), settings)
	}
	ways := []struct{ name, written string }{
		{"a variable", "%s = var.pw"}, {"the environment", "%s = env(\"CANARY\")"}, {"a file", "%s = file(\"canary.txt\")"},
		{"plain text", "%s = \"" + canary + "\""}, {"plain text in a template", "%s = \"x${upper(\"y\")}" + canary + "\""},
		{"a misspelt setting", "%ss = \"" + canary + "\""}, {"an address", "host = \"u:" + canary + "@h\""}, {"an address with a scheme", "host = \"x://u:" + canary + "@h\""},
		{"a syntax error", "%s = \"" + canary},
	}
	commands := [][]string{
		{"validate", "spec.hcl"}, {"validate", "spec.hcl", "--json"}, {"validate", "spec.hcl", "--format=github"}, {"validate", "spec.hcl", "--format=sarif"},
		{"validate", "spec.hcl", "--format=markdown"}, {"plan", "spec.hcl", "--out", "p.json", "--html", "p.html"}, {"plan", "spec.hcl", "--json"},
		{"plan", "spec.hcl", "--format=markdown"}, {"show", "p.json", "--html", "s.html"}, {"show", "p.json", "--json"}, {"show", "p.json", "--format=markdown"},
		{"fmt", "spec.hcl", "--diff", "--check"}, {"fmt", "spec.hcl", "--diff", "--check", "--json"}, {"run", "spec.hcl", "--only", "nosuch"}, {"run", "spec.hcl", "--only", "nosuch", "--json"},
		{"plan", "p.json"}, {"plan", "spec.hcl", "--no-such-flag"},
	}
	for _, s := range settings {
		for _, w := range ways {
			dir := t.TempDir()
			written := w.written
			if strings.Contains(written, "%s") {
				written = fmt.Sprintf(written, s.name)
			} else if s.kind == "kafka" || s.kind == "firebolt" {
				continue // they have no host
			}
			spec := s.spec(written)
			if !strings.Contains(w.written, "%s") { // host is there already
				spec = strings.Replace(spec, "  host = \"x\"\n", "", 1)
			}
			for name, text := range map[string]string{"spec.hcl": spec, "canary.txt": canary,
				"catalog.json": fmt.Sprintf(`{"format_version": 1, "kind": %q, "tables": [{"name": {"schema": "a", "name": "t"}, "columns": [{"name": "id", "type": "int"}]}]}`, s.kind)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			for _, args := range commands {
				if w.name == "a variable" && args[0] != "show" {
					args = append(args[:len(args):len(args)], "--var", "pw="+canary)
				}
				var stdout, stderr bytes.Buffer
				a := &app{registry: all.Registry(), stdout: &stdout, stderr: &stderr, lookupEnv: func(n string) (string, bool) { return canary, n == "CANARY" }}
				a.execute(context.Background(), args)
				if strings.Contains(stderr.String(), "****") {
					masked++
				}
				if out := stdout.String() + stderr.String(); strings.Contains(out, trace) {
					t.Errorf("%s %s %s as %s: %v says it:\n%s", s.side, s.kind, s.name, w.name, args, around(out, trace))
				}
			}
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || d.Name() == "spec.hcl" || d.Name() == "canary.txt" || d.Name() == "catalog.json" {
					return err
				}
				planned++
				b, err := os.ReadFile(path)
				if bytes.Contains(b, []byte(trace)) {
					t.Errorf("%s %s %s as %s: it is in the file %s:\n%s", s.side, s.kind, s.name, w.name, d.Name(), around(string(b), trace))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if planned < 9 || masked < 50 {
		t.Errorf("%d plans and pages were written, and %d times something was masked: the specs are not what they are to be", planned, masked)
	}
}

// around is a text's part near a word.
func around(s, word string) string {
	i := strings.Index(s, word)
	return s[max(0, i-200):min(len(s), i+len(word)+200)]
}
