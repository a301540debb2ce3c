package lang

import (
	"fmt"
	"strings"
	"time"

	"penstock/internal/diag"
	"penstock/internal/units"

	"github.com/hashicorp/hcl/v2"
)

// maxPipelineName is what fits into the name that a session shows to a DBA,
// beside "penstock/" and the lane.
const maxPipelineName = 40

// DefaultMemory is what rows may take where the spec does not say. With the
// default of 8 workers a run into PostgreSQL stays below 200 MiB, whatever its
// tables are: 40 MiB are the program, and as much is what COPY sends.
const DefaultMemory = 96 * units.MiB

// pipeline reads a pipeline block. A second one of the same name is nil.
func (r *reader) pipeline(spec *Spec, b *hcl.Block) *Pipeline {
	shape := r.root.block("pipeline").in
	p := &Pipeline{Name: r.label(b, 0), DefRange: r.header(b)}
	at := p.DefRange
	c := r.content(b.Body, at, shape)
	r.name(p.Name, "pipeline", maxPipelineName)
	p.From, p.To = Ref{Role: Source, Range: at}, Ref{Role: Target, Range: at}
	p.Mode = Value[string]{V: "snapshot", Range: at}
	p.Workers = Value[int]{V: 8, Range: at}
	p.Memory = Value[units.Size]{V: DefaultMemory, Range: at}
	p.Order = Value[string]{V: "key", Range: at}
	p.Collisions = Value[string]{V: "error", Range: at}
	p.SchemaChanges = Value[string]{V: "stop", Range: at}
	p.Start = Value[string]{V: "now", Range: at}
	p.ReportEvery = Value[time.Duration]{V: time.Minute, Range: at}
	for name, a := range c.attrs {
		switch name {
		case "from":
			p.From = r.ref(a, Source)
		case "to":
			p.To = r.ref(a, Target)
		case "mode":
			or(&p.Mode, r.enum(a, "snapshot", "cdc", "snapshot+cdc"))
		case "workers":
			or(&p.Workers, r.count(a, 1))
		case "memory":
			or(&p.Memory, r.size(a))
		case "order":
			or(&p.Order, r.enum(a, "key", "table", "commit"))
		case "collisions":
			or(&p.Collisions, r.enum(a, "error", "repair"))
		case "schema_changes":
			or(&p.SchemaChanges, r.enum(a, "stop", "add_nullable"))
		case "start":
			or(&p.Start, r.path(a))
		case "before_load":
			p.BeforeLoad = r.texts(a).V
		case "after_load":
			p.AfterLoad = r.texts(a).V
		}
	}
	r.endpointOf(spec, c, &p.From, "from")
	r.endpointOf(spec, c, &p.To, "to")
	p.BadRows = r.badRows(c, at)
	if rb := c.block("report"); rb != nil {
		rc := r.content(rb.Body, r.header(rb), shape.block("report").in)
		if a := rc.attrs["every"]; a != nil {
			or(&p.ReportEvery, r.duration(a))
		}
	}
	r.tables(spec, p, c)
	for _, q := range spec.Pipelines {
		if q.Name.V == p.Name.V {
			d := r.diags.Errorf(diag.Duplicate, p.Name.Range, fmt.Sprintf("Duplicate pipeline %q", p.Name.V), "Checkpoints are kept by the pipeline's name, so it must be one of a kind. Give this one another.")
			d.Related = []diag.Related{{Message: "the first one", Range: q.Name.Range}}
			return nil
		}
	}
	return p
}

// or keeps a default where a setting is faulty: what follows from a fault that
// has been reported is not worth a second report.
func or[T any](to *Value[T], v Value[T]) {
	if v.Set {
		*to = v
	}
}

// endpointOf finds what a reference names.
func (r *reader) endpointOf(spec *Spec, c content, ref *Ref, setting string) {
	var known []string
	for _, e := range spec.Endpoints {
		if e.Role == ref.Role {
			known = append(known, string(e.Role)+"."+e.Name.V)
		}
	}
	list := fmt.Sprintf("%ss in this spec: %s.", capital(string(ref.Role)), strings.Join(known, ", "))
	if len(known) == 0 {
		list = fmt.Sprintf("This spec has no %s block.", ref.Role)
	}
	switch {
	case c.attrs[setting] == nil:
		r.missing(c, setting, "The pipeline names no %s. %s", ref.Role, list)
	case ref.Set && spec.Endpoint(ref.Role, ref.Name) == nil:
		d := r.diags.Errorf(diag.UnknownEndpoint, ref.Range, fmt.Sprintf("Unknown %s %q", ref.Role, ref.Name), "%s", list)
		if near := nearest(string(ref.Role)+"."+ref.Name, known); near != "" {
			d.Detail = fmt.Sprintf("Did you mean %s? %s", near, list)
			d.Fixes = []diag.Edit{{Title: "write " + near, Range: ref.Range, NewText: near}}
			name := near[strings.IndexByte(near, '.')+1:]
			d.Related = []diag.Related{{Message: near + " is declared here", Range: spec.Endpoint(ref.Role, name).Name.Range}}
		}
	}
}

func (r *reader) badRows(c content, at hcl.Range) BadRows {
	b := c.block("bad_rows")
	if b != nil {
		at = r.header(b)
	}
	out := BadRows{Action: Value[string]{V: "stop", Range: at}, File: Value[string]{Range: at}, Limit: Value[int64]{Range: at}, Values: Value[bool]{Range: at}, Range: at}
	if b == nil {
		return out
	}
	for name, a := range r.content(b.Body, at, c.shape.block("bad_rows").in).attrs {
		switch name {
		case "action":
			or(&out.Action, r.enum(a, "stop", "discard"))
		case "file":
			or(&out.File, r.path(a))
		case "limit":
			or(&out.Limit, r.integer(a, 0))
		case "values":
			or(&out.Values, r.boolean(a))
		}
	}
	return out
}
