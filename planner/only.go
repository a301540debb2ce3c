package planner

import (
	"strings"

	"penstock/internal/diag"
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
