package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"penstock/connectors"
	"penstock/internal/secret"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

// app is the program without the process: what it reads and writes.
type app struct {
	registry  *connectors.Registry
	stdout    io.Writer // results: a plan, JSON
	stderr    io.Writer // for people: diagnostics, progress, the report
	screen    io.Writer // stderr itself: bars have to know that it is a terminal
	terminal  bool      // stderr is one: progress is drawn as bars
	color     bool
	lookupEnv func(string) (string, bool)
	signals   <-chan os.Signal

	lines sync.Mutex // one JSON line at a time

	json     bool
	vars     []string
	varFiles []string
}

// exitError carries an exit code whose message, if any, is already written.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// execute runs one command line and returns its exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	a.screen, a.stderr = a.stderr, scrubbed{a.stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	var code exitError
	var usage *runtime.UsageError
	switch {
	case err == nil:
		return runtime.ExitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(a.stderr, "penstock: %v\n", err)
		return runtime.ExitSpec
	}
	// What is left are cobra's own: unknown commands, flags and arguments.
	fmt.Fprintf(a.stderr, "penstock: %v\nSee: penstock %s--help\n", err, commandOf(root, args))
	return runtime.ExitSpec
}

// commandOf names the command that a mistaken command line was meant for.
func commandOf(root *cobra.Command, args []string) string {
	if c, _, err := root.Find(args); err == nil && c != root {
		return c.Name() + " "
	}
	return ""
}

func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "penstock",
		Short: "Plan and run pipelines that move tables between databases",
		Long: `Penstock moves tables between databases, once or for ever.

A checked-in spec (HCL or YAML) says what goes where. "penstock plan" compiles
it, without a database, into everything a run will do; "penstock run" carries
that out and nothing else.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	f := c.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "write one JSON document to standard output (run: JSON lines)")
	f.StringArrayVar(&a.vars, "var", nil, "value of a variable, as `name=value`; may be repeated")
	f.StringArrayVar(&a.varFiles, "var-file", nil, "`file` of variables, HCL or YAML; may be repeated")
	c.AddCommand(a.validateCommand(), a.planCommand(), a.showCommand(), a.runCommand(), a.versionCommand())
	c.CompletionOptions.HiddenDefaultCmd = false
	return c
}

// variables are the --var flags as a map.
func (a *app) variables() (map[string]string, error) {
	out := map[string]string{}
	for _, v := range a.vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, &runtime.UsageError{Text: fmt.Sprintf("--var %q: write it as name=value", v)}
		}
		out[name] = value
	}
	return out, nil
}

// scrubbed blanks known secrets in all that passes.
type scrubbed struct{ w io.Writer }

func (s scrubbed) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.w, secret.Scrub(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
