package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime/checkpoint"
)

// live is a spec that is planned against its endpoints as they are.
type live struct {
	*compiled
	ends     []planner.End              // those that the chosen pipelines use
	catalogs map[string]*schema.Catalog // by endpoint id
	states   map[string]connectors.State
	created  map[string]map[string]schema.Name // planner.Options.Created
	// drift is what the plan uses and the checked-in catalogs say otherwise.
	drift []plan.Difference
}

// compileLive is compile with the live catalogs of the endpoints that the chosen
// pipelines use; only names pipelines or their tables, nil is all. A spec with
// errors connects to nothing. An endpoint that can't be reached is an error.
func (a *app) compileLive(ctx context.Context, path string, only []string) (*live, error) {
	c, err := a.load(path)
	if err != nil {
		return nil, err
	}
	l := &live{compiled: c, catalogs: map[string]*schema.Catalog{}, states: map[string]connectors.State{}, created: map[string]map[string]schema.Name{}}
	o := planner.Options{Only: pipelinesOf(c.spec, only)}
	for _, e := range planner.Ends(c.spec, a.registry, o) {
		if e.Pipelines != nil {
			l.ends = append(l.ends, e)
		}
	}
	if c.diag.HasErrors() || l.ends == nil || !allOpen(l.ends) {
		// What it can't connect to it plans from files, as a run then refuses.
		a.plan(ctx, c, o)
		return l, nil
	}
	for i := range l.ends {
		if err := a.readEnd(ctx, l, &l.ends[i]); err != nil {
			return nil, err
		}
	}
	return l, a.planLive(ctx, l, o)
}

// pipelinesOf are the pipelines that --only names. A name that is none selects
// all: the run says what is wrong with it.
func pipelinesOf(spec *lang.Spec, only []string) []string {
	var out []string
	for _, o := range only {
		name, _, _ := strings.Cut(o, ".")
		found := false
		for _, p := range spec.Pipelines {
			found = found || p.Name.V == name
		}
		if !found {
			return nil
		}
		out = append(out, name)
	}
	return out
}

func allOpen(ends []planner.End) bool {
	for i := range ends {
		if !ends[i].CanOpen() {
			return false
		}
	}
	return true
}

// env is what an end of a spec is opened with.
func (a *app) env(spec *lang.Spec, e *planner.End, pipeline string) connectors.Env {
	return connectors.Env{Dir: spec.Dir, Pipeline: pipeline, TLS: e.TLS, TLSCA: e.TLSCA, Secrets: a.secrets(spec.Dir, spec), Log: slog.New(slog.DiscardHandler)}
}

// readEnd reads the catalog of an end, and what a target remembers of the
// pipelines that load into it.
func (a *app) readEnd(ctx context.Context, l *live, e *planner.End) error {
	if e.Role == lang.Source {
		c, err := a.sourceCatalog(ctx, l.spec, e)
		l.catalogs[e.ID] = c
		return err
	}
	for _, p := range e.Pipelines {
		if err := a.readTarget(ctx, l, e, p); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) sourceCatalog(ctx context.Context, spec *lang.Spec, e *planner.End) (*schema.Catalog, error) {
	def, env := e.Definition.Source, a.env(spec, e, firstOf(e.Pipelines))
	if def.Local != nil {
		c, err := def.Local(ctx, e.Config, env)
		return c, reading(e, err)
	}
	s, err := def.Open(ctx, e.Config, env)
	if err != nil {
		return nil, opening(e, err)
	}
	c, err := s.Catalog(ctx)
	return c, reading(e, errors.Join(err, s.Close()))
}

func (a *app) readTarget(ctx context.Context, l *live, e *planner.End, pipeline string) error {
	t, err := e.Definition.Target.Open(ctx, e.Config, a.env(l.spec, e, pipeline))
	if err != nil {
		return opening(e, err)
	}
	state, err := t.State(ctx)
	if err == nil && l.catalogs[e.ID] == nil {
		l.catalogs[e.ID], err = t.Catalog(ctx)
	}
	if err = errors.Join(err, t.Close()); err != nil {
		return reading(e, err)
	}
	l.states[pipeline] = state
	made := map[string]schema.Name{}
	for source, s := range state.Tables {
		if s.Created {
			made[source] = plan.TargetOf(s.Definition)
		}
	}
	l.created[pipeline] = made
	return nil
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

func opening(e *planner.End, err error) error { return fmt.Errorf("open %s: %w", e.ID, err) }

func reading(e *planner.End, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s: %w", e.ID, err)
}

// planLive plans from the live catalogs, and from the checked-in ones where the
// spec names some, and tells in what the plan uses they differ. What the
// checked-in catalogs refuse is refused here too, as validate does.
func (a *app) planLive(ctx context.Context, l *live, o planner.Options) error {
	recorded, files := o, map[string]bool{}
	recorded.Catalogs = map[string]*schema.Catalog{}
	for _, e := range l.ends {
		if e.Catalog == "" {
			recorded.Catalogs[e.ID] = l.catalogs[e.ID]
		} else {
			files[e.ID] = true
		}
	}
	o.Catalogs, o.Created = l.catalogs, l.created
	if len(files) == 0 {
		a.plan(ctx, l.compiled, o)
		return nil
	}
	recorded.Created = l.created
	old := *l.compiled
	a.plan(ctx, &old, recorded)
	if old.plan == nil {
		*l.compiled = old
		return nil
	}
	l.drift = against(old.plan, l.catalogs, files)
	a.plan(ctx, l.compiled, o)
	if l.plan != nil {
		l.drift = append(l.drift, otherwise(old.plan, l.plan, l.drift)...)
	}
	return nil
}

// against compares a plan with the live catalogs of the endpoints that it was
// made from files for.
func against(p *plan.Plan, catalogs map[string]*schema.Catalog, files map[string]bool) (out []plan.Difference) {
	for i := range p.Pipelines {
		l := &p.Pipelines[i]
		var source, target *schema.Catalog
		if files[l.Source] {
			source = catalogs[l.Source]
		}
		if files[l.Target] {
			target = catalogs[l.Target]
		}
		for j := range l.Tables {
			out = append(out, l.Drift(&l.Tables[j], source, target)...)
		}
	}
	return out
}

// otherwise is what the plan from live catalogs has beyond the one from files,
// and where a table's rows are decided otherwise without a column that differs:
// its key has changed, or how it can be cut.
func otherwise(old, now *plan.Plan, told []plan.Difference) (out []plan.Difference) {
	for i := range now.Pipelines {
		l, was := &now.Pipelines[i], &old.Pipelines[i]
		more := l.NewIn(was)
		out = append(out, more...)
		differs := map[string]bool{}
		for _, d := range append(more, told...) {
			differs[d.Endpoint+" "+d.Table] = true
		}
		for j := range l.Tables {
			t := &l.Tables[j]
			for k := range was.Tables {
				b := &was.Tables[k]
				if b.Source == t.Source && b.Digest != t.Digest && !differs[l.Source+" "+t.Source.String()] && !differs[l.Target+" "+t.Target.String()] {
					out = append(out, plan.Difference{Endpoint: l.Source, Table: t.Source.String(),
						What: "is planned otherwise: " + strings.Join(checkpoint.Difference(string(was.Definition(b)), string(l.Definition(t))), "; ")})
				}
			}
		}
	}
	return out
}
