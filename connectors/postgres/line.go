package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// patience is how long is waited before something is found out about.
type patience struct {
	// silence is how long a session waits for its connection before the server is
	// asked, on another one, what its process does.
	silence time.Duration
	// connect bounds a new session's start.
	connect time.Duration
}

// usual is the patience of every run. A statement may take hours, and costs one
// short session each minute then; a wait for a lock, which ends after half a
// minute, is seen while it lasts.
var usual = patience{silence: 10 * time.Second, connect: 30 * time.Second}

// line is the way to one session's server process. It counts the waits of
// whoever uses the session, for the watch: two atomic additions for a read or
// write of the socket, which is many rows.
type line struct {
	waiting atomic.Int32 // reads and writes that the session's user waits in
	ended   atomic.Int64 // reads and writes that have ended
	broken  atomic.Pointer[stallError]
	failed  atomic.Pointer[error]  // what the first read or write failed with
	blocker atomic.Pointer[string] // who was last seen to hold a lock that the session waits for
}

// stallError is a session that the watch has given up.
type stallError struct{ text string }

func (e *stallError) Error() string { return e.text }

// lineKey is where a session keeps its line.
const lineKey = "line"

func lineTo(c *pgconn.PgConn) *line {
	l, ok := c.CustomData()[lineKey].(*line)
	if !ok { // a session that was opened elsewhere
		l = &line{}
		c.CustomData()[lineKey] = l
	}
	return l
}

// frontend has pgconn read and write through the line. It stands before pgconn's
// reading in the background, which waits also when nothing is asked.
func (l *line) frontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	return pgproto3.NewFrontend(lineReader{l, r}, lineWriter{l, w})
}

type lineReader struct {
	l *line
	r io.Reader
}

func (r lineReader) Read(p []byte) (int, error) {
	r.l.waiting.Add(1)
	n, err := r.r.Read(p)
	return n, r.l.end(err)
}

type lineWriter struct {
	l *line
	w io.Writer
}

func (w lineWriter) Write(p []byte) (int, error) {
	w.l.waiting.Add(1)
	n, err := w.w.Write(p)
	return n, w.l.end(err)
}

// end notes the end of a wait, and puts what the watch found in place of the
// closed connection that its finding is noticed by.
func (l *line) end(err error) error {
	l.ended.Add(1)
	l.waiting.Add(-1)
	if err == nil {
		return nil
	}
	if broken := l.broken.Load(); broken != nil {
		err = broken
	}
	l.failed.CompareAndSwap(nil, &err)
	return err
}

// because adds to a session's error what only its line knows: who held the lock
// that it waited for too long, and why it was lost, where all that pgconn says
// after a simple query is that it is closed.
func because(c *pgconn.PgConn, err error) error {
	l := lineTo(c)
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, pgconn.ErrConnClosed):
		if why := l.failed.Load(); why != nil {
			return *why
		}
	case errors.As(err, &pg) && pg.Code == "55P03":
		if by := l.blocker.Load(); by != nil {
			pg.Message += fmt.Sprintf(": %s holds it", *by)
		}
	}
	return err
}

// watched is a connection whose end is that of its watch.
type watched struct {
	net.Conn
	stop func() // ends the watch and waits for it; nil: there is none
}

// Close ends the connection, and waits until nothing is asked about it any more.
func (c *watched) Close() error {
	if c.stop != nil {
		c.stop()
	}
	return c.Conn.Close()
}
