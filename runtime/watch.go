package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/event"
)

// watch counts what a stream does and looks, now and then, at how far it is
// behind. It stands between the stream and its target, whose lanes it hears of.
type watch struct {
	connectors.ApplyTarget
	p      *pipeline
	source connectors.ChangeSource
	behind atomic.Pointer[connectors.Checkpoint] // the lane that is furthest behind
	last   atomic.Pointer[change.Position]       // of what was read

	mu     sync.Mutex
	result StreamResult
}

func newWatch(p *pipeline, source connectors.ChangeSource, target connectors.ApplyTarget, at []connectors.Checkpoint) *watch {
	w := &watch{ApplyTarget: target, p: p, source: source}
	w.behind.Store(hindmost(at))
	w.result.From = p.place(hindmost(at).Position)
	return w
}

// hindmost is the lane that is furthest behind.
func hindmost(at []connectors.Checkpoint) *connectors.Checkpoint {
	out := at[0]
	for _, c := range at[1:] {
		if c.Position.Compare(out.Position) < 0 {
			out = c
		}
	}
	return &out
}

// Flushed notes which lane is furthest behind.
func (w *watch) Flushed(ctx context.Context) (connectors.Checkpoint, error) {
	c, err := w.ApplyTarget.Flushed(ctx)
	if err == nil {
		w.behind.Store(&c)
	}
	return c, err
}

// Emit counts what lanes commit, and passes events on.
func (w *watch) Emit(e event.Event) {
	if c, ok := e.(event.LaneCommitted); ok {
		w.mu.Lock()
		w.result.Changes += c.Changes
		w.result.Net += c.Net
		w.result.Rows += c.Rows
		w.result.Repaired += c.Repaired
		w.result.Commits++
		w.mu.Unlock()
	}
	w.p.o.Events.Emit(e)
}

// read notes how far the log is read.
func (w *watch) read(b *change.Batch) {
	at := b.Through
	if n := len(b.Changes); n > 0 && b.Changes[n-1].Position.Compare(at) > 0 {
		at = b.Changes[n-1].Position
	}
	w.mu.Lock()
	w.result.Read += int64(len(b.Changes))
	w.mu.Unlock()
	if at != nil {
		w.last.Store(&at)
	}
}

// run tells, at each interval, how far behind the stream is.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(idleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.look(ctx)
		}
	}
}

// look asks the source how much of its log lies ahead. A source that does not
// answer is told of by the reader.
func (w *watch) look(ctx context.Context) {
	at := *w.behind.Load()
	s, err := w.source.ChangesStatus(ctx, *w.p.log, at.Position)
	if err != nil {
		return
	}
	lag := Lag(at, w.lastRead(), time.Now())
	w.mu.Lock()
	w.result.BehindBytes, w.result.LagSeconds = s.Behind, lag.Seconds()
	w.mu.Unlock()
	w.p.o.Events.Emit(event.StreamLag{Pipeline: w.p.plan.Name, Position: w.p.place(at.Position), Behind: s.Behind, Kept: s.Kept, Lag: lag, Trouble: s.Trouble})
}

func (w *watch) lastRead() change.Position {
	if p := w.last.Load(); p != nil {
		return *p
	}
	return nil
}

// Lag is how old the last change is that the lane furthest behind has applied;
// nothing, where it has all that was read.
func Lag(at connectors.Checkpoint, read change.Position, now time.Time) time.Duration {
	if at.Commit == 0 || at.Position.Compare(read) >= 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMicro(at.Commit)))
}

// finish puts the counts into the report.
func (w *watch) finish(at []connectors.Checkpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.result
	r.Position = w.p.place(hindmost(at).Position)
	for _, c := range at {
		r.Lanes = append(r.Lanes, LaneResult{Lane: c.Lane, Position: w.p.place(c.Position), Changes: c.Changes})
	}
	w.p.result.Stream = &r
}
