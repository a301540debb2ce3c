package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"penstock/connectors"
	"penstock/internal/secret"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

// app is the program without the process: what it reads and writes.
type app struct {
	program   string // as it was called, for the commands that it prints
	registry  *connectors.Registry
	stdin     io.Reader
	stdout    io.Writer // results: a plan, JSON
	stderr    io.Writer // for people: diagnostics, progress, the report
	screen    io.Writer // stderr itself: bars have to know that it is a terminal
	terminal  bool      // stderr is one: progress is drawn as bars
	color     bool
	size      func() (width, height int) // of the terminal at stderr; nil: 80 by 24
	width     int                        // of the terminal at stdout; 0: it is none
	lookupEnv func(string) (string, bool)

	lines sync.Mutex // one JSON line at a time

	json     bool
	format   string // of validate, plan and show: what standard output gets
	vars     []string
	varFiles []string
}

// exitError carries an exit code whose message, if any, is already written.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// execute runs one command line and returns its exit code.
func (a *app) execute(ctx context.Context, args []string) (code int) {
	if a.program == "" {
		a.program = "penstock"
	}
	a.screen, a.stderr = a.stderr, scrubbed{a.stderr}
	a.stdout = scrubbed{a.stdout}
	defer func() { // what a fault says of itself may hold what it was given
		if r := recover(); r != nil {
			fmt.Fprintf(a.stderr, "penstock: this is a fault of Penstock, please report it: %v\n\n%s", r, debug.Stack())
			code = runtime.ExitFailed
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	var exit exitError
	switch {
	case err == nil:
		return runtime.ExitOK
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, syscall.EPIPE):
		return exitPipe // whoever read has read enough
	}
	var usage *runtime.UsageError
	var failed *connectors.Error
	var errno syscall.Errno
	switch {
	case errors.As(err, &usage):
		return a.refuse(root, args, runtime.ExitSpec, "usage", err.Error(), "")
	case errors.As(err, &failed): // of an endpoint, before anything was done
		message := err.Error()
		if commandOf(root, args) == "run" {
			message = "nothing was done: " + message
		}
		return a.refuse(root, args, runtime.ExitCode(err), connectors.ClassOf(err).String(), message, "")
	case errors.As(err, &errno): // a full disk under standard output
		return a.refuse(root, args, runtime.ExitFailed, connectors.Fatal.String(), err.Error(), "")
	}
	// What is left are mistaken commands, flags and arguments.
	name := commandOf(root, args)
	return a.refuse(root, args, runtime.ExitSpec, "usage", err.Error(), strings.TrimSpace("See: "+a.program+" "+name)+" --help")
}

// exitPipe is what a shell gives for a program that wrote to nobody.
const exitPipe = 128 + int(syscall.SIGPIPE)

// refuse ends a command that did nothing with a message and, where it was asked
// for JSON, its document.
func (a *app) refuse(root *cobra.Command, args []string, code int, class, message, see string) int {
	fmt.Fprintf(a.stderr, "penstock: %s\n", message)
	if see != "" {
		fmt.Fprintln(a.stderr, see)
	}
	// A mistaken flag ends parsing before --json may be reached.
	if f := asked(args); f != "json" {
		a.refuseIn(f, message)
		return code
	}
	name := commandOf(root, args)
	if name == "run" {
		a.writeEvent(time.Now(), runFinished{Results: refused(code, class, message)})
		return code
	}
	// The message is on standard error, should this one fail.
	d := newDocument(name)
	d.Errored, d.Error = true, message
	_ = a.writeJSON(d)
	return code
}

// commandOf names the command that a mistaken command line was meant for.
func commandOf(root *cobra.Command, args []string) string {
	if c, _, err := root.Find(args); err == nil && c != root {
		return strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
	}
	return ""
}

func (a *app) root() *cobra.Command {
	version := false
	c := &cobra.Command{
		Use:   "penstock",
		Short: "Plan and run pipelines that move tables between databases",
		Long: `Penstock moves tables between databases, once or for ever.

A checked-in spec (HCL or YAML) says what goes where. "penstock plan" compiles
it, without a database, into everything a run will do; "penstock run" carries
that out and nothing else.

A spec's variables get their values from --var name=value, else --var-file,
else the environment variable PENSTOCK_VAR_name, else their default.

Exit codes:
  0  done
  1  failed; what was done is kept, run it again to go on
  2  spec, plan or command line wrong; nothing was done
  3  done, with findings: rows set aside; fmt --check: a file to lay out;
     plan --detailed-exitcode: changes
  4  the plan no longer fits the spec or the catalog
  5  held or fenced by another run
  6  the source's position is lost, or it is another source
  7  authentication or TLS
  8  disk or memory is full
  130, 143  cut short by SIGINT, SIGTERM; run it again to go on`,
		Example: `  penstock validate shop.hcl
  penstock plan shop.hcl
  penstock run shop.hcl
  penstock verify shop.hcl`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			s := fmt.Sprintf("unknown command %q", args[0])
			if like := c.SuggestionsFor(args[0]); len(like) > 0 {
				s += "; did you mean " + strings.Join(like, " or ") + "?"
			}
			return errors.New(s)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return a.printVersion()
			}
			return c.Help()
		},
	}
	c.Flags().BoolVar(&version, "version", false, "print what penstock version prints")
	f := c.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "write one JSON document to standard output (run: JSON lines)")
	f.StringArrayVar(&a.vars, "var", nil, "value of a variable, as `name=value`; may be repeated")
	f.StringArrayVar(&a.varFiles, "var-file", nil, "`file` of variables, HCL or YAML; may be repeated")
	mustComplete(c.MarkPersistentFlagFilename("var-file", "hcl", "yaml", "yml"))
	c.AddCommand(a.validateCommand(), a.planCommand(), a.showCommand(), a.runCommand(), a.verifyCommand(), a.statusCommand(), a.undoCommand(), a.catalogCommand(), a.probeCommand(), a.versionCommand())
	c.AddCommand(a.authoring()...)
	c.SetUsageTemplate(strings.ReplaceAll(c.UsageTemplate(), "Flags.FlagUsages ", fmt.Sprintf("Flags.FlagUsagesWrapped %d ", reportWidth)))
	c.SetOut(a.stdout) // the completion command takes it as it is made
	c.InitDefaultCompletionCmd()
	for _, sub := range c.Commands() {
		if sub.Name() == "completion" {
			refuseShells(sub)
		}
	}
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

// columns is the width of the terminal at standard error, 0 where it is none.
func (a *app) columns() int {
	if !a.terminal || a.size == nil {
		return 0
	}
	width, _ := a.size()
	return width
}

// stderrWidth is where lines of the closing report end.
func (a *app) stderrWidth() int {
	if n := a.columns(); n > 0 {
		return min(n, reportWidth)
	}
	return reportWidth
}

// scrubbed blanks known secrets in all that passes.
type scrubbed struct{ w io.Writer }

func (s scrubbed) Write(p []byte) (int, error) {
	if _, err := s.w.Write(secret.ScrubBytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
