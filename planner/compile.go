// Package planner compiles a spec and the catalogs of its endpoints into a
// plan. Same input, same bytes: it opens no connection and no secret, and what
// it can't decide it refuses, pointing at the bytes of the spec.
package planner

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner/plan"

	"github.com/hashicorp/hcl/v2"
)

// Options say what to compile, and with which catalogs.
type Options struct {
	// Only names the pipelines to compile, nil is all; a table behind a dot is let
	// stand: a pipeline is planned whole, and who carries it out picks tables.
	Only []string
	// Catalogs by endpoint id (source.erp) stand for what the spec names: the
	// live ones, when a run plans.
	Catalogs map[string]*schema.Catalog
	// Created says which tables of a target an earlier run of a pipeline made: by
	// pipeline and source table, the target's name. They are planned as absent, as
	// they were then, so that a run goes on with the load that it began.
	Created map[string]map[string]schema.Name
	// ReadFile reads a catalog file; nil is os.ReadFile.
	ReadFile func(name string) ([]byte, error)
}

// Compile makes the plan of a spec that lang found no error in. There is no
// plan when a diagnostic is an error; all of them are returned. Of a
// spec that could be read in part there is neither.
func Compile(ctx context.Context, spec *lang.Spec, reg *connectors.Registry, o Options) (*plan.Plan, diag.List) {
	if spec.Partial {
		return nil, nil
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	c := &compiler{ctx: ctx, spec: spec, reg: reg, options: o}
	c.decodeEndpoints()
	out := &plan.Plan{FormatVersion: plan.FormatVersion}
	for _, p := range c.selected() {
		if made := c.pipeline(p); made != nil {
			out.Pipelines = append(out.Pipelines, *made)
		}
	}
	c.checkTargetsApart()
	c.checkDiscardsApart()
	if c.diags.HasErrors() {
		return nil, c.diags.Sorted()
	}
	out.Endpoints = c.usedEndpoints()
	out.Warnings = c.warnings
	slices.SortStableFunc(out.Warnings, func(a, b plan.Warning) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Summary, b.Summary))
	})
	return out, c.diags.Sorted()
}

// Connectors is what lang is told of the registry: names, and the settings of
// each as zero config structs.
func Connectors(reg *connectors.Registry) []lang.Connector {
	var out []lang.Connector
	for _, kind := range reg.Kinds() {
		d := reg.Find(kind)
		c := lang.Connector{Kind: kind}
		if d.Source != nil {
			c.Source = d.Source.Config()
		}
		if d.Target != nil {
			c.Target = d.Target.Config()
			if d.Target.Options != nil {
				c.Table = d.Target.Options()
			}
		}
		out = append(out, c)
	}
	return out
}

// compiler holds one compilation.
type compiler struct {
	ctx       context.Context
	spec      *lang.Spec
	reg       *connectors.Registry
	options   Options
	diags     diag.List
	warnings  []plan.Warning
	endpoints []*endpoint
	writes    []write // every target table of every pipeline
}

// warn adds a warning to the diagnostics, where it has a place in a file, and
// to the plan, where it has an object.
func (c *compiler) warn(code diag.Code, at hcl.Range, object, summary, detail string) *diag.Diagnostic {
	c.warnings = append(c.warnings, plan.Warning{Code: string(code), Object: object, Summary: summary, Detail: detail})
	return c.diags.Warnf(code, at, summary, "%s", detail)
}

// write is a table that a pipeline writes to.
type write struct {
	target *endpoint
	name   schema.Name
	source string // "SCOTT.A"
	at     hcl.Range
}

// checkDiscardsApart refuses two pipelines that set bad rows aside in one file:
// each brings the file in line with its own target.
func (c *compiler) checkDiscardsApart() {
	first := map[string]*lang.Pipeline{}
	for _, p := range c.spec.Pipelines {
		f := p.BadRows.File
		if !f.Set || p.BadRows.Action.V != "discard" {
			continue
		}
		path := f.V
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.spec.Dir, path)
		}
		if a := first[path]; a != nil {
			d := c.diags.Errorf(diag.BadSetting, f.Range, "Two pipelines use one file of bad rows",
				"%s and %s both set bad rows aside in %s. Give each a file of its own.", a.Name.V, p.Name.V, f.V)
			d.Related = []diag.Related{{Message: a.Name.V + " uses it here", Range: a.BadRows.File.Range}}
			continue
		}
		first[path] = p
	}
}

// checkTargetsApart refuses two source tables that go into one target table,
// in one pipeline or in two.
func (c *compiler) checkTargetsApart() {
	type place struct {
		id   string
		name schema.Name
	}
	first, told := map[place]write{}, map[hcl.Range]bool{}
	for _, w := range c.writes {
		at := place{w.target.id, w.name}
		a, twice := first[at]
		if !twice {
			first[at] = w
			continue
		}
		if told[w.at] {
			continue // a pattern with one target says so once
		}
		told[w.at] = true
		d := c.diags.Errorf(diag.TwoTablesOneTarget, w.at, "Two tables write to one target",
			"%s and %s both go to %s of %s. Their rows could not be told apart when one of them is loaded again: give each its own target with `to`.",
			a.source, w.source, w.name, w.target.id)
		d.Related = append(d.Related, diag.Related{Message: "the other one", Range: a.at})
	}
}
