package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/event"
	"penstock/planner/plan"
	"penstock/runtime/checkpoint"
	"penstock/runtime/rows"
	"penstock/runtime/stream"
)

// idleEvery is how often lanes without changes are moved, and the source is told
// what it may discard. Ten seconds are little log to keep, and no work at all.
const idleEvery = 10 * time.Second

// linger is how long a lane waits for more before it commits what it has.
const linger = 20 * time.Millisecond

// followed notes what the stream follows of the source, whose tables are bound.
func (p *pipeline) followed(state connectors.State) {
	p.log = &connectors.ChangeStream{Pipeline: p.plan.Name, Keep: len(state.Lanes) > 0}
	for _, t := range p.work.tables {
		p.log.Tables = append(p.log.Tables, t.plan.Followed(t.extract.Table))
		p.log.Keep = p.log.Keep || t.task.Action >= checkpoint.Complete
	}
}

// prepareTables makes the tables of a stream that follows no load. Each is a load
// without rows, so that its definition is kept and compared as any other's.
func (p *pipeline) prepareTables(ctx context.Context) error {
	for _, t := range p.work.tables {
		switch t.task.Action {
		case checkpoint.Loaded:
		case checkpoint.Complete:
			if err := p.persist(ctx, func() error { return p.target.Finish(ctx, t.load) }); err != nil {
				return err
			}
		default:
			err := p.persist(ctx, func() error {
				return p.target.Begin(ctx, t.load, connectors.Start{Generation: t.task.Generation, Created: t.created})
			})
			if err == nil {
				err = p.persist(ctx, func() error { return p.target.Finish(ctx, t.load) })
			}
			if err != nil {
				return err
			}
		}
		t.result.State = "loaded"
	}
	return nil
}

// follow applies the source's changes from where the tables' rows were read, or
// from where an earlier run has come to, until a drain or the end that was asked
// for. Goroutines are the stream's own and one that looks at how far it is.
func (p *pipeline) follow(ctx context.Context, state connectors.State) error {
	source, canRead := p.source.(connectors.ChangeSource)
	target, canApply := p.target.(connectors.ApplyTarget)
	if !canRead || !canApply {
		return &UsageError{fmt.Sprintf("pipeline %s: %s to %s can be planned as a stream, and not run by this penstock yet", p.plan.Name, p.plan.Source, p.plan.Target)}
	}
	start, err := p.startOf(ctx, source, state)
	if err != nil {
		return err
	}
	start.Digest = p.plan.DealingDigest()
	var at []connectors.Checkpoint
	if err := p.persist(ctx, func() (err error) {
		at, err = target.Checkpoints(ctx, p.plan.Lanes(), start)
		return err
	}); err != nil {
		return err
	}
	until, err := p.until(ctx, source)
	if err != nil {
		return err
	}
	x, err := p.changes()
	if err != nil {
		return err
	}
	w := newWatch(p, source, target, at)
	o := p.streamOptions(at, until)
	o.Target, o.Events = w, w
	o.Open = func(ctx context.Context, at connectors.Checkpoint) (connectors.ChangeReader, error) {
		r, err := source.OpenChanges(ctx, *p.log, at)
		if err != nil {
			return nil, err
		}
		return &transformed{ChangeReader: r, p: p, rows: x, watch: w}, nil
	}
	p.o.Events.Emit(event.StreamStarted{Pipeline: p.plan.Name, Lanes: len(at), Position: p.place(w.behind.Load().Position), Until: p.place(until)})
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); w.run(watching) }()
	at, err = stream.Run(ctx, o)
	stop()
	<-watched
	w.finish(at)
	return err
}

// startOf is where the stream begins that has no checkpoints yet; with some of
// them it is not asked for.
func (p *pipeline) startOf(ctx context.Context, source connectors.ChangeSource, state connectors.State) (start connectors.Checkpoint, err error) {
	first := len(state.Lanes) == 0
	switch {
	case !p.plan.Loads() && (first || p.anew()):
		// A table that is new has to be in what is followed before it is followed.
		if first && p.plan.Start != "" && p.plan.Start != "now" {
			if p.log.Start, err = p.position(p.plan.Start); err != nil {
				return start, err
			}
		}
		err = p.persist(ctx, func() error { start, err = source.PrepareChanges(ctx, *p.log); return err })
	case first:
		var least change.Position
		for i, t := range p.work.tables {
			if at := t.task.Point; i == 0 || at.Compare(least) < 0 {
				least = at
			}
		}
		err = p.persist(ctx, func() error { start, err = source.StartAt(ctx, least); return err })
	}
	if err != nil {
		err = fmt.Errorf("find where the stream of %s begins: %w", p.plan.Name, err)
	}
	return start, err
}

// until is where the stream is to end; nil: it goes on.
func (p *pipeline) until(ctx context.Context, source connectors.ChangeSource) (at change.Position, err error) {
	switch p.o.Until {
	case "":
		return nil, nil
	case "now":
		err = p.persist(ctx, func() error { at, err = source.Now(ctx); return err })
		return at, err
	}
	return p.position(p.o.Until)
}

func (p *pipeline) position(text string) (change.Position, error) {
	at, err := p.parse.ParsePosition(text)
	if err != nil {
		return nil, &UsageError{fmt.Sprintf("position %q of %s: %v", text, p.plan.Source, err)}
	}
	return at, nil
}

// place is a position for people; "" for none.
func (p *pipeline) place(at change.Position) string {
	if at == nil || p.parse == nil {
		return ""
	}
	return p.parse.FormatPosition(at)
}

func (p *pipeline) changes() (*rows.Changes, error) {
	var tables []*plan.Table
	for _, t := range p.work.tables {
		tables = append(tables, t.plan)
	}
	x, err := rows.NewChanges(tables, p.plan.BadRows.Values)
	if err != nil {
		return nil, &UsageError{err.Error()}
	}
	return x, nil
}

// streamOptions are what the plan says of the stream.
func (p *pipeline) streamOptions(at []connectors.Checkpoint, until change.Position) stream.Options {
	o := stream.Options{
		Pipeline: p.plan.Name, At: at, Loose: p.plan.Collisions == "repair", Memory: p.plan.Memory,
		Linger: linger, Idle: idleEvery, Until: until, Drain: p.o.Drain,
		Route: stream.Route{Order: stream.Order(p.plan.Order), Lanes: p.plan.Lanes(), Count: map[string]int{}, Alone: map[string]string{}},
		Retry: func(ctx context.Context, n int, err error) error {
			again := p.o.Backoff.wait(ctx, p.o.Drain, n, err, func(e event.Retrying) {
				e.Pipeline = p.plan.Name
				p.o.Events.Emit(e)
			})
			if errors.Is(again, errDrained) {
				return err // it was not drained
			}
			return again
		},
	}
	for _, t := range p.work.tables {
		s := t.plan.Streamed()
		s.After = t.task.Point
		o.Tables = append(o.Tables, s)
		o.Mode = t.plan.Apply.Changes
		if r := t.plan.Route; r != nil {
			if r.Ranges > 0 {
				o.Route.Count[t.name] = r.Ranges
			}
			if r.Alone != "" {
				o.Route.Alone[t.name] = r.Alone
			}
		}
		if c := t.plan.Commit; c != nil {
			o.Rows = least(o.Rows, c.Rows)
			o.Bytes = least(o.Bytes, c.Bytes)
			if d, err := time.ParseDuration(c.Every); err == nil && d > 0 {
				o.Every = time.Duration(least(int64(o.Every), int64(d)))
			}
		}
	}
	if o.Rows == 0 {
		o.Rows = 1 << 62 // the bytes, the time or an empty queue end a batch
	}
	return o
}

// least is the lesser of two bounds, of which 0 is none.
func least(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// transformed is a reader whose changes are made into what the target takes.
type transformed struct {
	connectors.ChangeReader
	p     *pipeline
	rows  *rows.Changes
	watch *watch
}

func (r *transformed) Read(ctx context.Context) (*change.Batch, error) {
	b, err := r.ChangeReader.Read(ctx)
	if err != nil {
		return nil, err
	}
	if t := r.p.throttle; t != nil {
		if err := t.WaitN(ctx, min(b.Size(), t.Burst())); err != nil {
			b.Release()
			return nil, err
		}
	}
	r.watch.read(b)
	return r.rows.Apply(b)
}
