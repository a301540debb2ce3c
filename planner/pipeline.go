package planner

import (
	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner/plan"

	"github.com/hashicorp/hcl/v2"
)

// pipeline compiles one pipeline. It is nil where the plan would be wrong; why
// is in the diagnostics.
func (c *compiler) pipeline(spec *lang.Pipeline) *plan.Pipeline {
	p := &pipeline{spec: spec, reported: map[report]bool{}}
	p.source, p.target = c.endpoint(spec.From, lang.Source), c.endpoint(spec.To, lang.Target)
	if p.source == nil || p.target == nil {
		return nil
	}
	p.caps = p.target.def.Target.Capabilities
	if c.onePlace(p) {
		return nil
	}
	c.settings(p)
	c.share(p)
	source, target := c.sourceCatalog(p.source, spec.From.Range), c.targetCatalog(p.target)
	if source == nil {
		return nil
	}
	var tables []*table
	for _, k := range c.expand(spec, source) {
		t := &table{pipeline: p, c: c, spec: k.block, src: k.src}
		t.compile(target)
		tables = append(tables, t)
	}
	p.carry(tables, target)
	for _, t := range tables {
		p.out.Tables = append(p.out.Tables, t.out)
	}
	if c.diags.HasErrors() {
		return nil
	}
	if p.stream {
		if p.route(tables); c.diags.HasErrors() {
			return nil
		}
	}
	p.out.Resources = p.resources()
	for i := range p.out.Tables {
		p.out.Tables[i].Digest = p.out.DigestOf(&p.out.Tables[i])
	}
	p.stages(source)
	p.finishing()
	return &p.out
}

// onePlace refuses a pipeline into its own source: a load would wait for its
// own readers, and emptying a table would take what is to be read.
func (c *compiler) onePlace(p *pipeline) bool {
	from, to := p.source.def.Source.Place, p.target.def.Target.Place
	if p.source.def != p.target.def || from == nil || to == nil || p.source.config == nil || p.target.config == nil {
		return false
	}
	if from(p.source.config, c.env()) != to(p.target.config, c.env()) {
		return false
	}
	c.diags.Errorf(diag.OnePlace, p.spec.To.Range, "Source and target are one place",
		"%s and %s are the same %s. Load into another one.", p.source.id, p.target.id, p.target.def.Kind)
	return true
}

// settings fills in what the pipeline says of itself, and checks that source
// and target can do it.
func (c *compiler) settings(p *pipeline) {
	s := p.spec
	p.out = plan.Pipeline{
		Name: s.Name.V, Source: p.source.id, Target: p.target.id, Mode: s.Mode.V,
		Workers: max(1, s.Workers.V), Memory: int64(s.Memory.V), Report: duration(s.ReportEvery.V),
		Delivery: p.caps.Delivery,
		BadRows:  plan.BadRows{Action: s.BadRows.Action.V, File: s.BadRows.File.V, Limit: s.BadRows.Limit.V, Values: s.BadRows.Values.V},
	}
	p.loads = s.Mode.V != "cdc"
	if p.loads {
		p.out.Holds = p.source.def.Source.Capabilities.Holds
	}
	p.stream = s.Mode.V != "snapshot"
	if p.stream {
		p.out.Order, p.out.Collisions, p.out.SchemaChanges = s.Order.V, s.Collisions.V, s.SchemaChanges.V
		if !p.loads {
			p.out.Start = s.Start.V
		}
		if !p.source.def.Source.Capabilities.CDC {
			c.diags.Errorf(diag.SourceHasNoLog, s.Mode.Range, p.source.def.Kind+" has no log of changes",
				"Mode %s follows the source's log, and %s has none. Its mode is snapshot.", s.Mode.V, p.source.id)
		}
		if len(p.caps.Changes) == 0 {
			c.diags.Errorf(diag.TargetNoChanges, s.Mode.Range, p.target.def.Kind+" takes no changes",
				"Mode %s sends changes, and %s can only be loaded. Its mode is snapshot.", s.Mode.V, p.target.id)
		}
	}
	if p.loads && len(p.caps.Modes) == 0 {
		c.diags.Errorf(diag.ModeNotOffered, s.Mode.Range, p.target.def.Kind+" can't be loaded",
			"Mode %s loads rows, and %s takes changes only. Its mode is cdc.", s.Mode.V, p.target.id)
	}
	c.scripts(p)
	for _, x := range []struct {
		name string
		set  bool
		at   hcl.Range
		ok   bool
		why  string
	}{
		{"order", s.Order.Set, s.Order.Range, p.stream, "it is the order of a stream, and the pipeline's mode is snapshot"},
		{"collisions", s.Collisions.Set, s.Collisions.Range, p.stream, "it is about changes, and the pipeline's mode is snapshot"},
		{"schema_changes", s.SchemaChanges.Set, s.SchemaChanges.Range, p.stream, "it is about a stream, and the pipeline's mode is snapshot"},
		{"start", s.Start.Set, s.Start.Range, !p.loads, "the stream begins where the snapshot was taken"},
	} {
		if x.set && !x.ok {
			c.warn(diag.WithoutEffect, x.at, s.Name.V, "Setting without effect", "`"+x.name+"` has no effect: "+x.why+".")
		}
	}
}

// scripts refuses the spec's own statements where the target runs none.
func (c *compiler) scripts(p *pipeline) {
	if !p.caps.NoScripts {
		return
	}
	for _, x := range []struct {
		name string
		list []lang.Text
	}{{"before_load", p.spec.BeforeLoad}, {"after_load", p.spec.AfterLoad}} {
		if len(x.list) > 0 {
			c.diags.Errorf(diag.ScriptsNotOffered, x.list[0].Range, p.target.def.Kind+" runs no statements",
				"`%s` is statements for the target, and %s runs none. Take it out, and do by hand what it is for.", x.name, p.target.id)
		}
	}
}
