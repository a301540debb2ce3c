package sqlite

import (
	"fmt"
	"math"
	"unsafe"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"

	"modernc.org/libc"
	lite "modernc.org/sqlite/lib"
)

// textRoom is more than any decimal128, date or time takes as text.
const textRoom = 64

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
		return cw.refused("NaN, which SQLite would make NULL", "Replace it by a computed value, or drop the column.")
	case codeNull:
		return cw.refused("NULL in a column that takes none", "")
	}
	return w.c.failure(rc, sql)
}

func (cw *columnWriter) refused(why, hint string) error {
	r := &connectors.Refusal{Column: cw.Name, Reason: why, Hint: hint, Err: fmt.Errorf("column %s: %s", cw.Name, why)}
	return &connectors.Error{Class: connectors.Data, Err: r, Hint: hint}
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
