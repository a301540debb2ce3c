package lang

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
)

// spec decodes the merged files: first what expressions refer to, then
// endpoints, then the pipelines that name them.
func (r *reader) spec(spec *Spec, bodies []hcl.Body, o Options) {
	head := spec.Range
	var all content
	for _, b := range bodies {
		c := r.content(b, head, r.root)
		all.all = append(all.all, c.all...)
	}
	all.shape = r.root
	r.version(all, head)
	spec.versioned = len(all.blocks("penstock")) > 0
	for _, b := range all.blocks("variable") {
		r.variable(b, r.root.block("variable").in)
	}
	r.assign(o, spec)
	var locals []*local
	for _, b := range all.blocks("locals") {
		locals = append(locals, r.localsBlock(b)...)
	}
	r.evaluateLocals(locals)
	r.ctx = contextOf(r.vars, r.locals)
	for _, b := range all.all {
		switch b.Type {
		case "source", "target":
			r.endpoint(spec, b, o)
		}
	}
	for _, b := range all.blocks("pipeline") {
		if p := r.pipeline(spec, b); p != nil {
			spec.Pipelines = append(spec.Pipelines, p)
		}
	}
}

// version checks the penstock block. Each file of a folder may have one.
func (r *reader) version(all content, head hcl.Range) {
	blocks := all.blocks("penstock")
	if len(blocks) == 0 {
		r.diags.Errorf(diag.MissingBlock, head, `Missing block "penstock"`, "A spec says which version of the language it is written in: penstock { spec = 1 }, in YAML `penstock: {spec: 1}`.")
	}
	for _, b := range blocks {
		c := r.content(b.Body, r.header(b), r.root.block("penstock").in)
		a := c.attrs["spec"]
		if a == nil {
			r.missing(c, "spec", "The version of the language is 1: write spec = 1.")
			continue
		}
		if v := r.integer(a, 1); v.Set && v.V != 1 {
			r.diags.Errorf(diag.SpecVersion, v.Range, fmt.Sprintf("Version %d of the language is not known", v.V), "This penstock reads version 1.")
		}
	}
}

func (r *reader) missing(c content, name, detail string, args ...any) {
	r.diags.Errorf(diag.MissingSetting, c.head, fmt.Sprintf("Missing setting %q", name), detail, args...)
}

// endpoint reads what all endpoints have in common. The connector's own
// settings wait for Decode.
func (r *reader) endpoint(spec *Spec, b *hcl.Block, o Options) {
	e := &Endpoint{Role: Role(b.Type), Kind: r.label(b, 0), Name: r.label(b, 1), DefRange: r.header(b)}
	general := r.root.block(b.Type).in
	c := r.partial(b.Body, e.DefRange, general)
	unset := func() Value[string] { return Value[string]{Range: e.DefRange} }
	e.Catalog, e.Probe, e.TLSCA, e.Names = unset(), unset(), unset(), unset()
	e.TLS = Value[string]{V: "verify", Range: e.DefRange}
	e.Throttle.Range = e.DefRange
	for name, a := range c.attrs {
		switch name {
		case "catalog":
			e.Catalog = r.path(a)
		case "probe":
			e.Probe = r.path(a)
		case "tls_ca":
			e.TLSCA = r.path(a)
		case "tls":
			if v := r.enum(a, "verify", "off"); v.Set {
				e.TLS = v
			}
		case "names":
			e.Names = r.enum(a, "lower", "keep")
		case "throttle":
			e.Throttle = r.rate(a)
		}
	}
	e.body = &body{r: r, b: b.Body, head: e.DefRange, noun: b.Type + " " + e.Kind.V, known: general.attrs, parent: r.root}
	r.name(e.Name, b.Type, longName)
	r.kind(e, o)
	if first := spec.Endpoint(e.Role, e.Name.V); first != nil {
		d := r.diags.Errorf(diag.Duplicate, e.Name.Range, fmt.Sprintf("Duplicate %s %q", e.Role, e.Name.V), "%s.%s must mean one endpoint. Give this one another name.", e.Role, e.Name.V)
		d.Related = []diag.Related{{Message: "the first one", Range: first.Name.Range}}
		return
	}
	spec.Endpoints = append(spec.Endpoints, e)
}

// path reads a path; it may not be empty.
func (r *reader) path(a *hcl.Attribute) Value[string] {
	v := r.str(a)
	if v.Set && strings.TrimSpace(v.V) == "" {
		r.diags.Errorf(diag.OutOfBounds, v.Range, fmt.Sprintf("%q is empty", a.Name), "Give a path, or leave the setting out.")
		v.Set = false
	}
	return v
}

// kind checks that a connector of this kind plays this part.
func (r *reader) kind(e *Endpoint, o Options) {
	if len(o.Connectors) == 0 {
		return
	}
	var kinds []string
	for _, c := range o.Connectors {
		if e.Role == Source && c.Source != nil || e.Role == Target && c.Target != nil {
			kinds = append(kinds, c.Kind)
		}
	}
	slices.Sort(kinds)
	if slices.Contains(kinds, e.Kind.V) {
		return
	}
	d := r.diags.Errorf(diag.UnknownConnector, e.Kind.Range, fmt.Sprintf("Unknown kind of %s %q", e.Role, e.Kind.V), "A %s is one of: %s.", e.Role, strings.Join(kinds, ", "))
	if slices.ContainsFunc(o.Connectors, func(c Connector) bool { return c.Kind == e.Kind.V }) {
		d.Summary = fmt.Sprintf("%s can't be a %s", e.Kind.V, e.Role)
	} else if near := nearest(e.Kind.V, kinds); near != "" {
		d.Detail = fmt.Sprintf("Did you mean %q? %s", near, d.Detail)
		d.Fixes = []diag.Edit{{Title: "write " + near, Range: e.Kind.Range, NewText: near}}
	}
}

// HasVersion reports whether the spec says which version of the language it is
// written in.
func (s *Spec) HasVersion() bool { return s.versioned }
