package planner

import (
	"context"
	"os"
	"slices"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/lang"

	"github.com/hashicorp/hcl/v2"
)

// End is an endpoint of a spec, ready to be opened: what a live plan connects to.
type End struct {
	ID         string // source.erp
	Role       lang.Role
	Definition *connectors.Definition
	Config     any
	TLS, TLSCA string
	Catalog    string    // the checked-in file, as written; "" for none
	At         hcl.Range // its block's header
	// Pipelines use it, in the order of the spec; nil where none does.
	Pipelines []string
	local     bool
}

// Local reports an end that nothing is connected to: it is in this process or
// in files.
func (e *End) Local() bool { return e.local }

// CanOpen reports whether this build can connect to it, or need not.
func (e *End) CanOpen() bool {
	if e.Role == lang.Source {
		return e.Definition.Source.Open != nil
	}
	return e.Definition.Target.Open != nil
}

// Ends gives the endpoints of a spec in its order, those that no pipeline uses
// too. It is nil when a setting of one of them has an error: Compile tells which.
func Ends(spec *lang.Spec, reg *connectors.Registry, o Options) []End {
	if spec.Partial {
		return nil
	}
	c := &compiler{spec: spec, reg: reg, options: o}
	c.decodeEndpoints()
	used := map[*endpoint][]string{}
	for _, p := range c.selected() {
		for _, e := range []*endpoint{c.endpoint(p.From, lang.Source), c.endpoint(p.To, lang.Target)} {
			if e != nil && !slices.Contains(used[e], p.Name.V) {
				used[e] = append(used[e], p.Name.V)
			}
		}
	}
	if c.diags.HasErrors() {
		return nil
	}
	var out []End
	for _, e := range c.endpoints {
		end := End{ID: e.id, Role: e.spec.Role, Definition: e.def, Config: e.config, Catalog: e.spec.Catalog.V, At: e.spec.DefRange, Pipelines: used[e], local: e.local()}
		if !e.local() {
			if end.TLS = e.spec.TLS.V; end.TLS == "" {
				end.TLS = "verify"
			}
			end.TLSCA = e.spec.TLSCA.V
		}
		out = append(out, end)
	}
	return out
}

// Tables names the tables of each endpoint that the spec's pipelines read or
// write, by endpoint id, as far as it can be planned: also where it has errors.
func Tables(ctx context.Context, spec *lang.Spec, reg *connectors.Registry, o Options) map[string][]schema.Name {
	out := map[string][]schema.Name{}
	if spec.Partial {
		return out
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	c := &compiler{ctx: ctx, spec: spec, reg: reg, options: o}
	c.decodeEndpoints()
	add := func(id string, n schema.Name) {
		if !slices.Contains(out[id], n) {
			out[id] = append(out[id], n)
		}
	}
	for _, p := range c.selected() {
		from, to := c.endpoint(p.From, lang.Source), c.endpoint(p.To, lang.Target)
		if from == nil {
			continue
		}
		source := c.sourceCatalog(from, p.From.Range)
		if source == nil {
			continue
		}
		pl := &pipeline{spec: p, source: from, target: to, reported: map[report]bool{}}
		for _, k := range c.expand(p, source) {
			add(from.id, k.src.Name)
			if to == nil {
				continue
			}
			t := &table{pipeline: pl, c: c, spec: k.block, src: k.src}
			if t.name(c.targetCatalog(to)) {
				add(to.id, t.out.Target)
			}
		}
	}
	return out
}
