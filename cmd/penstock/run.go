package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"penstock/internal/diag"
	"penstock/internal/event"
	"penstock/internal/secret"
	"penstock/lang"
	"penstock/planner/plan"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	var only, reload []string
	var acceptDrift bool
	var until string
	cmd := &cobra.Command{
		Use:   "run SPEC|PLAN",
		Short: "Carry out a plan",
		Long: `Carry out a spec's plan, or a plan file that "penstock plan --out" wrote.

A spec is planned from its databases as they are. Where it names checked-in
catalogs, a difference in what the plan uses stops the run with exit code 4,
unless --accept-drift is given; a plan file is compared in the same way.

A run that is cut short, by a signal or a crash, goes on where it stopped when
it is run again: what is committed stays, each row is there once. A first SIGINT
or SIGTERM commits what is read whole and ends; a second one ends at once.

A pipeline of mode cdc or snapshot+cdc follows its source's log until it is told
to end: by a signal, after which all that was read is applied and the exit code
is 0, or by --until, at what is committed now or at a position in the log.

A plan file has the values of its variables; only a sensitive variable is still
asked for: --var or PENSTOCK_VAR_x.`,
		Example: `  penstock run shop.hcl
  penstock run shop.plan.json
  penstock run shop.hcl --only shop.orders --only shop.customers
  penstock run shop.hcl --reload orders
  penstock run replica.hcl --until now`,
		Args:              one("a SPEC or a PLAN", "penstock run shop.hcl"),
		ValidArgsFunction: complete("hcl", "yaml", "yml", "json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, dir, spec, err := a.planToRun(cmd.Context(), args[0], only, acceptDrift)
			if err != nil {
				return err
			}
			again := a.program + " run " + quote(args[0]) + a.repeatFlags(spec)
			if acceptDrift {
				again += " --accept-drift"
			}
			for _, o := range only { // not --reload: it would begin anew
				again += " --only " + quote(o)
			}
			if until != "" {
				if err := canEnd(p, args[0], until); err != nil {
					return err
				}
				again += " --until " + quote(until)
			}
			return a.run(cmd.Context(), p, dir, spec, runtime.Options{Only: only, Reload: reload, Until: until}, again)
		},
	}
	cmd.Flags().StringArrayVar(&only, "only", nil, "run only this `PIPELINE[.TABLE]`, a table always with its pipeline; may be repeated")
	cmd.Flags().StringArrayVar(&reload, "reload", nil, "empty this `TABLE`, that Penstock loaded, and load it again; may be repeated")
	cmd.Flags().StringVar(&until, "until", "", "end streams at `now|POSITION`: at what is committed at their sources when they begin, or at a position in the log")
	cmd.Flags().BoolVar(&acceptDrift, "accept-drift", false, "go on where the database is not what the spec's checked-in catalogs say")
	return cmd
}

// planToRun reads the plan of a plan file, or plans a spec from its endpoints as
// they are. dir is the folder that its relative paths are relative to.
func (a *app) planToRun(ctx context.Context, path string, only []string, acceptDrift bool) (*plan.Plan, string, *lang.Spec, error) {
	if isPlan(path) {
		if acceptDrift {
			return nil, "", nil, &runtime.UsageError{Text: fmt.Sprintf("--accept-drift is for specs: %s says what is loaded, and a run does that or nothing; plan again", path)}
		}
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
	if c.drift != nil && !acceptDrift {
		return nil, "", nil, a.stale(path, c)
	}
	found, err := a.check(ctx, c, false)
	if err != nil {
		return nil, "", nil, err
	}
	// Standard output has the run's events alone.
	if err := diag.WriteWithin(a.stderr, c.diag, c.spec.Files, a.color, a.columns()); err != nil {
		return nil, "", nil, err
	}
	code, class, what := found.exit, "check", "its endpoints lack what the plan needs"
	if c.plan == nil {
		code, class, what = runtime.ExitSpec, "usage", "it has errors"
	}
	if code != runtime.ExitOK {
		if a.json {
			a.writeEvent(time.Now(), runFinished{
				Results:     refused(code, class, fmt.Sprintf("%s: %s; nothing was done", path, what)),
				Diagnostics: c.diag.Records(c.spec.Files),
			})
		}
		return nil, "", nil, exitError(code)
	}
	if c.drift != nil {
		fmt.Fprintf(a.stderr, "going on although the checked-in catalogs say otherwise:\n%s", driftLines(c.drift))
	}
	return c.plan, c.spec.Dir, c.spec, nil
}

// fitVariables refuses variables that a plan has no use for: their values are
// in it already, and another one would be dropped in silence.
func (a *app) fitVariables(path string, p *plan.Plan) error {
	if len(a.varFiles) > 0 {
		return &runtime.UsageError{Text: fmt.Sprintf("--var-file %s: %s has its variables' values already; give sensitive ones by --var or PENSTOCK_VAR_x", a.varFiles[0], path)}
	}
	vars, err := a.variables()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, e := range p.Endpoints {
		var config any
		if json.Unmarshal(e.Config, &config) == nil {
			secretVariables(config, used)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !used[name] {
			return &runtime.UsageError{Text: fmt.Sprintf("--var %s: %s has its variables' values already, and no sensitive variable of this name; plan again with --var", name, path)}
		}
	}
	return nil
}

// secretVariables collects the names of the references {"var": name}.
func secretVariables(config any, into map[string]bool) {
	switch v := config.(type) {
	case map[string]any:
		if name, ok := v["var"].(string); ok && len(v) == 1 {
			into[name] = true
		}
		for _, x := range v {
			secretVariables(x, into)
		}
	case []any:
		for _, x := range v {
			secretVariables(x, into)
		}
	}
}

// canEnd refuses --until for what ends by itself.
func canEnd(p *plan.Plan, path, until string) error {
	for i := range p.Pipelines {
		if p.Pipelines[i].Follows() {
			return nil
		}
	}
	return &runtime.UsageError{Text: fmt.Sprintf("--until %s: %s has no stream that could end; its pipelines have mode snapshot", until, path)}
}

// run carries a plan out; o has what was asked for on the command line.
func (a *app) run(ctx context.Context, p *plan.Plan, dir string, spec *lang.Spec, o runtime.Options, again string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, set := a.lookupEnv("GOGC"); !set {
		defer debug.SetGCPercent(debug.SetGCPercent(runtime.GCPercent))
	}
	drain := make(chan struct{})
	tally := &event.Tally{}
	screen := a.newScreen(tally, reportEvery(p))
	sinks := event.SinkFunc(func(e event.Event) {
		now := time.Now()
		tally.Add(now, e)
		if a.json {
			a.writeEvent(now, e)
		}
		screen.show(now, e)
	})
	caught := make(chan os.Signal, 1)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go watchSignals(ctx, signals, func(s os.Signal) {
		caught <- s
		screen.drain()
		sinks.Emit(event.Notice{Text: "stopping: what is read whole is committed, then this run ends; a second signal ends it at once"})
		close(drain)
	}, cancel)
	a.writeStarted(p)
	o.Registry, o.Events, o.Dir, o.Secrets, o.Drain = a.registry, sinks, dir, a.secrets(dir, spec), drain
	o.Log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	res := runtime.Run(ctx, p, o)
	if res.Pipelines == nil { // none was begun; readers of the JSON get a list
		res.Pipelines = []*runtime.PipelineResult{}
	}
	screen.close()
	var sig os.Signal
	select {
	case sig = <-caught:
	default:
	}
	a.cutShort(res, sig)
	saved := true
	if err := a.saveResults(res, dir); err != nil {
		saved = false
		fmt.Fprintf(a.stderr, "penstock: the report could not be written: %v\n", err)
		res.Exit = runtime.Worst(res.Exit, runtime.ExitFailed)
	}
	if a.json {
		a.writeEvent(time.Now(), runFinished{Results: res})
	}
	(&closing{w: a.stderr, width: a.stderrWidth(), log: !a.terminal, saved: saved, dir: dir, again: again}).write(res)
	if res.Exit != runtime.ExitOK {
		return exitError(res.Exit)
	}
	return nil
}

// watchSignals calls first at the first signal and second at the next; a third
// kills the process, as it would any other.
func watchSignals(ctx context.Context, signals chan os.Signal, first func(os.Signal), second func()) {
	select {
	case s := <-signals:
		first(s)
	case <-ctx.Done():
		return
	}
	select {
	case <-signals:
		signal.Stop(signals)
		second()
	case <-ctx.Done():
	}
}

// cutShort gives a run that a signal ended before its work was done the
// signal's exit code.
func (a *app) cutShort(res *runtime.Results, sig os.Signal) {
	if sig == nil {
		return
	}
	code := runtime.ExitInterrupt
	if sig == syscall.SIGTERM {
		code = runtime.ExitTerminated
	}
	for _, p := range res.Pipelines {
		if p.Drained || p.Cancelled {
			p.Exit, p.Drained, p.Error = code, true, nil
		}
	}
	res.Rank()
}

// saveResults writes each pipeline's run_results.json into its own folder
// beside the spec.
func (a *app) saveResults(res *runtime.Results, dir string) error {
	for _, p := range res.Pipelines {
		one := *res
		one.Pipelines = []*runtime.PipelineResult{p}
		one.Exit = p.Exit
		if err := one.Write(resultsPath(dir, p.Name)); err != nil {
			return err
		}
	}
	return nil
}

func resultsPath(dir, pipeline string) string {
	return filepath.Join(dir, ".penstock", pipeline, "run_results.json")
}

// runFinished is the last JSON line of a run, also of one that never began.
type runFinished struct {
	*runtime.Results
	Diagnostics []diag.Record `json:"diagnostics,omitempty"` // where the spec has errors
}

func (runFinished) Name() string { return "run_finished" }

// refused is the result of a run that never began.
func refused(exit int, class, message string) *runtime.Results {
	now := time.Now().UTC()
	return &runtime.Results{FormatVersion: runtime.ResultsVersion, Started: now, Ended: now, Exit: exit,
		Error: &runtime.ErrorResult{Class: class, Message: secret.Scrub(message)}, Pipelines: []*runtime.PipelineResult{}}
}

// writeEvent writes an event as a JSON line to standard output.
func (a *app) writeEvent(now time.Time, e event.Event) {
	b, err := event.Encode(now, e)
	if err != nil {
		b, _ = json.Marshal(map[string]string{"event": "error", "message": err.Error()})
	}
	a.lines.Lock()
	defer a.lines.Unlock()
	// A reader that has gone away must not end a load.
	_, _ = a.stdout.Write(append(b, '\n'))
}

// reportEvery is the shortest interval that a pipeline of the plan asks for.
func reportEvery(p *plan.Plan) time.Duration {
	every := time.Duration(0)
	for i := range p.Pipelines {
		d, err := time.ParseDuration(p.Pipelines[i].Report)
		if err == nil && (every == 0 || d < every) {
			every = d
		}
	}
	if every == 0 {
		every = time.Minute
	}
	return every
}

// relative shortens a path for people.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(r, "..") {
		return r
	}
	return path
}
