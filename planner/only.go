package planner

import (
	"strings"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
)

// selected is the pipelines to compile: those that Only names, or all.
func (c *compiler) selected() []*lang.Pipeline {
	if len(c.options.Only) == 0 {
		return c.spec.Pipelines
	}
	var out []*lang.Pipeline
	for _, p := range c.spec.Pipelines {
		for _, o := range c.options.Only {
			if o == p.Name.V || strings.HasPrefix(o, p.Name.V+".") {
				out = append(out, p)
				break
			}
		}
	}
	for _, o := range c.options.Only {
		if c.pipelineOf(o) == nil {
			var names []string
			for _, p := range c.spec.Pipelines {
				names = append(names, p.Name.V)
			}
			c.diags.Errorf(diag.NothingSelected, c.spec.Range, "No pipeline to select", "--only %s names no pipeline of this spec. Its pipelines are: %s.%s",
				o, strings.Join(names, ", "), didYouMean(o, names))
		}
	}
	return out
}

// pipelineOf is the pipeline that an entry of Only is about. Names hold no dot,
// so the part before the first one decides.
func (c *compiler) pipelineOf(only string) *lang.Pipeline {
	name, _, _ := strings.Cut(only, ".")
	for _, p := range c.spec.Pipelines {
		if p.Name.V == name {
			return p
		}
	}
	return nil
}

// onlyTables keeps the tables that Only names, by their source or their target
// name. A pipeline named alone keeps all.
func (c *compiler) onlyTables(p *lang.Pipeline, tables []*table) []*table {
	var names []string
	for _, o := range c.options.Only {
		name, ok := strings.CutPrefix(o, p.Name.V)
		switch {
		case !ok:
		case name == "":
			return tables
		case name[0] == '.':
			names = append(names, name[1:])
		}
	}
	if names == nil {
		return tables
	}
	var out []*table
	found := make([]bool, len(names))
	for _, t := range tables {
		keep := false
		for i, n := range names {
			if isName(t.src.Name, n) || isName(t.out.Target, n) {
				found[i], keep = true, true
			}
		}
		if keep {
			out = append(out, t)
		}
	}
	for i, ok := range found {
		if !ok {
			var all []string
			for _, t := range tables {
				all = append(all, t.src.Name.String())
			}
			c.diags.Errorf(diag.NothingSelected, p.DefRange, "No table to select", "--only %s.%s names no table of pipeline %q.%s",
				p.Name.V, names[i], p.Name.V, didYouMean(names[i], all))
		}
	}
	return out
}

func isName(n schema.Name, text string) bool { return strings.EqualFold(n.String(), text) }
