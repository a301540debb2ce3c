package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// feed takes the rows of COPY ... TO STDOUT off a session's own connection. The
// server sends a message a row, and pgconn's way of receiving one costs several
// times what a row does; here a row is a slice of what was read from the socket.
//
// pgconn opens the session and runs what comes before the first COPY; from
// then on only the feed reads from it. It belongs to one goroutine.
type feed struct {
	session *pgconn.PgConn
	line    *line
	buf     []byte // read from the socket
	at, end int    // buf[at:end] is not taken yet
	first   bool   // the next row has the stream's header before it
	broken  bool   // what the server sends next is not known
}

const (
	feedBytes = 256 << 10 // read at once; a row that is longer makes room for itself
	feedKept  = 4 << 20   // room that is kept for the next chunk
)

// newFeed takes over a session that nothing runs on.
func newFeed(ctx context.Context, c *pgconn.PgConn) (*feed, error) {
	if err := c.SyncConn(ctx); err != nil {
		return nil, orCancelled(ctx, failure(err, ""))
	}
	return &feed{session: c, line: lineTo(c), buf: make([]byte, feedBytes)}, nil
}

// start sends the statement. Its answer is read by next.
func (f *feed) start(ctx context.Context, sql string) error {
	msg, err := (&pgproto3.Query{String: sql}).Encode(nil)
	if err != nil {
		return err
	}
	if cap(f.buf) > feedKept {
		f.buf = append(make([]byte, 0, feedBytes), f.buf[f.at:f.end]...)
		f.at, f.end, f.buf = 0, len(f.buf), f.buf[:cap(f.buf)]
	}
	f.first, f.broken = true, true // until the whole answer is read
	defer f.watch(ctx)()
	if _, err := (lineWriter{f.line, f.session.Conn()}).Write(msg); err != nil {
		return orCancelled(ctx, failure(err, ""))
	}
	return nil
}

// watch makes reads and writes fail when ctx ends; the returned function ends
// the watch and leaves no deadline behind.
func (f *feed) watch(ctx context.Context) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = f.session.Conn().SetDeadline(time.Unix(1, 0)) // what was is past
		close(done)
	})
	return func() {
		if !stop() {
			<-done
			_ = f.session.Conn().SetDeadline(time.Time{})
		}
	}
}

// Messages of the server while it copies out.
const (
	msgCopyData  = 'd'
	msgCopyDone  = 'c'
	msgCopyOut   = 'H'
	msgComplete  = 'C'
	msgReady     = 'Z'
	msgError     = 'E'
	msgNotice    = 'N'
	msgParameter = 'S'
	msgNotify    = 'A'
)

// next gives the next row, the count of its fields first; it lives until the
// next call. At the end of the statement it gives io.EOF. The caller has a
// watch on: an error of the deadline that it sets is the context's.
func (f *feed) next() ([]byte, error) {
	for {
		for f.end-f.at < 5 {
			if err := f.fill(5); err != nil {
				return nil, err
			}
		}
		kind, size := f.buf[f.at], int(binary.BigEndian.Uint32(f.buf[f.at+1:]))
		if size < 4 {
			return nil, f.wrong("a message of %d octets", size)
		}
		for f.end-f.at < 1+size {
			if err := f.fill(1 + size); err != nil {
				return nil, err
			}
		}
		body := f.buf[f.at+5 : f.at+1+size]
		f.at += 1 + size
		if kind != msgCopyData {
			if done, err := f.other(kind, body); done || err != nil {
				return nil, err
			}
			continue
		}
		if f.first {
			f.first = false
			// The header stands before the first row, in one message with it.
			if !bytes.HasPrefix(body, []byte(copyHeader)) {
				return nil, f.wrong("a binary COPY that begins with %.20q", body)
			}
			body = body[len(copyHeader):]
			if len(body) == 0 {
				continue
			}
		}
		if len(body) == 2 && body[0] == 0xff && body[1] == 0xff { // no more rows
			continue
		}
		return body, nil
	}
}

// other takes a message that is no row. done reports the end, with io.EOF.
func (f *feed) other(kind byte, body []byte) (done bool, err error) {
	switch kind {
	case msgCopyOut, msgCopyDone, msgComplete, msgNotice, msgParameter, msgNotify:
		return false, nil
	case msgReady:
		f.broken = false
		return true, io.EOF
	case msgError:
		// The transaction has failed with it: the session is of no use any more.
		var e pgproto3.ErrorResponse
		if err := e.Decode(body); err != nil {
			return true, f.wrong("an error that can't be read: %v", err)
		}
		return true, failure(pgconn.ErrorResponseToPgError(&e), "")
	}
	return true, f.wrong("a message of type %q", kind)
}

func (f *feed) wrong(format string, args ...any) error {
	return failure(fmt.Errorf("the server sent "+format, args...), "")
}

// fill reads more, so that a message of need octets has room.
func (f *feed) fill(need int) error {
	if f.at == f.end {
		f.at, f.end = 0, 0
	}
	if need > len(f.buf)-f.at {
		if need > len(f.buf) {
			bigger := make([]byte, max(need, 2*len(f.buf)))
			copy(bigger, f.buf[f.at:f.end])
			f.buf, f.end, f.at = bigger, f.end-f.at, 0
		} else {
			copy(f.buf, f.buf[f.at:f.end])
			f.end, f.at = f.end-f.at, 0
		}
	}
	n, err := lineReader{f.line, f.session.Conn()}.Read(f.buf[f.end:])
	f.end += n
	if n > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the end of a stream of rows is told by io.EOF
	}
	if err != nil {
		return failure(err, "")
	}
	return nil
}

// close ends the session. What runs on it is cancelled first, so that the server
// does not go on with it.
func (f *feed) close() {
	if f.broken && !f.session.IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
		_ = f.session.CancelRequest(ctx) // the session ends in any case
		cancel()
	}
	closeNow(f.session)
}

// cancelTime is how long a request to cancel may take.
const cancelTime = 5 * time.Second
