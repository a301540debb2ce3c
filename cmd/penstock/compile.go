package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"penstock/internal/units"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/planner/plan/page"
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
			a.notRun(c.plan)
			return nil
		},
	}
	a.formatFlag(cmd, specFormats)
	return cmd
}

// planFlags are the flags of plan.
type planFlags struct {
	out, html, baseline     string
	live, ddl, grants, exit bool
}

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan SPEC",
		Short: "Show everything a run would do, without a database",
		Long: `Compile a spec into its plan: stages, ranges, statements, type decisions, locks,
connections and memory. Nothing is connected to: catalogs come from checked-in
files, or from the connector itself where it needs no server: local files,
SQLite's for one, are read, and none is made. What only a connection can tell is
listed by name.

--live connects: it plans from what the databases are now, as a run does, and
runs those checks too. What fails is told with the statement that mends it, and
its exit code is the one that a run would end with.

--out writes the plan itself, which "penstock run" carries out. --ddl and
--grants write scripts for a DBA instead: what a run would create, and exactly
the grants that it needs on each side. --baseline says in words what is
otherwise than in an older plan.`,
		Example: `  penstock plan shop.hcl
  penstock plan shop.yaml --var region=eu --out shop.plan.json
  penstock plan shop.hcl --live
  penstock plan shop.hcl --grants
  penstock plan shop.hcl --baseline main.plan.json --detailed-exitcode`,
		Args:              one("a SPEC", "penstock plan shop.hcl"),
		ValidArgsFunction: complete("hcl", "yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.planSpec(cmd.Context(), args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "write the plan to `FILE`, named *.json, for penstock run")
	fl.BoolVar(&f.live, "live", false, "connect, plan from what is there, and run the checks that only then can be run")
	fl.BoolVar(&f.ddl, "ddl", false, "write the statements that create and alter, as a script, and nothing else")
	fl.BoolVar(&f.grants, "grants", false, "write the grants that the plan needs, as scripts by endpoint, and nothing else")
	fl.StringVar(&f.baseline, "baseline", "", "say what is otherwise than in the plan `FILE`")
	fl.BoolVar(&f.exit, "detailed-exitcode", false, "with --baseline: exit with 3 where anything is otherwise")
	mustComplete(cmd.MarkFlagFilename("out", "json"))
	mustComplete(cmd.MarkFlagFilename("baseline", "json"))
	a.formatFlag(cmd, specFormats)
	htmlFlag(cmd, &f.html)
	return cmd
}

// planSpec is plan. What it writes to files comes before the report: --json is
// one document.
func (a *app) planSpec(ctx context.Context, path string, f planFlags) error {
	if f.exit && f.baseline == "" {
		return &runtime.UsageError{Text: "--detailed-exitcode is about a --baseline FILE, which is not given"}
	}
	if f.ddl && f.grants || (f.ddl || f.grants) && a.forMachine() {
		return &runtime.UsageError{Text: "--ddl and --grants each write a script to standard output, and nothing else: give one of them, without --json and --format"}
	}
	var before *plan.Plan
	if f.baseline != "" {
		p, _, err := readPlanToShow(f.baseline)
		if err != nil {
			return err
		}
		before = p
	}
	c, r, err := a.planOrLive(ctx, path, f.live)
	if err != nil {
		return err
	}
	if f.out != "" && c.plan != nil {
		if err := writePlan(f.out, c.plan); err != nil {
			return err
		}
	}
	next := a.program + " run " + quote(path) + a.repeatFlags(c.spec)
	if f.out != "" {
		next = a.program + " run " + quote(f.out)
	}
	if before != nil && c.plan != nil {
		c.baseline, c.changes = f.baseline, plan.Changes(before, c.plan)
	}
	if err := writePage(f.html, c.plan, page.Options{Of: path, Run: next, Baseline: c.baseline, Changes: c.changes}); err != nil {
		return err
	}
	if err := a.report("plan", path, next, c); err != nil {
		return err
	}
	if c.plan == nil {
		return exitError(runtime.ExitSpec)
	}
	if err := a.planText(c, r, f, next); err != nil {
		return err
	}
	code := r.exit
	if f.exit && len(c.changes) > 0 {
		code = runtime.Worst(code, runtime.ExitFindings)
	}
	if code != runtime.ExitOK {
		return exitError(code)
	}
	return nil
}

// planText writes what a person asked plan for.
func (a *app) planText(c *compiled, r results, f planFlags, next string) error {
	switch {
	case a.forMachine():
		return nil
	case f.ddl:
		return a.writeDDL(c)
	case f.grants:
		return a.writeGrants(c)
	case f.baseline != "":
		return writeChanges(a.stdout, f.baseline, c.changes)
	}
	return plan.Text(a.stdout, c.plan, plan.TextOptions{Run: next, Width: a.width, Checked: r.checked})
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
			p, notes, err := readPlanToShow(args[0])
			if err != nil {
				return err
			}
			for _, n := range notes {
				fmt.Fprintf(a.stderr, "penstock: %s: %s\n", args[0], n)
			}
			run := a.program + " run " + quote(args[0])
			if notes != nil {
				run = ""
			}
			if err := writePage(html, p, page.Options{Of: args[0], Run: run}); err != nil {
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
