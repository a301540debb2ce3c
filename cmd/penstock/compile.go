package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"penstock/internal/units"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate SPEC",
		Short: "Check a spec without connecting to anything",
		Long: `Check a spec (a file, or a folder of them) against the language, its connectors
and its recorded catalogs. Nothing is connected to and no secret is opened.
What local files hold, SQLite's for one, is read there; nothing is written.`,
		Example: `  penstock validate shop.hcl
  penstock validate pipelines/ --json`,
		Args:              one("a SPEC", "penstock validate shop.hcl"),
		ValidArgsFunction: complete("hcl", "yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.compile(cmd.Context(), args[0], planner.Options{})
			if err != nil {
				return err
			}
			if err := a.report("validate", args[0], "", c); err != nil {
				return err
			}
			if c.plan == nil {
				return exitError(runtime.ExitSpec)
			}
			tables := 0
			for i := range c.plan.Pipelines {
				tables += len(c.plan.Pipelines[i].Tables)
			}
			fmt.Fprintf(a.stderr, "%s is valid: %s, %s\n", args[0], plural(len(c.plan.Pipelines), "pipeline"), plural(tables, "table"))
			return nil
		},
	}
	a.formatFlag(cmd, specFormats)
	return cmd
}

func (a *app) planCommand() *cobra.Command {
	var out, html string
	cmd := &cobra.Command{
		Use:   "plan SPEC",
		Short: "Show everything a run would do, without a database",
		Long: `Compile a spec into its plan: stages, ranges, statements, type decisions, locks,
connections and memory. Nothing is connected to: catalogs come from checked-in
files, or from the connector itself where it needs no server: local files,
SQLite's for one, are read, and none is made.

--out writes the plan itself, which "penstock run" carries out.`,
		Example: `  penstock plan shop.hcl
  penstock plan shop.yaml --var region=eu --out shop.plan.json`,
		Args:              one("a SPEC", "penstock plan shop.hcl"),
		ValidArgsFunction: complete("hcl", "yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.compile(cmd.Context(), args[0], planner.Options{})
			if err != nil {
				return err
			}
			if out != "" && c.plan != nil { // before the report: --json writes one document
				if err := writePlan(out, c.plan); err != nil {
					return err
				}
			}
			next := a.program + " run " + quote(args[0]) + a.repeatFlags(c.spec)
			if out != "" {
				next = a.program + " run " + quote(out)
			}
			if err := writePage(html, c.plan, args[0], next); err != nil {
				return err
			}
			if err := a.report("plan", args[0], next, c); err != nil {
				return err
			}
			if c.plan == nil {
				return exitError(runtime.ExitSpec)
			}
			if a.forMachine() {
				return nil
			}
			return plan.Text(a.stdout, c.plan, plan.TextOptions{Run: next, Width: a.width})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the plan to `FILE`, named *.json, for penstock run")
	mustComplete(cmd.MarkFlagFilename("out", "json"))
	a.formatFlag(cmd, specFormats)
	htmlFlag(cmd, &html)
	return cmd
}

// repeatFlags gives the variable flags back for a printed command; the value of
// a sensitive one is for the reader to put in. A plan file (spec is nil) has no
// other variables.
func (a *app) repeatFlags(spec *lang.Spec) string {
	s := ""
	for _, v := range a.vars {
		if name, _, _ := strings.Cut(v, "="); spec == nil || spec.Sensitive[name] != nil {
			v = name + "=..."
		}
		s += " --var " + quote(v)
	}
	for _, f := range a.varFiles {
		s += " --var-file " + quote(f)
	}
	return s
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quote writes a word so that a POSIX shell reads it as it is.
func quote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// writePlan writes a plan to the file of --out.
func writePlan(path string, p *plan.Plan) error {
	b, err := plan.Marshal(p)
	if err != nil {
		return err
	}
	if !isPlan(path) {
		return &runtime.UsageError{Text: fmt.Sprintf("--out %s: name it *.json, which is how penstock run knows a plan", path)}
	}
	return writeByRename("--out", path, b)
}

func (a *app) showCommand() *cobra.Command {
	var html string
	cmd := &cobra.Command{
		Use:   "show PLAN",
		Short: "Show a plan file as text",
		Long: `Show a plan file, which "penstock plan --out" wrote, as the text that
"penstock plan" shows. To see the plan of a spec, plan it.`,
		Example: `  penstock show shop.plan.json
  penstock show shop.plan.json --json`,
		Args:              one("a PLAN", "penstock show shop.plan.json"),
		ValidArgsFunction: complete("json"),
		RunE: func(_ *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && (info.IsDir() || !isPlan(args[0])) {
				return &runtime.UsageError{Text: fmt.Sprintf("%s: this is a spec: %s plan %s", args[0], a.program, quote(args[0]))}
			}
			p, err := readPlan(args[0])
			if err != nil {
				return err
			}
			run := a.program + " run " + quote(args[0])
			if err := writePage(html, p, args[0], run); err != nil {
				return err
			}
			return a.showPlan(args[0], p, run)
		},
	}
	a.formatFlag(cmd, planFormats)
	htmlFlag(cmd, &html)
	return cmd
}

func plural(n int, what string) string { return plural64(int64(n), what) }

func plural64(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return units.Count(n) + " " + what + "s"
}
