package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"penstock/internal/schema"
)

// Difference is something that a plan uses and that an endpoint does not have,
// or has otherwise than the plan says.
type Difference struct {
	Endpoint string `json:"endpoint"`
	Table    string `json:"table"` // at the endpoint
	Column   string `json:"column,omitempty"`
	What     string `json:"what"` // a clause about the column, or the table: "was integer and is text"
}

func (d Difference) String() string {
	if d.Column != "" {
		return fmt.Sprintf("%s, table %s: column %s %s", d.Endpoint, d.Table, d.Column, d.What)
	}
	return fmt.Sprintf("%s, table %s: it %s", d.Endpoint, d.Table, d.What)
}

// Drift compares what the plan uses of table t with its ends as they are. A
// nil catalog is not looked at. What the plan does not use may differ.
func (p *Pipeline) Drift(t *Table, source, target *schema.Catalog) []Difference {
	var out []Difference
	if source != nil {
		out = p.sourceDrift(t, source)
	}
	if target != nil {
		out = append(out, p.targetDrift(t, target)...)
	}
	return out
}

func (p *Pipeline) sourceDrift(t *Table, live *schema.Catalog) (out []Difference) {
	differs := func(column, format string, args ...any) {
		out = append(out, Difference{p.Source, t.Source.String(), column, fmt.Sprintf(format, args...)})
	}
	have := live.Find(t.Source)
	if have == nil || have.Name != t.Source {
		differs("", "is gone")
		return out
	}
	for _, r := range t.Read {
		switch c := have.Column(r.Name); {
		case c == nil:
			differs(r.Name, "is gone (%s)", r.Native)
		case c.Type != r.Type, t.Encoded && c.Native != r.Native:
			differs(r.Name, "was %s and is %s", r.Native, c.Native)
		case c.Nullable && !r.Nullable:
			differs(r.Name, "was NOT NULL and may be NULL")
		}
	}
	return out
}

func (p *Pipeline) targetDrift(t *Table, live *schema.Catalog) (out []Difference) {
	differs := func(column, format string, args ...any) {
		out = append(out, Difference{p.Target, t.Target.String(), column, fmt.Sprintf(format, args...)})
	}
	have := live.Find(t.Target)
	if have == nil || have.Name != t.Target {
		if !t.Create {
			differs("", "is gone, and the plan does not create it")
		}
		return out
	}
	fed := map[string]bool{}
	for _, w := range t.Columns {
		fed[w.Name] = true
		switch c := have.Column(w.Name); {
		case c == nil && t.Create:
			differs(w.Name, "is not there (%s), and the table is", w.Native)
		case c == nil:
			differs(w.Name, "is gone (%s)", w.Native)
		case c.Generated != "":
			differs(w.Name, "is computed by the target as %s and takes no value", c.Generated)
		case c.Type != w.Type && t.Create:
			differs(w.Name, "would be made as %s and is there as %s", w.Native, c.Native)
		case c.Type != w.Type:
			differs(w.Name, "was %s and is %s", w.Native, c.Native)
		case w.Nullable && !c.Nullable:
			differs(w.Name, "may be NULL in the plan and is NOT NULL")
		}
	}
	for _, c := range have.Columns {
		if !fed[c.Name] && !c.Nullable && c.Default == "" && !c.Identity && c.Generated == "" {
			differs(c.Name, "is NOT NULL without a default, and the plan gives it no value")
		}
	}
	return out
}

// NewIn lists the tables and the columns that p, a pipeline planned from its
// source as it is, reads and was, the same pipeline planned from a checked-in
// catalog, does not.
func (p *Pipeline) NewIn(was *Pipeline) (out []Difference) {
	old := map[schema.Name]*Table{}
	for i := range was.Tables {
		old[was.Tables[i].Source] = &was.Tables[i]
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		before := old[t.Source]
		if before == nil {
			out = append(out, Difference{p.Source, t.Source.String(), "", "is new, and the pipeline takes it"})
			continue
		}
		had := map[string]bool{}
		for _, r := range before.Read {
			had[r.Name] = true
		}
		for _, r := range t.Read {
			if !had[r.Name] {
				out = append(out, Difference{p.Source, t.Source.String(), r.Name, "is new (" + r.Native + "), and the pipeline carries it"})
			}
		}
	}
	return out
}

// TargetOf is the target table in a Definition that a target has kept.
func TargetOf(definition string) schema.Name {
	var d struct {
		Target schema.Name `json:"target"`
	}
	// One that can't be read is of no table: it is then nobody's.
	if json.Unmarshal([]byte(definition), &d) != nil {
		return schema.Name{}
	}
	return d.Target
}

// list writes differences under each other.
func list(d []Difference) string {
	lines := make([]string, len(d))
	for i, x := range d {
		lines[i] = x.String()
	}
	return strings.Join(lines, "; ")
}

// DriftError says that a plan does not fit its ends as they are.
type DriftError struct{ Differences []Difference }

func (e *DriftError) Error() string {
	return "the plan no longer fits what is there: " + list(e.Differences)
}
