package stream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/event"
)

// hold keeps a change for the next serial section.
func (r *router) hold(h *held, i int) error {
	if n := len(r.holds); n == 0 || r.holds[n-1] != h { // a batch once
		h.batch.Retain()
		h.lanes.Add(1)
		r.holds = append(r.holds, h)
		if r.budget.pin(h.bytes) && n > 0 {
			return &connectors.Error{Op: "stream", Table: r.s.o.Pipeline, Class: connectors.Full, Position: h.batch.Changes[i].Position,
				Err:  fmt.Errorf("one transaction gives more rows another key than memory holds"),
				Hint: "Raise memory in the pipeline, and run again: it goes on before this transaction."}
		}
	}
	r.moves = append(r.moves, connectors.Ref{Batch: h.batch, Index: i})
	return nil
}

// letGo drops what was held.
func (r *router) letGo() {
	for _, h := range r.holds {
		r.budget.pin(-h.bytes)
		h.release()
	}
	clear(r.holds)
	clear(r.moves)
	r.holds, r.moves = r.holds[:0], r.moves[:0]
}

// serial does the changes that are held: the lanes that they concern apply what
// lies before, then one transaction does all of them and moves those lanes. resume
// is the last one's; send sends what is routed and not sent yet.
func (r *router) serial(ctx context.Context, resume change.Resume, send func() error) error {
	if len(r.moves) == 0 {
		return nil
	}
	if err := send(); err != nil {
		return err
	}
	concerned := make([]bool, len(r.lanes))
	var todo []connectors.Ref
	for _, m := range r.moves {
		of := r.lanesOf(m)
		done := 0
		for _, i := range of {
			if m.Change().Position.Compare(r.lanes[i].routed) <= 0 {
				done++
			}
		}
		switch done {
		case len(of):
			continue // done before
		case 0:
			todo = append(todo, m)
			for _, i := range of {
				concerned[i] = true
			}
		default:
			return &connectors.Error{Op: "stream", Table: r.s.o.Pipeline, Class: connectors.LostPosition, Position: m.Change().Position,
				Err: fmt.Errorf("of the lanes of one change some have applied it and some have not")}
		}
	}
	if todo == nil {
		r.letGo()
		return nil
	}
	var lanes []*lane
	for i, is := range concerned {
		if is {
			lanes = append(lanes, r.lanes[i])
		}
	}
	if r.s.o.off != "drain" {
		if err := r.drain(ctx, lanes); err != nil {
			return err
		}
	}
	began := time.Now()
	end := todo[len(todo)-1].Change()
	s := connectors.Section{Changes: todo, Tables: r.s.o.Tables, To: connectors.Checkpoint{
		Position: end.Position, Resume: resume, Commit: end.Commit, Changes: int64(len(todo)), Source: r.reader.Source(),
	}}
	for _, l := range lanes {
		s.Lanes = append(s.Lanes, *l.done.Load())
	}
	// A lost connection leaves open whether it was done; all lanes are claimed
	// again then, and their rows tell.
	if err := r.s.o.Target.Serial(ctx, s); err != nil {
		return fmt.Errorf("serial section at %s: %w", end.Position, err)
	}
	n := int64(len(todo))
	r.s.o.Events.Emit(event.LaneCommitted{Pipeline: r.s.o.Pipeline, Lane: lanes[0].id, Changes: n, Net: n, Rows: n,
		Position: end.Position.String(), Commit: time.UnixMicro(end.Commit).UTC(), Took: time.Since(began)})
	for n, l := range lanes {
		to := s.Lanes[n]
		to.Position, to.Resume, to.Commit, to.Source = s.To.Position, s.To.Resume, s.To.Commit, s.To.Source
		if n == 0 {
			to.Changes += s.To.Changes
		}
		if err := r.move(ctx, l, to); err != nil {
			return err
		}
		l.routed = to.Position
	}
	r.letGo()
	return nil
}

// lanesOf are the lanes that a change concerns: those of its keys, or all that a
// truncated table has rows in.
func (r *router) lanesOf(m connectors.Ref) []int {
	c := m.Change()
	set := m.Batch.Sets[c.Set]
	t := r.tables[set.Table]
	if c.Op == change.Truncate {
		if t.fixed {
			return []int{t.lane(0, len(r.lanes))}
		}
		all := make([]int, len(r.lanes))
		for i := range all {
			all[i] = i
		}
		return all
	}
	of := []int{t.lane(t.key(&set.Before, c.Before), len(r.lanes)), t.lane(t.key(&set.After, c.After), len(r.lanes))}
	slices.Sort(of)
	return slices.Compact(of)
}

// move tells a lane that its row was moved.
func (r *router) move(ctx context.Context, l *lane, to connectors.Checkpoint) error {
	select {
	case l.items <- item{move: &to}:
	case <-ctx.Done():
		return ctx.Err()
	}
	return r.drain(ctx, []*lane{l}) // until it knows, it is not to be looked at
}

// advance moves the lanes that have nothing to do to the end of the last
// transaction that was routed whole. A lane that stays behind keeps the source
// from discarding its log.
func (r *router) advance(ctx context.Context) error {
	to := r.whole
	if to.Position == nil || to.Resume == nil {
		return nil
	}
	to.Source = r.reader.Source()
	var idle []connectors.Checkpoint
	for _, l := range r.lanes {
		at := *l.done.Load()
		if at.Position.Compare(l.routed) >= 0 && at.Position.Compare(to.Position) < 0 {
			idle = append(idle, at)
		}
	}
	if idle == nil {
		return nil
	}
	moved, err := r.s.o.Target.Advance(ctx, idle, to)
	if err != nil {
		return fmt.Errorf("move idle lanes to %s: %w", to.Position, err)
	}
	for _, id := range moved {
		l := r.lanes[id]
		at := *l.done.Load()
		at.Position, at.Resume, at.Commit, at.Source = to.Position, to.Resume, max(at.Commit, to.Commit), to.Source
		if err := r.move(ctx, l, at); err != nil {
			return err
		}
	}
	return nil
}
