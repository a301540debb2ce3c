package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"penstock/connectors"
	"penstock/internal/batch"

	"github.com/jackc/pgx/v5/pgconn"
)

// copyBytes is how much is kept back for one COPY. A statement's own cost shows
// below some 50,000 narrow rows (10,000 rows a COPY cost the server 1.2 times as
// much a row as 100,000); more would only be more memory.
const copyBytes = 4 << 20

// copyHeader opens a binary COPY: a signature, no flags, no extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// copier sends rows by COPY out of a buffer that is whole before it is sent:
// nothing of a statement waits for a source.
type copier struct {
	*encoder
	sql     string
	binary  bool
	encoded bool // rows come as COPY wrote them
	buf     []byte
	rows    int64 // in buf
	read    *bytes.Reader
}

func newCopier(e *encoder, sql string, encoded bool) *copier {
	return &copier{encoder: e, sql: sql, binary: encoded || e.binary(), encoded: encoded, read: &bytes.Reader{}}
}

func (w *copier) prepare(context.Context, *pgconn.PgConn) error { return nil }

func (w *copier) write(ctx context.Context, c *pgconn.PgConn, b *batch.Batch, sel batch.Selection) (err error) {
	if w.encoded {
		if len(b.Columns) > 0 || sel.Len(b.Rows) != b.Rows {
			panic("postgres: rows to be passed on have columns, or are selected from")
		}
	} else if err := w.take(b, sel); err != nil {
		return err
	}
	if w.buf == nil { // room for the batch that fills it: growing would leave pieces behind
		w.buf = make([]byte, 0, copyBytes+2*batch.DefaultBytes)
	}
	if w.binary {
		if len(w.buf) == 0 {
			w.buf = append(w.buf, copyHeader...)
		}
		if w.encoded {
			w.buf = append(w.buf, b.Encoded...)
		} else if w.buf, err = w.appendRows(w.buf, b, sel); err != nil {
			return err
		}
	} else {
		w.buf = w.appendText(w.buf, b, sel)
	}
	w.rows += int64(sel.Len(b.Rows))
	if len(w.buf) < copyBytes {
		return nil
	}
	return w.flush(ctx, c)
}

func (w *copier) flush(ctx context.Context, c *pgconn.PgConn) error {
	if w.rows == 0 {
		return nil
	}
	if w.binary {
		w.buf = binary.BigEndian.AppendUint16(w.buf, 0xffff) // no more rows
	}
	w.read.Reset(w.buf)
	tag, err := c.CopyFrom(ctx, w.read, w.sql)
	if err != nil {
		// Where the session was lost, pgconn's goroutine may go on reading for a
		// moment: what it reads is left to it, and the next chunk has its own.
		if c.IsClosed() {
			w.read, w.buf = &bytes.Reader{}, nil
		}
		return orCancelled(ctx, rowFailure(because(c, err), w.sql))
	}
	if err := counted(tag.RowsAffected(), w.rows); err != nil {
		return err
	}
	w.reset()
	return nil
}

// reset keeps the buffer, unless a huge value has made it huge.
func (w *copier) reset() {
	w.buf, w.rows = w.buf[:0], 0
	if cap(w.buf) > 2*copyBytes {
		w.buf = nil
	}
}

// counted compares what the server says went in with what was sent.
func counted(got, want int64) error {
	if got == want {
		return nil
	}
	return &connectors.Error{Class: connectors.Mismatch, Err: fmt.Errorf("%d rows were sent and %d went in", want, got),
		Hint: "A trigger or a rule of the table takes rows away: turn it off for the load, with triggers = \"skip\" for a trigger."}
}
