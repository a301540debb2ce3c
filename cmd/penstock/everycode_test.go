package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/all"
	"penstock/internal/diag"

	"golang.org/x/tools/txtar"
)

// everyCode is the folder with a case of each code in the registry, named by it.
// A case holds
//
//   - spec.hcl and spec.yaml, the same fault in both syntaxes; or one of them, or
//     a file that is neither, and in "only" why the fault can't be in both;
//   - "want", a line for each diagnostic that is given: the code, and between
//     quotes the text that it covers, as in PEN0102 "wokers"; a second text is
//     what it covers in YAML, where the two are not written alike;
//   - "command", if it is not validate SPEC --json;
//   - "setup", if something has to be there before: command lines of penstock,
//     or "sql FILE STATEMENTS" on an SQLite file;
//   - any other file that the spec or the command names.
const everyCode = "testdata/diagnostics"

var wantLine = regexp.MustCompile(`^(PEN\d{4}) ("(?:[^"\\]|\\.)*")(?: ("(?:[^"\\]|\\.)*"))?$`)

// Every code in the registry has a case, with the text that it covers, in both
// syntaxes where the fault can be made in both; else the case says why not. The
// whole program answers, with its own connectors, by what it writes for machines.
func TestEveryCodeHasACaseInBothSyntaxes(t *testing.T) {
	registered := map[diag.Code]bool{}
	for _, d := range diag.Codes() {
		registered[d.Code] = true
		if _, err := os.Stat(filepath.Join(everyCode, string(d.Code)+".txtar")); err != nil {
			t.Errorf("%s (%s) has no case in %s", d.Code, d.Title, everyCode)
		}
	}
	paths, err := filepath.Glob(everyCode + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		code := diag.Code(strings.TrimSuffix(filepath.Base(path), ".txtar"))
		if !registered[code] {
			t.Errorf("%s is no code of the registry", path)
			continue
		}
		t.Run(string(code), func(t *testing.T) { checkCase(t, path, code) })
	}
}

// checkCase plays one case in each of its syntaxes.
func checkCase(t *testing.T, path string, code diag.Code) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range ar.Files {
		parts[f.Name] = string(f.Data)
	}
	specs := []string{"spec.hcl", "spec.yaml"}
	if only, ok := parts["only"]; ok {
		name, why, _ := strings.Cut(strings.TrimSpace(only), ": ")
		if specs = []string{name}; len(why) < 20 {
			t.Errorf("%s: %q does not say why the fault can't be made in both syntaxes", path, only)
		}
		if parts["spec.hcl"] != "" && parts["spec.yaml"] != "" {
			t.Errorf("%s has both syntaxes, and says that only one can have the fault", path)
		}
	}
	for _, spec := range specs {
		got := playCase(t, parts, spec)
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, string(code)+" ") }) {
			t.Errorf("%s: %s does not give it: %q", path, spec, got)
		}
		var want []string
		for line := range strings.Lines(parts["want"]) {
			m := wantLine.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				t.Fatalf("%s: want %q is not PEN0102 \"text\"", path, line)
			}
			text := m[2]
			if m[3] != "" && spec == "spec.yaml" {
				text = m[3]
			}
			want = append(want, m[1]+" "+text)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s, %s:\n got %q\nwant %q", path, spec, got, want)
		}
	}
}

// playCase runs a case's command on one of its specs, and returns the codes with
// what they cover, sorted.
func playCase(t *testing.T, parts map[string]string, spec string) (got []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range parts {
		if slices.Contains([]string{"want", "only", "command", "setup"}, name) || strings.HasPrefix(name, "spec.") && name != spec {
			continue
		}
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, p, text)
	}
	t.Chdir(dir)
	run := func(line string) string {
		var stdout, stderr bytes.Buffer
		a := &app{program: "penstock", registry: withArchive(), stdout: &stdout, stderr: &stderr, lookupEnv: func(string) (string, bool) { return "", false }}
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "SPEC", spec)
		}
		a.execute(t.Context(), args)
		if stdout.Len() == 0 {
			return stderr.String()
		}
		return stdout.String()
	}
	for line := range strings.Lines(parts["setup"]) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "sql "); ok {
			file, statements, _ := strings.Cut(rest, " ")
			db, err := sql.Open("sqlite", file)
			if err == nil {
				_, err = db.ExecContext(t.Context(), statements)
			}
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			run(strings.TrimPrefix(line, "penstock "))
		}
	}
	command := parts["command"]
	if command == "" {
		command = "validate SPEC --json"
	}
	out := run(command)
	var doc struct{ Diagnostics []diag.Record }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s gives no document: %v\n%s", command, err, out)
	}
	for _, d := range doc.Diagnostics {
		got = append(got, fmt.Sprintf("%s %s", d.Code, strconv.Quote(textOf(t, d))))
	}
	slices.Sort(got)
	return got
}

// withArchive are all connectors, and one more kind of target for what none of
// them lacks: it takes no changes, and its live check refuses.
func withArchive() *connectors.Registry {
	var defs []*connectors.Definition
	for _, k := range all.Registry().Kinds() {
		defs = append(defs, all.Registry().Find(k))
	}
	archive := *all.Registry().Find("sqlite")
	target := *archive.Target
	archive.Kind, archive.Source, archive.Target = "archive", nil, &target
	target.Capabilities.Changes = nil
	target.Live = []connectors.Check[connectors.Target]{{Name: "licence", About: "that it may be written",
		Run: func(context.Context, connectors.Target, connectors.Use) ([]connectors.Finding, error) {
			return []connectors.Finding{{Class: connectors.Permission, What: "It is sealed.", Mend: []string{"UNSEAL"}}}, nil
		}}}
	return connectors.NewRegistry(append(defs, &archive)...)
}

// textOf is what a diagnostic covers: bytes of the file that it names, or of what
// was given on the command line.
func textOf(t *testing.T, d diag.Record) string {
	t.Helper()
	if d.Snippet != nil && strings.HasPrefix(d.Range.Filename, "(") {
		return d.Snippet.Code[d.Snippet.HighlightStart:d.Snippet.HighlightEnd]
	}
	src, err := os.ReadFile(d.Range.Filename)
	if err != nil && d.Code != diag.CannotRead && d.Code != diag.NoSpecFiles {
		t.Fatal(err)
	}
	a, b := d.Range.Start.Byte, d.Range.End.Byte
	if a < 0 || a > b || b > len(src) {
		t.Fatalf("%s covers bytes %d to %d of %s, which has %d", d.Code, a, b, d.Range.Filename, len(src))
	}
	return string(src[a:b])
}
