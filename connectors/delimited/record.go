package delimited

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The rules by which a file is cut. A record ends at \n or \r\n outside of
// quotes, or at the end of the file. A quote opens a quoted value only where a
// value begins; anywhere else in an unquoted value, and between the quote that
// closes and the next delimiter, it makes the record a bad one, and what
// follows is cut as if it were plain. So a stray quote spoils records, and
// never the cutting of those behind.

// value is where a value stands in a record, without its quotes.
type value struct {
	from, to int
	quoted   bool
	escaped  bool // quoted, with an escape in it
}

// record is a record of a file, cut into values.
type record struct {
	values []value // the first ones, as many as its capacity
	count  int     // of all values
	end    int     // bytes, the end of the line included
	lines  int     // ends of lines in it
	fault  string  // what is wrong with it as a whole; "" = nothing
	at     int     // where the fault is
	column int     // and in which value
}

func (r *record) add(v value) {
	if len(r.values) < cap(r.values) {
		r.values = append(r.values, v)
	}
	r.count++
}

func (r *record) wrong(at int, why string) {
	if r.fault == "" {
		r.fault, r.at, r.column = why, at, r.count
	}
}

// blank reports a line without anything.
func (r *record) blank() bool {
	return r.count == 1 && r.values[0].from == r.values[0].to && !r.values[0].quoted
}

// Faults of a record.
const (
	faultBare  = "a quote stands inside of a value that does not begin with one"
	faultAfter = "something follows the quote that closes the value"
	faultOpen  = "the quote that opens here is never closed: the rest of the file would be one value"
)

// cut cuts the record that data begins with. It reports false when data ends
// before the record does and more is to come. data is not empty.
func (l *layout) cut(data []byte, eof bool, r *record) bool {
	r.values, r.count, r.lines, r.fault = r.values[:0], 0, 0, ""
	for i := 0; ; {
		v := value{from: i}
		if l.quote.at(data, i) {
			v.from, v.quoted = i+len(l.quote), true
			to, escaped, ok := l.closing(data, v.from, eof)
			if !ok {
				if !eof {
					return false
				}
				r.wrong(i, faultOpen)
				r.lines += bytes.Count(data[v.from:], newline)
				v.to, r.end = len(data), len(data)
				r.add(v)
				return true
			}
			v.to, v.escaped = to, escaped
			r.lines += bytes.Count(data[v.from:to], newline)
			i = to + len(l.quote)
		}
		begun := i
		if v.quoted && i < len(data) && data[i] != '\n' && data[i] != '\r' && !l.delim.at(data, i) {
			r.wrong(i, faultAfter)
		}
		stop, ok := l.stop(data, i, r)
		if !ok && !eof {
			return false
		}
		last := !ok || data[stop] == '\n'
		i = stop
		if last && stop > begun && data[stop-1] == '\r' {
			stop--
		}
		if !v.quoted {
			v.to = stop
		} else if stop > begun {
			r.wrong(begun, faultAfter)
		}
		r.add(v)
		switch {
		case !ok:
			r.end = len(data)
			return true
		case last:
			r.end = i + 1
			r.lines++
			return true
		}
		i += len(l.delim)
	}
}

var newline = []byte{'\n'}

// stop is where the value ends that goes on at i: at a delimiter, the end of
// the line, or (false) that of data.
func (l *layout) stop(data []byte, i int, r *record) (int, bool) {
	for {
		i = l.find(data, i)
		switch {
		case i == len(data):
			return i, false
		case data[i] == '\n', l.delim.at(data, i):
			return i, true
		case l.quote.at(data, i):
			r.wrong(i, faultBare)
		}
		i++
	}
}

// Each byte of a word has its high bit set, or its low one.
const highs, lows = 0x8080808080808080, 0x0101010101010101

// find is the place of the first byte from i on at which an unquoted value may
// end or be wrong, len(data) when there is none. It looks at eight bytes at
// once: x has a zero where the byte is the one looked for, and (x-lows)&^x has
// its high bit set at the first such zero; bits behind it may be set wrongly.
func (l *layout) find(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		a, b, c := w^l.stops[0], w^l.stops[1], w^l.stops[2]
		if hit := ((a-lows)&^a | (b-lows)&^b | (c-lows)&^c) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c == byte(l.stops[0]) || c == byte(l.stops[1]) || c == byte(l.stops[2]) {
			break
		}
	}
	return i
}

// closing is where the quoted value from i on ends: the place of its closing
// quote. false: not in data, or it is not yet known whether the quote at the
// very end of data is the first of two.
func (l *layout) closing(data []byte, i int, eof bool) (end int, escaped, ok bool) {
	for {
		if l.doubled || len(l.escape) == 0 {
			k := bytes.IndexByte(data[i:], l.quote[0])
			if k < 0 {
				return 0, escaped, false
			}
			i += k
		} else {
			for i < len(data) && !l.inQuote[data[i]] {
				i++
			}
			if i == len(data) {
				return 0, escaped, false
			}
		}
		q := len(l.quote)
		switch {
		case l.doubled && l.quote.at(data, i):
			if len(data)-i < 2*q && !eof {
				return 0, escaped, false
			}
			if !l.quote.at(data, i+q) {
				return i, escaped, true
			}
			escaped = true
			i += 2 * q
		case l.quote.at(data, i):
			return i, escaped, true
		case len(l.escape) > 0 && l.escape.at(data, i):
			i += len(l.escape)
			if len(data)-i < max(q, len(l.escape)) && !eof {
				return 0, escaped, false
			}
			escaped = true
			switch {
			case i == len(data):
			case l.quote.at(data, i):
				i += q
			case l.escape.at(data, i):
				i += len(l.escape)
			default:
				i++
			}
		default: // the first byte of a longer character
			i++
		}
	}
}

// skip finds the end of the record that data begins with, without cutting it:
// the same end as cut finds, several times as fast.
func (l *layout) skip(data []byte, eof bool) (end, lines int, ok bool) {
	for i := 0; ; {
		stop, ended := len(data), false
		if k := bytes.IndexByte(data[i:], '\n'); k >= 0 {
			stop, ended = i+k, true
		}
		q := l.opening(data, i, stop)
		if q < 0 {
			if !ended {
				return len(data), lines, eof
			}
			return stop + 1, lines + 1, true
		}
		close, _, ok := l.closing(data, q+len(l.quote), eof)
		if !ok {
			return len(data), lines + bytes.Count(data[q:], newline), eof
		}
		lines += bytes.Count(data[q:close], newline)
		i = close + len(l.quote)
	}
}

// opening finds the first quote from i to stop that a value begins with.
func (l *layout) opening(data []byte, i, stop int) int {
	if len(l.quote) == 0 {
		return -1
	}
	for {
		k := bytes.IndexByte(data[i:stop], l.quote[0])
		if k < 0 {
			return -1
		}
		i += k
		if (i == 0 || bytes.HasSuffix(data[:i], l.delim)) && l.quote.at(data, i) {
			return i
		}
		i++
	}
}
