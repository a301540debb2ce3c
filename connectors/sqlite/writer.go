package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"

	"modernc.org/libc"
	lite "modernc.org/sqlite/lib"
)

// A statement carries as many rows as give it about 1,280 parameters, at most
// 256. Measured on five columns with a key, in ns of CPU a row: 1 row 2,890,
// 10 rows 1,690, 50 rows 1,510, 100 rows 1,250, 250 rows 1,190.
const (
	statementParams  = 1280
	statementMaxRows = 256
	// tailRows is the size of the second statement, for what a batch leaves over.
	tailRows = 16
)

func statementRows(columns int) int {
	return max(1, min(statementMaxRows, statementParams/max(columns, 1)))
}

// textRoom is more than any decimal128, date or time takes as text.
const textRoom = 64

// writer loads chunks of one table. It belongs to one goroutine.
type writer struct {
	t       *target
	load    connectors.Load
	epoch   int64
	c       *conn
	cols    []columnWriter
	inserts []insert // most rows first, the last of one row
	begin   *stmt
	marker  *stmt
	done    *stmt
	commit  *stmt
	open    bool
	rows    int64 // in the open transaction

	texts cMemory // texts made from other values, for one statement
	wrote int     // bytes of texts used
}

// insert is the loading statement for a number of rows.
type insert struct {
	rows int
	*stmt
}

// columnWriter binds the values of one column.
type columnWriter struct {
	connectors.TargetColumn
	how  binding
	data cMemory // the batch's texts or blobs of this column, copied once a batch
}

type binding uint8

const (
	bindInt    binding = iota
	bindFloat          // NaN is an error: SQLite would store NULL
	bindBool           // 0, 1
	bindText           // the column's bytes as they are
	bindBlob           // likewise
	bindAsText         // canonical text
)

// bindingOf follows from what types.Render declares.
func bindingOf(t schema.Type) binding {
	switch t.Kind {
	case schema.Bool:
		return bindBool
	case schema.Int16, schema.Int32, schema.Int64:
		return bindInt
	case schema.Float32, schema.Float64:
		return bindFloat
	case schema.Bytes:
		return bindBlob
	case schema.Text, schema.JSON:
		return bindText
	case schema.Decimal:
		if t.Storage() == schema.StoreBytes {
			return bindText
		}
	}
	return bindAsText
}

// cMemory is a growing piece of memory outside Go's heap. SQLite reads bound
// texts where they lie, so they must not move until the statement has run.
type cMemory struct {
	p    uintptr
	size int
}

// reserve makes room for n bytes and forgets what was there.
func (m *cMemory) reserve(tls *libc.TLS, n int) bool {
	if n < m.size {
		return true
	}
	m.free(tls)
	n = max(2*n, 4096)
	if m.p = libc.Xmalloc(tls, libc.Tsize_t(n)); m.p == 0 {
		return false
	}
	m.size = n
	return true
}

func (m *cMemory) bytes() []byte { return unsafe.Slice((*byte)(ptr(m.p)), m.size) }

func (m *cMemory) free(tls *libc.TLS) {
	if m.p != 0 {
		libc.Xfree(tls, m.p)
	}
	m.p, m.size = 0, 0
}

func newWriter(t *target, l connectors.Load) (*writer, error) {
	c, err := openWriter(t.path, readWrite, t.config)
	if err != nil {
		return nil, err
	}
	w := &writer{t: t, load: l, epoch: t.epoch, c: c}
	for _, col := range l.Columns {
		w.cols = append(w.cols, columnWriter{TargetColumn: col, how: bindingOf(col.Type)})
	}
	if err := w.prepare(); err != nil {
		_ = w.Close() // err is what matters
		return nil, err
	}
	return w, nil
}

func (w *writer) prepare() error {
	one := w.load.Insert
	if one == "" {
		one = insertRow(w.load)
	}
	row := tuple(len(w.cols))
	if !strings.HasSuffix(one, "VALUES "+row) {
		return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("the plan's statement %q does not end in VALUES %s", one, row), Hint: "Plan again with this version of penstock."}
	}
	sizes := []int{1}
	if full := statementRows(len(w.cols)); w.load.Mode != "row" && full > 1 {
		sizes = []int{full, 1}
		if full > 2*tailRows {
			sizes = []int{full, tailRows, 1}
		}
	}
	for _, n := range sizes {
		s, err := w.c.prepare(one + strings.Repeat(", "+row, n-1))
		if err != nil {
			return err
		}
		w.inserts = append(w.inserts, insert{n, s})
	}
	if !w.texts.reserve(w.c.tls, sizes[0]*len(w.cols)*textRoom) {
		return w.c.failure(lite.SQLITE_NOMEM, "")
	}
	for _, p := range []struct {
		s   **stmt
		sql string
	}{{&w.begin, "BEGIN IMMEDIATE"}, {&w.marker, selectMarker}, {&w.done, markDone}, {&w.commit, "COMMIT"}} {
		s, err := w.c.prepare(p.sql)
		if err != nil {
			return err
		}
		*p.s = s
	}
	return nil
}

// Begin takes the file's write lock and looks at the chunk's marker.
func (w *writer) Begin(ctx context.Context, m connectors.Marker) (bool, error) {
	if w.open {
		return false, openError(w.t.path, "a chunk is open already", "")
	}
	if _, err := w.begin.run(ctx, nil, nil); err != nil {
		return false, w.at(m, err)
	}
	w.open, w.rows = true, 0
	state, epoch := "", int64(0)
	if _, err := w.marker.run(ctx, []any{w.t.env.Pipeline, m.Table, m.Generation, m.Chunk}, func(s *stmt) error {
		state, epoch = s.text(0), s.int(1)
		return nil
	}); err != nil {
		return false, errors.Join(w.at(m, err), w.Abort())
	}
	switch {
	case state == "done":
		return true, w.Abort()
	case state == "":
		return false, errors.Join(w.at(m, w.t.fenced("the marker of the chunk is gone")), w.Abort())
	case epoch != w.epoch:
		return false, errors.Join(w.at(m, w.t.fenced(fmt.Sprintf("the marker has epoch %d, this run holds %d", epoch, w.epoch))), w.Abort())
	}
	failpoint("chunk.begin")
	return false, nil
}

func (w *writer) at(m connectors.Marker, err error) error {
	return at(fmt.Sprintf("load chunk %d of", m.Chunk), w.load.Table.Name, err)
}

// Write adds the selected rows.
func (w *writer) Write(ctx context.Context, b *batch.Batch, sel batch.Selection) error {
	if !w.open {
		return openError(w.t.path, "no chunk is open", "")
	}
	if len(b.Columns) != len(w.cols) {
		panic(fmt.Sprintf("sqlite: a batch of %d columns for a table of %d", len(b.Columns), len(w.cols)))
	}
	if err := w.add(ctx, b, sel); err != nil {
		return at("load", w.load.Table.Name, err)
	}
	failpoint("chunk.rows")
	return nil
}

func (w *writer) add(ctx context.Context, b *batch.Batch, sel batch.Selection) error {
	for i := range w.cols {
		if err := w.cols[i].take(w.c, b.Columns[i]); err != nil {
			return err
		}
	}
	n, k := sel.Len(b.Rows), 0
	for k < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := w.sizeFor(n - k)
		if err := w.insert(s, b, sel, k); err != nil {
			return err
		}
		k += s.rows
	}
	w.rows += int64(n)
	return nil
}

func (w *writer) sizeFor(left int) insert {
	for _, s := range w.inserts {
		if s.rows <= left {
			return s
		}
	}
	return w.inserts[len(w.inserts)-1]
}

// insert runs one statement for s.rows selected rows from the k-th on.
func (w *writer) insert(s insert, b *batch.Batch, sel batch.Selection, k int) error {
	w.wrote = 0
	p := int32(1)
	for r := k; r < k+s.rows; r++ {
		row := sel.Row(r)
		for i := range w.cols {
			if rc := w.bind(s.p, p, &w.cols[i], b.Columns[i], row); rc != lite.SQLITE_OK {
				return w.bindError(rc, &w.cols[i], s.sql)
			}
			p++
		}
	}
	rc := lite.Xsqlite3_step(w.c.tls, s.p)
	if rc != lite.SQLITE_DONE {
		err := w.c.failure(rc, s.sql)
		lite.Xsqlite3_reset(w.c.tls, s.p)
		return err
	}
	lite.Xsqlite3_reset(w.c.tls, s.p)
	return nil
}

// Codes of our own beside SQLite's, for values that it would silently change.
const (
	codeNaN  = -1
	codeNull = -2
)

func (w *writer) bind(s uintptr, p int32, cw *columnWriter, c *batch.Column, row int) int32 {
	tls := w.c.tls
	if c.IsNull(row) {
		if !cw.Nullable {
			// An INTEGER PRIMARY KEY turns NULL into a number of its own.
			return codeNull
		}
		return lite.Xsqlite3_bind_null(tls, s, p)
	}
	switch cw.how {
	case bindInt:
		return lite.Xsqlite3_bind_int64(tls, s, p, c.Ints[row])
	case bindText:
		lo, hi := c.Offsets[row], c.Offsets[row+1]
		return lite.Xsqlite3_bind_text(tls, s, p, cw.data.p+uintptr(lo), hi-lo, 0)
	case bindAsText:
		room := w.texts.bytes()[w.wrote:w.wrote:w.texts.size]
		text := batch.AppendText(room, c, row)
		at := w.texts.p + uintptr(w.wrote)
		w.wrote += len(text)
		return lite.Xsqlite3_bind_text(tls, s, p, at, int32(len(text)), 0)
	case bindFloat:
		if math.IsNaN(c.Floats[row]) {
			return codeNaN
		}
		return lite.Xsqlite3_bind_double(tls, s, p, c.Floats[row])
	case bindBool:
		v := int64(0)
		if c.Bools.Get(row) {
			v = 1
		}
		return lite.Xsqlite3_bind_int64(tls, s, p, v)
	}
	lo, hi := c.Offsets[row], c.Offsets[row+1]
	return lite.Xsqlite3_bind_blob(tls, s, p, cw.data.p+uintptr(lo), hi-lo, 0)
}

func (w *writer) bindError(rc int32, cw *columnWriter, sql string) error {
	switch rc {
	case codeNaN:
		return &connectors.Error{Class: connectors.Data, Err: fmt.Errorf("column %s: NaN can't be stored: SQLite would make it NULL", cw.Name), Hint: "Replace it by a computed value, or drop the column."}
	case codeNull:
		return &connectors.Error{Class: connectors.Data, Err: fmt.Errorf("column %s: NULL in a column that is NOT NULL", cw.Name)}
	}
	return w.c.failure(rc, sql)
}

// take copies a column's bytes out of Go's heap.
func (cw *columnWriter) take(c *conn, col *batch.Column) error {
	if cw.how != bindText && cw.how != bindBlob {
		return nil
	}
	if !cw.data.reserve(c.tls, len(col.Data)+1) {
		return c.failure(lite.SQLITE_NOMEM, "")
	}
	copy(cw.data.bytes(), col.Data)
	return nil
}

// Commit marks the chunk done and commits.
func (w *writer) Commit(ctx context.Context, m connectors.Marker) (int64, error) {
	if !w.open {
		return 0, openError(w.t.path, "no chunk is open", "")
	}
	if markerOutside {
		if _, err := w.commit.run(ctx, nil, nil); err != nil {
			return 0, errors.Join(w.at(m, err), w.Abort())
		}
		failpoint("chunk.marker")
	}
	n, err := w.done.run(ctx, []any{w.rows, m.BadRows, now(), w.t.env.Pipeline, m.Table, m.Generation, m.Chunk, w.epoch}, nil)
	if err == nil && n != 1 {
		err = w.t.fenced("the marker of the chunk is gone")
	}
	if err != nil {
		return 0, errors.Join(w.at(m, err), w.Abort())
	}
	if markerOutside {
		w.open = false
		return w.rows, nil
	}
	failpoint("chunk.marker")
	failpoint("chunk.commit.before")
	if _, err := w.commit.run(ctx, nil, nil); err != nil {
		return 0, errors.Join(w.at(m, err), w.Abort())
	}
	w.open = false
	failpoint("chunk.commit.after")
	return w.rows, nil
}

// Abort throws the open transaction away.
func (w *writer) Abort() error {
	w.open = false
	return w.c.rollback()
}

// Close aborts what is open. It may be called twice.
func (w *writer) Close() error {
	if w.c.db == 0 {
		return nil
	}
	err := w.Abort()
	for _, s := range w.inserts {
		s.close()
	}
	for _, s := range []*stmt{w.begin, w.marker, w.done, w.commit} {
		s.close()
	}
	for i := range w.cols {
		w.cols[i].data.free(w.c.tls)
	}
	w.texts.free(w.c.tls)
	w.c.close()
	return err
}
