package stream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/event"
)

// held is a batch on its way through lanes. The last one to let go of it gives
// its bytes back.
type held struct {
	batch  *change.Batch
	bytes  int64
	budget *budget
	lanes  atomic.Int32
}

func (h *held) release() {
	h.batch.Release()
	if h.lanes.Add(-1) == 0 {
		h.budget.give(h.bytes)
	}
}

// item is what a lane is sent: one of these.
type item struct {
	of     *held // changes of a batch, those in rows
	rows   []int32
	before change.Resume // with of: reading from here sees the batch, and all that is behind it
	resume change.Resume // with of: reading from here sees all that is behind the last row

	move  *connectors.Checkpoint // its row was moved to here, by the router
	drain chan<- struct{}        // apply all that came before, then say so
	hurry bool                   // memory is short: apply what is there
}

// lane applies its share of the changes. It belongs to one goroutine; the
// router reads what is atomic.
type lane struct {
	s       *stream
	id      int
	items   chan item
	applier connectors.ChangeApplier
	net     change.Net
	held    []*held
	at      connectors.Checkpoint // its row, as this process committed or moved it
	seen    change.Position       // at or before: applied, whatever the row was moved to since
	resume  change.Resume         // of the last change that is folded
	bytes   int64                 // of what is folded, about
	since   time.Time             // when its first change was
	done    atomic.Pointer[connectors.Checkpoint]
	routed  change.Position // the router's: last position sent
}

func newLane(s *stream, id int, a connectors.ChangeApplier, b *budget) *lane {
	l := &lane{s: s, id: id, items: make(chan item, 64), applier: a, at: s.at[id], seen: s.at[id].Position, resume: s.at[id].Resume, routed: s.at[id].Position}
	l.net.Loose = s.o.Loose
	l.publish()
	return l
}

// publish shows the router where the lane stands.
func (l *lane) publish() {
	c := l.at
	l.done.Store(&c)
}

// run applies items until there are no more of them.
func (l *lane) run(ctx context.Context) error {
	defer l.drop()
	var timer *time.Timer
	for {
		var it item
		var ok bool
		if l.net.Changes == 0 {
			select {
			case it, ok = <-l.items:
			case <-ctx.Done():
				return ctx.Err()
			}
		} else {
			select {
			case it, ok = <-l.items:
			default: // nothing is waiting: a little later there may be more
				if timer == nil {
					timer = time.NewTimer(l.s.o.Linger)
					defer timer.Stop()
				} else {
					timer.Reset(l.s.o.Linger)
				}
				select {
				case it, ok = <-l.items:
				case <-timer.C:
					if err := l.apply(ctx); err != nil {
						return err
					}
					continue
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		if !ok {
			return l.apply(ctx)
		}
		if err := l.take(ctx, it); err != nil {
			return err
		}
	}
}

func (l *lane) take(ctx context.Context, it item) error {
	switch {
	case it.of != nil:
		return l.fold(ctx, it)
	case it.move != nil:
		// The router moves a lane only when all that it was sent is committed.
		l.at.Position, l.at.Resume = it.move.Position, it.move.Resume
		l.at.Changes, l.at.Commit = it.move.Changes, it.move.Commit
		l.resume = it.move.Resume
		l.publish()
	case it.drain != nil:
		if err := l.apply(ctx); err != nil {
			return err
		}
		it.drain <- struct{}{}
	case it.hurry:
		return l.apply(ctx)
	}
	return nil
}

// fold takes the changes of an item, and commits whenever there are enough.
func (l *lane) fold(ctx context.Context, it item) error {
	h := it.of
	h.batch.Retain() // for the net: this item's own hold may end before
	h.lanes.Add(1)
	l.held = append(l.held, h)
	defer h.release()
	l.net.Hold(h.batch)
	for n, i := range it.rows {
		c := &h.batch.Changes[i]
		if c.Position.Compare(l.seen) <= 0 && l.s.o.off != "routed" {
			continue // applied by this lane before
		}
		if err := l.net.Fold(h.batch, int(i)); err != nil {
			var conflict *change.Conflict
			if errors.As(err, &conflict) {
				err = &connectors.Error{Op: "apply", Table: conflict.Table.String(), Position: conflict.Position, Class: connectors.Conflict, Err: err,
					Hint: `The source's log and this lane's changes do not agree. Verify the table; collisions = "repair" goes on.`}
			}
			return err
		}
		if l.net.Changes == 1 {
			l.since = time.Now()
		}
		l.bytes += h.bytes / int64(len(h.batch.Changes))
		l.resume = it.before
		if n == len(it.rows)-1 {
			l.resume = it.resume
		}
		if l.full() {
			if err := l.apply(ctx); err != nil {
				return err
			}
			if n < len(it.rows)-1 {
				h.batch.Retain()
				h.lanes.Add(1)
				l.held = append(l.held, h)
				l.net.Hold(h.batch)
			}
		}
	}
	if e := l.s.o.Every; e > 0 && l.net.Changes > 0 && time.Since(l.since) >= e {
		return l.apply(ctx)
	}
	return nil
}

// full reports that what is folded is enough for a commit.
func (l *lane) full() bool {
	o := l.s.o
	return int64(l.net.Len()) >= o.Rows || o.Bytes > 0 && l.bytes >= o.Bytes
}

// apply commits what is folded.
func (l *lane) apply(ctx context.Context) error {
	if l.net.Changes == 0 {
		l.drop()
		return nil
	}
	to := l.at
	to.Position, to.Resume, to.Commit, to.Changes = l.net.To, l.resume, l.net.Commit, l.at.Changes+l.net.Changes
	for attempt := 1; ; attempt++ {
		done, err := l.applier.Apply(ctx, &l.net, l.at, to)
		if err == nil {
			l.reached(to, done)
			return nil
		}
		err = fmt.Errorf("lane %d: %w", l.id, err)
		if connectors.ClassOf(err) != connectors.Transient {
			return err
		}
		if err := l.s.o.Retry(ctx, attempt, err); err != nil {
			return err
		}
		// Whether it committed is not known. Claiming the row waits for that
		// transaction, or defeats it, and only then tells.
		if l.s.o.off == "reclaim" {
			continue
		}
		now, err := l.applier.Reclaim(ctx)
		for ; err != nil && connectors.ClassOf(err) == connectors.Transient; attempt++ {
			if err := l.s.o.Retry(ctx, attempt, err); err != nil {
				return err
			}
			now, err = l.applier.Reclaim(ctx)
		}
		if err != nil {
			return fmt.Errorf("lane %d: %w", l.id, err)
		}
		l.at.Epoch, to.Epoch = now.Epoch, now.Epoch
		switch {
		case now.Position.Compare(to.Position) == 0:
			l.reached(to, done)
			return nil
		case now.Position.Compare(l.at.Position) == 0: // again
		case now.Position.Compare(l.at.Position) < 0 && l.s.o.off == "went back":
			l.at = now
		case now.Position.Compare(l.at.Position) < 0:
			l.at = now
			return fmt.Errorf("lane %d: %w: the target has %s, %s was committed before", l.id, errReread, now.Position, to.Position)
		default:
			return &connectors.Error{Op: "apply", Table: l.s.o.Pipeline, Class: connectors.LostPosition, Position: now.Position,
				Err: fmt.Errorf("lane %d stands at a position that it was never moved to; it was at %s, on its way to %s", l.id, l.at.Position, to.Position)}
		}
	}
}

// reached is after a commit.
func (l *lane) reached(to connectors.Checkpoint, done connectors.Applied) {
	l.s.o.Events.Emit(event.LaneCommitted{Pipeline: l.s.o.Pipeline, Lane: l.id, Changes: l.net.Changes, Net: done.Net, Rows: done.Rows, Repaired: done.Repaired,
		Position: to.Position.String(), Commit: time.UnixMicro(to.Commit).UTC(), Took: done.Took})
	l.at, l.seen = to, to.Position
	l.drop()
	l.publish()
}

// drop lets go of what is folded.
func (l *lane) drop() {
	l.net.Reset()
	l.bytes = 0
	for _, h := range l.held {
		h.release()
	}
	clear(l.held)
	l.held = l.held[:0]
}
