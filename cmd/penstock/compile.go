package main

import (
	"fmt"
	"os"
	"path/filepath"

	"penstock/internal/units"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate SPEC",
		Short: "Check a spec without connecting to anything",
		Long: `Check a spec (a file, or a folder of them) against the language, its connectors
and its recorded catalogs. Nothing is connected to and no secret is opened.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.compile(cmd.Context(), args[0], planner.Options{})
			if err != nil {
				return err
			}
			if err := a.report("validate", c); err != nil {
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
}

func (a *app) planCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "plan SPEC",
		Short: "Show everything a run would do, without a database",
		Long: `Compile a spec into its plan: stages, ranges, statements, type decisions, locks,
connections and memory. Nothing is connected to: catalogs come from checked-in
files, or from the connector itself where it needs no server.

--out writes the plan itself, which "penstock run" carries out.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.compile(cmd.Context(), args[0], planner.Options{})
			if err != nil {
				return err
			}
			if err := a.report("plan", c); err != nil {
				return err
			}
			if c.plan == nil {
				return exitError(runtime.ExitSpec)
			}
			if out != "" {
				if err := writePlan(out, c.plan); err != nil {
					return err
				}
			}
			if a.json {
				return nil
			}
			next := "penstock run " + args[0] + a.repeatFlags()
			if out != "" {
				next = "penstock run " + out
			}
			return plan.Text(a.stdout, c.plan, plan.TextOptions{Run: next})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the plan to `FILE`, as JSON, for penstock run")
	return cmd
}

// repeatFlags gives the variable flags back for a printed command. Values of
// --var are shell-quoted; they are not secrets, or they would be scrubbed.
func (a *app) repeatFlags() string {
	s := ""
	for _, v := range a.vars {
		s += fmt.Sprintf(" --var %q", v)
	}
	for _, f := range a.varFiles {
		s += " --var-file " + f
	}
	return s
}

// writePlan writes a plan by rename, so that nobody reads half of one.
func writePlan(path string, p *plan.Plan) error {
	b, err := plan.Marshal(p)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".plan-*")
	if err != nil {
		return &runtime.UsageError{Text: fmt.Sprintf("--out %s: %v", path, err)}
	}
	defer os.Remove(tmp.Name()) // gone already after the rename
	if _, err = tmp.Write(b); err == nil {
		err = tmp.Chmod(0o644)
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show PLAN",
		Short: "Show a plan file as text",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := readPlan(args[0])
			if err != nil {
				return err
			}
			if a.json {
				b, err := plan.Marshal(p)
				if err != nil {
					return err
				}
				_, err = scrubbed{a.stdout}.Write(b)
				return err
			}
			return plan.Text(a.stdout, p, plan.TextOptions{})
		},
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return units.Count(int64(n)) + " " + what + "s"
}
