// Package verify compares what a pipeline's source holds with what its target
// holds: sums of row hashes by range first, then row by row where they differ.
// It reads both sides and changes nothing.
package verify

import (
	"context"
	"log/slog"
	"time"

	"penstock/connectors"
	"penstock/internal/event"
	"penstock/internal/secret"
	"penstock/planner/plan"
	"penstock/runtime"
)

// Options are what a comparison needs beside its plan.
type Options struct {
	Registry *connectors.Registry
	Events   event.Sink // nil = none
	Only     []string   // "pipeline" or "pipeline.TABLE"; empty = all
	Limit    int        // rows that are listed of a table, at most
	Values   bool       // list the values of rows, not only their keys
	FixSQL   bool       // write the statements that would mend the target
	Dir      string     // relative paths in the plan are relative to this folder
	Secrets  secret.Resolver
	Log      *slog.Logger
	Backoff  runtime.Backoff
}

// Run compares the pipelines of a plan, one after another. Report.Exit is the
// worst outcome: 0 where all is equal, 3 where something differs.
func Run(ctx context.Context, pn *plan.Plan, o Options) *Report {
	if o.Events == nil {
		o.Events = event.Discard
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	out := &Report{Started: time.Now().UTC(), Pipelines: []*Pipeline{}}
	chosen, err := runtime.Select(pn, o.Only)
	if err != nil {
		out.Err, out.Exit = runtime.ErrorOf(err), runtime.ExitCode(err)
	}
	codes := []int{out.Exit}
	for _, c := range chosen {
		p := &pipeline{plan: c.Plan, find: c.Plan.Finder(), o: &o, report: &Pipeline{Name: c.Plan.Name, Source: c.Plan.Source, Target: c.Plan.Target, Tables: []*Table{}}}
		p.run(ctx, pn, c.Tables)
		out.Pipelines = append(out.Pipelines, p.report)
		codes = append(codes, p.report.Exit)
	}
	out.Exit, out.Ended = runtime.Worst(codes...), time.Now().UTC()
	return out
}
