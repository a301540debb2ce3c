package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// reader reads the rows of one chunk. It belongs to one goroutine.
type reader struct {
	x          connectors.Extract
	chunk      ranges.Chunk
	statements []string // that are still to run: of a partitioned table one a partition
	session    *lease
	decode     *decoder // nil: rows are passed on as they are
	running    bool
	ended      bool
	rows       int64 // taken, for the place of the next one
}

func newReader(x connectors.Extract, k ranges.Chunk, statements []string, l *lease) *reader {
	r := &reader{x: x, chunk: k, statements: statements, session: l}
	if !x.Encoded {
		columns := make([]schema.Column, len(x.Columns))
		for i, n := range x.Columns {
			columns[i] = *x.Table.Column(n)
		}
		r.decode = newDecoder(columns, x.Special)
	}
	return r
}

// Read appends rows until the builder is full.
func (r *reader) Read(ctx context.Context, b *batch.Builder) error {
	if r.ended || r.session == nil {
		return io.EOF
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f := r.session.feed
	defer f.watch(ctx)()
	got, err := r.fill(ctx, f, b)
	switch {
	case errors.Is(err, io.EOF):
		r.ended = true
		if got {
			return nil
		}
		return io.EOF
	case err != nil:
		r.ended = true
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return at("read "+r.chunk.String()+" of", r.x.Table.Name.String(), err)
	}
	return nil
}

// fill appends rows until b is full; io.EOF says that there are no more.
func (r *reader) fill(ctx context.Context, f *feed, b *batch.Builder) (got bool, err error) {
	if r.decode != nil {
		r.decode.into(b)
		defer r.decode.flush()
	}
	for {
		if !r.running {
			if len(r.statements) == 0 {
				return got, io.EOF
			}
			if err := f.start(ctx, r.statements[0]); err != nil {
				return got, err
			}
			r.running = true
		}
		p, err := f.next()
		if errors.Is(err, io.EOF) {
			r.running, r.statements = false, r.statements[1:]
			continue
		}
		if err != nil {
			return got, err
		}
		r.rows++
		if r.decode == nil {
			b.AddEncoded(p)
			got = true
			if b.Full() {
				return got, nil
			}
			continue
		}
		bad, err := r.decode.row(p)
		switch {
		case err != nil:
			return got, &connectors.Error{Class: connectors.Schema, Err: err, Hint: "The table is not the one that was planned: plan again."}
		case bad != nil:
			if err := r.bad(bad); err != nil {
				return got, err
			}
			continue
		}
		got = true
		if r.decode.full {
			return got, nil
		}
	}
}

// bad tells of a row that is left out.
func (r *reader) bad(v *badValue) error {
	b := connectors.BadRow{Place: fmt.Sprintf("row %d of %s", r.rows, r.chunk), Column: v.column, Reason: v.reason, Detail: v.detail}
	if r.x.Bad == nil {
		return &connectors.Error{Class: connectors.Data, Err: errors.New(b.String())}
	}
	return r.x.Bad(b)
}

// Close hands the session back. It may be called twice.
func (r *reader) Close() error {
	if r.session != nil {
		r.session.giveBack()
		r.session = nil
	}
	return nil
}
