package oracletest

import (
	"encoding/binary"
	"errors"
)

// message builds what the server says in TTC: integers are a length byte and so
// many big-endian octets, values are a length byte and the octets, in chunks
// where they are longer than shortValue.
type message struct{ b []byte }

const (
	shortValue = 0xFC   // the longest value behind one length byte
	chunked    = 0xFE   // a value in chunks, each behind its length, ends with an empty one
	chunkSize  = 0x7FFF // octets of a chunk
)

func (m *message) bytes(v ...byte) { m.b = append(m.b, v...) }

// uint writes a number; zero is one octet.
func (m *message) uint(v uint64) { m.b = appendUint(m.b, v) }

func appendUint(b []byte, v uint64) []byte {
	if v == 0 {
		return append(b, 0)
	}
	var t [8]byte
	binary.BigEndian.PutUint64(t[:], v)
	i := 0
	for t[i] == 0 {
		i++
	}
	return append(append(b, byte(8-i)), t[i:]...)
}

// zeros writes n numbers that are zero.
func (m *message) zeros(n int) {
	for range n {
		m.b = append(m.b, 0)
	}
}

// int writes a number that may be negative: its sign is a bit of the length.
func (m *message) int(v int64) {
	if v >= 0 {
		m.uint(uint64(v))
		return
	}
	at := len(m.b)
	m.uint(uint64(-v))
	m.b[at] |= 0x80
}

// value writes octets; none of them is NULL.
func (m *message) value(v []byte) { m.b = appendValue(m.b, v) }

func appendValue(b, v []byte) []byte {
	switch {
	case len(v) == 0:
		return append(b, 0)
	case len(v) <= shortValue:
		return append(append(b, byte(len(v))), v...)
	}
	b = append(b, chunked)
	for len(v) > 0 {
		n := min(len(v), chunkSize)
		b = append(appendUint(b, uint64(n)), v[:n]...)
		v = v[n:]
	}
	return append(b, 0)
}

// counted writes octets behind their number, and nothing behind a zero.
func (m *message) counted(v []byte) {
	m.uint(uint64(len(v)))
	if len(v) > 0 {
		m.value(v)
	}
}

// pair writes a key, a value and a flag.
func (m *message) pair(key, value string, flag uint64) {
	m.counted([]byte(key))
	m.counted([]byte(value))
	m.uint(flag)
}

var errShort = errors.New("the message ends in the middle")

// request reads what a client says. The first fault is kept and all later reads
// give zeros, so that callers look at err once, behind what they need.
type request struct {
	b   []byte
	p   int
	err error
}

func (r *request) more() bool { return r.err == nil && r.p < len(r.b) }

func (r *request) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b)-r.p {
		r.err = errShort
		return nil
	}
	v := r.b[r.p : r.p+n]
	r.p += n
	return v
}

func (r *request) byte() byte {
	if v := r.take(1); len(v) == 1 {
		return v[0]
	}
	return 0
}

// skip passes over single octets.
func (r *request) skip(n int) { r.take(n) }

func (r *request) uint() (v uint64) {
	n := int(r.byte() & 0x7F)
	if n > 8 {
		r.err = errors.New("a number of more than eight octets")
		return 0
	}
	for _, b := range r.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

// uints passes over numbers.
func (r *request) uints(n int) {
	for range n {
		r.uint()
	}
}

// value reads octets; nil is NULL.
func (r *request) value() []byte {
	n := r.byte()
	switch n {
	case 0, 0xFF, 0xFD:
		return nil
	case chunked:
		var out []byte
		for {
			size := r.uint()
			if size == 0 || r.err != nil {
				return out
			}
			out = append(out, r.take(int(min(size, 1<<31)))...)
		}
	}
	return r.take(int(n))
}

// counted is the other half of message.counted.
func (r *request) counted() []byte {
	if r.uint() == 0 {
		return nil
	}
	return r.value()
}

func (r *request) pair() (key, value string) {
	k, v := r.counted(), r.counted()
	r.uint()
	return string(k), string(v)
}
