package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"penstock/connectors"
	"penstock/internal/change"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// changeReader reads a slot. Read belongs to one goroutine and takes messages
// off the session's own connection; a pulse of its own and Confirm write to it.
//
// The server is told of nothing as flushed but what Confirm says, whoever asks:
// what it was told of it never sends again.
type changeReader struct {
	*feed
	source string
	rows   int // of a batch
	decode pgoutput
	pool   change.Pool
	failed error // what the next Read returns

	pulse   *pulse
	waiting atomic.Bool   // Read waits for the server
	asked   atomic.Int64  // times that the pulse has asked it since it last spoke
	seen    atomic.Uint64 // up to here the log came

	write     sync.Mutex // guards the connection's writing side and what is below
	confirmed uint64
	broken    error // of a write: the session is of no use any more
}

var _ connectors.ChangeReader = (*changeReader)(nil)

const (
	// A batch ends at so many changes or octets. One message passes however long it is.
	changesRows  = 4096
	changesBytes = 1 << 20
	// For so long a batch that has whole transactions waits for more of them: at
	// full speed the server sends a few changes at a time, and a batch of few costs
	// all that come behind it more than a millisecond's wait does.
	changesLinger = 2 * time.Millisecond
	// The server ends a session that it has not heard of for wal_sender_timeout, a
	// minute by default, and tells how far it is only when it is asked.
	askEvery = time.Second
	// A server that has not answered so often is gone.
	askedInVain = 60
)

// startReplication begins to read a slot at a place. The session's connection
// belongs to the reader from then on.
func startReplication(ctx context.Context, c *pgconn.PgConn, of system, slot, publication string, lsn uint64, binaryForm bool) (*changeReader, error) {
	f, err := newFeed(ctx, c)
	if err != nil {
		return nil, err
	}
	r := &changeReader{feed: f, source: of.id, rows: changesRows}
	r.decode.relations, r.decode.end = map[uint32]*logTable{}, lsn
	r.seen.Store(lsn)
	options := "proto_version '1', publication_names " + literal(quote(publication))
	if binaryForm {
		options += ", binary 'true'"
	}
	msg, err := (&pgproto3.Query{String: fmt.Sprintf("START_REPLICATION SLOT %s LOGICAL %s (%s)", quote(slot), formatLSN(lsn), options)}).Encode(nil)
	if err != nil {
		return nil, err
	}
	defer r.watchReads(ctx)()
	if _, err := c.Conn().Write(msg); err != nil {
		return nil, orCancelled(ctx, failure(err, ""))
	}
	for {
		kind, body, err := r.message()
		if err != nil {
			return nil, orCancelled(ctx, err)
		}
		switch kind {
		case msgCopyBoth:
			every := askEvery
			if of.timeout > 0 {
				every = min(every, of.timeout/3)
			}
			r.pulse = beatEvery(every, func(context.Context) { r.speak() })
			return r, nil
		case msgNotice, msgParameter:
		case msgError:
			return nil, serverFailure(body)
		default:
			return nil, r.wrong("a message of type %q", kind)
		}
	}
}

// Messages while changes are copied out, beside those of a feed.
const (
	msgCopyBoth  = 'W'
	logData      = 'w'
	logKeepalive = 'k'
	logHeader    = 25 // of data: its kind, two places in the log, the server's clock
)

// Source names the system, its timeline and the database.
func (r *changeReader) Source() string { return r.source }

// Read returns whole transactions as they come, and pieces of one that is larger
// than a batch.
func (r *changeReader) Read(ctx context.Context) (*change.Batch, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer r.watchReads(ctx)()
	b := r.pool.Batch()
	r.decode.first = 0
	if err := r.collect(ctx, b); err != nil {
		// What was taken off the socket does not come again on this session.
		r.failed = orCancelled(ctx, err)
		if len(b.Changes) == 0 || ctx.Err() != nil {
			b.Release()
			return nil, r.failed
		}
	}
	b.Resume = lsnResume(r.decode.end)
	if !r.decode.open {
		b.Through = lsnPosition(r.decode.end)
	}
	return b, nil
}

// collect takes messages until b is full, or until there is something in it and
// no more comes.
func (r *changeReader) collect(ctx context.Context, b *change.Batch) error {
	d, began, size := &r.decode, r.decode.end, 0
	full := func() bool { return len(b.Changes) >= r.rows || size >= changesBytes }
	var until time.Time // when b is handed on as it is; zero: not yet
	for {
		switch {
		case d.open || len(b.Changes) == 0 && d.end == began:
			until = time.Time{}
		case full():
			return nil
		case until.IsZero() && !r.whole():
			until = time.Now().Add(changesLinger)
		}
		kind, body, err := r.wait(ctx, until)
		switch {
		case err != nil && !until.IsZero() && r.problem() == nil && ctx.Err() == nil && errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		case kind != msgCopyData:
			if err := r.notData(kind, body); err != nil {
				return err
			}
			continue
		}
		switch {
		case len(body) == 18 && body[0] == logKeepalive:
			if end := binary.BigEndian.Uint64(body[1:]); !d.open && end > d.end {
				d.end = end
			}
			if body[17] != 0 {
				r.tell(false)
			}
		case len(body) > logHeader && body[0] == logData:
			p := body[logHeader:]
			// A change is known not to be its transaction's last when another one
			// comes: only then is a batch cut inside of one.
			if d.open && full() && d.isChange(p) {
				r.at -= 5 + len(body)
				return nil
			}
			if err := d.add(b, binary.BigEndian.Uint64(body[1:]), p); err != nil {
				return unreadable(err)
			}
			size += len(p)
		default:
			return r.wrong("a message %.20q in the stream", body)
		}
		r.seen.Store(max(d.lsn, d.end))
	}
}

// unreadable gives an error of the decoder its class.
func unreadable(err error) error {
	var known *connectors.Error
	if errors.As(err, &known) {
		return err
	}
	return &connectors.Error{Op: "read the log", Class: connectors.Fatal, Err: err}
}

// notData takes a message that is no part of the stream.
func (r *changeReader) notData(kind byte, body []byte) error {
	switch kind {
	case msgNotice, msgParameter, msgNotify:
		return nil
	case msgError:
		return serverFailure(body)
	case msgCopyDone, msgComplete, msgReady:
		return &connectors.Error{Op: "read the log", Class: connectors.Transient, Err: errors.New("the server ended the stream")}
	}
	return r.wrong("a message of type %q", kind)
}

// serverFailure is an ErrorResponse of a walsender.
func serverFailure(body []byte) error {
	var e pgproto3.ErrorResponse
	if err := e.Decode(body); err != nil {
		return failure(fmt.Errorf("the server sent an error that can't be read: %w", err), "")
	}
	pg := pgconn.ErrorResponseToPgError(&e)
	err := failure(pg, "")
	var known *connectors.Error
	if !errors.As(err, &known) {
		return err
	}
	switch pg.Code {
	case "55000", "58P01": // the slot is of no use any more; a segment of the log is gone
		known.Class, known.Hint = connectors.LostPosition, lostHint
	case "42704":
		known.Class, known.Hint = connectors.LostPosition, "The slot or the publication was dropped, or the publication was made after the place that is read. Begin anew: "+anew+"."
	case "55006":
		known.Class, known.Hint = connectors.Transient, "Another session reads the slot."
	}
	return err
}

// anew is how a pipeline that lost its place begins again.
const anew = "drop its slot at the source, delete its rows of penstock_checkpoint at the target, and load its tables again with --reload"

const lostHint = "Begin anew: " + anew + "; max_slot_wal_keep_size says how much log the source keeps for a reader that is away."

// whole reports that a whole message was read from the socket already.
func (r *changeReader) whole() bool {
	have := r.end - r.at
	return have >= 5 && have > int(binary.BigEndian.Uint32(r.buf[r.at+1:]))
}

// message gives the next message; it lives until the next call.
func (r *changeReader) message() (kind byte, body []byte, err error) {
	if r.at == r.end && len(r.buf) > feedKept {
		r.buf, r.at, r.end = make([]byte, feedBytes), 0, 0
	}
	for r.end-r.at < 5 {
		if err := r.fill(5); err != nil {
			return 0, nil, err
		}
	}
	kind, size := r.buf[r.at], int(binary.BigEndian.Uint32(r.buf[r.at+1:]))
	if size < 4 || size > maxMessage {
		return 0, nil, r.wrong("a message of %d octets", size)
	}
	for r.end-r.at < 1+size {
		if err := r.fill(1 + size); err != nil {
			return 0, nil, err
		}
	}
	body = r.buf[r.at+5 : r.at+1+size]
	r.at += 1 + size
	return kind, body, nil
}

// maxMessage is more than a server can send: it builds a message in less than a GiB.
const maxMessage = 1 << 30

// wait gives the next message. Where it has to wait for the server, it does so
// until a time, if there is one.
func (r *changeReader) wait(ctx context.Context, until time.Time) (byte, []byte, error) {
	if r.whole() {
		return r.message()
	}
	if !until.IsZero() {
		_ = r.session.Conn().SetReadDeadline(until) // where it fails, reading does
		defer func() { _ = r.session.Conn().SetReadDeadline(time.Time{}) }()
	}
	// What ends a wait sets its own deadline, which this one may have replaced.
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	if err := r.problem(); err != nil {
		return 0, nil, err
	}
	r.waiting.Store(true)
	kind, body, err := r.message()
	r.waiting.Store(false)
	r.asked.Store(0)
	if p := r.problem(); err != nil && p != nil {
		err = p
	}
	return kind, body, err
}

// watchReads makes reads fail when ctx ends. What is written goes out all the same.
func (r *changeReader) watchReads(ctx context.Context) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = r.session.Conn().SetReadDeadline(time.Unix(1, 0)) // what was is past
		close(done)
	})
	return func() {
		if !stop() {
			<-done
			_ = r.session.Conn().SetReadDeadline(time.Time{})
		}
	}
}
