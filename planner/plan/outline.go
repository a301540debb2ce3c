package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/units"
)

// Outline is what people read of a plan, in the order in which they read it and
// in the words they read. The text, the page and the comment are drawn from it,
// so that none says what another does not.
type Outline struct {
	Pipelines []PipelineOutline
	Warnings  []Finding
	Unchecked []Fact   // by endpoint id: what only a connection could tell
	Missing   []string // what keeps this build from running the plan
}

// Fact is a named line.
type Fact struct{ Name, Value string }

// PipelineOutline is one pipeline.
type PipelineOutline struct {
	Name, Mode     string
	Source, Target EndpointOutline
	Facts          []Fact // delivery, bad rows, changes
	Tables         []TableOutline
	Stages         []StageOutline
	Takes          []Fact // connections, goroutines, memory
}

// EndpointOutline is one end of a pipeline: "source.erp (oracle)" and what is
// set of it, without a secret.
type EndpointOutline struct{ ID, Connector, Settings string }

func (e EndpointOutline) String() string {
	s := e.ID
	if e.Connector != "" {
		s += " (" + e.Connector + ")"
	}
	if e.Settings != "" {
		s += e.Settings
	}
	return s
}

// Finding is a warning with the objects that it is about, in one line each.
type Finding struct {
	Code, Summary, Detail string
	Objects               []string
}

// On names the first object and counts the others.
func (f Finding) On() string {
	if n := len(f.Objects); n > 1 {
		return fmt.Sprintf("%s and %d more", f.Objects[0], n-1)
	}
	return f.Objects[0]
}

// NewOutline outlines a plan. Tables that differ in their names and estimates
// only are outlined once; with all, each is.
func NewOutline(p *Plan, all bool) *Outline {
	b := &outliner{plan: p, all: all}
	o := &Outline{Warnings: b.warnings(), Unchecked: b.unchecked(), Missing: p.missing()}
	for i := range p.Pipelines {
		o.Pipelines = append(o.Pipelines, b.pipeline(&p.Pipelines[i]))
	}
	return o
}

type outliner struct {
	plan   *Plan
	all    bool
	finish map[string]*Stage // of the pipeline's tables
}

func (b *outliner) pipeline(p *Pipeline) PipelineOutline {
	o := PipelineOutline{Name: p.Name, Mode: p.Mode, Source: b.endpoint(p.Source), Target: b.endpoint(p.Target), Takes: takes(p)}
	if p.Delivery != "" {
		o.Facts = append(o.Facts, Fact{"delivery", p.Delivery})
	}
	o.Facts = append(o.Facts, Fact{"bad rows", badRows(p.BadRows)})
	if p.Order != "" {
		s := "in order by " + p.Order + "; collisions: " + p.Collisions + "; schema changes: " + p.SchemaChanges
		if p.Start != "" {
			s += "; from " + p.Start + " on"
		}
		o.Facts = append(o.Facts, Fact{"changes", s})
	}
	b.finish = map[string]*Stage{}
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Kind == StageFinish {
			b.finish[s.Table] = s
		}
	}
	groups := b.groups(p)
	for _, g := range groups {
		o.Tables = append(o.Tables, b.table(p, g))
	}
	o.Stages = b.stages(p, groups)
	return o
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

// endpoint says what an endpoint is: its texts and the places of its secrets,
// in the order of its config.
func (b *outliner) endpoint(id string) EndpointOutline {
	e := b.plan.Endpoint(id)
	if e == nil {
		return EndpointOutline{ID: id}
	}
	s := ""
	if c := settings(e.Config); c != "" {
		s = ": " + c
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
	return EndpointOutline{id, e.Connector, s}
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
			if v != "" && !strings.ContainsFunc(v, wordRune) {
				v = "'" + v + "'" // a comma alone would be read as the sentence's
			}
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

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// takes is the resources with the sums behind them.
func takes(p *Pipeline) []Fact {
	r := p.Resources
	out := []Fact{
		{"connections", connections(r.SourceConnections, p.Source, r.Readers, count(r.Readers, "reader")) + "; " + connections(r.TargetConnections, p.Target, r.Writers+r.Finishers, count(r.Writers, "writer")+finishers(r))},
		{"goroutines", fmt.Sprintf("%d = %s + %s%s + %d that hold them together", r.Goroutines, count(r.Readers, "reader"), count(r.Writers, "writer"), finishers(r), r.Goroutines-r.Readers-r.Writers-r.Finishers)},
		{"memory", fmt.Sprintf("%s of rows at most = %d chunks (2 x %s + 2) of %s", units.Size(p.Memory), r.Slots, count(p.Workers, "worker"), units.Size(r.SlotBytes))},
	}
	if p.Holds != "" {
		out = append(out, Fact{"holds", p.Source + ": " + p.Holds})
	}
	return out
}

func finishers(r Resources) string {
	if r.Finishers == 0 {
		return ""
	}
	return fmt.Sprintf(" + %d to finish tables", r.Finishers)
}

func connections(n int, id string, of int, what string) string {
	if n == 0 {
		return "none to " + id + ", which is no server"
	}
	return fmt.Sprintf("%d to %s (%s + %d)", n, id, what, n-of)
}

// warnings puts those that say the same together.
func (b *outliner) warnings() []Finding {
	type key struct{ code, summary, detail string }
	at := map[key]int{}
	var out []Finding
	for _, w := range b.plan.Warnings {
		// The object's name inside the words must not keep equal findings apart.
		k := key{w.Code, w.Summary, w.Detail}
		if table := b.tableOf(w.Object); table != "" && !b.all {
			k.detail = strings.ReplaceAll(w.Detail, table, "the table")
		}
		if w.Code == string(diag.CheckedColumns) {
			k.detail = "" // the columns say it
		}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, Finding{Code: k.code, Summary: k.summary, Detail: k.detail})
		}
		out[i].Objects = append(out[i].Objects, w.Object)
	}
	return out
}

// tableOf is the table that a warning's object names, "" where it is another thing.
func (b *outliner) tableOf(object string) string {
	for i := range b.plan.Pipelines {
		if table, ok := strings.CutPrefix(object, b.plan.Pipelines[i].Name+"."); ok {
			return table
		}
	}
	return ""
}

// unchecked says what a plan can't know: the names of the live checks, with
// what they look at.
func (b *outliner) unchecked() []Fact {
	var out []Fact
	for _, e := range b.plan.Endpoints {
		var names []string
		for _, c := range e.Checks {
			names = append(names, c.Name+" ("+c.About+")")
		}
		if names != nil {
			out = append(out, Fact{e.ID, strings.Join(names, "; ")})
		}
	}
	return out
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

// Notes are what people are told about a statement: "-- " is not in them.
func Notes(s connectors.Statement) string {
	var notes []string
	if s.Rows > 1 {
		notes = append(notes, fmt.Sprintf("%d rows at a time", s.Rows))
	}
	if s.Comment != "" {
		notes = append(notes, s.Comment)
	}
	if s.Locks != "" {
		notes = append(notes, "locks: "+s.Locks)
	}
	return strings.Join(notes, "; ")
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
