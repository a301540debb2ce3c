package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/units"
)

// TextOptions say how a plan is written for people.
type TextOptions struct {
	// All writes every table and statement; else tables that differ in their
	// names only are written once.
	All bool
	// Run is the command that carries the plan out: "penstock run spec.hcl".
	Run string
	// Width is where lines end, within 60 and 100 columns; 0 is 100.
	Width int
}

// Text writes a plan for people: what goes where, in which order, what waits
// for what, what it takes, and what only a run can tell.
func Text(w io.Writer, p *Plan, o TextOptions) error {
	t := &text{plan: p, options: o, width: maxWidth}
	if o.Width > 0 {
		t.width = min(max(o.Width, minWidth), maxWidth)
	}
	for i := range p.Pipelines {
		if i > 0 {
			t.line(0, "")
		}
		t.pipeline(&p.Pipelines[i])
	}
	t.warnings()
	t.ending()
	_, err := w.Write(t.out.Bytes())
	return err
}

type text struct {
	plan    *Plan
	options TextOptions
	width   int
	out     bytes.Buffer
}

func (t *text) pipeline(p *Pipeline) {
	head := "pipeline " + p.Name
	t.line(0, head+strings.Repeat(" ", max(2, t.width-len(head)-len(p.Mode)))+p.Mode)
	t.endpoint("from", p.Source)
	t.endpoint("to", p.Target)
	if p.Delivery != "" {
		t.field(2, "delivery", p.Delivery)
	}
	t.field(2, "bad rows", badRows(p.BadRows))
	t.streamSettings(p)
	groups := t.groups(p)
	for _, g := range groups {
		t.line(0, "")
		t.table(p, g)
	}
	t.line(0, "")
	t.stages(p, groups)
	t.line(0, "")
	t.takes(p)
}

func (t *text) streamSettings(p *Pipeline) {
	if p.Order == "" {
		return
	}
	s := "in order by " + p.Order + "; collisions: " + p.Collisions + "; schema changes: " + p.SchemaChanges
	if p.Start != "" {
		s += "; from " + p.Start + " on"
	}
	t.field(2, "changes", s)
}

func badRows(b BadRows) string {
	if b.Action != "discard" {
		return "stop the run"
	}
	s := "are set aside"
	if b.File != "" {
		s += " in " + b.File
	}
	if b.Limit > 0 {
		s += fmt.Sprintf("; more than %s stop the run", units.Count(b.Limit))
	}
	if b.Values {
		s += "; with their values"
	}
	return s
}

// endpoint is a line of what an endpoint is: its texts and the places of its
// secrets, in the order of its config.
func (t *text) endpoint(label, id string) {
	e := t.plan.Endpoint(id)
	if e == nil {
		t.field(2, label, id)
		return
	}
	s := id + " (" + e.Connector + ")"
	if c := settings(e.Config); c != "" {
		s += ": " + c
	}
	switch e.TLS {
	case "verify":
		s += ", TLS verified"
		if e.TLSCA != "" {
			s += " by " + e.TLSCA
		}
	case "off":
		s += ", TLS off"
	}
	if e.Catalog != "" {
		s += ", catalog " + e.Catalog
	}
	if e.Probe != "" {
		s += ", probed in " + e.Probe
	}
	if e.Throttle > 0 {
		s += ", at most " + units.Rate(e.Throttle).String()
	}
	t.field(2, label, s)
}

// settings lists the texts of a config, and where its secrets are.
func settings(config json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(config))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return ""
	}
	var out []string
	for dec.More() {
		key, err := dec.Token()
		var v any
		if err != nil || dec.Decode(&v) != nil {
			break
		}
		switch v := v.(type) {
		case string:
			if v != "" {
				out = append(out, fmt.Sprintf("%s %s", key, v))
			}
		case []any:
			var items []string
			for _, x := range v {
				if s, ok := x.(string); ok {
					items = append(items, s)
				}
			}
			if len(items) > 0 {
				out = append(out, fmt.Sprintf("%s %s", key, strings.Join(items, " ")))
			}
		case map[string]any:
			for _, where := range []string{"env", "file", "var"} {
				if s, ok := v[where].(string); ok && len(v) == 1 {
					out = append(out, fmt.Sprintf("%s from %s %s", key, where, s))
				}
			}
		}
	}
	return strings.Join(out, ", ")
}

// takes shows the resources with the sums behind them.
func (t *text) takes(p *Pipeline) {
	r := p.Resources
	t.line(2, "takes")
	t.field(4, "connections", connections(r.SourceConnections, p.Source, r.Readers, "reader")+"; "+connections(r.TargetConnections, p.Target, r.Writers, "writer"))
	t.field(4, "goroutines", fmt.Sprintf("%d = %s + %s + %d that hold them together", r.Goroutines, count(r.Readers, "reader"), count(r.Writers, "writer"), r.Goroutines-r.Readers-r.Writers))
	t.field(4, "memory", fmt.Sprintf("%s of rows at most = %d chunks (2 x %s + 2) of %s", units.Size(p.Memory), r.Slots, count(p.Workers, "worker"), units.Size(r.SlotBytes)))
}

func connections(n int, id string, of int, what string) string {
	if n == 0 {
		return "none to " + id + ", which is in files or in this process"
	}
	return fmt.Sprintf("%d to %s (%s + %d)", n, id, count(of, what), n-of)
}

func (t *text) warnings() {
	if len(t.plan.Warnings) == 0 {
		return
	}
	t.line(0, "")
	t.line(0, "warnings")
	type key struct{ code, summary, detail string }
	var order []key
	objects := map[key][]string{}
	for _, w := range t.plan.Warnings {
		// The object's name inside the words must not keep equal findings apart.
		k := key{w.Code, w.Summary, w.Detail}
		if table := t.tableOf(w.Object); table != "" && !t.options.All {
			k.detail = strings.ReplaceAll(w.Detail, table, "the table")
		}
		if w.Code == string(diag.CheckedColumns) {
			k.detail = "" // the columns say it
		}
		if objects[k] == nil {
			order = append(order, k)
		}
		objects[k] = append(objects[k], w.Object)
	}
	for _, k := range order {
		on := objects[k]
		at := on[0]
		if len(on) > 1 {
			at = fmt.Sprintf("%s and %d more", on[0], len(on)-1)
		}
		t.hanging(2, k.code+"  ", at+": "+k.summary)
		if k.detail != "" {
			t.wrapped(11, k.detail)
		}
	}
}

// tableOf is the table that a warning's object names, "" where it is another thing.
func (t *text) tableOf(object string) string {
	for i := range t.plan.Pipelines {
		if table, ok := strings.CutPrefix(object, t.plan.Pipelines[i].Name+"."); ok {
			return table
		}
	}
	return ""
}

// ending says what a plan can't know, and what to do next.
func (t *text) ending() {
	t.line(0, "")
	t.line(0, "not checked, since nothing was connected to")
	for _, e := range t.plan.Endpoints {
		switch side, _, _ := strings.Cut(e.ID, "."); {
		case side == "source" && e.TLS != "":
			t.wrapped(2, e.ID+": that it is there and still is what its catalog says; grants; how long it keeps a point to read at")
		case side == "source" && e.Catalog != "":
			t.wrapped(2, e.ID+": that it still is what its catalog says")
		case side == "target" && e.TLS != "":
			t.wrapped(2, e.ID+": that it is there and still is what its catalog says; grants; rows and locks in its tables; free disk")
		case side == "target" && e.Catalog == "":
			t.wrapped(2, e.ID+": what is in it already (it is planned as empty); free disk")
		}
	}
	missing := t.plan.missing()
	switch {
	case len(missing) > 0:
		t.line(0, "")
		t.wrapped(0, "This build plans and can't run yet: "+strings.Join(missing, ", ")+".")
	case t.options.Run != "":
		t.line(0, "")
		t.line(0, "next: "+t.options.Run)
	}
}

// missing is what keeps this build from running the plan: connectors, and
// stages where those are there.
func (p *Plan) missing() []string {
	var out []string
	for _, e := range p.Endpoints {
		if !e.Built {
			out = append(out, e.ID+" ("+e.Connector+")")
		}
	}
	if out != nil {
		return out
	}
	for _, l := range p.Pipelines {
		for _, s := range l.Stages {
			if s.NotBuilt {
				out = append(out, "stage "+s.ID+" of pipeline "+l.Name)
			}
		}
	}
	return out
}

// Runnable reports whether this build can carry the plan out.
func (p *Plan) Runnable() bool { return len(p.missing()) == 0 }
