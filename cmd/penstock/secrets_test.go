package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/all"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// canary is a secret that nothing else writes.
const canary = "cAnArY-7Q4z/9+%"

// forms are how a secret might be written by accident.
func forms(s string) []string {
	return []string{s, strings.ToLower(s), fmt.Sprintf("%x", s), fmt.Sprintf("%q", s)[1 : len(s)+1], "cAnArY-7Q4z%2F9%2B%25", "Y0FuQXJZLTdRNHovOSsl"}
}

// A secret from the environment, a file and a variable: no command shows it, on
// either stream or in any file, where it works and where it fails.
func TestNoCommandShowsASecret(t *testing.T) {
	// Nothing listens there: connecting fails after the secret was resolved.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	for _, x := range []struct{ name, ref string }{
		{"environment", `env("THE_SECRET")`}, {"file", `file("secret.txt")`}, {"variable", `var.secret`},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "secret.txt"), canary+"\n")
			writeFile(t, filepath.Join(dir, "erp.json"), `{"format_version":1,"kind":"postgres","tables":[{"name":{"name":"t"},"columns":[{"name":"id","type":"bigint"}],"primary_key":{"columns":["id"]}}]}`)
			spec := filepath.Join(dir, "spec.hcl")
			text := fmt.Sprintf(`penstock { spec = 1 }
variable "secret" {
  type      = string
  sensitive = true
}
source "postgres" "s" {
  host     = "127.0.0.1"
  port     = %d
  database = "d"
  user     = "u"
  password = %s
  tls      = "off"
  catalog  = "erp.json"
}
target "postgres" "t" {
  host     = "localhost"
  port     = %d
  database = "d"
  user     = "u"
  password = %s
  tls      = "off"
}
pipeline "p" {
  from = source.s
  to   = target.t
  table "t" {}
}
`, port, x.ref, port, x.ref)
			if x.name != "variable" {
				text = text[:strings.Index(text, "variable")] + text[strings.Index(text, "source"):]
			}
			writeFile(t, spec, text)
			bad := filepath.Join(dir, "bad.hcl")
			writeFile(t, bad, strings.Replace(text, `table "t" {}`, `table "nosuch" { filter = "idd == 1" }`, 1))
			written := filepath.Join(dir, "literal.hcl")
			writeFile(t, written, strings.Replace(text, x.ref, `"`+strings.ReplaceAll(canary, "%", "%%")+`"`, 1))
			out := filepath.Join(dir, "out")
			if err := os.Mkdir(out, 0o755); err != nil {
				t.Fatal(err)
			}
			planned := filepath.Join(out, "p.plan.json")
			vars := []string{}
			if x.name == "variable" {
				vars = []string{"--var", "secret=" + canary}
			}
			lines := [][]string{
				{"validate", spec}, {"validate", spec, "--json"}, {"validate", bad}, {"validate", bad, "--format", "sarif"}, {"validate", bad, "--format", "github"}, {"validate", bad, "--format", "markdown"},
				{"validate", written}, {"plan", written, "--json"}, {"validate", written, "--format", "sarif"}, {"validate", written, "--format", "github"}, {"validate", written, "--format", "markdown"}, {"run", written},
				{"plan", spec, "--out", planned, "--html", filepath.Join(out, "p.html")}, {"plan", spec, "--json"}, {"plan", spec, "--format", "markdown"}, {"plan", spec, "--ddl"}, {"plan", spec, "--grants"},
				{"plan", spec, "--baseline", planned}, {"plan", spec, "--live"}, {"plan", spec, "--live", "--json"},
				{"catalog", "pull", spec, "source.s", "-o", filepath.Join(out, "c.json")}, {"catalog", "pull", spec, "target.t", "--check", "-o", filepath.Join(dir, "erp.json"), "--json"},
				{"run", spec}, {"run", spec, "--json"}, {"run", planned}, {"run", planned, "--json"}, {"show", planned}, {"show", planned, "--json"},
				{"fmt", spec, "--diff"}, {"run", spec, "--only", "nosuch"}, {"run", "nosuch.hcl"}, {"plan", spec, "--frob"}, {"version"}, {"schema"},
			}
			for _, line := range lines {
				var stdout, stderr bytes.Buffer
				a := &app{program: "penstock", registry: all.Registry(), stdout: &stdout, stderr: &stderr, lookupEnv: func(n string) (string, bool) { return canary, n == "THE_SECRET" }}
				args := line
				if line[0] != "version" && line[0] != "schema" && line[0] != "fmt" && line[0] != "show" {
					args = append(append([]string{}, line...), vars...)
				}
				exit := a.execute(t.Context(), args)
				if line[0] == "plan" && line[1] == spec && len(line) == 3 && line[2] == "--json" && exit != 0 {
					t.Fatalf("the spec of the test is wrong: %s", stderr.String())
				}
				for what, text := range map[string]string{"standard output": stdout.String(), "standard error": stderr.String()} {
					for _, f := range forms(canary) {
						if strings.Contains(text, f) {
							t.Errorf("%s (exit %d) shows the secret on %s:\n%s", strings.Join(line, " "), exit, what, text)
						}
					}
				}
			}
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || path == written || filepath.Base(path) == "secret.txt" {
					return err
				}
				text := readText(t, path)
				for _, f := range forms(canary) {
					if strings.Contains(text, f) {
						t.Errorf("file %s holds the secret", path)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			// The control: the connections that failed did have the secret.
			if x.name == "environment" {
				asked := false
				var said bytes.Buffer
				a := &app{program: "penstock", registry: all.Registry(), stdout: &bytes.Buffer{}, stderr: &said, lookupEnv: func(n string) (string, bool) { asked = asked || n == "THE_SECRET"; return canary, true }}
				if exit := a.execute(t.Context(), []string{"plan", spec, "--live"}); exit == 0 || !asked {
					t.Errorf("exit %d, the secret was resolved: %v; the control shows nothing: %s", exit, asked, said.String())
				}
			}
		})
	}
}

// Offline commands ask neither the network nor the environment, in all examples
// and for all kinds of endpoints; --live does, which shows that this would see it.
func TestOfflineCommandsDialNobodyAndReadNoEnvironment(t *testing.T) {
	refused := fmt.Errorf("a test refuses to dial")
	dials := 0
	former := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { dials++; return nil, refused }}
	defer func() { net.DefaultResolver = former }()
	specs, err := filepath.Glob("../../examples/*/*.hcl")
	if err != nil || len(specs) < 5 {
		t.Fatalf("examples: %v (%v)", specs, err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "erp.json"), `{"format_version":1,"kind":"postgres","tables":[{"name":{"name":"t"},"columns":[{"name":"id","type":"bigint"}],"primary_key":{"columns":["id"]}}]}`)
	mine := filepath.Join(dir, "mine.hcl")
	writeFile(t, mine, `penstock { spec = 1 }
source "postgres" "s" {
  host     = "db.penstock.invalid"
  database = "d"
  user     = "u"
  password = env("NOT_SET")
  catalog  = "erp.json"
}
target "postgres" "t" {
  host     = "other.penstock.invalid"
  database = "d"
  user     = "u"
  password = file("nosuch")
}
pipeline "p" {
  from = source.s
  to   = target.t
  table "t" {}
}
`)
	asked := []string{}
	run := func(args ...string) int {
		a := &app{program: "penstock", registry: all.Registry(), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, lookupEnv: func(n string) (string, bool) { asked = append(asked, n); return "", false }}
		return a.execute(t.Context(), args)
	}
	for _, spec := range append(specs, mine) {
		for _, line := range [][]string{{"validate"}, {"validate", "--json"}, {"plan"}, {"plan", "--json"}, {"plan", "--ddl"}, {"plan", "--grants"}, {"plan", "--format", "markdown"}} {
			args := append([]string{line[0], spec}, line[1:]...)
			if exit := run(args...); exit != 0 {
				t.Errorf("%s: exit %d", strings.Join(args, " "), exit)
			}
		}
	}
	if dials != 0 || len(asked) != 0 {
		t.Errorf("%d look-ups of hosts and %q of the environment, want none", dials, asked)
	}
	if exit := run("plan", mine, "--live"); exit == 0 || len(asked) == 0 {
		t.Errorf("plan --live: exit %d, asked for %q: the control shows nothing", exit, asked)
	}
	asked = nil
	writeFile(t, mine, strings.NewReplacer(`password = env("NOT_SET")`, "", `password = file("nosuch")`, "").Replace(readText(t, mine)))
	if exit := run("plan", mine, "--live"); exit == 0 || dials == 0 {
		t.Errorf("plan --live: exit %d, %d look-ups of hosts: the control shows nothing", exit, dials)
	}
}
