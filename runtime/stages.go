package runtime

import (
	"fmt"

	"penstock/connectors"
	"penstock/planner/plan"
)

// work is what the stages of a pipeline come to.
type work struct {
	tables    []*table
	before    []string // before_load
	after     []string // after_load
	snapshots []connectors.Snapshot
}

// arrange is the one place that knows the kinds of stages. A kind, a mode or a
// reference it does not know is refused: a run does what the plan says, or
// nothing.
func arrange(p *plan.Pipeline, only map[string]bool) (*work, error) {
	bad := func(format string, args ...any) error {
		return &UsageError{fmt.Sprintf("pipeline %s: %s", p.Name, fmt.Sprintf(format, args...))}
	}
	switch p.Mode {
	case "snapshot", "cdc", "snapshot+cdc":
	default:
		return nil, bad("mode %q is one that this penstock does not know", p.Mode)
	}
	if p.Follows() && only != nil {
		return nil, bad("a stream has all of its pipeline's tables: name the pipeline alone with --only")
	}
	if err := sane(p); err != nil {
		return nil, bad("%v; plan it again", err)
	}
	w := &work{}
	has := map[string]map[plan.StageKind]bool{}
	for i := range p.Tables {
		has[p.Tables[i].Source.String()] = map[plan.StageKind]bool{}
	}
	var loads, follows, applies bool
	for i := range p.Stages {
		s := &p.Stages[i]
		table := has[s.Table]
		switch {
		case s.Table != "" && table == nil:
			return nil, bad("stage %q is of table %s, which the plan does not have", s.ID, s.Table)
		case s.NotBuilt:
			return nil, bad("stage %q has statements that this penstock can't run yet", s.ID)
		case s.Table != "" && (s.Kind == plan.StagePrepare || s.Kind == plan.StageExtract || s.Kind == plan.StageFinish):
			table[s.Kind] = true
		case s.Kind == plan.StagePrepare && s.ID == plan.PrepareLog:
		case s.Kind == plan.StageExtract && s.ID == plan.ExtractLog:
			follows = true
		case s.Kind == plan.StageApply && s.ID == plan.ApplyChanges:
			applies = true
		case s.Kind == plan.StagePrepare:
			w.before = texts(s)
		case s.Kind == plan.StageApply:
			loads = true
		case s.Kind == plan.StageFinish:
			w.after = texts(s)
		default:
			return nil, bad("stage %q is of kind %q, which this penstock does not know", s.ID, s.Kind)
		}
	}
	if p.Loads() != loads {
		return nil, bad("mode %s and the plan's apply stage do not fit", p.Mode)
	}
	if p.Follows() != (follows && applies) {
		return nil, bad("mode %s and the plan's stages of a stream do not fit", p.Mode)
	}
	f := p.Finder()
	for i := range p.Tables {
		t := &p.Tables[i]
		name := t.Source.String()
		if only != nil && !only[name] {
			continue
		}
		kinds := []plan.StageKind{plan.StagePrepare, plan.StageExtract, plan.StageFinish}
		if !p.Loads() {
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			if !has[name][kind] {
				return nil, bad("table %s has no %s stage", name, kind)
			}
		}
		if got := p.DigestOf(t); got != t.Digest {
			return nil, bad("table %s: its digest does not fit what the plan says of it (the file was edited); plan it again", name)
		}
		w.tables = append(w.tables, newTable(p, f, t))
	}
	return w, nil
}

// most is more than any machine has of readers, writers or slots.
const most = 100_000

// sane refuses numbers and words that a planner never writes, such as those of
// a plan that was edited by hand: a run with no writers would wait for ever.
func sane(p *plan.Pipeline) error {
	r := p.Resources
	for _, n := range []struct {
		name string
		got  int
	}{{"readers", r.Readers}, {"writers", r.Writers}, {"slots", r.Slots}} {
		if n.got < 1 || n.got > most {
			return fmt.Errorf("resources.%s is %d", n.name, n.got)
		}
	}
	if r.Slots < r.Writers+1 {
		return fmt.Errorf("resources.slots is %d for %d writers", r.Slots, r.Writers)
	}
	if r.SlotBytes < 1 {
		return fmt.Errorf("resources.slot_bytes is %d", r.SlotBytes)
	}
	if n := p.Lanes(); p.Follows() && (n < 1 || n > most) {
		return fmt.Errorf("the stream has %d lanes", n)
	}
	if a := p.BadRows.Action; a != "stop" && a != "discard" {
		return fmt.Errorf("bad_rows.action is %q", a)
	}
	for i := range p.Tables {
		if n := p.Tables[i].Chunk.Rows; n < 1 {
			return fmt.Errorf("chunk.rows of %s is %d", p.Tables[i].Source, n)
		}
	}
	return nil
}

func texts(s *plan.Stage) []string {
	var out []string
	for _, st := range s.Statements {
		out = append(out, st.SQL)
	}
	return out
}
