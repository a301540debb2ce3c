package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"penstock/connectors"
)

// box is stages that are shown as one: those of tables that are alike.
type box struct {
	number int
	stages []*Stage
}

// stages shows the boxes of the plan in an order in which they may run.
func (t *text) stages(p *Pipeline, groups []group) {
	var boxes []*box
	of := map[string]*box{} // by stage id
	at := map[string]*box{}
	groupOf := map[string]int{} // by table
	for i, g := range groups {
		for _, x := range g.tables {
			groupOf[x.Source.String()] = i
		}
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		k := string(s.Kind) + " " + s.ID
		if g, ok := groupOf[s.Table]; ok && s.Table != "" {
			k = fmt.Sprintf("%s %d", s.Kind, g)
		}
		b := at[k]
		if b == nil {
			b = &box{number: len(boxes) + 1}
			at[k] = b
			boxes = append(boxes, b)
		}
		b.stages = append(b.stages, s)
		of[s.ID] = b
	}
	t.line(2, "stages")
	for _, b := range boxes {
		t.stage(p, b, of)
	}
}

func (t *text) stage(p *Pipeline, b *box, of map[string]*box) {
	s := b.stages[0]
	title := s.ID
	if n := len(b.stages); n > 1 {
		title = fmt.Sprintf("%s to %s (%d)", s.ID, b.stages[n-1].Table, n)
	}
	t.hanging(4, fmt.Sprintf("%-3d", b.number), title)
	var facts []string
	if s := workers(s); s != "" {
		facts = append(facts, s)
	}
	after, with := numbers(b, of, func(s *Stage) []string { return s.After }), numbers(b, of, func(s *Stage) []string { return s.With })
	switch {
	case len(after) > 0 && len(b.stages) > 1:
		facts = append(facts, "each after its own in "+strings.Join(after, ", "))
	case len(after) > 0 && s.Kind == StageFinish && s.Table != "":
		facts = append(facts, "once the rows of "+strings.Join(after, ", ")+" are committed")
	case len(after) > 0:
		facts = append(facts, "after "+strings.Join(after, ", "))
	}
	if len(with) > 0 {
		facts = append(facts, "side by side with "+strings.Join(with, ", "))
	}
	if len(facts) > 0 {
		t.wrapped(7, strings.Join(facts, "; "))
	}
	t.statements(s.Statements)
	if s.NotBuilt && len(s.Statements) > 0 && s.Statements[0].Comment != "" {
		t.line(9, "-- not built yet: a run refuses it")
	}
	for i, l := range s.Loads {
		if !t.options.All && i > 0 {
			t.wrapped(9, fmt.Sprintf("-- the same for the other %s, with their own names and columns", count(len(s.Loads)-1, "table")))
			break
		}
		if len(s.Loads) > 1 {
			t.line(9, "-- "+l.Table)
		}
		t.statements(l.Statements)
	}
	if len(s.Statements) == 0 && s.Kind == StageFinish {
		t.line(9, "-- nothing but to mark it loaded")
	}
	if n := len(b.stages); n > 1 && len(s.Statements) > 0 {
		t.line(9, fmt.Sprintf("-- the same for the other %s", count(n-1, "table")))
	}
}

// workers says how many carry a stage, and what.
func workers(s *Stage) string {
	switch {
	case s.Kind == StageExtract && s.Table == "":
		return "1 reader of the log"
	case s.Kind == StageExtract:
		return fmt.Sprintf("up to %s over %s", count(s.Parallel, "reader"), count(s.Ranges, "range"))
	case s.Kind == StageApply && s.Lanes > 0:
		return fmt.Sprintf("%s, carried by %s", count(s.Lanes, "lane"), count(s.Parallel, "worker"))
	case s.Kind == StageApply:
		return fmt.Sprintf("%s, each a chunk at a time", count(s.Parallel, "writer"))
	}
	return ""
}

// numbers are those of the boxes that the stages of b name.
func numbers(b *box, of map[string]*box, ids func(*Stage) []string) []string {
	found := map[int]bool{}
	for _, s := range b.stages {
		for _, id := range ids(s) {
			if x := of[id]; x != nil {
				found[x.number] = true
			}
		}
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(found)) {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

func (t *text) statements(list []connectors.Statement) {
	for _, s := range list {
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
		for _, l := range strings.Split(strings.TrimRight(s.SQL, "\n"), "\n") {
			t.wrapped(9, l)
		}
		if notes != nil {
			t.wrapped(11, "-- "+strings.Join(notes, "; "))
		}
	}
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
