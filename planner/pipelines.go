package planner

import (
	"context"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner/plan"
)

// Pipelines compiles the pipelines of a spec without their tables: where each comes
// from and goes to, and with how many workers. No catalog is read. It is what a
// command needs that asks the target what is there.
func Pipelines(ctx context.Context, spec *lang.Spec, reg *connectors.Registry, o Options) (*plan.Plan, diag.List) {
	if spec.Partial {
		return nil, nil
	}
	c := &compiler{ctx: ctx, spec: spec, reg: reg, options: o}
	c.decodeEndpoints()
	out := &plan.Plan{FormatVersion: plan.FormatVersion}
	for _, s := range c.selected() {
		source, target := c.endpoint(s.From, lang.Source), c.endpoint(s.To, lang.Target)
		if source != nil && target != nil {
			out.Pipelines = append(out.Pipelines, plan.Pipeline{Name: s.Name.V, Source: source.id, Target: target.id, Mode: s.Mode.V, Workers: max(1, s.Workers.V)})
		}
	}
	if c.diags.HasErrors() {
		return nil, c.diags.Sorted()
	}
	out.Endpoints = c.usedEndpoints()
	return out, c.diags.Sorted()
}
