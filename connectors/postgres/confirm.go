package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"penstock/connectors"
	"penstock/internal/change"

	"github.com/jackc/pgx/v5/pgproto3"
)

// statusBytes is the length of the message that tells the server how far its
// reader is: type and length, then what tell writes.
const statusBytes = 5 + 34

// writeTime is how long the server may take to take what is written to it: it
// reads while it sends.
const writeTime = 20 * time.Second

// Confirm lets the server discard what lies before at.
func (r *changeReader) Confirm(_ context.Context, at change.Resume) error {
	lsn, err := resumeLSN(at)
	if err != nil {
		return &connectors.Error{Op: "confirm", Class: connectors.Fatal, Err: err}
	}
	r.write.Lock()
	r.confirmed = max(r.confirmed, lsn)
	r.write.Unlock()
	return r.tell(false)
}

// tell writes how far the reader is: what it has read, and what was confirmed,
// which alone lets the server discard anything. answer asks it to tell in turn.
func (r *changeReader) tell(answer bool) error {
	r.write.Lock()
	defer r.write.Unlock()
	if r.broken != nil {
		return r.broken
	}
	m := make([]byte, statusBytes)
	m[0], m[5] = msgCopyData, 'r'
	binary.BigEndian.PutUint32(m[1:], statusBytes-1)
	binary.BigEndian.PutUint64(m[6:], max(r.seen.Load(), r.confirmed))
	binary.BigEndian.PutUint64(m[14:], r.confirmed) // flushed; 0 = nothing is said of it
	binary.BigEndian.PutUint64(m[22:], r.confirmed) // applied
	binary.BigEndian.PutUint64(m[30:], uint64(time.Now().UnixMicro()-epochMicros))
	if answer {
		m[38] = 1
	}
	conn := r.session.Conn()
	_ = conn.SetWriteDeadline(time.Now().Add(writeTime)) // where it fails, the write does
	if _, err := conn.Write(m); err != nil {
		r.fail(failure(fmt.Errorf("tell the server how far its log was read: %w", err), ""))
	}
	return r.broken
}

// fail makes this session's next read fail. r.write is held.
func (r *changeReader) fail(err error) {
	if r.broken == nil {
		r.broken = err
	}
	_ = r.session.Conn().SetReadDeadline(time.Unix(1, 0)) // a read that is under way ends
}

// problem is what a write or the pulse found wrong.
func (r *changeReader) problem() error {
	r.write.Lock()
	defer r.write.Unlock()
	return r.broken
}

// speak keeps the session alive while nobody reads, and asks how far the log is
// while somebody waits: the server does not tell by itself that nothing of what
// was written concerns this reader.
func (r *changeReader) speak() {
	waiting := r.waiting.Load()
	if waiting && r.asked.Add(1) > askedInVain {
		r.write.Lock()
		defer r.write.Unlock()
		r.fail(&connectors.Error{Op: "read the log", Class: connectors.Transient, Err: errors.New("the server does not answer any more")})
		return
	}
	_ = r.tell(waiting) // what is wrong with it, Read tells
}

// Close ends the session. The server is given a moment to read what was
// confirmed last.
func (r *changeReader) Close() error {
	r.pulse.stop()
	if r.problem() == nil && r.failed == nil {
		r.finish()
	}
	closeNow(r.session)
	return nil
}

// closeTime is how long the server may take to end a stream.
const closeTime = time.Second

// finish ends the stream, and drops what is still on its way.
func (r *changeReader) finish() {
	conn := r.session.Conn()
	_ = conn.SetDeadline(time.Now().Add(closeTime)) // where it fails, so does what follows
	msg, err := (&pgproto3.CopyDone{}).Encode(nil)
	if err == nil {
		_, err = conn.Write(msg)
	}
	for err == nil {
		var kind byte
		if kind, _, err = r.message(); kind == msgReady || kind == msgError {
			return
		}
	}
}
