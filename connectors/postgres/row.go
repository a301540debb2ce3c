package postgres

import (
	"context"
	"encoding/binary"
	"errors"

	"penstock/connectors"
	"penstock/internal/batch"

	"github.com/jackc/pgx/v5/pgconn"
)

// pipelineRows is how many statements are sent before their answers are read:
// enough that the round trip does not show.
const pipelineRows = 500

// singles sends each row as a statement of its own, prepared once, in order.
type singles struct {
	*encoder
	sql     string
	name    string // of the prepared statement
	formats []int16
	buf     []byte
	params  [][]byte
}

func (w *singles) prepare(ctx context.Context, c *pgconn.PgConn) error {
	w.formats, w.params = nil, make([][]byte, len(w.fields))
	for _, f := range w.fields {
		format := int16(1)
		if f.wire.form == formNone {
			format = 0
		}
		w.formats = append(w.formats, format)
	}
	_, err := c.Prepare(ctx, w.name, w.sql, nil)
	return orCancelled(ctx, err)
}

func (w *singles) write(ctx context.Context, c *pgconn.PgConn, b *batch.Batch, sel batch.Selection) error {
	if err := w.take(b, sel); err != nil {
		return err
	}
	for k, n := 0, sel.Len(b.Rows); k < n; k += pipelineRows {
		if err := w.some(ctx, c, b, sel, k, min(k+pipelineRows, n)); err != nil {
			return err
		}
	}
	return nil
}

// some sends the selected rows from..to-1 and reads what became of each.
func (w *singles) some(ctx context.Context, c *pgconn.PgConn, b *batch.Batch, sel batch.Selection, from, to int) (err error) {
	p := c.StartPipeline(ctx)
	defer func() {
		// After an error the pipeline's end says the same once more.
		if e := p.Close(); err == nil && e != nil {
			err = orCancelled(ctx, rowFailure(e, w.sql))
		}
	}()
	for k := from; k < to; k++ {
		if err := w.row(sel.Row(k)); err != nil {
			return err
		}
		p.SendQueryPrepared(w.name, w.params, w.formats, nil)
	}
	if err := p.Sync(); err != nil {
		return orCancelled(ctx, rowFailure(err, w.sql))
	}
	inserted, answers := int64(0), 0
	for {
		r, err := p.GetResults()
		if err != nil {
			return ofRow(orCancelled(ctx, rowFailure(because(c, err), w.sql)), from+answers)
		}
		switch r := r.(type) {
		case *pgconn.ResultReader:
			tag, err := r.Close()
			if err != nil {
				return ofRow(orCancelled(ctx, rowFailure(because(c, err), w.sql)), from+answers)
			}
			answers++
			inserted += tag.RowsAffected()
		case *pgconn.PipelineSync:
			return counted(inserted, int64(to-from))
		case nil:
			return errEnded
		}
	}
}

// ofRow says in a refusal which row it is of, counted from 0.
func ofRow(err error, row int) error {
	var r *connectors.Refusal
	if errors.As(err, &r) {
		r.At = row + 1
	}
	return err
}

// row encodes one row and takes the lengths off, which Bind has of its own.
func (w *singles) row(row int) error {
	size := 0
	for i := range w.fields {
		f := &w.fields[i]
		size += widths[f.wire.form]
		if len(f.col.Offsets) > 0 {
			size += 2 * len(f.col.Bytes(row))
		}
	}
	if size > len(w.buf) {
		w.buf = make([]byte, 2*size)
	}
	p := 0
	for i := range w.fields {
		n, err := w.fields[i].put(w.buf[p:], row)
		if err != nil {
			return err
		}
		w.params[i] = w.buf[p+4 : p+n]
		if binary.BigEndian.Uint32(w.buf[p:]) == null {
			w.params[i] = nil
		}
		p += n
	}
	return nil
}

func (w *singles) flush(context.Context, *pgconn.PgConn) error { return nil }
func (w *singles) reset()                                      {}
