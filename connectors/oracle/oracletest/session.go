package oracletest

import (
	"encoding/binary"
	"fmt"
)

// session is one client's connection.
type session struct {
	*transport
	server  *Server
	id      int64
	goOra   bool
	program string // AUTH_PROGRAM_NM
	login   login
	open    bool // logged in
	cursors map[int]*cursor
	last    int    // number of the newest cursor
	running string // statement of the call that is being answered
	total   int64  // octets sent in this session
}

func (c *session) serve() error {
	if err := c.accept(); err != nil {
		return err
	}
	for {
		kind, body, err := c.read()
		switch {
		case err != nil:
			return err
		case kind == packetMarker:
			if err := c.broken(body); err != nil {
				return err
			}
			continue
		case kind != packetData || len(body) < 2:
			return fmt.Errorf("a packet of type %d and %d octets", kind, len(body))
		case binary.BigEndian.Uint16(body)&lastData != 0:
			return errLeft
		}
		if err := c.answer(body[2:]); err != nil {
			return err
		}
	}
}

// broken answers the markers of a client that breaks its call off: a break is
// answered by one, and the reset that follows by a reset and the call's error.
func (c *session) broken(body []byte) error {
	if len(body) < 3 {
		return errShort
	}
	if body[2] != markerReset {
		return c.marker(markerBreak)
	}
	if err := c.marker(markerReset); err != nil {
		return err
	}
	m := &message{}
	m.status(status{err: &Error{Code: 1013, Text: "user requested cancel of current operation"}})
	c.data(m.b)
	return c.send()
}

// send flushes and counts.
func (c *session) send() error {
	c.total += int64(len(c.out))
	c.server.sent.Add(int64(len(c.out)))
	return c.flush()
}

// answer answers one message.
func (c *session) answer(b []byte) error {
	c.running = ""
	reply, err := c.dispatch(&request{b: b})
	if err != nil {
		return fmt.Errorf("%w, in a message that begins % x", err, b[:min(len(b), 48)])
	}
	if f := c.fault(); f != nil {
		if done, err := c.spoil(f, reply); done || err != nil {
			return err
		}
	}
	c.data(reply)
	return c.send()
}

// Messages and functions of TTC.
const (
	messageProtocol  = 1
	messageDataTypes = 2
	messageFunction  = 3
	messagePiggyback = 17

	functionLogoff       = 9
	functionFetch        = 5
	functionCommit       = 14
	functionRollback     = 15
	functionVersion      = 0x3B
	functionReexecute    = 0x4E
	functionExecute      = 0x5E
	functionCloseCursors = 0x69
	functionProve        = 0x73
	functionWho          = 0x76
	functionPing         = 0x93
)

// dispatch finds out what a message asks for. Piggybacks come before it.
func (c *session) dispatch(r *request) ([]byte, error) {
	for r.more() {
		switch code := r.byte(); code {
		case messageProtocol:
			return c.protocol(r), r.err
		case messageDataTypes:
			return c.dataTypes(), nil
		case messagePiggyback:
			if f := r.byte(); f != functionCloseCursors {
				return nil, fmt.Errorf("piggyback %#x, which the double does not serve", f)
			}
			r.skip(2)
			for range min(r.uint(), mostPairs) {
				delete(c.cursors, int(r.uint()))
			}
		case messageFunction:
			f := r.byte()
			r.skip(1) // sequence number
			reply, err := c.function(f, r)
			if err == nil {
				err = r.err
			}
			return reply, err
		default:
			return nil, fmt.Errorf("message %d, which the double does not serve", code)
		}
	}
	return nil, errShort
}

func (c *session) function(f byte, r *request) ([]byte, error) {
	m := &message{}
	switch f {
	case functionWho:
		return c.who(r), nil
	case functionProve:
		return c.prove(r)
	}
	if !c.open {
		return nil, fmt.Errorf("function %#x before the login", f)
	}
	switch f {
	case functionVersion:
		text := "Oracle Database 19c (wire double)"
		m.bytes(8)
		m.uint(uint64(len(text)))
		m.value([]byte(text))
		m.uint(0x13000000)
		m.done()
	case functionLogoff, functionCommit, functionRollback, functionPing:
		m.done()
	case functionExecute:
		return c.execute(r)
	case functionFetch:
		id, n := int(r.uint()), int(r.uint())
		if r.more() {
			return nil, fmt.Errorf("a fetch of %d rows with %d octets behind it", n, len(r.b)-r.p)
		}
		return c.fetch(id, n)
	case functionReexecute:
		return c.reexecute(r)
	default:
		return nil, fmt.Errorf("function %#x, which the double does not serve", f)
	}
	return m.b, nil
}

// done ends a call that has nothing to say.
func (m *message) done() { m.bytes(9, 0, 0) }

// status ends a call: how many rows, which cursor, and what went wrong.
type status struct {
	rows   uint64
	cursor int
	ended  bool // no row is left
	err    *Error
}

const noMoreRows = 1403

func (m *message) status(s status) {
	code, text := 0, ""
	switch {
	case s.err != nil:
		code, text = s.err.Code, fmt.Sprintf("ORA-%05d: %s\n", s.err.Code, s.err.Text)
	case s.ended:
		code, text = noMoreRows, "ORA-01403: no data found\n"
	}
	m.bytes(4)
	m.uint(1)  // end of call
	m.zeros(1) // end to end sequence
	m.uint(s.rows)
	m.uint(uint64(code))
	m.zeros(2) // array element errors
	m.uint(uint64(s.cursor))
	m.zeros(1)    // place of the error in the text
	m.bytes(0, 0) // type, fatal
	m.zeros(2)    // flags, options of the cursor
	m.bytes(0, 0) // parameter, warning
	m.zeros(2)    // address of the row: block, partition
	m.bytes(0)    // table
	m.zeros(3)    // block, slot, error of the system
	m.bytes(0, 0) // statement, call
	m.zeros(2)    // padding, iterations that worked
	m.zeros(4)    // identity, errors of a batch: codes, offsets, texts
	m.uint(uint64(code))
	m.uint(s.rows)
	if code != 0 {
		m.value([]byte(text))
	}
}
