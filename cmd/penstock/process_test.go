package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/planner/plan"

	"github.com/creack/pty"
)

const smallSpec = `penstock { spec = 1 }
source "synthetic" "s" {
  table "small_table" {
    preset = "big_table"
    rows   = 5000
    seed   = 1
  }
}
target "sqlite" "d" { path = "t.db" }
pipeline "p" {
  from = source.s
  to   = target.d
  table "small_table" {}
}
`

// Tests of the process itself: TestMain puts this program into the path.

func TestBarsAreDrawnWhenStandardErrorIsATerminal(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "spec.hcl"), smallSpec)
	cmd := exec.Command("penstock", "run", "spec.hcl")
	cmd.Dir = dir
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	raw, _ := io.ReadAll(f) // a terminal whose program has ended gives an error
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	screen := &terminal{width: 80}
	_, _ = screen.Write(raw)
	got := screen.String()
	first, _, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(first, "small_table [=") || !strings.Contains(first, "]  loaded, 5,000 rows  ") {
		t.Errorf("the bar is %q on\n%s", first, got)
	}
	if !strings.Contains(got, "\np   source.s -> target.d   loaded in ") {
		t.Errorf("the closing report is not on\n%s", got)
	}
}

// closedPipe is a pipe that nobody reads.
func closedPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestReaderOfAPlanThatGoesAwayEndsItInSilence(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "spec.hcl"), smallSpec)
	cmd := exec.Command("penstock", "plan", "spec.hcl")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, closedPipe(t), &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitPipe {
		t.Errorf("got %v, want exit code %d", err, exitPipe)
	}
	if stderr.Len() > 0 {
		t.Errorf("standard error has %q, want nothing", stderr.String())
	}
}

func TestReaderOfARunThatGoesAwayDoesNotEndTheLoad(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "spec.hcl"), smallSpec)
	cmd := exec.Command("penstock", "run", "spec.hcl", "--json")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, closedPipe(t), closedPipe(t)
	if err := cmd.Run(); err != nil {
		t.Errorf("run: %v", err)
	}
	if got, err := query(filepath.Join(dir, "t.db"), "SELECT count(*) FROM small_table"); err != nil || got != "5000" {
		t.Errorf("rows: got %s (%v), want 5000", got, err)
	}
}

func TestHelpFitsEightyColumns(t *testing.T) {
	for _, command := range []string{"", "validate", "plan", "show", "run", "version"} {
		var b bytes.Buffer
		a := &app{registry: all.Registry(), stdout: &b, stderr: &b}
		if code := a.execute(t.Context(), strings.Fields(command+" --help")); code != 0 {
			t.Fatalf("%s --help: exit code %d", command, code)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if len(l) > 80 {
				t.Errorf("%s --help: %d columns: %s", command, len(l), l)
			}
		}
		if !strings.Contains(b.String(), "\nExamples:\n") {
			t.Errorf("%s --help has no examples", command)
		}
	}
}

func TestOnlySensitiveVariablesThatAPlanNamesGoWithIt(t *testing.T) {
	p := &plan.Plan{Endpoints: []plan.Endpoint{{ID: "source.erp", Config: []byte(`{"host":"var","password":{"var":"pw"},"more":[{"var":"deep"}]}`)}}}
	for _, c := range []struct {
		vars []string
		ok   bool
	}{
		{nil, true}, {[]string{"pw=x"}, true}, {[]string{"deep=x", "pw=y"}, true},
		{[]string{"rows=7"}, false}, {[]string{"pw=x", "rows=7"}, false}, {[]string{"var=x"}, false},
	} {
		if err := (&app{vars: c.vars}).fitVariables("p.json", p); (err == nil) != c.ok {
			t.Errorf("--var %q: got %v, want it taken: %v", c.vars, err, c.ok)
		}
	}
}
