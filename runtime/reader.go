package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"

	"penstock/connectors"
	"penstock/internal/event"
	"penstock/internal/ranges"
	"penstock/runtime/rows"
)

// reader takes jobs off the belt and reads them, until there are none.
func (p *pipeline) reader(ctx context.Context) {
	for f := p.belt.begin(); f != nil; f = p.belt.begin() {
		p.read(ctx, f)
	}
}

// read reads a flight, again after transient errors while no writer has taken
// any of it.
func (p *pipeline) read(ctx context.Context, f *flight) {
	t := f.job.table
	for attempt := 1; ; attempt++ {
		err := p.scan(ctx, t, f.job.parts, func(pc *piece, n counts) error {
			if len(f.job.parts) > 1 && !p.belt.fits(f, pc.size) {
				pc.rows.Release()
				return errOutgrown
			}
			if p.draining() {
				pc.rows.Release()
				return errDrained
			}
			if !p.belt.put(f, pc, n) {
				return errDrained
			}
			return nil
		})
		switch {
		case err == nil, errors.Is(err, errOutgrown):
			p.belt.end(f, err)
			return
		case errors.Is(err, errDrained):
			p.belt.leave(f)
			return
		}
		// An error that can't be retried, or one of a flight that a writer is on,
		// is the writer's to deal with.
		if connectors.ClassOf(err) == connectors.Transient && p.belt.restart(f) {
			if err = p.o.Backoff.wait(ctx, p.o.Drain, attempt, err, p.retrying(t, f.job.parts[0])); err == nil {
				continue
			}
			if errors.Is(err, errDrained) {
				p.belt.leave(f)
				return
			}
		}
		p.belt.end(f, err)
		return
	}
}

// scan reads the stretch of some parts once and passes on each batch that came
// through the table's transform. give takes the piece over, whatever it returns.
func (p *pipeline) scan(ctx context.Context, t *table, parts []ranges.Chunk, give func(*piece, counts) error) (err error) {
	x, err := t.transform()
	if err != nil {
		return err
	}
	defer t.giveBack(x)
	var unread []rows.Bad // rows that r left out since the last batch
	var stop error        // what the first of them is where the spec says to stop at one
	extract := t.extract
	extract.Bad = func(b connectors.BadRow) error {
		if t.values && b.Detail != "" {
			b.Reason = b.Detail
		}
		unread = appendUnread(unread, b, parts)
		if len(unread) > 0 && p.discards.stops() {
			stop = p.stopAt(t, parts, unread[0])
		}
		return stop
	}
	r, err := t.snapshot.OpenChunk(ctx, extract, parts[0])
	if err != nil {
		return fmt.Errorf("%s: %w", parts[0], err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b := t.pool.Builder()
		err := r.Read(ctx, b)
		if stop != nil {
			b.Discard()
			return stop
		}
		// Rows that were left out behind the last good one go with an empty batch. An
		// error that holds io.EOF is a connection's end, not the chunk's.
		if err != nil && !(err == io.EOF && len(unread) > 0) {
			b.Discard()
			if err == io.EOF {
				return nil
			}
			return fmt.Errorf("%s: %w", parts[0], err)
		}
		if err := b.Err(); err != nil {
			b.Discard()
			return &connectors.Error{Op: "read", Table: t.name, Class: connectors.Data, Err: fmt.Errorf("%s: %w", parts[0], err), Hint: "Leave the column out, or read it through a view that cuts it."}
		}
		in := b.Seal()
		size := int64(in.Size())
		if p.throttle != nil {
			if err := p.slow(ctx, size); err != nil {
				in.Release()
				return err
			}
		}
		read := int64(in.Rows + len(unread))
		res := x.Apply(in, parts)
		res.Bad = append(unread, res.Bad...)
		unread = nil
		if len(res.Bad) > 0 && p.discards.stops() {
			res.Rows.Release()
			return p.stopAt(t, parts, res.Bad[0])
		}
		pc := &piece{rows: res.Rows, sel: res.Sel, size: int64(res.Rows.Size())}
		p.o.Events.Emit(event.ChunkRead{Pipeline: p.plan.Name, Table: t.name, Range: parts[0].Range, Chunk: parts[0].ID, Read: read, Filtered: res.Filtered, Bytes: size})
		if err := give(pc, counts{read: read, filtered: res.Filtered, bytes: size, bad: res.Bad}); err != nil {
			return err
		}
	}
}

// appendUnread counts a row that the source could not give. Its key is not
// known, so that of the parts of a hash split the first one answers for it, in
// whichever job that part is read.
func appendUnread(bad []rows.Bad, b connectors.BadRow, parts []ranges.Chunk) []rows.Bad {
	for i, p := range parts {
		if p.Part <= 1 {
			return append(bad, rows.Bad{Row: -1, Part: i, Key: b.Place, Column: b.Column, Reason: b.Reason})
		}
	}
	return bad
}

// slow waits until the source's throttle allows n bytes more.
func (p *pipeline) slow(ctx context.Context, n int64) error {
	for burst := int64(p.throttle.Burst()); n > 0; n -= burst {
		if err := p.throttle.WaitN(ctx, int(min(n, burst))); err != nil {
			return err
		}
	}
	return nil
}

// stopAt is the error of a bad row where the spec says to stop at one.
func (p *pipeline) stopAt(t *table, parts []ranges.Chunk, b rows.Bad) error {
	return p.stopAtRow(t, parts[b.Part], b, "Mend the row at the source")
}

// stopAtRow is stopAt with what else can be done.
func (p *pipeline) stopAtRow(t *table, c ranges.Chunk, b rows.Bad, do string) error {
	if b.Key == "" {
		b.Key = fmt.Sprintf("row %d of a batch, the table has no key", b.Row+1)
	}
	return &connectors.Error{Op: "load", Table: t.name, Class: connectors.Data, Err: fmt.Errorf("%s, %s", c, b),
		Hint: do + `, or set bad_rows { action = "discard" } to put such rows aside.`}
}

// retrying tells of a retry of a chunk.
func (p *pipeline) retrying(t *table, c ranges.Chunk) func(event.Retrying) {
	return func(e event.Retrying) {
		t.mu.Lock()
		t.result.Retries++
		t.mu.Unlock()
		e.Pipeline, e.Table, e.Chunk = p.plan.Name, t.name, c.ID
		p.o.Events.Emit(e)
	}
}
