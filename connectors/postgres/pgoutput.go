package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"penstock/connectors"
	"penstock/internal/change"
)

// Messages of the pgoutput plugin, protocol version 1: committed transactions
// alone, whole, in the order of their commits.
const (
	outBegin    = 'B'
	outCommit   = 'C'
	outOrigin   = 'O'
	outRelation = 'R'
	outType     = 'Y'
	outInsert   = 'I'
	outUpdate   = 'U'
	outDelete   = 'D'
	outTruncate = 'T'
	outMessage  = 'M'

	// What stands before a row, and before a value of it.
	tupleOld     = 'O' // the row as it was, with REPLICA IDENTITY FULL
	tupleKey     = 'K' // its identity alone
	tupleNew     = 'N'
	valueNull    = 'n'
	valueText    = 't'
	valueBinary  = 'b'
	valueMissing = 'u' // stored apart and not changed: it is not in the log
)

var errCut = errors.New("the server sent a change that ends too early")

// pgoutput turns messages into changes of a batch. It belongs to one goroutine.
type pgoutput struct {
	// relation makes what a Relation message says into a relation; one that is not
	// followed has no table.
	relation  func(relationMessage) (*logTable, error)
	relations map[uint32]*logTable
	last      *logTable // of the last change

	open   bool   // between Begin and Commit
	commit uint64 // where the transaction's commit record begins
	when   int64  // it was committed, microseconds since 1970
	end    uint64 // behind the last transaction that was read whole
	first  int    // in the batch, the open transaction's first change

	lsn  uint64 // of the last change's record
	nth  uint32 // of the changes of that record
	slab []byte // where positions are cut from
}

// place gives the position of a change whose record stands at lsn. The record's
// place is the ordinal that the source itself gives to changes: it is the same
// whatever is published, and whoever reads. Several changes of one record are
// told apart by their number.
//
//	8 octets  the beginning of the transaction's commit record
//	8 octets  the beginning of the change's record
//	4 octets  which change of that record
func (d *pgoutput) place(lsn uint64) (change.Position, error) {
	switch {
	case lsn == d.lsn:
		d.nth++
	case lsn < d.lsn:
		return nil, fmt.Errorf("the server sent a change at %s behind one at %s of the same transaction", formatLSN(lsn), formatLSN(d.lsn))
	default:
		d.lsn, d.nth = lsn, 0
	}
	if len(d.slab) < positionBytes {
		// Positions outlive their batch, so their memory is never used again.
		d.slab = make([]byte, 1024*positionBytes)
	}
	p := d.slab[:positionBytes:positionBytes]
	d.slab = d.slab[positionBytes:]
	binary.BigEndian.PutUint64(p, d.commit)
	binary.BigEndian.PutUint64(p[8:], lsn)
	binary.BigEndian.PutUint32(p[16:], d.nth)
	return p, nil
}

const positionBytes = 20

// isChange reports a message that add makes a change of, of a table that is followed.
func (d *pgoutput) isChange(p []byte) bool {
	var ids []byte
	switch {
	case len(p) < 5:
		return false
	case p[0] == outInsert, p[0] == outUpdate, p[0] == outDelete:
		ids = p[1:5]
	case p[0] == outTruncate && len(p) > 6:
		ids = p[6:]
	}
	for ; len(ids) >= 4; ids = ids[4:] {
		if r := d.find(binary.BigEndian.Uint32(ids)); r != nil && r.table != nil {
			return true
		}
	}
	return false
}

// add takes one message; lsn is of the record that it was made of. On an error
// the batch holds what came before the message.
func (d *pgoutput) add(b *change.Batch, lsn uint64, p []byte) error {
	if len(p) == 0 {
		return errCut
	}
	kind, p := p[0], p[1:]
	switch kind {
	case outInsert, outUpdate, outDelete:
		return d.row(b, kind, lsn, p)
	case outBegin:
		if len(p) != 20 {
			return errCut
		}
		if d.open {
			return errors.New("the server began a transaction inside another")
		}
		d.open, d.commit, d.when = true, binary.BigEndian.Uint64(p), int64(binary.BigEndian.Uint64(p[8:]))+epochMicros
		d.lsn, d.nth, d.first = 0, 0, len(b.Changes)
		return nil
	case outCommit:
		if len(p) != 25 {
			return errCut
		}
		if at := binary.BigEndian.Uint64(p[1:]); !d.open || at != d.commit {
			return fmt.Errorf("the server ended a transaction at %s that it had not begun", formatLSN(at))
		}
		d.open, d.end = false, binary.BigEndian.Uint64(p[9:])
		if n := len(b.Changes); n > d.first {
			b.Changes[n-1].End = true
		}
		return nil
	case outRelation:
		m, err := parseRelation(p)
		if err != nil {
			return err
		}
		r, err := d.relation(m)
		if err != nil {
			return err
		}
		d.relations[m.id], d.last = r, nil
		return nil
	case outTruncate:
		return d.truncate(b, lsn, p)
	case outOrigin, outType, outMessage:
		return nil
	}
	return fmt.Errorf("the server sent a message of type %q, which is not in version 1 of the protocol", kind)
}

// find is the relation that a change is of; nil: no message told of it.
func (d *pgoutput) find(id uint32) *logTable {
	if d.last == nil || d.last.id != id {
		d.last = d.relations[id]
	}
	return d.last
}

func (d *pgoutput) row(b *change.Batch, kind byte, lsn uint64, p []byte) error {
	if len(p) < 5 {
		return errCut
	}
	id := binary.BigEndian.Uint32(p)
	r := d.find(id)
	switch {
	case r == nil:
		return fmt.Errorf("the server sent a change of relation %d, which it had not described", id)
	case !d.open:
		return errors.New("the server sent a change outside of a transaction")
	case r.table == nil:
		return nil
	}
	r.into(b)
	c := change.Change{Set: r.set, Before: -1, After: -1, Commit: d.when}
	err := r.images(kind, p[4:], &c)
	if err == nil {
		c.Position, err = d.place(lsn)
	}
	if err != nil {
		r.undo(&c)
		var known *connectors.Error
		if errors.As(err, &known) {
			known.Op, known.Table, known.Position = "read the log of", r.table.Name.String(), d.at(lsn)
		}
		return err
	}
	b.Changes = append(b.Changes, c)
	return nil
}

// at is the position of a change that could not be read, for people.
func (d *pgoutput) at(lsn uint64) change.Position {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, d.commit), lsn)
}

func (d *pgoutput) truncate(b *change.Batch, lsn uint64, p []byte) error {
	if len(p) < 5 {
		return errCut
	}
	n := int(binary.BigEndian.Uint32(p))
	p = p[5:] // behind the options: identities that start anew and what was cascaded are the target's affair
	if n < 0 || len(p) != 4*n {
		return errCut
	}
	if !d.open {
		return errors.New("the server sent a change outside of a transaction")
	}
	for ; len(p) > 0; p = p[4:] {
		id := binary.BigEndian.Uint32(p)
		r := d.find(id)
		if r == nil {
			return fmt.Errorf("the server emptied relation %d, which it had not described", id)
		}
		if r.table == nil {
			continue
		}
		r.into(b)
		at, err := d.place(lsn)
		if err != nil {
			return err
		}
		b.Changes = append(b.Changes, change.Change{Op: change.Truncate, Set: r.set, Before: -1, After: -1, Position: at, Commit: d.when})
	}
	return nil
}

// relationMessage is what the server says of a table before its first change,
// and again whenever that may be different.
type relationMessage struct {
	id       uint32
	space    string
	name     string
	identity byte // d(efault), n(othing), f(ull), i(ndex)
	columns  []relationColumn
}

type relationColumn struct {
	name   string
	key    bool // part of the identity
	typ    uint32
	typmod int32
}

func parseRelation(p []byte) (m relationMessage, err error) {
	if len(p) < 4 {
		return m, errCut
	}
	m.id, p = binary.BigEndian.Uint32(p), p[4:]
	var ok bool
	if m.space, p, ok = cutText(p); !ok {
		return m, errCut
	}
	if m.space == "" {
		m.space = "pg_catalog"
	}
	if m.name, p, ok = cutText(p); !ok || len(p) < 3 {
		return m, errCut
	}
	m.identity = p[0]
	n := int(binary.BigEndian.Uint16(p[1:]))
	p = p[3:]
	for range n {
		if len(p) < 1 {
			return m, errCut
		}
		c := relationColumn{key: p[0]&1 != 0}
		if c.name, p, ok = cutText(p[1:]); !ok || len(p) < 8 {
			return m, errCut
		}
		c.typ, c.typmod = binary.BigEndian.Uint32(p), int32(binary.BigEndian.Uint32(p[4:]))
		m.columns, p = append(m.columns, c), p[8:]
	}
	if len(p) > 0 {
		return m, errCut
	}
	return m, nil
}

// cutText takes a text with a zero octet behind it off p.
func cutText(p []byte) (s string, rest []byte, ok bool) {
	n := bytes.IndexByte(p, 0)
	if n < 0 {
		return "", nil, false
	}
	return string(p[:n]), p[n+1:], true
}
