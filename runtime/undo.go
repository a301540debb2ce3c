package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/planner/plan"
)

// Undone is what undo did for one pipeline.
type Undone struct {
	Pipeline string       `json:"pipeline"`
	Target   string       `json:"target"`
	Objects  []PutBack    `json:"objects"` // in the order of their making; empty: there was nothing to do
	Exit     int          `json:"exit"`
	Error    *ErrorResult `json:"error,omitempty"`
}

// PutBack is an index or a constraint that was made again.
type PutBack struct {
	Source string `json:"source"` // the source table whose load had dropped it
	Table  string `json:"table"`
	Kind   string `json:"kind"` // "index", "primary key", "unique key", "foreign key"
	Name   string `json:"name"`
}

// Undo puts back what the loads of a plan's pipelines have dropped at their
// targets and not made again. Rows and markers stay as they are: a load that is
// not finished can go on. A target where nothing is to be done is only read.
func Undo(ctx context.Context, pn *plan.Plan, o Options) []Undone {
	out := []Undone{}
	for i := range pn.Pipelines {
		p := &pipeline{plan: &pn.Pipelines[i], o: &o, choice: &choice{plan: &pn.Pipelines[i]}}
		u := Undone{Pipeline: p.plan.Name, Target: p.plan.Target, Objects: []PutBack{}}
		err := p.undo(ctx, pn, &u)
		u.Error, u.Exit = errorResult(err), ExitCode(err)
		out = append(out, u)
	}
	return out
}

func (p *pipeline) undo(ctx context.Context, pn *plan.Plan, u *Undone) (err error) {
	end, def, err := p.endpoint(pn, p.plan.Target)
	if err != nil || def.Target == nil || def.Target.Open == nil {
		return err // what can't be loaded yet was not loaded
	}
	config := def.Target.Config()
	if err := settings(end, config); err != nil {
		return err
	}
	if p.target, err = def.Target.Open(ctx, config, p.env(end)); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, p.close(ctx))
	}()
	state, err := p.target.State(ctx)
	if err != nil {
		return err
	}
	var sources []string
	for _, d := range state.Dropped {
		if p.asked(d) && !slices.Contains(sources, d.Source) {
			sources = append(sources, d.Source)
		}
	}
	if len(sources) == 0 {
		return nil
	}
	if _, err := p.target.Claim(ctx, self()); err != nil {
		return err
	}
	var errs []error
	for _, s := range sources {
		made, err := p.target.Undo(ctx, s, p.plan.Workers)
		for _, d := range made {
			u.Objects = append(u.Objects, PutBack{Source: d.Source, Table: d.Table, Kind: string(d.Object.Kind), Name: d.Object.Name})
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// asked reports a table that --only names, by its source or its target name;
// without a table, all are.
func (p *pipeline) asked(d connectors.Dropped) bool {
	some := false
	for _, o := range p.o.Only {
		table, ok := strings.CutPrefix(o, p.plan.Name+".")
		if o == p.plan.Name || ok && (strings.EqualFold(table, d.Source) || strings.EqualFold(table, d.Table)) {
			return true
		}
		some = some || ok
	}
	return !some
}
