package postgres

import (
	"context"
	"encoding/binary"
	"slices"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// arrays sends a batch as one INSERT whose parameters are a column each.
type arrays struct {
	*encoder
	sql    string
	params [][]byte
}

var binaryFormat = []int16{1} // of all parameters

const insertName = "insert"

func (w *arrays) prepare(ctx context.Context, c *pgconn.PgConn) error {
	w.params = make([][]byte, len(w.fields))
	_, err := c.Prepare(ctx, insertName, w.sql, nil)
	return orCancelled(ctx, err)
}

func (w *arrays) write(ctx context.Context, c *pgconn.PgConn, b *batch.Batch, sel batch.Selection) error {
	if err := w.take(b, sel); err != nil {
		return err
	}
	for i := range w.fields {
		p, err := w.fields[i].appendArray(w.params[i][:0], b.Rows, sel)
		if err != nil {
			return err
		}
		w.params[i] = p
	}
	r := c.ExecPrepared(ctx, insertName, w.params, binaryFormat, nil)
	for r.NextRow() {
	}
	tag, err := r.Close()
	if err != nil {
		return orCancelled(ctx, rowFailure(because(c, err), w.sql))
	}
	return counted(tag.RowsAffected(), int64(sel.Len(b.Rows)))
}

func (w *arrays) flush(context.Context, *pgconn.PgConn) error { return nil }
func (w *arrays) reset()                                      {}

// element is the type of a column's array: text where there is no binary form,
// or no number by which the server would know it.
func (w wire) element() wire {
	if w.form == formNone || w.oid == 0 {
		return wire{name: "text", oid: 25}
	}
	return w
}

// appendArray writes a column as an array of one dimension: dimensions, whether
// there are NULLs, the type of the elements, their count, the first index, and
// each element with its length before it.
func (f *field) appendArray(dst []byte, rows int, sel batch.Selection) ([]byte, error) {
	n := sel.Len(rows)
	size := 20 + n*widths[f.wire.form]
	if f.col.Storage() == schema.StoreBytes {
		size += 2 * len(f.col.Data)
	}
	dst = slices.Grow(dst, size)
	dst = binary.BigEndian.AppendUint32(dst, 1)
	nulls := uint32(0)
	if f.col.Valid != nil {
		nulls = 1
	}
	dst = binary.BigEndian.AppendUint32(dst, nulls)
	dst = binary.BigEndian.AppendUint32(dst, f.wire.element().oid)
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	dst = binary.BigEndian.AppendUint32(dst, 1)
	buf, p := dst[:cap(dst)], len(dst)
	for k := range n {
		m, err := f.put(buf[p:], sel.Row(k))
		if err != nil {
			return dst, err
		}
		p += m
	}
	return buf[:p], nil
}
