package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"penstock/connectors"

	"modernc.org/libc"
	lite "modernc.org/sqlite/lib"
)

// resultError is a result code of the SQLite library with its message.
type resultError struct {
	code int32 // extended
	text string
}

func (e *resultError) Error() string { return e.text }

// failure turns a result code into an error with its class.
func (c *conn) failure(rc int32, sql string) error {
	e := &resultError{code: rc, text: libc.GoString(lite.Xsqlite3_errstr(c.tls, rc))}
	if c.db != 0 && lite.Xsqlite3_errcode(c.tls, c.db)&0xff == rc&0xff {
		e.text = libc.GoString(lite.Xsqlite3_errmsg(c.tls, c.db))
	}
	class, hint := classify(rc)
	if class == connectors.Data {
		return &connectors.Error{Op: "sqlite " + c.path, Class: class, Err: refusal(e)}
	}
	if class == connectors.Fatal && sql != "" {
		return &connectors.Error{Op: "sqlite " + c.path, Class: class, Hint: hint, Err: fmt.Errorf("%w (code %d, in %.200q)", e, rc, sql)}
	}
	return &connectors.Error{Op: "sqlite " + c.path, Class: class, Hint: hint, Err: e}
}

// classify says what the engine may do about a result code, and what the
// operator should.
func classify(rc int32) (connectors.Class, string) {
	if rc == lite.SQLITE_READONLY_DBMOVED {
		return connectors.Fatal, "The file was deleted, moved or replaced while it was in use. Run again: the load begins in the file that is there now."
	}
	switch rc & 0xff {
	case lite.SQLITE_BUSY, lite.SQLITE_LOCKED, lite.SQLITE_PROTOCOL:
		return connectors.Transient, "Another process holds the file's lock for longer than `busy_timeout`: end it, or raise `busy_timeout`."
	case lite.SQLITE_FULL:
		return connectors.Full, "Free space on the disk that holds the file, then run again."
	case lite.SQLITE_NOMEM:
		return connectors.Full, "The process is out of memory: lower `memory`."
	case lite.SQLITE_CONSTRAINT, lite.SQLITE_MISMATCH, lite.SQLITE_TOOBIG:
		return connectors.Data, ""
	case lite.SQLITE_READONLY:
		return connectors.Denied, "Make the file, its folder and its -journal or -wal file writable for this user."
	case lite.SQLITE_PERM, lite.SQLITE_AUTH:
		return connectors.Denied, "Check the rights of this user on the file and its folder."
	case lite.SQLITE_CANTOPEN:
		return connectors.Denied, "Check that the file and its folder may be read and written by this user."
	case lite.SQLITE_NOTADB:
		return connectors.Fatal, "The file is something else: check `path`."
	case lite.SQLITE_CORRUPT:
		return connectors.Fatal, "Run `PRAGMA integrity_check` and restore the file from a backup."
	case lite.SQLITE_ERROR, lite.SQLITE_SCHEMA:
		// The statements are ours or the plan's, so what they name is what is gone.
		return connectors.Schema, "The database is not what the plan was made for: plan again."
	}
	return connectors.Fatal, ""
}

// orCancelled puts the context's error in place of an interrupt that it caused.
func orCancelled(ctx context.Context, err error) error {
	var e *resultError
	if ctx.Err() != nil && errors.As(err, &e) && (e.code&0xff == lite.SQLITE_INTERRUPT || e.code&0xff == lite.SQLITE_BUSY) {
		return ctx.Err()
	}
	return err
}

func openError(path, what, hint string) error {
	return &connectors.Error{Op: "sqlite " + path, Class: connectors.Fatal, Hint: hint, Err: errors.New(what)}
}

// at adds what was being done, and to which table, to an error that has its class.
func at(op, table string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &connectors.Error{Op: op, Table: table, Class: connectors.ClassOf(err), Err: err}
}

func folder(path string) string { return filepath.Dir(path) }
