package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
	"penstock/runtime/checkpoint"

	"github.com/hashicorp/hcl/v2"
)

// results are what the live checks of a plan found.
type results struct {
	exit    int         // of the findings that stop a run
	checked []plan.Fact // by endpoint: each check's name and outcome
}

// check runs the live checks of what the plan uses, and adds their findings to
// the diagnostics. Those of this moment alone are left to a run's own steps
// unless all are asked for.
func (a *app) check(ctx context.Context, l *live, all bool) (results, error) {
	var r results
	if l.plan == nil || !allOpen(l.ends) {
		return r, nil
	}
	said := map[string]*[]string{}
	var order []string
	for i := range l.ends {
		e := &l.ends[i]
		list := &[]string{}
		if !e.Local() {
			*list = append(*list, planner.CheckConnection+" good")
		}
		said[e.ID] = list
		order = append(order, e.ID)
	}
	for i := range l.plan.Pipelines {
		p := &l.plan.Pipelines[i]
		source, target := l.end(p.Source), l.end(p.Target)
		u := connectors.Use{Pipeline: p.Name, Durable: source.Definition.Source.Capabilities.Durable, Stream: p.Mode != "snapshot", State: l.states[p.Name]}
		u.Took, _, _ = earlier(l.spec, p)
		su := u
		su.Connections = p.Resources.SourceConnections
		for j := range p.Tables {
			t := &p.Tables[j]
			if live := l.catalogs[p.Source].Find(t.Source); live != nil {
				su.Reads = append(su.Reads, connectors.Extract{Table: live, Columns: t.ReadNames(), Split: t.SourceSplit()})
			}
		}
		tu := u
		tu.Connections = p.Resources.TargetConnections
		f := p.Finder()
		for j := range p.Tables {
			tu.Loads = append(tu.Loads, f.Load(&p.Tables[j]))
		}
		if err := a.checkSource(ctx, l, source, su, all, &r, said[source.ID]); err != nil {
			return r, err
		}
		if err := a.checkTarget(ctx, l, target, tu, all, &r, said[target.ID]); err != nil {
			return r, err
		}
		if all {
			*said[target.ID] = append(*said[target.ID], a.checkState(l, p, target.At, &r))
			if took, at, ok := earlier(l.spec, p); ok {
				s := fmt.Sprintf("an earlier run took %s (%s): what the source keeps must last longer", short(took), at.Format(time.DateOnly))
				*said[source.ID] = append(*said[source.ID], s)
			}
		}
	}
	for _, id := range order {
		r.checked = append(r.checked, plan.Fact{Name: id, Value: strings.Join(*said[id], "; ")})
	}
	return r, nil
}

// end finds an end of the plan.
func (l *live) end(id string) *planner.End {
	for i := range l.ends {
		if l.ends[i].ID == id {
			return &l.ends[i]
		}
	}
	return nil
}

func (a *app) checkSource(ctx context.Context, l *live, e *planner.End, u connectors.Use, all bool, r *results, said *[]string) error {
	def := e.Definition.Source
	if !due(def.Live, all) {
		return nil
	}
	s, err := def.Open(ctx, e.Config, a.env(l.spec, e, u.Pipeline))
	if err != nil {
		return opening(e, err)
	}
	return errors.Join(runChecks(ctx, l, e, def.Live, s, u, all, r, said), s.Close())
}

func (a *app) checkTarget(ctx context.Context, l *live, e *planner.End, u connectors.Use, all bool, r *results, said *[]string) error {
	def := e.Definition.Target
	if !due(def.Live, all) {
		return nil
	}
	t, err := def.Open(ctx, e.Config, a.env(l.spec, e, u.Pipeline))
	if err != nil {
		return opening(e, err)
	}
	return errors.Join(runChecks(ctx, l, e, def.Live, t, u, all, r, said), t.Close())
}

func due[E any](checks []connectors.Check[E], all bool) bool {
	for _, c := range checks {
		if all || !c.Momentary {
			return true
		}
	}
	return false
}

func runChecks[E any](ctx context.Context, l *live, e *planner.End, checks []connectors.Check[E], open E, u connectors.Use, all bool, r *results, said *[]string) error {
	for _, c := range checks {
		if c.Momentary && !all {
			continue
		}
		found, err := c.Run(ctx, open, u)
		if err != nil && r.exit == runtime.ExitOK {
			return fmt.Errorf("check %s of %s: %w", c.Name, e.ID, err)
		}
		if err != nil { // what was found before may be why
			found = []connectors.Finding{{Warning: true, What: capital(err.Error())}}
		}
		outcome := "good"
		for _, f := range found {
			outcome = "see above"
			l.add(e.At, u.Pipeline+", "+e.ID, c.Name, f, r)
		}
		*said = append(*said, c.Name+" "+outcome)
	}
	return nil
}

// add makes a finding a diagnostic at the endpoint's block.
func (l *live) add(at hcl.Range, where, check string, f connectors.Finding, r *results) {
	var d *diag.Diagnostic
	if f.Warning {
		d = l.diag.Warnf(diag.EndpointWarns, at, where+": "+check, "%s", f.What)
	} else {
		d = l.diag.Errorf(diag.EndpointRefuses, at, where+": "+check, "%s", f.What)
		r.exit = runtime.Worst(r.exit, runtime.ExitCode(&connectors.Error{Class: f.Class, Err: errors.New(f.What)}))
	}
	d.Mend = f.Mend
}

// checkState says what earlier runs of the pipeline have left in its target.
func (a *app) checkState(l *live, p *plan.Pipeline, at hcl.Range, r *results) string {
	state := l.states[p.Name]
	loaded, unfinished := 0, 0
	for j := range p.Tables {
		t := &p.Tables[j]
		s := state.Tables[t.Source.String()]
		if s == nil {
			continue
		}
		if s.Digest != t.Digest {
			l.diag.Errorf(diag.OtherLoad, at, fmt.Sprintf("%s.%s was loaded by another definition", p.Name, t.Source), "%s. Put it back, or load it again: run --reload %s.",
				capital(strings.Join(checkpoint.Difference(s.Definition, string(p.Definition(t))), "; ")), t.Source)
			r.exit = runtime.Worst(r.exit, runtime.ExitDrift)
			continue
		}
		done := 0
		for _, c := range s.Chunks {
			if c.Done {
				done++
			}
		}
		if s.Loaded {
			loaded++
			continue
		}
		unfinished++
		l.diag.Warnf(diag.EarlierLoad, at, fmt.Sprintf("%s.%s is loaded in part", p.Name, t.Source),
			"%d of %s are there, since %s: a run goes on with it, or begins it anew where its source can't be read at the same point again.", done, plural(len(s.Chunks), "chunk"), s.UpdatedAt)
	}
	return fmt.Sprintf("%s %d of %s loaded, %d in part", planner.CheckState, loaded, plural(len(p.Tables), "table"), unfinished)
}

// earlier is how long an earlier run of the pipeline from here took: what the
// source's retention has to be held against. Where there is none to go by,
// nothing is made up.
func earlier(spec *lang.Spec, p *plan.Pipeline) (took time.Duration, at time.Time, ok bool) {
	b, err := os.ReadFile(resultsPath(spec.Dir, p.Name))
	if err != nil {
		return 0, at, false
	}
	return durationOf(b, p.Name)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
