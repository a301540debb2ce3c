package runtime

import (
	"context"
	"fmt"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/event"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/runtime/checkpoint"
)

// prepareAll fixes the edges of every table that has rows to read and stores
// them in the target, before the first row is loaded.
func (p *pipeline) prepareAll(ctx context.Context) error {
	defer p.belt.sort()
	points := map[string]connectors.Snapshot{}
	for _, t := range p.work.tables {
		if p.draining() {
			return nil
		}
		switch t.task.Action {
		case checkpoint.Loaded:
			p.o.Events.Emit(event.TableLoaded{Pipeline: p.plan.Name, Table: t.name, Rows: t.task.Rows, Bad: t.task.Bad, Already: t.task.LoadedAt})
			continue
		case checkpoint.Complete:
			p.loaded <- t
			continue
		}
		if err := p.prepare(ctx, t, points); err != nil {
			return err
		}
	}
	return nil
}

// oneState reports whether all tables were read at one point of their source:
// those of this run and those of earlier ones.
func (p *pipeline) oneState() bool {
	if p.caps.Frozen {
		return true
	}
	var first *table
	for _, t := range p.work.tables {
		if first == nil {
			first = t
			continue
		}
		// Where the source has no positions to compare, only one snapshot is one state.
		same := t.snapshot != nil && t.snapshot == first.snapshot
		if t.task.Point != nil || first.task.Point != nil {
			same = t.task.Point.Compare(first.task.Point) == 0
		}
		if !same && !(t.task.Point == nil && t.snapshot == nil && first.snapshot == nil) {
			return false
		}
	}
	return true
}

func (p *pipeline) prepare(ctx context.Context, t *table, points map[string]connectors.Snapshot) error {
	s, err := p.snapshotAt(ctx, t, points)
	if err != nil {
		return err
	}
	t.snapshot = s
	point, err := s.Position(t.extract.Table)
	if err != nil {
		return fmt.Errorf("find the point at which %s is read: %w", t.name, err)
	}
	pending := t.task.Pending
	if t.task.Action == checkpoint.Continue {
		if point.Compare(t.task.Point) != 0 {
			return &connectors.Error{Op: "continue", Table: t.name, Position: t.task.Point, Class: connectors.LostPosition,
				Err:  fmt.Errorf("the source can't be read at the point this load was begun at: it is at %s", point),
				Hint: fmt.Sprintf("The source is not the one it was. Load the table again with --reload %s.", t.name)}
		}
	} else {
		if pending, err = p.cut(ctx, t); err != nil {
			return err
		}
		restart := t.task.Action == checkpoint.Restart
		if restart && !p.choice.reload[t.name] {
			p.o.Events.Emit(event.Notice{Pipeline: p.plan.Name, Text: fmt.Sprintf("%s: its unfinished load was read at a point that can't be read again; it is emptied and loaded from a new one (generation %d)", t.name, t.task.Generation)})
		}
		err := p.persist(ctx, func() error {
			return p.target.Begin(ctx, t.load, connectors.Start{Generation: t.task.Generation, Point: point, Chunks: pending, Restart: restart, Created: t.created, Positions: t.positions()})
		})
		if err != nil {
			return err
		}
		t.task.Chunks, t.task.Point = len(pending), point
	}
	return p.start(t, pending)
}

// snapshotAt opens the snapshot that a table is read at: a new one for tables
// that are begun, which they share, or one at the point of an earlier run.
func (p *pipeline) snapshotAt(ctx context.Context, t *table, points map[string]connectors.Snapshot) (connectors.Snapshot, error) {
	at := t.task.Point
	if s := points[string(at)]; s != nil {
		return s, nil
	}
	s, err := p.source.Snapshot(ctx, connectors.SnapshotOptions{
		Readers: p.plan.Resources.Readers + 1, At: at, Tables: p.readAt(at), Follow: p.log,
		Told: func(held string) { p.result.Held = append(p.result.Held, held) },
	})
	if err != nil {
		return nil, fmt.Errorf("begin a snapshot of %s: %w", p.plan.Source, err)
	}
	points[string(at)] = s
	p.work.snapshots = append(p.work.snapshots, s)
	return s, nil
}

// readAt are the tables that a snapshot at this point is read for.
func (p *pipeline) readAt(at change.Position) []*schema.Table {
	var out []*schema.Table
	for _, t := range p.work.tables {
		if t.extract.Table != nil && t.task.Point.Compare(at) == 0 {
			out = append(out, t.extract.Table)
		}
	}
	return out
}

// cut asks the source for the table's chunks.
func (p *pipeline) cut(ctx context.Context, t *table) ([]ranges.Chunk, error) {
	chunks, err := t.snapshot.Split(ctx, t.extract.Table, t.extract.Split)
	if err != nil {
		return nil, fmt.Errorf("cut %s into ranges: %w", t.name, err)
	}
	if t.parts > 0 {
		chunks = dealt(chunks, t.parts)
	}
	return chunks, nil
}

// start puts a table's jobs on the belt.
func (p *pipeline) start(t *table, pending []ranges.Chunk) error {
	var expected int64
	for _, c := range pending {
		expected += c.Rows
	}
	t.left, t.weight, t.began = len(pending), expected, time.Now()
	t.ended = t.began
	t.result.State = "unfinished"
	t.result.Chunks, t.result.Point = t.task.Chunks, t.task.Point.String()
	p.o.Events.Emit(event.TableStarted{Pipeline: p.plan.Name, Table: t.name, Generation: t.task.Generation, Point: t.task.Point.String(),
		Chunks: t.task.Chunks, Done: t.task.Done, Rows: t.task.Rows, Expected: expected})
	if len(pending) == 0 { // an empty table that cuts into nothing
		p.loaded <- t
		return nil
	}
	p.belt.add(t.jobs(pending, p.belt.ordered))
	return nil
}
