package sqlite

import (
	"context"
	"errors"
	"os"
	"time"

	"modernc.org/libc"
	lite "modernc.org/sqlite/lib"
)

// conn is one connection to a database file. It calls the SQLite library
// itself instead of going through database/sql: binding a value there costs a
// C string and a name look-up each, reading one turns dates into time.Time and
// loses what was stored. A conn belongs to one goroutine at a time.
type conn struct {
	tls  *libc.TLS
	db   uintptr
	out  uintptr // room for one pointer, for calls that return one
	path string
	busy time.Duration // how long a statement outside a transaction waits for a lock
}

// access is what a connection may do to its file.
type access int32

const (
	readOnly  access = lite.SQLITE_OPEN_READONLY
	readWrite access = lite.SQLITE_OPEN_READWRITE
	create    access = lite.SQLITE_OPEN_READWRITE | lite.SQLITE_OPEN_CREATE
)

// busySlice is how long SQLite itself sleeps on a lock before the caller's
// context is looked at again.
const busySlice = 50 * time.Millisecond

// openConn opens a file. The file is never opened in any other way while
// connections are open: POSIX drops all of a process's locks on a file when any
// descriptor of it is closed.
func openConn(path string, a access, busy time.Duration) (*conn, error) {
	if err := checkFile(path, a); err != nil {
		return nil, err
	}
	c := &conn{tls: libc.NewTLS(), path: path, busy: busy}
	c.out = libc.Xmalloc(c.tls, 16)
	name, err := libc.CString(path)
	if c.out == 0 || err != nil {
		c.close()
		return nil, c.failure(lite.SQLITE_NOMEM, "open")
	}
	defer libc.Xfree(c.tls, name)
	// One goroutine a connection: without the connection's mutex a bind costs half.
	flags := int32(a) | lite.SQLITE_OPEN_NOMUTEX | lite.SQLITE_OPEN_EXRESCODE
	rc := lite.Xsqlite3_open_v2(c.tls, name, c.out, flags, 0)
	c.db = c.outPointer()
	if rc != lite.SQLITE_OK {
		err := c.failure(rc, "open")
		c.close()
		return nil, err
	}
	lite.Xsqlite3_busy_timeout(c.tls, c.db, int32(busySlice/time.Millisecond))
	// SQLite takes a quoted name that is no column for a text, so that a column
	// which is gone would read as its own name in every row.
	if rc := c.configure(lite.SQLITE_DBCONFIG_DQS_DML, 0); rc != lite.SQLITE_OK {
		err := c.failure(rc, "open")
		c.close()
		return nil, err
	}
	return c, nil
}

// configure switches one of a connection's options.
func (c *conn) configure(op, to int32) int32 {
	args := libc.NewVaList(to, uintptr(0))
	if args == 0 {
		return lite.SQLITE_NOMEM
	}
	defer libc.Xfree(c.tls, args)
	return lite.Xsqlite3_db_config(c.tls, c.db, op, args)
}

// openReader opens a file for reading. A process that was killed in the middle
// of a commit leaves a journal that has to be rolled back before anyone may
// read, and only a connection that may write can do that; it changes nothing
// that was committed.
func openReader(ctx context.Context, path string, busy time.Duration) (*conn, error) {
	c, err := openConn(path, readOnly, busy)
	if err != nil {
		return nil, err
	}
	if err = c.exec(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1"); err == nil {
		return c, nil
	}
	c.close()
	var e *resultError
	if !errors.As(err, &e) || e.code&0xff != lite.SQLITE_READONLY {
		return nil, err
	}
	return openConn(path, readWrite, busy)
}

// checkFile says what SQLite's "unable to open database file" leaves out.
func checkFile(path string, a access) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return openError(path, "it is a directory", "Write the path of a file.")
	case err == nil:
		return nil
	}
	if parent, err := os.Stat(folder(path)); err != nil || !parent.IsDir() {
		return openError(path, "there is no folder "+folder(path), "Create the folder first.")
	}
	if a != create && os.IsNotExist(err) {
		return openError(path, "there is no such file", "Check `path`: it is relative to the spec's folder.")
	}
	return nil // SQLite says what it is
}

// moved reports that the file was deleted or renamed since it was opened.
func (c *conn) moved() bool {
	*(*int32)(ptr(c.out)) = 0
	rc := lite.Xsqlite3_file_control(c.tls, c.db, 0, lite.SQLITE_FCNTL_HAS_MOVED, c.out)
	return rc == lite.SQLITE_OK && *(*int32)(ptr(c.out)) != 0
}

// gone is the error of a file that is not where it was.
func gone(path string) error {
	return openError(path, "the file was deleted, moved or replaced while it was being loaded: what went into it is not in the file of this name", "Run again: the load begins in the file that is there now.")
}

func (c *conn) outPointer() uintptr { return *(*uintptr)(ptr(c.out)) }

// close may be called twice.
func (c *conn) close() {
	if c == nil || c.tls == nil {
		return
	}
	if c.db != 0 {
		lite.Xsqlite3_close_v2(c.tls, c.db)
	}
	libc.Xfree(c.tls, c.out)
	c.tls.Close()
	c.tls, c.db, c.out = nil, 0, 0
}

// watch interrupts the running statement when ctx ends. The returned function
// ends the watch, and waits for an interrupt under way: it must not reach a
// connection that was closed, or the next statement.
func (c *conn) watch(ctx context.Context) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		tls := libc.NewTLS() // c.tls is in use by the statement
		lite.Xsqlite3_interrupt(tls, c.db)
		tls.Close()
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

// exec runs one statement to its end. Where it finds the file locked it waits
// up to c.busy, unless ctx ends.
func (c *conn) exec(ctx context.Context, sql string, args ...any) error {
	_, err := c.query(ctx, sql, args, nil)
	return err
}

// query runs one statement, calls row for each row and returns how many rows
// it changed.
func (c *conn) query(ctx context.Context, sql string, args []any, row func(*stmt) error) (int64, error) {
	s, err := c.prepare(sql)
	if err != nil {
		return 0, err
	}
	defer s.close()
	return s.run(ctx, args, row)
}

// inTransaction reports whether a transaction is open. SQLite rolls back by
// itself on some errors, so this is asked, not remembered.
func (c *conn) inTransaction() bool {
	return lite.Xsqlite3_get_autocommit(c.tls, c.db) == 0
}

// rollback ends an open transaction. It is not cut short by a context: what it
// undoes must be undone.
func (c *conn) rollback() error {
	if c.db == 0 || !c.inTransaction() {
		return nil
	}
	return c.exec(context.Background(), "ROLLBACK")
}

// write runs do in a transaction that has the file's write lock from its start,
// so that nothing read in it is outdated by its commit.
func (c *conn) write(ctx context.Context, do func() error) error {
	if err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = c.exec(ctx, "COMMIT")
	}
	if err != nil {
		_ = c.rollback() // err is what matters; closing the connection undoes the rest
	}
	return err
}
