package stream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/schema"
)

// router gives each change to the lane of its key, in commit order. It belongs
// to one goroutine; the confirmer uses its reader.
type router struct {
	s      *stream
	reader connectors.ChangeReader
	budget *budget
	lanes  []*lane
	tables map[*schema.Table]*table

	last   change.Position       // of the last change read: they never go back
	resume change.Resume         // of the last whole batch
	whole  connectors.Checkpoint // end of the last source transaction that was routed whole
	open   bool                  // inside a source transaction
	moves  []connectors.Ref      // a run of changes that several lanes wait for
	holds  []*held               // their batches
}

// run routes until the end.
func (r *router) run(ctx context.Context) error {
	r.tables = map[*schema.Table]*table{}
	r.resume = r.s.least().Resume
	reading, stop := context.WithCancel(ctx)
	batches, failed := make(chan *change.Batch), make(chan error, 1)
	go func() {
		defer close(batches)
		for {
			b, err := r.reader.Read(reading)
			if err != nil {
				failed <- err
				return
			}
			select {
			case batches <- b:
			case <-reading.Done():
				b.Release()
				failed <- reading.Err()
				return
			}
		}
	}()
	defer func() {
		stop()
		for b := range batches { // the reader's goroutine has ended when this does
			b.Release()
		}
		r.letGo()
	}()
	idle := time.NewTicker(r.s.o.Idle)
	defer idle.Stop()
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				err := <-failed
				if ctx.Err() == nil { // what was read is good: the next reading begins behind it
					if err := r.drain(ctx, r.lanes); err != nil {
						return err
					}
				}
				return fmt.Errorf("read the log: %w", err)
			}
			ended, err := r.route(ctx, b)
			if err != nil {
				return err
			}
			if ended {
				return r.finish(ctx)
			}
		case <-idle.C:
			if err := r.advance(ctx); err != nil {
				return err
			}
		case <-r.s.o.Drain:
			return r.finish(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finish applies what was routed. A transaction of which the end was not read
// stays as far as its changes are routed; the next run goes on behind them.
func (r *router) finish(ctx context.Context) error {
	if err := r.drain(ctx, r.lanes); err != nil {
		return err
	}
	return r.advance(ctx)
}

// route sends a batch's changes on. ended: Until is reached.
func (r *router) route(ctx context.Context, b *change.Batch) (ended bool, err error) {
	h := &held{batch: b, bytes: int64(b.Size()), budget: r.budget}
	h.lanes.Store(1)
	if err := r.budget.take(ctx, h.bytes, r.hurry); err != nil {
		b.Release()
		return false, err
	}
	defer h.release()
	rows := make([][]int32, len(r.lanes))
	// The resume of a change is that of the batch before, but for the last one of a
	// batch that ends with its transaction.
	resume := func(i int) change.Resume {
		if i == len(b.Changes)-1 && b.Changes[i].End && b.Resume != nil {
			return b.Resume
		}
		return r.resume
	}
	send := func() error {
		for i, l := range r.lanes {
			if rows[i] == nil {
				continue
			}
			it := item{of: h, rows: rows[i], before: r.resume, resume: resume(int(rows[i][len(rows[i])-1]))}
			if err := r.send(ctx, l, h, it); err != nil {
				return err
			}
			rows[i] = nil
		}
		return nil
	}
	for _, set := range b.Sets { // before lanes have any of it
		if err := r.keyOf(set); err != nil {
			return false, err
		}
	}
	until := r.s.o.Until
	for i := range b.Changes {
		c := &b.Changes[i]
		if r.last != nil && c.Position.Compare(r.last) <= 0 {
			return false, &connectors.Error{Op: "stream", Table: r.s.o.Pipeline, Class: connectors.LostPosition, Position: c.Position,
				Err: fmt.Errorf("the source's log went back: the change before it stands at %s", r.last)}
		}
		if until != nil && c.Position.Compare(until) > 0 {
			ended = true
			break
		}
		r.last = c.Position
		set := b.Sets[c.Set]
		t := r.tables[set.Table]
		switch {
		case c.Op == change.LeftOut, c.Position.Compare(t.after) <= 0:
			// The target has no part in it, or its row was loaded with the change.
		case c.Op == change.Truncate || len(set.Key) > 0 && b.MovesKey(i):
			if err := send(); err != nil { // what lies before it goes first
				return false, err
			}
			if err := r.hold(h, i); err != nil {
				return false, err
			}
		default:
			if err := r.serial(ctx, r.resume, send); err != nil {
				return false, err
			}
			img, row := b.KeyRow(i)
			key := t.key(img, row)
			l := r.lanes[t.lane(key, len(r.lanes))]
			if c.Position.Compare(l.routed) > 0 || r.s.o.off == "routed" {
				c.Hash = key ^ t.mix
				n := slices.Index(r.lanes, l)
				rows[n] = append(rows[n], int32(i))
				l.routed = c.Position
			}
		}
		r.open = !c.End
		if c.End {
			if err := r.serial(ctx, resume(i), send); err != nil {
				return false, err
			}
			r.whole.Position, r.whole.Commit, r.whole.Resume = c.Position, c.Commit, resume(i)
		}
	}
	if ended {
		return true, send()
	}
	if err := send(); err != nil {
		return false, err
	}
	if len(r.moves) == 0 { // else it is only half done
		r.resume = b.Resume
	}
	if !r.open && b.Resume != nil && b.Through.Compare(r.whole.Position) > 0 {
		r.whole.Position, r.whole.Resume = b.Through, b.Resume
	}
	return until != nil && !r.open && (r.last.Compare(until) >= 0 || b.Through.Compare(until) >= 0), nil
}

// keyOf gives a set the stream's key: the source may have another one, or none.
func (r *router) keyOf(set *change.Set) error {
	t := r.tables[set.Table]
	if t == nil {
		st := r.s.tables[set.Table.Name.String()]
		if st == nil {
			return &connectors.Error{Op: "stream", Table: set.Table.Name.String(), Class: connectors.Schema,
				Err: fmt.Errorf("the source sends changes of a table that pipeline %s does not have", r.s.o.Pipeline)}
		}
		t = r.s.o.Route.table(set.Table, st.Key)
		t.after = st.After
		r.tables[set.Table] = t
	}
	set.Key = t.columns
	return nil
}

// send hands a lane its share of a batch.
func (r *router) send(ctx context.Context, l *lane, h *held, it item) error {
	h.batch.Retain()
	h.lanes.Add(1)
	select {
	case l.items <- it:
		return nil
	case <-ctx.Done():
		h.release()
		return ctx.Err()
	}
}

// hurry tells lanes to apply what they hold. A lane whose queue is full is about
// to anyway.
func (r *router) hurry() {
	for _, l := range r.lanes {
		select {
		case l.items <- item{hurry: true}:
		default:
		}
	}
}

// drain waits until lanes have committed all that they were sent.
func (r *router) drain(ctx context.Context, lanes []*lane) error {
	done := make(chan struct{}, len(lanes))
	for _, l := range lanes {
		select {
		case l.items <- item{drain: done}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for range lanes {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// confirmer tells the source, now and then, what nobody will ask for again.
func (r *router) confirmer(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(r.s.o.Idle)
	defer tick.Stop()
	var last change.Resume
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-ended:
			over = true
		case <-ctx.Done():
			return ctx.Err()
		}
		c, err := r.s.o.Target.Flushed(ctx)
		if err != nil {
			return fmt.Errorf("read what the target has flushed: %w", err)
		}
		if c.Resume == nil || slices.Equal(c.Resume, last) {
			continue
		}
		if err := r.reader.Confirm(ctx, c.Resume); err != nil {
			return fmt.Errorf("tell the source what it may discard: %w", err)
		}
		last = c.Resume
	}
	return nil
}
