package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/event"
	"penstock/internal/ranges"
	"penstock/runtime"
	"penstock/runtime/rows"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
)

// side is one side of a table, ready to be read as often as it takes: all of
// its readers see one state.
type side struct {
	name     string // "source", "target"
	snapshot connectors.Snapshot
	extract  connectors.Extract
	chunks   []ranges.Chunk
	pool     *batch.Pool
	// transform makes of a batch what a run would load; nil where rows are
	// compared as they are read.
	transform func() (*rows.Transform, error)
	hasher    func() *ranges.RowHasher
	workers   int
	throttle  *rate.Limiter
	values    bool
	backoff   runtime.Backoff
	emit      func(event.Event)
	labels    labels
}

// labels name a table in events.
type labels struct{ pipeline, table string }

// visitor takes the rows of chunks, one chunk after another. It belongs to one
// worker.
type visitor interface {
	rows(chunk int, b *batch.Batch, sel batch.Selection) error
	done() error // the chunk was read whole
	drop() bool  // forget the open chunk, it is read again; false: it can't be forgotten any more
}

// counts are the rows of a scan.
type counts struct {
	rows, filtered, bad int64
	firstBad            []string
}

func (c *counts) add(o counts) {
	c.rows += o.rows
	c.filtered += o.filtered
	c.bad += o.bad
	c.firstBad = append(c.firstBad, o.firstBad...)
	c.firstBad = c.firstBad[:min(len(c.firstBad), shownBad)]
}

func (c *counts) badRow(s string) {
	c.bad++
	if len(c.firstBad) < shownBad {
		c.firstBad = append(c.firstBad, s)
	}
}

// shownBad is how many bad rows a report shows.
const shownBad = 10

// scan reads chunks, by their numbers in s.chunks, side by side, each worker
// with a visitor of its own.
func (s *side) scan(ctx context.Context, chunks []int, visit func() visitor) (counts, error) {
	var next atomic.Int64
	var mu sync.Mutex
	var sum counts
	g, ctx := errgroup.WithContext(ctx)
	for range min(s.workers, len(chunks)) {
		g.Go(func() error {
			v := visit()
			var x *rows.Transform
			if s.transform != nil {
				var err error
				if x, err = s.transform(); err != nil {
					return &runtime.UsageError{Text: err.Error()}
				}
			}
			var mine counts
			for {
				i := next.Add(1) - 1
				if i >= int64(len(chunks)) {
					break
				}
				c, err := s.chunk(ctx, chunks[i], x, v)
				if err != nil {
					return fmt.Errorf("read the %s: %w", s.name, err)
				}
				mine.add(c)
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(mine)
			return nil
		})
	}
	err := g.Wait()
	return sum, err
}

// all are the numbers of all chunks.
func (s *side) all() []int {
	out := make([]int, len(s.chunks))
	for i := range out {
		out[i] = i
	}
	return out
}

// chunk reads a chunk, again after transient errors.
func (s *side) chunk(ctx context.Context, i int, x *rows.Transform, v visitor) (counts, error) {
	for attempt := 1; ; attempt++ {
		c, err := s.once(ctx, i, x, v)
		if err == nil {
			return c, v.done()
		}
		if !v.drop() {
			return c, err
		}
		err = s.backoff.Wait(ctx, attempt, err, func(e event.Retrying) {
			e.Pipeline, e.Table, e.Chunk = s.labels.pipeline, s.labels.table, s.chunks[i].ID
			s.emit(e)
		})
		if err != nil {
			return c, err
		}
	}
}

// whole is the one part of a chunk that is not dealt to ranges here.
var whole = []ranges.Chunk{{}}

func (s *side) once(ctx context.Context, i int, x *rows.Transform, v visitor) (n counts, err error) {
	extract := s.extract
	extract.Bad = func(b connectors.BadRow) error {
		if s.values && b.Detail != "" {
			b.Reason = b.Detail
		}
		n.badRow(b.String())
		return nil
	}
	r, err := s.snapshot.OpenChunk(ctx, extract, s.chunks[i])
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b := s.pool.Builder()
		err := r.Read(ctx, b)
		if err == nil {
			err = b.Err()
		}
		if err != nil {
			b.Discard()
			if errors.Is(err, io.EOF) {
				return n, nil
			}
			return n, err
		}
		if err := s.batch(ctx, i, b.Seal(), x, v, &n); err != nil {
			return n, err
		}
	}
}

// batch passes a batch on, which it takes over.
func (s *side) batch(ctx context.Context, i int, in *batch.Batch, x *rows.Transform, v visitor, n *counts) error {
	size, read := int64(in.Size()), int64(in.Rows)
	if err := s.slow(ctx, size); err != nil {
		in.Release()
		return err
	}
	out, sel := in, batch.Selection(nil)
	if x != nil {
		r := x.Apply(in, whole)
		out, sel = r.Rows, r.Sel[0]
		n.filtered += r.Filtered
		for _, b := range r.Bad {
			n.badRow(b.String())
		}
	}
	defer out.Release()
	n.rows += int64(sel.Len(out.Rows))
	s.emit(event.CompareRead{Pipeline: s.labels.pipeline, Table: s.labels.table, Side: s.name, Rows: read, Bytes: size})
	return v.rows(i, out, sel)
}

// slow waits until the source's throttle allows n bytes more.
func (s *side) slow(ctx context.Context, n int64) error {
	if s.throttle == nil {
		return nil
	}
	for burst := int64(s.throttle.Burst()); n > 0; n -= burst {
		if err := s.throttle.WaitN(ctx, int(min(n, burst))); err != nil {
			return err
		}
	}
	return nil
}
