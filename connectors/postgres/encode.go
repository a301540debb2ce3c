package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Days and microseconds from 1970-01-01 to PostgreSQL's own beginning, 2000-01-01.
const (
	epochDays   = 10957
	epochMicros = epochDays * 86_400_000_000
)

// The first and last values that PostgreSQL has, counted from 1970: dates from
// 4713-11-24 BC to 5874897-12-31, timestamps from there on. What
// lies past them would be taken for infinity, or refused in the midst of a COPY.
const (
	minDate   = -2_440_588
	maxDate   = 2_145_042_905
	minMicros = minDate * 86_400_000_000
	maxMicros = math.MaxInt64 - 1 // the year 294247: PostgreSQL goes a little further
)

// encoder writes columns of batches in the server's binary format. It belongs
// to one goroutine.
type encoder struct {
	fields []field
	fixed  int // octets that a row takes at most, without texts
}

// field is one column while a batch is written.
type field struct {
	connectors.TargetColumn
	wire wire
	col  *batch.Column
	// Of col, nearer by a step.
	ints    []int64
	offsets []int32
	data    []byte
	one     [1]int32 // a selection of one row
}

// widths are the octets of a value's length and of the value, at most; texts
// have theirs on top.
var widths = [...]int{
	formNone: 4, formBool: 5, formInt2: 6, formInt4: 8, formInt8: 12, formOID: 8, formFloat4: 8, formFloat8: 12,
	formNumeric: 4 + numericRoom, formDate: 8, formTime: 12, formTimestamp: 12, formBytes: 4, formUUID: 20, formJSONB: 5,
}

// storages are what a batch may hold for a form; what it computes otherwise is
// a mistake of the planner.
var storages = [...][]schema.Storage{
	formBool: {schema.StoreBool},
	formInt2: {schema.StoreInt}, formInt4: {schema.StoreInt}, formInt8: {schema.StoreInt}, formOID: {schema.StoreInt},
	formFloat4: {schema.StoreFloat}, formFloat8: {schema.StoreFloat},
	formNumeric: {schema.StoreDecimal, schema.StoreBytes},
	formDate:    {schema.StoreInt}, formTime: {schema.StoreInt}, formTimestamp: {schema.StoreInt},
	formBytes: {schema.StoreBytes}, formUUID: {schema.StoreBytes}, formJSONB: {schema.StoreBytes},
}

func newEncoder(columns []connectors.TargetColumn) *encoder {
	e := &encoder{fixed: 2}
	for _, c := range columns {
		f := field{TargetColumn: c, wire: wireOf(c.Native)}
		e.fields = append(e.fields, f)
		e.fixed += widths[f.wire.form]
	}
	return e
}

// binary reports whether every column has a binary form.
func (e *encoder) binary() bool {
	return !slices.ContainsFunc(e.fields, func(f field) bool { return f.wire.form == formNone })
}

// take makes the columns of a batch the ones that are written, and checks what
// can be checked a column at a time.
func (e *encoder) take(b *batch.Batch, sel batch.Selection) error {
	if len(b.Columns) != len(e.fields) {
		panic(fmt.Sprintf("postgres: a batch of %d columns for a table of %d", len(b.Columns), len(e.fields)))
	}
	for i := range e.fields {
		f := &e.fields[i]
		f.col = b.Columns[i]
		f.ints, f.offsets, f.data = f.col.Ints, f.col.Offsets, f.col.Data
		if s := storages[f.wire.form]; f.wire.form != formNone && !slices.Contains(s, f.col.Storage()) {
			panic(fmt.Sprintf("postgres: column %s is %s, and its values lie as %s", f.Name, f.Native, f.col.Type))
		}
		if err := f.check(b.Rows, sel); err != nil {
			return err
		}
	}
	return nil
}

// check refuses the values that the server would: it would refuse the whole
// COPY, and say less about the row.
func (f *field) check(rows int, sel batch.Selection) error {
	c := f.col
	if !f.Nullable && c.Valid != nil {
		if row := find(rows, sel, c.IsNull); row >= 0 {
			return f.bad(row, "NULL in a column that takes none", "")
		}
	}
	switch f.wire.form {
	case formBytes, formJSONB, formNone:
		// A piece of a few rows must not cost a look at all of them.
		if few := sel != nil && len(sel) < rows/8; f.wire.name == "bytea" || !few && bytes.IndexByte(c.Data, 0) < 0 {
			return nil
		}
		if row := find(rows, sel, func(i int) bool { return !c.IsNull(i) && bytes.IndexByte(c.Bytes(i), 0) >= 0 }); row >= 0 {
			return f.bad(row, "a text with the character U+0000, which PostgreSQL does not store", "")
		}
	case formDate:
		return f.within(rows, sel, minDate, maxDate)
	case formTimestamp:
		return f.within(rows, sel, minMicros, maxMicros)
	case formOID:
		return f.within(rows, sel, 0, math.MaxUint32)
	case formUUID:
		if row := find(rows, sel, func(i int) bool { return !c.IsNull(i) && len(c.Bytes(i)) != 16 }); row >= 0 {
			return f.bad(row, "a uuid that has not 16 octets", "")
		}
	}
	return nil
}

func (f *field) within(rows int, sel batch.Selection, lo, hi int64) error {
	c := f.col
	outside := func(i int) bool {
		return (c.Ints[i] < lo || c.Ints[i] > hi) && !c.IsNull(i) && !batch.IsSpecial(c, i)
	}
	if row := find(rows, sel, outside); row >= 0 {
		return f.bad(row, "a value out of the range of "+f.Native, string(batch.AppendText(nil, c, row)))
	}
	return nil
}

// badCell is a value that the server would refuse.
type badCell struct {
	row int // of its batch
	why *connectors.Refusal
}

func (c *badCell) Error() string { return c.why.Error() }
func (c *badCell) Unwrap() error { return c.why }

// bad is the error of a value. why is free of it.
func (f *field) bad(row int, why, value string) error {
	r := &connectors.Refusal{Column: f.Name, Reason: why}
	if value != "" {
		r.Detail = why + ": " + value
	}
	r.Err = fmt.Errorf("column %s, row %d of its batch: %s", f.Name, row+1, why)
	return &connectors.Error{Class: connectors.Data, Err: &badCell{row, r}}
}

// find gives the first selected row that is so, or -1.
func find(rows int, sel batch.Selection, is func(row int) bool) int {
	for k := range sel.Len(rows) {
		if row := sel.Row(k); is(row) {
			return row
		}
	}
	return -1
}

// room is the octets that the selected rows take at most.
func (e *encoder) room(b *batch.Batch, sel batch.Selection) int {
	n := sel.Len(b.Rows)
	size := n * e.fixed
	for i := range e.fields {
		f := &e.fields[i]
		if f.col.Storage() != schema.StoreBytes {
			continue
		}
		switch {
		case f.wire.form == formNumeric:
			// A decimal digit takes at most two octets, where it is alone in its group.
			size += 4*n + 2*len(f.col.Data)
		case sel == nil:
			size += len(f.col.Data)
		default:
			for _, row := range sel {
				size += int(f.col.Offsets[row+1] - f.col.Offsets[row])
			}
		}
	}
	return size
}

// appendRows writes rows as COPY takes them: the count of fields, then each
// with its length before it.
func (e *encoder) appendRows(dst []byte, b *batch.Batch, sel batch.Selection) ([]byte, error) {
	dst = slices.Grow(dst, e.room(b, sel))
	buf, p := dst[:cap(dst)], len(dst)
	for k := range sel.Len(b.Rows) {
		row := sel.Row(k)
		binary.BigEndian.PutUint16(buf[p:], uint16(len(e.fields)))
		p += 2
		for i := range e.fields {
			f := &e.fields[i]
			// The commonest forms stand here as well as in put: the call costs as
			// much as they do.
			if f.col.Valid == nil {
				switch f.wire.form {
				case formInt8:
					b := buf[p : p+12]
					binary.BigEndian.PutUint32(b, 8)
					binary.BigEndian.PutUint64(b[4:], uint64(f.ints[row]))
					p += 12
					continue
				case formInt4:
					binary.BigEndian.PutUint64(buf[p:p+8], 4<<32|uint64(uint32(f.ints[row])))
					p += 8
					continue
				case formTimestamp:
					b := buf[p : p+12]
					binary.BigEndian.PutUint32(b, 8)
					binary.BigEndian.PutUint64(b[4:], uint64(serverMicros(f.ints[row])))
					p += 12
					continue
				case formBytes:
					v := f.data[f.offsets[row]:f.offsets[row+1]]
					binary.BigEndian.PutUint32(buf[p:], uint32(len(v)))
					p += 4 + copy(buf[p+4:], v)
					continue
				}
			}
			n, err := f.put(buf[p:], row)
			if err != nil {
				return dst, err
			}
			p += n
		}
	}
	return buf[:p], nil
}

// null is a length of -1.
const null = 0xffff_ffff

// put writes the value of a row with its length before it; b has room.
func (f *field) put(b []byte, row int) (int, error) {
	c := f.col
	if c.Valid != nil && !c.Valid.Get(row) {
		binary.BigEndian.PutUint32(b, null)
		return 4, nil
	}
	switch f.wire.form {
	case formInt8:
		binary.BigEndian.PutUint32(b, 8)
		binary.BigEndian.PutUint64(b[4:], uint64(c.Ints[row]))
		return 12, nil
	case formInt4, formOID:
		binary.BigEndian.PutUint32(b, 4)
		binary.BigEndian.PutUint32(b[4:], uint32(c.Ints[row]))
		return 8, nil
	case formTimestamp:
		binary.BigEndian.PutUint32(b, 8)
		binary.BigEndian.PutUint64(b[4:], uint64(serverMicros(c.Ints[row])))
		return 12, nil
	case formBytes:
		lo, hi := c.Offsets[row], c.Offsets[row+1]
		binary.BigEndian.PutUint32(b, uint32(hi-lo))
		return 4 + copy(b[4:], c.Data[lo:hi]), nil
	case formFloat8:
		binary.BigEndian.PutUint32(b, 8)
		binary.BigEndian.PutUint64(b[4:], math.Float64bits(c.Floats[row]))
		return 12, nil
	case formNumeric:
		if c.Storage() == schema.StoreDecimal {
			if c.Decimals[row] == batch.NaN {
				return putNaN(b), nil
			}
			return putNumeric(b, c.Decimals[row], c.Type.Scale), nil
		}
		out, ok := appendNumericText(b[:0], c.Bytes(row))
		if !ok {
			return 0, f.bad(row, "no number that PostgreSQL has", fmt.Sprintf("%.60q", c.Bytes(row)))
		}
		return len(out), nil
	}
	return f.putRare(b, row), nil
}

// serverMicros counts a time from the server's own beginning; its infinities are
// the greatest and the least number, as those of a batch are.
func serverMicros(v int64) int64 {
	if v == batch.Infinity || v == batch.MinusInfinity {
		return v
	}
	return v - epochMicros
}

func serverDays(v int64) int32 {
	switch v {
	case batch.Infinity:
		return math.MaxInt32
	case batch.MinusInfinity:
		return math.MinInt32
	}
	return int32(v - epochDays)
}

func (f *field) putRare(b []byte, row int) int {
	c := f.col
	switch f.wire.form {
	case formBool:
		binary.BigEndian.PutUint32(b, 1)
		b[4] = 0
		if c.Bools.Get(row) {
			b[4] = 1
		}
		return 5
	case formInt2:
		binary.BigEndian.PutUint32(b, 2)
		binary.BigEndian.PutUint16(b[4:], uint16(c.Ints[row]))
		return 6
	case formFloat4:
		binary.BigEndian.PutUint32(b, 4)
		binary.BigEndian.PutUint32(b[4:], math.Float32bits(float32(c.Floats[row])))
		return 8
	case formDate:
		binary.BigEndian.PutUint32(b, 4)
		binary.BigEndian.PutUint32(b[4:], uint32(serverDays(c.Ints[row])))
		return 8
	case formTime:
		binary.BigEndian.PutUint32(b, 8)
		binary.BigEndian.PutUint64(b[4:], uint64(c.Ints[row]))
		return 12
	case formUUID:
		binary.BigEndian.PutUint32(b, 16)
		return 4 + copy(b[4:], c.Bytes(row))
	case formJSONB:
		v := c.Bytes(row)
		binary.BigEndian.PutUint32(b, uint32(len(v)+1))
		b[4] = 1
		return 5 + copy(b[5:], v)
	}
	// What has no binary form goes as a text, which the statement casts.
	v := c.Bytes(row)
	binary.BigEndian.PutUint32(b, uint32(len(v)))
	return 4 + copy(b[4:], v)
}
