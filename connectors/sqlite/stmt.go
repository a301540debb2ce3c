package sqlite

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"modernc.org/libc"
	lite "modernc.org/sqlite/lib"
)

// stmt is a prepared statement of a conn.
type stmt struct {
	c      *conn
	p      uintptr
	sql    string
	copies []uintptr // C memory of bound texts, freed at the next reset
}

// prepare compiles one statement. Text behind it is an error: it would not run.
func (c *conn) prepare(sql string) (*stmt, error) {
	z, err := libc.CString(sql)
	if err != nil {
		return nil, c.failure(lite.SQLITE_NOMEM, sql)
	}
	defer libc.Xfree(c.tls, z)
	tail := c.out + unsafe.Sizeof(uintptr(0))
	// Reading the schema waits for a lock as well, so this can be busy.
	deadline := time.Now().Add(c.busy)
	for {
		rc := lite.Xsqlite3_prepare_v3(c.tls, c.db, z, -1, lite.SQLITE_PREPARE_PERSISTENT, c.out, tail)
		if rc == lite.SQLITE_OK {
			break
		}
		if rc&0xff != lite.SQLITE_BUSY || time.Now().After(deadline) {
			return nil, c.failure(rc, sql)
		}
	}
	s := &stmt{c: c, p: c.outPointer(), sql: sql}
	if rest := sql[int(*(*uintptr)(ptr(tail))-z):]; s.p == 0 || !isBlank(rest) {
		s.close()
		return nil, openError(c.path, fmt.Sprintf("%q is not one statement", sql), "Write one statement, without a semicolon in its middle.")
	}
	return s, nil
}

// ptr makes a pointer of an address in C memory, which Go's collector neither
// moves nor frees. The detour keeps vet's rule for Go memory from firing.
func ptr(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

func isBlank(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\n', '\r', ';':
		default:
			return false
		}
	}
	return true
}

// close may be called twice.
func (s *stmt) close() {
	if s == nil || s.p == 0 {
		return
	}
	lite.Xsqlite3_finalize(s.c.tls, s.p)
	s.free()
	s.p = 0
}

func (s *stmt) free() {
	for _, p := range s.copies {
		libc.Xfree(s.c.tls, p)
	}
	s.copies = s.copies[:0]
}

// reset makes the statement ready to run again. The error of the last run was
// reported by step.
func (s *stmt) reset() {
	lite.Xsqlite3_reset(s.c.tls, s.p)
	if len(s.copies) > 0 {
		lite.Xsqlite3_clear_bindings(s.c.tls, s.p)
		s.free()
	}
}

// run binds args, steps to the end and resets. It returns how many rows the
// statement changed.
func (s *stmt) run(ctx context.Context, args []any, row func(*stmt) error) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	defer s.reset()
	if err := s.bindAll(args); err != nil {
		return 0, err
	}
	defer s.c.watch(ctx)()
	more, err := s.first(ctx)
	for ; err == nil && more; more, err = s.step() {
		if row == nil {
			continue
		}
		if err := row(s); err != nil {
			return 0, err
		}
	}
	if err != nil {
		return 0, orCancelled(ctx, err)
	}
	return lite.Xsqlite3_changes64(s.c.tls, s.c.db), nil
}

// first steps to the first row. BEGIN, COMMIT and a read outside a transaction
// may find the file locked by another process; nothing has happened then, and
// the same statement may be tried again.
func (s *stmt) first(ctx context.Context) (bool, error) {
	deadline := time.Now().Add(s.c.busy)
	for {
		rc := lite.Xsqlite3_step(s.c.tls, s.p)
		if rc&0xff != lite.SQLITE_BUSY || rc == lite.SQLITE_BUSY_SNAPSHOT || ctx.Err() != nil || time.Now().After(deadline) {
			return s.stepped(rc)
		}
		lite.Xsqlite3_reset(s.c.tls, s.p)
	}
}

// step goes to the next row; false at the end.
func (s *stmt) step() (bool, error) { return s.stepped(lite.Xsqlite3_step(s.c.tls, s.p)) }

func (s *stmt) stepped(rc int32) (bool, error) {
	switch rc {
	case lite.SQLITE_ROW:
		return true, nil
	case lite.SQLITE_DONE:
		return false, nil
	}
	return false, s.c.failure(rc, s.sql)
}

// bindAll binds parameters from the first on.
func (s *stmt) bindAll(args []any) error {
	for i, a := range args {
		rc, n := int32(0), int32(i+1)
		switch v := a.(type) {
		case nil:
			rc = lite.Xsqlite3_bind_null(s.c.tls, s.p, n)
		case int:
			rc = lite.Xsqlite3_bind_int64(s.c.tls, s.p, n, int64(v))
		case bool:
			rc = lite.Xsqlite3_bind_int64(s.c.tls, s.p, n, map[bool]int64{true: 1}[v])
		case int64:
			rc = lite.Xsqlite3_bind_int64(s.c.tls, s.p, n, v)
		case float64:
			rc = lite.Xsqlite3_bind_double(s.c.tls, s.p, n, v)
		case string:
			rc = lite.Xsqlite3_bind_text(s.c.tls, s.p, n, s.copy(v), int32(len(v)), 0)
		case []byte:
			rc = lite.Xsqlite3_bind_blob(s.c.tls, s.p, n, s.copy(string(v)), int32(len(v)), 0)
		default:
			panic(fmt.Sprintf("sqlite: can't bind a %T", a))
		}
		if rc != lite.SQLITE_OK {
			return s.c.failure(rc, s.sql)
		}
	}
	return nil
}

// copy puts a text into C memory that lives until the next reset.
func (s *stmt) copy(v string) uintptr {
	p := libc.Xmalloc(s.c.tls, libc.Tsize_t(len(v)+1))
	if p == 0 {
		return 0
	}
	copy(unsafe.Slice((*byte)(ptr(p)), len(v)), v)
	s.copies = append(s.copies, p)
	return p
}

// readOnly reports whether the statement changes nothing in the file.
func (s *stmt) readOnly() bool { return lite.Xsqlite3_stmt_readonly(s.c.tls, s.p) != 0 }

// storage is how the value of column i is stored: one of SQLITE_INTEGER,
// SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB, SQLITE_NULL.
func (s *stmt) storage(i int) int32 { return lite.Xsqlite3_column_type(s.c.tls, s.p, int32(i)) }

func (s *stmt) int(i int) int64     { return lite.Xsqlite3_column_int64(s.c.tls, s.p, int32(i)) }
func (s *stmt) float(i int) float64 { return lite.Xsqlite3_column_double(s.c.tls, s.p, int32(i)) }

// bytes is the text or blob of column i. It lives until the next step.
func (s *stmt) bytes(i int) []byte {
	var p uintptr
	if s.storage(i) == lite.SQLITE_BLOB {
		p = lite.Xsqlite3_column_blob(s.c.tls, s.p, int32(i))
	} else {
		p = lite.Xsqlite3_column_text(s.c.tls, s.p, int32(i))
	}
	n := lite.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i))
	if p == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(ptr(p)), n)
}

func (s *stmt) text(i int) string { return string(s.bytes(i)) }
