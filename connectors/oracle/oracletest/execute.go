package oracletest

import (
	"bytes"
	"fmt"
)

// Options of an execution.
const (
	optionParse   = 0x01
	optionExecute = 0x20
	optionFetch   = 0x40
)

// Types of values on the wire.
const (
	typeVarchar     = 1
	typeNumber      = 2
	typeLong        = 8
	typeRowid       = 11
	typeDate        = 12
	typeRaw         = 23
	typeLongRaw     = 24
	typeLongVarchar = 94
	typeLongVarraw  = 95
	typeChar        = 96
	typeFloat       = 100
	typeDouble      = 101
	typeClob        = 112
	typeBlob        = 113
	typeTimestamp   = 180
	typeTimestampTZ = 181
	typeIntervalYM  = 182
	typeIntervalDS  = 183
	typeLocal       = 231 // TIMESTAMP WITH LOCAL TIME ZONE
)

// column describes a column of a result.
type column struct {
	name      string
	kind      byte
	precision byte
	scale     int
	size      int // octets
	chars     int
	national  bool
	nullable  bool
}

func (k column) isLob() bool { return k.kind == typeClob || k.kind == typeBlob }
func (k column) isLong() bool {
	return k.kind == typeLong || k.kind == typeLongRaw || k.kind == typeLongVarchar || k.kind == typeLongVarraw
}

// result is what a statement gives. next returns a row's values as they go on the
// wire, nil for NULL; a nil row is the end.
type result struct {
	columns []column
	next    func() ([][]byte, *Error)
	out     [][]byte // values of a block's out binds
}

// cursor is a statement that a client has open.
type cursor struct {
	sql     string
	binds   int
	result  *result
	defined []byte // types that the client wants values as; nil: those described
	last    [][]byte
	rows    uint64
}

// execute parses, executes, defines and fetches, as its options say.
func (c *session) execute(r *request) ([]byte, error) {
	options := r.uint()
	id := int(r.uint())
	r.skip(1)
	length := r.uint()
	r.skip(1)
	extras := r.uint()
	r.skip(3)
	prefetch := int(r.uint())
	r.uint() // longest LONG
	r.skip(1)
	binds := int(r.uint())
	r.skip(6)
	defines := int(r.uint())
	// Registrations, arrays and what newer versions added: none of it is used.
	r.uint()
	r.skip(3)
	r.uint()
	r.skip(1)
	r.uints(2)
	r.skip(1)
	r.uint()
	r.skip(2)
	r.uint()
	r.skip(1)
	r.uint()
	r.skip(2)
	r.uint()
	var sql string
	if length > 0 {
		sql = string(r.value())
	}
	more := make([]uint64, min(extras, 64))
	for i := range more {
		more[i] = r.uint()
	}
	if len(more) < 2 || binds > 1000 || defines > 1000 {
		return nil, fmt.Errorf("an execution with %d options, %d binds and %d defines", extras, binds, defines)
	}
	var types, defined []byte
	for i := range binds + defines {
		kind := r.byte()
		r.skip(3)
		r.uints(3)
		if r.uint() > 0 {
			r.value()
		}
		r.uints(2)
		r.skip(1)
		r.uints(2)
		if i < binds {
			types = append(types, kind)
		} else {
			defined = append(defined, kind)
		}
	}
	values := c.bound(r, len(types))
	if r.err != nil {
		return nil, r.err
	}
	if id == 0 {
		c.last++
		id = c.last
	}
	k := c.cursors[id]
	if sql != "" {
		k = &cursor{sql: sql, binds: len(types)}
		c.cursors[id] = k
	}
	if k == nil {
		return nil, fmt.Errorf("cursor %d, which is not open", id)
	}
	c.running = k.sql
	m := &message{}
	if options&optionExecute != 0 || k.result == nil {
		if e := c.start(k, values); e != nil {
			m.status(status{err: e})
			return m.b, nil
		}
	}
	if defined != nil {
		if len(defined) != len(k.result.columns) {
			return nil, fmt.Errorf("%d defines for %d columns", len(defined), len(k.result.columns))
		}
		k.defined = defined
	}
	if k.result.columns == nil {
		m.outBinds(k.result.out)
		m.parameters()
		m.status(status{cursor: id})
		return m.b, nil
	}
	if sql != "" {
		m.describe(k.result.columns, c.goOra)
	}
	n := prefetch
	if n == 0 {
		n = int(more[1])
	}
	// A server prefetches nothing of a table with LOBs: how they are wanted is
	// said by a define, after their description.
	if undefined(k) || options&(optionFetch|optionExecute) == 0 || n == 0 {
		m.parameters()
		m.status(status{cursor: id})
		return m.b, nil
	}
	return c.rows(m, id, k, n), nil
}

func undefined(k *cursor) bool {
	for _, col := range k.result.columns {
		if (col.isLob() || col.isLong()) && k.defined == nil {
			return true
		}
	}
	return false
}

// bound reads the values of the binds.
func (c *session) bound(r *request, n int) [][]byte {
	var out [][]byte
	if n > 0 && r.more() && r.byte() == 7 {
		for range n {
			out = append(out, r.value())
		}
	}
	return out
}

// start runs the statement.
func (c *session) start(k *cursor, values [][]byte) *Error {
	res, e := c.run(k.sql, values)
	if e != nil {
		return e
	}
	k.result, k.last, k.rows = res, nil, 0
	return nil
}

// reexecute runs an open statement with other binds.
func (c *session) reexecute(r *request) ([]byte, error) {
	id, n := int(r.uint()), int(r.uint())
	r.uints(2)
	k := c.cursors[id]
	if k == nil {
		return nil, fmt.Errorf("cursor %d, which is not open", id)
	}
	c.running = k.sql
	m := &message{}
	if e := c.start(k, c.bound(r, k.binds)); e != nil {
		m.status(status{err: e})
		return m.b, nil
	}
	return c.rows(m, id, k, n), nil
}

func (c *session) fetch(id, n int) ([]byte, error) {
	m := &message{}
	k := c.cursors[id]
	if k == nil || k.result == nil {
		m.status(status{err: &Error{Code: 1001, Text: "invalid cursor"}})
		return m.b, nil
	}
	c.running = k.sql
	return c.rows(m, id, k, n), nil
}

// rows adds up to n rows. A value that repeats the row before is not sent again:
// once one row says by a bit vector which values it has, all later ones do.
func (c *session) rows(m *message, id int, k *cursor, n int) []byte {
	cols := k.result.columns
	m.bytes(6, 0)
	m.uint(uint64(len(cols)))
	m.zeros(1)
	m.uint(uint64(n))
	m.zeros(3)
	var s status
	vectors := false
	for i := range n {
		row, e := k.result.next()
		if e != nil {
			s.err = e
			break
		}
		if row == nil {
			s.ended = true
			break
		}
		var vector []byte
		if i > 0 && !c.server.Distinct {
			var sent int
			if vector, sent = differing(row, k.last); sent == len(row) && !vectors {
				vector = nil
			} else {
				vectors = true
				m.bytes(21)
				m.uint(uint64(sent))
				m.bytes(vector...)
			}
		}
		m.bytes(7)
		for j, v := range row {
			if vector != nil && vector[j/8]&(1<<(j%8)) == 0 {
				continue
			}
			m.value(v)
			if cols[j].isLong() || k.defined != nil && (column{kind: k.defined[j]}).isLong() {
				m.zeros(2) // NULL or not, and a code
			}
		}
		k.last = row
		k.rows++
	}
	m.parameters()
	s.rows, s.cursor = k.rows, id
	m.status(s)
	return m.b
}

// differing has a bit for each value that is not that of the row before.
func differing(row, last [][]byte) (vector []byte, n int) {
	vector = make([]byte, (len(row)+7)/8)
	for j := range row {
		if (row[j] == nil) != (last[j] == nil) || !bytes.Equal(row[j], last[j]) {
			vector[j/8] |= 1 << (j % 8)
			n++
		}
	}
	return vector, n
}

// outBinds gives a block's out binds their values.
func (m *message) outBinds(values [][]byte) {
	if values == nil {
		return
	}
	m.bytes(11, 0)
	m.uint(uint64(len(values)))
	m.zeros(5)
	for range values {
		m.bytes(16) // out
	}
	m.bytes(7)
	for _, v := range values {
		m.value(v)
		m.zeros(1)
	}
}

// parameters tells of the session's state, of which there is none.
func (m *message) parameters() {
	m.bytes(8)
	m.uint(2)
	m.uint(0x1234)
	m.zeros(4)
}

// describe tells of the columns.
func (m *message) describe(cols []column, goOra bool) {
	m.bytes(16)
	m.value([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	m.uint(4000)
	m.uint(uint64(len(cols)))
	m.bytes(0)
	for i, k := range cols {
		m.bytes(k.kind, 0, k.precision)
		switch k.kind {
		case typeNumber, typeTimestamp, typeTimestampTZ, typeIntervalDS, typeLocal:
			if goOra {
				m.int(int64(k.scale))
				break
			}
			m.bytes(byte(int8(k.scale)))
		default:
			m.bytes(byte(k.scale))
		}
		m.uint(uint64(k.size))
		m.zeros(4) // array elements, flags, identity, version
		charset, form := 0, byte(0)
		switch k.kind {
		case typeVarchar, typeChar, typeClob, typeLong:
			charset, form = 873, 1
			if k.national {
				charset, form = 2000, 2
			}
		}
		m.uint(uint64(charset))
		m.bytes(form)
		m.uint(uint64(k.chars))
		m.zeros(1)
		if k.nullable {
			m.bytes(1)
		} else {
			m.bytes(0)
		}
		m.bytes(byte(len(k.name)))
		m.counted([]byte(k.name))
		m.zeros(2) // type's schema and name
		m.uint(uint64(i + 1))
		m.zeros(1)
	}
	m.counted([]byte{120, 124, 1, 1, 1, 1, 1}) // when it was described
	m.zeros(5)
}
