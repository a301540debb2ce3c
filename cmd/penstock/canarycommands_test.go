package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/all"
	"penstock/internal/secret"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

// commandLines has a command line of every command, each of which writes to
// standard output. The spec is one whose endpoints can't be reached.
var commandLines = map[string]string{
	"validate":              "validate spec.hcl --json",
	"plan":                  "plan spec.hcl --json",
	"show":                  "show spec.plan.json --json",
	"run":                   "run spec.hcl --json",
	"verify":                "verify spec.hcl --json",
	"undo":                  "undo spec.hcl --json",
	"status":                "status spec.hcl --json",
	"catalog pull":          "catalog pull spec.hcl source.s --json -o pulled.json",
	"probe":                 "probe spec.hcl source.o --json",
	"fmt":                   "fmt spec.hcl --check --json",
	"init":                  "init --from postgres --to postgres --catalog erp.json --json",
	"explain":               "explain PEN0220 --json",
	"schema":                "schema",
	"lsp":                   "lsp",
	"version":               "version --json",
	"completion bash":       "completion bash",
	"completion zsh":        "completion zsh",
	"completion fish":       "completion fish",
	"completion powershell": "completion powershell",
}

const canarySpec = `penstock { spec = 1 }
source "postgres" "s" {
  host     = "127.0.0.1"
  port     = 1
  database = "d"
  user     = "u"
  password = env("THE_SECRET")
  tls      = "off"
  catalog  = "erp.json"
}
source "oracle" "o" {
  host     = "127.0.0.1"
  port     = 1
  service  = "d"
  user     = "u"
  password = file("secret.txt")
  tls      = "off"
}
target "postgres" "t" {
  host     = "localhost"
  port     = 1
  database = "d"
  user     = "u"
  password = env("THE_SECRET")
  tls      = "off"
}
pipeline "p" {
  from = source.s
  to   = target.t
  table "t" {}
}
`

// leaves are the commands that do something, as a user writes them.
func leaves(c *cobra.Command, path string) (out []string) {
	for _, sub := range c.Commands() {
		name := strings.TrimSpace(path + " " + sub.Name())
		switch {
		case sub.Name() == "help":
		case len(sub.Commands()) > 0:
			out = append(out, leaves(sub, name)...)
		default:
			out = append(out, name)
		}
	}
	return out
}

// No command shows a secret, whether it does what it is to do or comes to grief
// by a fault of ours that names the secret. A command that is not in the table
// fails the test.
func TestEveryCommandIsHeldAgainstTheCanary(t *testing.T) {
	known := leaves((&app{registry: all.Registry(), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}).root(), "")
	for _, name := range known {
		if commandLines[name] == "" {
			t.Errorf("command %q has no line in this test", name)
		}
	}
	for name := range commandLines {
		if !slices.Contains(known, name) {
			t.Errorf("the test has a line of %q, which is no command", name)
		}
	}
	secret.New(canary)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "secret.txt"), canary+"\n")
	writeFile(t, filepath.Join(dir, "erp.json"), `{"format_version":1,"kind":"postgres","tables":[{"name":{"name":"t"},"columns":[{"name":"id","type":"bigint"}],"primary_key":{"columns":["id"]}}]}`)
	writeFile(t, filepath.Join(dir, "spec.hcl"), canarySpec)
	t.Chdir(dir)
	play := func(line string, out interface{ Write([]byte) (int, error) }, say *bytes.Buffer) int {
		a := &app{program: "penstock", registry: all.Registry(), stdin: strings.NewReader(editorSays(canarySpec)), stdout: out, stderr: say,
			lookupEnv: func(n string) (string, bool) { return canary, n == "THE_SECRET" }}
		return a.execute(t.Context(), strings.Fields(line))
	}
	if exit := play("plan spec.hcl --out spec.plan.json", &bytes.Buffer{}, &bytes.Buffer{}); exit != 0 {
		t.Fatalf("the plan that show reads: exit %d", exit)
	}
	for name, line := range commandLines {
		var out, say bytes.Buffer
		play(line, &out, &say)
		if out.Len() == 0 {
			t.Errorf("%s writes nothing to standard output, so that the fault below is none: %s", name, say.String())
		}
		var fault bytes.Buffer
		if name == "lsp" { // what it writes is written by its library: the fault is in an answer
			a := &app{program: "penstock", registry: faulty(), stdin: strings.NewReader(editorSays(strings.ReplaceAll(canarySpec, "env(", "env  ("))), stdout: &fault, stderr: &fault}
			if exit := a.execute(t.Context(), []string{"lsp"}); exit != 0 {
				t.Errorf("lsp does not outlive a fault: exit %d", exit)
			}
		} else if exit := play(line, panics{}, &fault); exit != runtime.ExitFailed || !strings.Contains(fault.String(), "this is a fault of Penstock") {
			t.Errorf("%s with a fault in it: exit %d, want %d and words of it: %s", name, exit, runtime.ExitFailed, fault.String())
		}
		for what, text := range map[string]string{"standard output": out.String(), "standard error": say.String(), "a fault": fault.String()} {
			for _, f := range forms(canary) {
				if strings.Contains(text, f) {
					t.Errorf("%s shows the secret on %s:\n%s", name, what, text)
				}
			}
		}
	}
}

// panics is standard output behind which a fault of ours names the secret.
type panics struct{}

func (panics) Write([]byte) (int, error) { panic("a driver fell over password " + canary) }

// faulty is a registry in which a connector falls over its settings.
func faulty() *connectors.Registry {
	d := *all.Registry().Find("postgres")
	source := *d.Source
	source.Check = func(any) []connectors.Problem { panic("a driver fell over password " + canary) }
	d.Source = &source
	return connectors.NewRegistry(&d)
}

// editorSays is what an editor sends that opens a spec in which the secret stands
// in plain text, and asks for its faults to be mended.
func editorSays(spec string) string {
	text := strings.Replace(spec, `env("THE_SECRET")`, `"`+strings.ReplaceAll(canary, "%", "%%")+`"`, 1)
	message := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
	return message(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`) +
		message(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///tmp/penstock-canary.hcl","text":%q}}}`, text)) +
		message(`{"jsonrpc":"2.0","id":2,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"file:///tmp/penstock-canary.hcl"},"range":{"start":{"line":0,"character":0},"end":{"line":40,"character":0}}}}`) +
		message(`{"jsonrpc":"2.0","id":3,"method":"shutdown"}`) + message(`{"jsonrpc":"2.0","method":"exit"}`)
}
