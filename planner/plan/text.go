package plan

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"penstock/connectors"
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
	// Checked says what the live checks of each endpoint found, in place of what
	// was not checked; nil: nothing was connected to.
	Checked []Fact
}

// Text writes a plan for people: what goes where, in which order, what waits
// for what, what it takes, and what only a run can tell.
func Text(w io.Writer, p *Plan, o TextOptions) error {
	t := &text{all: o.All, width: maxWidth}
	if o.Width > 0 {
		t.width = min(max(o.Width, minWidth), maxWidth)
	}
	outline := NewOutline(p, o.All)
	for i := range outline.Pipelines {
		if i > 0 {
			t.line(0, "")
		}
		t.pipeline(&outline.Pipelines[i])
	}
	t.warnings(outline.Warnings)
	t.line(0, "")
	head, facts := "not checked, since nothing was connected to", outline.Unchecked
	if o.Checked != nil {
		head, facts = "checked at the endpoints", o.Checked
	}
	t.line(0, head)
	for _, f := range facts {
		t.wrapped(2, f.Name+": "+f.Value)
	}
	switch {
	case len(outline.Missing) > 0:
		t.line(0, "")
		t.wrapped(0, "This build plans and can't run yet: "+strings.Join(outline.Missing, ", ")+".")
	case o.Run != "":
		t.line(0, "")
		t.line(0, "next: "+o.Run)
	}
	_, err := w.Write(t.out.Bytes())
	return err
}

type text struct {
	all   bool
	width int
	out   bytes.Buffer
}

func (t *text) pipeline(p *PipelineOutline) {
	head := "pipeline " + p.Name
	t.line(0, head+strings.Repeat(" ", max(2, t.width-len(head)-len(p.Mode)))+p.Mode)
	t.field(2, "from", p.Source.String())
	t.field(2, "to", p.Target.String())
	t.fields(2, p.Facts)
	for i := range p.Tables {
		t.line(0, "")
		t.table(&p.Tables[i])
	}
	t.line(0, "")
	t.line(2, "stages")
	for i := range p.Stages {
		t.stage(&p.Stages[i])
	}
	t.line(0, "")
	t.line(2, "takes")
	t.fields(4, p.Takes)
}

func (t *text) table(o *TableOutline) {
	t.wrapped(2, o.Title())
	if len(o.Tables) > 1 {
		for _, x := range o.Tables {
			t.wrapped(4, fmt.Sprintf("%s -> %s%s", x.Source, x.Target, rows(x.Estimates)))
		}
	}
	t.fields(4, o.Facts)
	t.field(4, "columns", o.Columns)
	plain := 0
	for _, m := range o.Mappings {
		if m.Plain {
			plain++
		}
	}
	t.mappings(o.Mappings, !t.all && plain > manyColumns)
	t.fields(4, o.Rest)
}

// manyColumns is from where on columns that are carried as they are, under
// their own names, are only counted.
const manyColumns = 8

// mappings writes columns under each other. A reason that several in a row
// share stands once, below the last of them.
func (t *text) mappings(all []Mapping, fold bool) {
	var lines []Mapping
	from, to := 0, 0
	for _, m := range all {
		if fold && m.Plain {
			continue
		}
		lines = append(lines, m)
		from, to = max(from, utf8.RuneCountInString(m.From)), max(to, utf8.RuneCountInString(m.To))
	}
	// One long expression must not push the others to the edge.
	from, to = min(from, 40), min(to, 40)
	for i, l := range lines {
		whole := strings.TrimRight(pad(l.From, from)+" -> "+pad(l.To, to)+"  "+l.Decision, " ")
		if 6+utf8.RuneCountInString(whole) <= t.width {
			t.line(6, whole)
		} else { // the decision goes below what it is about
			t.hanging(6, l.From+" -> ", strings.TrimRight(l.To, " "))
			t.wrapped(10, l.Decision)
		}
		if l.Reason != "" && (i+1 == len(lines) || lines[i+1].Reason != l.Reason) {
			t.wrapped(10, l.Reason)
		}
	}
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) }

func (t *text) stage(s *StageOutline) {
	t.hanging(4, fmt.Sprintf("%-3d", s.Number), s.Title)
	if facts := s.Facts(); len(facts) > 0 {
		t.wrapped(7, strings.Join(facts, "; "))
	}
	t.statements(s.Statements)
	if s.NotBuilt && len(s.Statements) > 0 && s.Statements[0].Comment != "" {
		t.line(9, "-- not built yet: a run refuses it")
	}
	for _, l := range s.Loads {
		if len(s.Loads)+s.OtherLoads > 1 {
			t.line(9, "-- "+l.Table)
		}
		t.statements(l.Statements)
	}
	if s.OtherLoads > 0 {
		t.wrapped(9, fmt.Sprintf("-- the same for the other %s, with their own names and columns", count(s.OtherLoads, "table")))
	}
	if s.MarksOnly() {
		t.line(9, "-- nothing but to mark it loaded")
	}
	if n := len(s.Stages); n > 1 && len(s.Statements) > 0 {
		t.line(9, fmt.Sprintf("-- the same for the other %s", count(n-1, "table")))
	}
}

func (t *text) statements(list []connectors.Statement) {
	for _, s := range list {
		for _, l := range strings.Split(strings.TrimRight(s.SQL, "\n"), "\n") {
			t.wrapped(9, l)
		}
		if notes := Notes(s); notes != "" {
			t.wrapped(11, "-- "+notes)
		}
	}
}

func (t *text) warnings(list []Finding) {
	if len(list) == 0 {
		return
	}
	t.line(0, "")
	t.line(0, "warnings")
	for _, f := range list {
		t.hanging(2, f.Code+"  ", f.On()+": "+f.Summary)
		if f.Detail != "" {
			t.wrapped(11, f.Detail)
		}
	}
}
