// Package runtime carries out a plan: it moves batches from readers to writers
// and remembers, in the target, what is durably done.
package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"penstock/connectors"
	"penstock/internal/event"
	"penstock/internal/secret"
	"penstock/planner/plan"
)

// Options are what a run needs beside its plan.
type Options struct {
	Registry *connectors.Registry
	Events   event.Sink // nil = none
	Only     []string   // "pipeline" or "pipeline.TABLE"; empty = all
	Reload   []string   // source tables to load again from nothing
	// Until ends streams: "now", or a position in the source's log, as its own
	// people write it. "" = they go on.
	Until   string
	Dir     string // relative paths in the plan are relative to this folder
	Secrets secret.Resolver
	Log     *slog.Logger
	// Drain asks for an end when it is closed: what is read whole is committed,
	// the rest is left for the next run. Cancelling the context ends at once.
	Drain   <-chan struct{}
	Backoff Backoff
}

// GCPercent is for debug.SetGCPercent in a process that carries out plans. Nearly
// all of its heap are batches that are recycled; garbage need not grow as large as
// they are together before it is looked for. Collecting often costs little: a
// batch holds no pointers that would have to be followed.
const GCPercent = 25

// Run carries out a plan. It returns when every pipeline has ended, whatever
// became of it; Results.Exit is the worst outcome.
func Run(ctx context.Context, p *plan.Plan, o Options) *Results {
	if o.Events == nil {
		o.Events = event.Discard
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	res := &Results{FormatVersion: ResultsVersion, Started: time.Now().UTC()}
	chosen, err := choose(p, o.Only, o.Reload)
	if err != nil {
		res.fail(err)
		return res
	}
	res.Pipelines = make([]*PipelineResult, len(chosen))
	var wg sync.WaitGroup
	for i, c := range chosen {
		wg.Go(func() {
			res.Pipelines[i] = runPipeline(ctx, p, c, &o)
		})
	}
	wg.Wait()
	res.Rank()
	res.Ended = time.Now().UTC()
	return res
}

// choice is a pipeline with the tables that were asked for.
type choice struct {
	plan   *plan.Pipeline
	tables map[string]bool // nil = all
	reload map[string]bool
}

// choose applies --only and --reload. A name that is not in the plan is an
// error: a typing mistake must not look like a finished run.
func choose(p *plan.Plan, only, reload []string) ([]*choice, error) {
	if p.FormatVersion != plan.FormatVersion {
		return nil, &UsageError{fmt.Sprintf("the plan has format_version %d; this penstock runs %d: plan it again", p.FormatVersion, plan.FormatVersion)}
	}
	if len(p.Pipelines) == 0 {
		return nil, &UsageError{"the plan has no pipeline"}
	}
	seen := map[string]bool{}
	for i := range p.Pipelines {
		if name := p.Pipelines[i].Name; seen[name] {
			return nil, &UsageError{fmt.Sprintf("the plan has pipeline %s twice", name)}
		}
		seen[p.Pipelines[i].Name] = true
	}
	var out []*choice
	used := map[string]bool{}
	for i := range p.Pipelines {
		pl := &p.Pipelines[i]
		c := &choice{plan: pl, reload: map[string]bool{}}
		whole := len(only) == 0
		for _, o := range only {
			if o == pl.Name {
				whole = true
				used[o] = true
			} else if t, ok := strings.CutPrefix(o, pl.Name+"."); ok && hasTable(pl, t) {
				used[o] = true
				if c.tables == nil {
					c.tables = map[string]bool{}
				}
				c.tables[t] = true
			}
		}
		if whole {
			c.tables = nil
		} else if c.tables == nil {
			continue
		}
		for _, r := range reload {
			if hasTable(pl, r) && (c.tables == nil || c.tables[r]) {
				c.reload[r] = true
				used[r] = true
			}
		}
		out = append(out, c)
	}
	for _, o := range slices.Concat(only, reload) {
		if !used[o] {
			return nil, &UsageError{fmt.Sprintf("%q is not in the plan. %s", o, inPlan(p))}
		}
	}
	return out, nil
}

func hasTable(p *plan.Pipeline, name string) bool {
	return slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return t.Source.String() == name })
}

// inPlan lists what could have been named.
func inPlan(p *plan.Plan) string {
	var names []string
	for i := range p.Pipelines {
		for j := range p.Pipelines[i].Tables {
			names = append(names, p.Pipelines[i].Name+"."+p.Pipelines[i].Tables[j].Source.String())
			if len(names) == 20 {
				return "It has, among others: " + strings.Join(names, ", ")
			}
		}
	}
	return "It has: " + strings.Join(names, ", ")
}
