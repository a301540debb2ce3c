package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"penstock/connectors"
)

// StageOutline is a box of the plan: one stage, or those of tables that are alike.
type StageOutline struct {
	Number     int
	Kind       StageKind
	Title      string
	Stages     []*Stage // the first stands for the others
	Workers    string   // how many carry it, and what
	After      []int    // numbers of the boxes that it waits for
	With       []int    // of those that run beside it
	Statements []connectors.Statement
	Loads      []TableStatements // a chunk of each table, or of the first
	OtherLoads int               // tables whose loads are left out
	NotBuilt   bool
}

// Facts are how a box is carried and what it waits for, in words.
func (o *StageOutline) Facts() []string {
	var facts []string
	if o.Workers != "" {
		facts = append(facts, o.Workers)
	}
	switch {
	case len(o.After) == 0:
	case len(o.Stages) > 1 && !slices.Equal(o.Stages[0].After, o.Stages[1].After):
		facts = append(facts, "each after its own in "+numbers(o.After))
	case o.Kind == StageFinish && o.Stages[0].Table != "":
		facts = append(facts, "once the rows of "+numbers(o.After)+" are committed")
	default:
		facts = append(facts, "after "+numbers(o.After))
	}
	if len(o.With) > 0 {
		facts = append(facts, "side by side with "+numbers(o.With))
	}
	return facts
}

// MarksOnly reports a finish that has nothing to run.
func (o *StageOutline) MarksOnly() bool { return o.Kind == StageFinish && len(o.Statements) == 0 }

func numbers(list []int) string {
	s := make([]string, len(list))
	for i, n := range list {
		s[i] = strconv.Itoa(n)
	}
	return strings.Join(s, ", ")
}

// stages are the boxes of a pipeline in an order in which they may run.
func (b *outliner) stages(p *Pipeline, groups []group) []StageOutline {
	var boxes []*StageOutline
	of := map[string]*StageOutline{} // by stage id
	at := map[string]*StageOutline{}
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
		box := at[k]
		if box == nil {
			box = &StageOutline{Number: len(boxes) + 1, Kind: s.Kind, Title: s.ID, Workers: workers(s), Statements: s.Statements, Loads: s.Loads, NotBuilt: s.NotBuilt}
			if n := len(s.Loads); n > 1 && !b.all {
				box.Loads, box.OtherLoads = s.Loads[:1], n-1
			}
			at[k] = box
			boxes = append(boxes, box)
		}
		box.Stages = append(box.Stages, s)
		of[s.ID] = box
	}
	out := make([]StageOutline, len(boxes))
	for i, box := range boxes {
		if n := len(box.Stages); n > 1 {
			box.Title = fmt.Sprintf("%s to %s (%d)", box.Title, box.Stages[n-1].Table, n)
		}
		box.After = named(box, of, func(s *Stage) []string { return s.After })
		box.With = named(box, of, func(s *Stage) []string { return s.With })
		out[i] = *box
	}
	return out
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
	case s.Kind == StageApply && s.Parallel == 1:
		return "1 writer, a chunk at a time"
	case s.Kind == StageApply:
		return fmt.Sprintf("%s, each a chunk at a time", count(s.Parallel, "writer"))
	case s.Kind == StageFinish && s.Parallel > 1:
		return fmt.Sprintf("up to %d indexes at once", s.Parallel)
	}
	return ""
}

// named are the numbers of the boxes that the stages of a box name.
func named(box *StageOutline, of map[string]*StageOutline, ids func(*Stage) []string) []int {
	found := map[int]bool{}
	for _, s := range box.Stages {
		for _, id := range ids(s) {
			if x := of[id]; x != nil {
				found[x.Number] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
