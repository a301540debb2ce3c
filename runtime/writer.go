package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/internal/event"
	"penstock/internal/ranges"
	"penstock/runtime/rows"
)

// loader is one writer: a target connection that carries chunks.
type loader struct {
	p     *pipeline
	table *table // the one w is open for
	w     connectors.BulkWriter
}

// writer takes flights off the belt and commits them, until there are none.
func (p *pipeline) writer(ctx context.Context) (err error) {
	l, w := &loader{p: p}, p.crew.hire()
	defer func() { err = errors.Join(err, l.close()) }()
	for {
		w.wait()
		f := p.belt.take()
		if f == nil {
			return nil
		}
		w.busy()
		err := l.load(ctx, f)
		w.done()
		p.belt.done(f)
		if err != nil && !errors.Is(err, errDrained) {
			return err
		}
	}
}

// load commits the parts of a flight, each in a transaction of its own.
func (l *loader) load(ctx context.Context, f *flight) error {
	for i := range f.job.parts {
		if err := l.part(ctx, f, i); err != nil {
			return err
		}
	}
	return nil
}

// part commits one chunk, again after transient errors: from memory while all
// of it is there, else by reading it again. A chunk of which the target refuses
// a row is loaded once more, row by row where it has to be.
func (l *loader) part(ctx context.Context, f *flight, i int) error {
	t, c := f.job.table, f.job.parts[i]
	again := l.p.retrying(t, c)
	try := attempt{flight: f, part: i}
	for n := 1; ; n++ {
		began := time.Now()
		err := l.once(ctx, &try)
		if err == nil {
			l.p.committed(t, c, try.counts, try.rows, time.Since(began))
			return nil
		}
		if errors.Is(err, errDrained) || f.dead {
			return errors.Join(err, l.abort())
		}
		try.again = true
		var refused *refusedError
		// Rows that nobody decoded can't be tried one by one: what the target says
		// of the first one, its key or its line, stops the run.
		if errors.As(err, &refused) && !try.each && !t.extract.Encoded {
			l.p.o.Log.Debug("look for the rows that the target refuses", "table", t.name, "chunk", c.ID, "error", err)
			try.each = true
			if err = l.abort(); err == nil {
				n--
				continue
			}
		}
		// The connection may be what is broken. Its transaction ends with it, and
		// the next try asks the marker whether the chunk was committed after all.
		if cerr := l.close(); cerr != nil {
			l.p.o.Log.Debug("close a writer after an error", "table", t.name, "error", cerr)
		}
		if err := l.p.o.Backoff.wait(ctx, l.p.o.Drain, n, err, again); err != nil {
			return fmt.Errorf("table %s, %s: %w", t.name, c, err)
		}
	}
}

// attempt is how a chunk is tried, and what came of it.
type attempt struct {
	flight *flight
	part   int
	again  bool // it was tried before
	each   bool // bad rows are told from good ones by the target

	counts counts
	rows   int64 // in the target by it
	ready  bool  // counts and rows are those of a transaction that was to commit
}

// refusedError is an error of class Data that the target gave to rows.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

func refused(err error) error {
	if err != nil && connectors.ClassOf(err) == connectors.Data {
		return &refusedError{err}
	}
	return err
}

// once carries the chunk over in one transaction.
func (l *loader) once(ctx context.Context, try *attempt) error {
	f, i := try.flight, try.part
	t, c := f.job.table, f.job.parts[i]
	if err := l.open(ctx, t); err != nil {
		return err
	}
	m := connectors.Marker{Table: t.name, Generation: t.task.Generation, Chunk: c.ID}
	done, err := l.w.Begin(ctx, m)
	if err != nil || done && try.ready {
		return err // or the last attempt's commit was done after all
	}
	var sent int64
	var bad []rows.Bad
	write := func(pc *piece, part int) error {
		sent += int64(pc.sel[part].Len(pc.rows.Rows))
		switch {
		case done:
			return nil // counted, and there already
		case !try.each:
			return refused(l.w.Write(ctx, pc.rows, pc.sel[part]))
		}
		n := len(bad)
		bad, err = l.each(ctx, t, c, pc, part, bad)
		sent -= int64(len(bad) - n)
		return err
	}
	var n counts
	if l.p.belt.onBelt(f, try.again) {
		n, err = l.fromBelt(f, i, write)
	} else {
		n, err = l.readAgain(ctx, t, c, write)
		if i > 0 { // the rows of the stretch were counted with its first part
			n.read, n.filtered, n.bytes = 0, 0, 0
		}
	}
	if err != nil {
		return err
	}
	n.bad = append(n.bad, bad...)
	try.counts, try.rows, try.ready = n, sent, true
	if done {
		return nil
	}
	m.BadRows = int64(len(n.bad))
	if err := l.p.discards.write(t, c, n.bad); err != nil {
		return err
	}
	rows, err := l.w.Commit(ctx, m)
	if err != nil {
		return refused(err)
	}
	// A connector compares before it commits; this holds for all of them that
	// none reports other rows than it was given.
	if rows != sent {
		return &connectors.Error{Op: "commit", Table: t.name, Class: connectors.Mismatch,
			Err: fmt.Errorf("%d rows were sent and the target counts %d", sent, rows), Hint: fmt.Sprintf("Load the table again with --reload %s.", t.name)}
	}
	return nil
}

// each writes a piece without the rows that the target refuses, which it adds
// to bad; or it stops at the first, where the spec says so.
func (l *loader) each(ctx context.Context, t *table, c ranges.Chunk, pc *piece, part int, bad []rows.Bad) ([]rows.Bad, error) {
	x, err := t.transform()
	if err != nil {
		return bad, err
	}
	defer t.giveBack(x)
	var stop error
	err = l.w.WriteEach(ctx, pc.rows, pc.sel[part], func(row int32, why *connectors.Refusal) error {
		b := x.Refused(pc.rows, row, why)
		if l.p.discards.stops() {
			do := strings.TrimSuffix(why.Hint, ".")
			if do == "" {
				do = "Mend the row at the source"
			}
			stop = l.p.stopAtRow(t, c, b, do)
			return stop
		}
		bad = append(bad, b)
		stop = l.p.discards.within(t, c, int64(len(bad)), b)
		return stop
	})
	if stop != nil {
		return bad, stop // as it is: it says where
	}
	return bad, err
}

// fromBelt writes the pieces that the flight's reader puts on the belt.
func (l *loader) fromBelt(f *flight, part int, write func(*piece, int) error) (counts, error) {
	b := l.p.belt
	for k := 0; ; k++ {
		pc, err := b.piece(f, k)
		if err != nil {
			return counts{}, err
		}
		if pc == nil {
			break
		}
		if err := write(pc, part); err != nil {
			return counts{}, err
		}
		b.written(f, k)
	}
	return f.counts.of(part), nil
}

// readAgain reads a chunk by itself and writes it as it comes, past the belt.
// Writers take turns: the source has one connection for it.
func (l *loader) readAgain(ctx context.Context, t *table, c ranges.Chunk, write func(*piece, int) error) (counts, error) {
	l.p.again.Lock()
	defer l.p.again.Unlock()
	var n counts
	err := l.p.scan(ctx, t, []ranges.Chunk{c}, func(pc *piece, d counts) error {
		defer pc.rows.Release()
		if l.p.draining() {
			return errDrained
		}
		n.add(d)
		return write(pc, 0)
	})
	return n, err
}

// of is the part's share: the first part carries what was read for all.
func (c counts) of(part int) counts {
	out := counts{}
	if part == 0 {
		out.read, out.filtered, out.bytes = c.read, c.filtered, c.bytes
	}
	for _, b := range c.bad {
		if b.Part == part {
			out.bad = append(out.bad, b)
		}
	}
	return out
}

func (l *loader) open(ctx context.Context, t *table) error {
	if l.table == t {
		return nil
	}
	if err := l.close(); err != nil {
		return err
	}
	w, err := l.p.target.OpenLoad(ctx, t.load)
	if err != nil {
		return err
	}
	l.w, l.table = w, t
	return nil
}

func (l *loader) abort() error {
	if l.w == nil {
		return nil
	}
	return l.w.Abort()
}

func (l *loader) close() error {
	if l.w == nil {
		return nil
	}
	err := errors.Join(l.w.Abort(), l.w.Close())
	l.w, l.table = nil, nil
	return err
}

// committed counts a chunk that is durable and sends its table on when it was
// the last.
func (p *pipeline) committed(t *table, c ranges.Chunk, n counts, rows int64, took time.Duration) {
	t.mu.Lock()
	t.ended = time.Now()
	r := t.result
	r.ChunksDone++
	r.Read += n.read
	r.Filtered += n.filtered
	r.Bytes += n.bytes
	r.Rows += rows
	r.Bad += int64(len(n.bad))
	for _, b := range n.bad {
		if len(r.FirstBad) < 10 {
			r.FirstBad = append(r.FirstBad, b.String())
		}
	}
	t.byRange[c.Range] += rows
	t.left--
	last := t.left == 0
	t.mu.Unlock()
	p.o.Events.Emit(event.ChunkCommitted{Pipeline: p.plan.Name, Table: t.name, Range: c.Range, Chunk: c.ID,
		Read: n.read, Rows: rows, Bad: int64(len(n.bad)), Bytes: n.bytes, Took: took})
	if last {
		p.loaded <- t
	}
}

// finisher runs the finishing steps of each table whose chunks are all there.
func (p *pipeline) finisher(ctx context.Context) error {
	for t := range p.loaded {
		err := p.persist(ctx, func() error { return p.target.Finish(ctx, t.load) })
		if errors.Is(err, errDrained) {
			continue // the next run completes it
		}
		if err != nil {
			return err
		}
		t.mu.Lock()
		t.result.State = "loaded"
		t.result.LoadedAt = time.Now().UTC().Format(time.RFC3339)
		rows, bad := t.result.Rows+t.result.Before, t.result.Bad+t.result.BadBefore
		t.mu.Unlock()
		p.o.Events.Emit(event.TableLoaded{Pipeline: p.plan.Name, Table: t.name, Rows: rows, Bad: bad})
	}
	return nil
}
