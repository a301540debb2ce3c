package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"penstock/internal/diag"
	"penstock/internal/event"
	"penstock/lang"
	"penstock/planner/plan"
	"penstock/runtime"
	"penstock/runtime/verify"

	"github.com/spf13/cobra"
)

// verifyDocument is what verify writes.
type verifyDocument struct {
	head
	*verify.Report
}

func newVerifyDocument(res *verify.Report) verifyDocument {
	d := verifyDocument{newHead("verify"), res}
	if res.Err != nil {
		d.Errored, d.Error = true, res.Err.Message
	}
	for _, p := range res.Pipelines {
		d.Errored = d.Errored || p.Error != nil
	}
	return d
}

// verifying are the flags of verify.
type verifying struct {
	only   []string
	limit  int
	values bool
	fix    bool
}

func (a *app) verifyCommand() *cobra.Command {
	var v verifying
	cmd := &cobra.Command{
		Use:   "verify SPEC|PLAN",
		Short: "Compare each row of a target with its source",
		Long: `Read both ends of a spec's pipelines and compare them row by row: the source
through filter, computed columns and conversions, as a run would load it; the
target as it stands. Rows that are missing, extra or different are counted and
listed by their keys. Nothing is changed at either end.

--fix-sql writes, to standard output, the statements that would make the listed
rows of the target what they are at the source. They hold values. They are never
run: read them, then run them yourself.

Exit 0: all is equal. Exit 3: something differs.`,
		Example: `  penstock verify shop.hcl
  penstock verify shop.hcl --only shop.orders --values
  penstock verify shop.hcl --fix-sql > mend.sql`,
		Args:              one("a SPEC or a PLAN", "penstock verify shop.hcl"),
		ValidArgsFunction: complete("hcl", "yaml", "yml", "json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.limit < 1 {
				return &runtime.UsageError{Text: fmt.Sprintf("--limit %d: it is how many rows of a table are listed, at least 1", v.limit)}
			}
			p, dir, spec, err := a.planToVerify(cmd.Context(), args[0], v.only)
			if err != nil {
				return err
			}
			return a.verify(cmd.Context(), p, dir, spec, v)
		},
	}
	cmd.Flags().StringArrayVar(&v.only, "only", nil, "compare only this `PIPELINE[.TABLE]`, a table always with its pipeline; may be repeated")
	cmd.Flags().IntVar(&v.limit, "limit", 100, "list at most `N` rows of a table; counts are exact whatever it is")
	cmd.Flags().BoolVar(&v.values, "values", false, "list values too, not only keys: they may be personal data")
	cmd.Flags().BoolVar(&v.fix, "fix-sql", false, "write the SQL that would mend the listed rows of the target")
	return cmd
}

// planToVerify is planToRun for a command whose JSON is one document and that
// changes nothing: a plan that the checked-in catalogs would give otherwise is
// told of, and what is there is compared.
func (a *app) planToVerify(ctx context.Context, path string, only []string) (*plan.Plan, string, *lang.Spec, error) {
	if isPlan(path) {
		p, err := readPlan(path)
		if err == nil {
			err = a.fitVariables(path, p)
		}
		return p, filepath.Dir(path), nil, err
	}
	c, err := a.compileLive(ctx, path, only)
	if err != nil {
		return nil, "", nil, err
	}
	if c.plan == nil {
		if err := a.report("verify", path, "", c.compiled); err != nil {
			return nil, "", nil, err
		}
		return nil, "", nil, exitError(runtime.ExitSpec)
	}
	if c.drift != nil {
		fmt.Fprintf(a.stderr, "the checked-in catalogs no longer say what is there; what is there is compared:\n%s", driftLines(c.drift))
	}
	return c.plan, c.spec.Dir, c.spec, diag.WriteWithin(a.stderr, c.diag, c.spec.Files, a.color, a.columns())
}

func (a *app) verify(ctx context.Context, p *plan.Plan, dir string, spec *lang.Spec, v verifying) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var caught atomic.Int64
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		select {
		case s := <-signals:
			caught.Store(int64(runtime.ExitInterrupt))
			if s == syscall.SIGTERM {
				caught.Store(int64(runtime.ExitTerminated))
			}
			signal.Stop(signals) // a second one kills: there is nothing to lose
			cancel()
		case <-ctx.Done():
		}
	}()
	tally := &event.Tally{}
	screen := a.newScreen(tally, reportEvery(p))
	res := verify.Run(ctx, p, verify.Options{
		Registry: a.registry, Only: v.only, Limit: v.limit, Values: v.values, FixSQL: v.fix, Dir: dir, Secrets: a.secrets(dir, spec),
		Log: slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Events: event.SinkFunc(func(e event.Event) {
			now := time.Now()
			tally.Add(now, e)
			screen.show(now, e)
		}),
	})
	screen.close()
	if code := int(caught.Load()); code != 0 {
		res.Exit = code
	}
	w := &comparison{w: a.stderr, width: a.stderrWidth(), values: v.values}
	w.write(res)
	switch {
	case a.json:
		if err := a.writeJSON(newVerifyDocument(res)); err != nil {
			return err
		}
	case v.fix:
		if err := writeFixes(a.stdout, res); err != nil {
			return err
		}
	}
	if res.Exit != runtime.ExitOK {
		return exitError(res.Exit)
	}
	return nil
}
