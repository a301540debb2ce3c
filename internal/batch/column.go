package batch

import (
	"fmt"
	"math"

	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Column is the values of one column of a batch, in Arrow's layout. The slice
// that the type's storage names holds the values; a NULL row holds any value
// there. Whoever holds the batch may read the slices; only the builder of the
// batch writes to them.
type Column struct {
	Type  schema.Type
	Valid Bitmap // a bit a row, 0 = NULL; nil = no NULLs

	Ints     []int64          // StoreInt
	Floats   []float64        // StoreFloat
	Bools    Bitmap           // StoreBool
	Decimals []decimal128.Num // StoreDecimal, of Type.Scale
	Offsets  []int32          // StoreBytes: value i is Data[Offsets[i]:Offsets[i+1]]
	Data     []byte           // StoreBytes
	Nanos    []int16          // nanoseconds below the microsecond; nil unless Type is a time of more than six digits

	store schema.Storage
	rows  int
	spare Bitmap // memory of Valid, kept while there are no NULLs
	// overflow is set when a value had no room under an offset of 31 bits; the
	// column then holds an empty one in its place.
	overflow bool
}

// NewColumn returns an empty column that can be appended to.
func NewColumn(t schema.Type) *Column {
	c := &Column{Type: t, store: t.Storage()}
	c.Reset()
	return c
}

// Len is the number of rows.
func (c *Column) Len() int { return c.rows }

// Storage says which slice holds the values.
func (c *Column) Storage() schema.Storage { return c.store }

// IsNull reports whether row i is NULL.
func (c *Column) IsNull(i int) bool { return c.Valid != nil && !c.Valid.Get(i) }

// Bytes is the value of row i of a StoreBytes column; it lives as long as the batch.
func (c *Column) Bytes(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]] }

// Size is the bytes that the values take.
func (c *Column) Size() int {
	return len(c.Valid) + 8*len(c.Ints) + 8*len(c.Floats) + len(c.Bools) + 16*len(c.Decimals) + 4*len(c.Offsets) + len(c.Data) + 2*len(c.Nanos)
}

// Reset empties the column and keeps its memory.
func (c *Column) Reset() {
	if c.Valid != nil {
		c.spare, c.Valid = c.Valid, nil
	}
	c.Ints, c.Floats, c.Bools, c.Decimals = c.Ints[:0], c.Floats[:0], c.Bools[:0], c.Decimals[:0]
	c.Offsets, c.Data, c.Nanos = c.Offsets[:0], c.Data[:0], c.Nanos[:0]
	if c.store == schema.StoreBytes {
		c.Offsets = append(c.Offsets, 0)
	}
	c.rows, c.overflow = 0, false
}

// AppendNull appends a NULL.
func (c *Column) AppendNull() {
	if c.Valid == nil {
		c.Valid = c.spare.ones(c.rows)
	}
	c.Valid = c.Valid.push(c.rows, false)
	switch c.store {
	case schema.StoreInt:
		c.Ints = append(c.Ints, 0)
	case schema.StoreFloat:
		c.Floats = append(c.Floats, 0)
	case schema.StoreBool:
		c.Bools = c.Bools.push(c.rows, false)
	case schema.StoreDecimal:
		c.Decimals = append(c.Decimals, decimal128.Num{})
	case schema.StoreBytes:
		c.Offsets = append(c.Offsets, int32(len(c.Data)))
	}
	if c.hasNanos() {
		c.Nanos = append(c.Nanos, 0)
	}
	c.rows++
}

// Truncate takes the rows from n on away: how a reader takes back a row of which
// a later value proved bad.
func (c *Column) Truncate(n int) {
	if n >= c.rows {
		return
	}
	c.Valid, c.Bools = c.Valid.truncate(n), c.Bools.truncate(n)
	switch c.store {
	case schema.StoreInt:
		c.Ints = c.Ints[:n]
	case schema.StoreFloat:
		c.Floats = c.Floats[:n]
	case schema.StoreDecimal:
		c.Decimals = c.Decimals[:n]
	case schema.StoreBytes:
		c.Offsets = c.Offsets[:n+1]
		c.Data = c.Data[:c.Offsets[n]]
	}
	if c.hasNanos() {
		c.Nanos = c.Nanos[:n]
	}
	c.rows = n
}

func (c *Column) hasNanos() bool {
	return c.store == schema.StoreInt && c.Type.Precision > 6 && c.Type.Kind >= schema.Time && c.Type.Kind <= schema.TimestampTZ
}

func (c *Column) appended() {
	if c.Valid != nil {
		c.Valid = c.Valid.push(c.rows, true)
	}
	c.rows++
}

// AppendInt appends to a StoreInt column.
func (c *Column) AppendInt(v int64) {
	c.Ints = append(c.Ints, v)
	if c.hasNanos() {
		c.Nanos = append(c.Nanos, 0)
	}
	c.appended()
}

// AppendNanos appends a time of microseconds and the nanoseconds below them (0-999).
func (c *Column) AppendNanos(micros int64, nanos int16) {
	c.Ints = append(c.Ints, micros)
	if c.hasNanos() {
		c.Nanos = append(c.Nanos, nanos)
	}
	c.appended()
}

// AppendFloat appends to a StoreFloat column.
func (c *Column) AppendFloat(v float64) { c.Floats = append(c.Floats, v); c.appended() }

// AppendBool appends to a StoreBool column.
func (c *Column) AppendBool(v bool) { c.Bools = c.Bools.push(c.rows, v); c.appended() }

// AppendDecimal appends to a StoreDecimal column; v is scaled by Type.Scale.
func (c *Column) AppendDecimal(v decimal128.Num) { c.Decimals = append(c.Decimals, v); c.appended() }

// AppendBytes appends a copy of v to a StoreBytes column.
func (c *Column) AppendBytes(v []byte) {
	if len(v) > math.MaxInt32-len(c.Data) {
		c.overflow, v = true, nil
	}
	c.Data = append(c.Data, v...)
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
	c.appended()
}

// AppendString appends to a StoreBytes column.
func (c *Column) AppendString(v string) {
	if len(v) > math.MaxInt32-len(c.Data) {
		c.overflow, v = true, ""
	}
	c.Data = append(c.Data, v...)
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
	c.appended()
}

// Grew tells the column that n rows without NULLs were appended to its slices
// directly. It is how a source that makes whole columns fills one.
func (c *Column) Grew(n int) { c.GrewValid(n, nil) }

// GrewValid is Grew for rows of which those are NULL whose bit in valid is
// zero; nil is no NULLs. valid stays the caller's.
func (c *Column) GrewValid(n int, valid Bitmap) {
	if valid != nil && c.Valid == nil {
		c.Valid = c.spare.ones(c.rows)
	}
	if valid != nil || c.Valid != nil {
		for i := range n {
			c.Valid = c.Valid.push(c.rows+i, valid == nil || valid.Get(i))
		}
	}
	c.rows += n
	c.check()
}

// check panics when the slices do not hold rows values: a programmer's mistake
// that would surface as shifted rows at the target.
func (c *Column) check() {
	n := 0
	switch c.store {
	case schema.StoreInt:
		n = len(c.Ints)
	case schema.StoreFloat:
		n = len(c.Floats)
	case schema.StoreBool:
		n = c.rows
		if len(c.Bools) != (c.rows+7)/8 {
			n = -1
		}
	case schema.StoreDecimal:
		n = len(c.Decimals)
	case schema.StoreBytes:
		n = len(c.Offsets) - 1
	}
	if n != c.rows || c.hasNanos() && len(c.Nanos) != n {
		panic(fmt.Sprintf("batch: column of %s holds %d values for %d rows", c.Type, n, c.rows))
	}
}
