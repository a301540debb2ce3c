package rowexpr

import (
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// vec is the values of a node for the rows of a batch, by row number. Rows that
// were not asked for hold anything. Memory belongs to the operator that returns
// the vec, or to the batch, and is good until the operator's next turn.
type vec struct {
	ints   []int64
	nanos  []int16 // below the microsecond; nil = none
	floats []float64
	decs   []decimal128.Num
	bools  []uint8 // no, yes, unknown
	data   []byte  // text of row i is data[lo[i]:hi[i]]
	lo, hi []int32
	tiled  bool         // lo and hi are one array of offsets, shifted by one
	valid  batch.Bitmap // bits as in a batch, nil = no NULLs; not used by conditions
	index  int          // row number & index is where the value lies: -1, or 0 for a constant

	own batch.Bitmap // memory for valid
}

// The three values of a condition.
const (
	no      uint8 = 0
	yes     uint8 = 1
	unknown uint8 = 2
)

func (v *vec) null(i int) bool { return v.valid != nil && !v.valid.Get(i) }

func (v *vec) text(i int) []byte { i &= v.index; return v.data[v.lo[i]:v.hi[i]] }

// resize gives s n elements of any value.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// bitmap is own memory for n bits.
func (v *vec) bitmap(n int) batch.Bitmap {
	v.own = resize(v.own, (n+7)/8)
	return v.own
}

// strict makes v NULL where an operand is NULL.
func (v *vec) strict(n int, operands ...*vec) {
	v.valid = nil
	for _, o := range operands {
		switch {
		case o.valid == nil:
		case v.valid == nil:
			v.valid = o.valid
		default:
			into := v.bitmap(n)
			for i := range into {
				into[i] = v.valid[i] & o.valid[i]
			}
			v.valid = into
		}
	}
}

// setNull makes row i NULL. valid may be another's memory, which is copied first.
func (v *vec) setNull(i, n int) {
	if v.valid == nil {
		fill(v.bitmap(n), 0xff)
	} else if len(v.own) == 0 || &v.valid[0] != &v.own[0] {
		from := v.valid
		copy(v.bitmap(n), from)
	}
	v.valid = v.own
	v.valid.Clear(i)
}

// allNull makes every row NULL.
func (v *vec) allNull(n int) {
	fill(v.bitmap(n), 0)
	v.valid = v.own
}

// markUnknown sets a condition to unknown where a bit of valid is missing.
func markUnknown(bools []uint8, valid batch.Bitmap) {
	if valid == nil {
		return
	}
	for k := 0; k*8 < len(bools); k++ {
		if valid[k] == 0xff {
			continue
		}
		for i := k * 8; i < min(k*8+8, len(bools)); i++ {
			if !valid.Get(i) {
				bools[i] = unknown
			}
		}
	}
}

// sized prepares v for n values of a storage.
func (v *vec) sized(s schema.Storage, n int) {
	v.index = -1
	switch s {
	case schema.StoreInt:
		v.ints = resize(v.ints, n)
	case schema.StoreFloat:
		v.floats = resize(v.floats, n)
	case schema.StoreBool:
		v.bools = resize(v.bools, n)
	case schema.StoreDecimal:
		v.decs = resize(v.decs, n)
	case schema.StoreBytes:
		v.data, v.tiled = v.data[:0], false
		v.lo, v.hi = resize(v.lo, n), resize(v.hi, n)
	}
}

// put stores row i of src as row i of v. Texts are copied.
func (v *vec) put(s schema.Storage, i int, src *vec) {
	k := i & src.index
	switch s {
	case schema.StoreInt:
		v.ints[i] = src.ints[k]
		if v.nanos != nil {
			v.nanos[i] = 0
			if src.nanos != nil {
				v.nanos[i] = src.nanos[k]
			}
		}
	case schema.StoreFloat:
		v.floats[i] = src.floats[k]
	case schema.StoreBool:
		v.bools[i] = src.bools[k]
	case schema.StoreDecimal:
		v.decs[i] = src.decs[k]
	case schema.StoreBytes:
		v.lo[i] = int32(len(v.data))
		v.data = append(v.data, src.text(i)...)
		v.hi[i] = int32(len(v.data))
	}
}

// appendTo appends n values to a column of the same storage and scale. Only
// those of sel are known to be there.
func (v *vec) appendTo(c *batch.Column, n int, sel batch.Selection) {
	switch c.Storage() {
	case schema.StoreBool:
		for i := range n {
			if b := v.bools[i&v.index]; b == unknown {
				c.AppendNull()
			} else {
				c.AppendBool(b == yes)
			}
		}
		return
	case schema.StoreInt:
		if v.nanos != nil || c.Type.Precision > 6 {
			for i := range n {
				switch k := i & v.index; {
				case v.null(i):
					c.AppendNull()
				case v.nanos != nil:
					c.AppendNanos(v.ints[k], v.nanos[k])
				default:
					c.AppendInt(v.ints[k])
				}
			}
			return
		}
		c.Ints = appendAll(c.Ints, v.ints, v.index, n)
	case schema.StoreFloat:
		c.Floats = appendAll(c.Floats, v.floats, v.index, n)
	case schema.StoreDecimal:
		c.Decimals = appendAll(c.Decimals, v.decs, v.index, n)
	case schema.StoreBytes:
		v.appendTexts(c, n, sel)
	}
	c.GrewValid(n, v.valid)
}

func appendAll[T any](dst, src []T, index, n int) []T {
	if index == -1 {
		return append(dst, src[:n]...)
	}
	for range n {
		dst = append(dst, src[0])
	}
	return dst
}

func (v *vec) appendTexts(c *batch.Column, n int, sel batch.Selection) {
	if n == 0 {
		return
	}
	base := int32(len(c.Data))
	if v.tiled {
		c.Data = append(c.Data, v.data[v.lo[0]:v.hi[n-1]]...)
		base -= v.lo[0]
		at := len(c.Offsets)
		c.Offsets = append(c.Offsets, v.hi[:n]...)
		for i := range c.Offsets[at:] {
			c.Offsets[at+i] += base
		}
		return
	}
	for i, k := 0, 0; i < n; i++ {
		// Offsets of a row that was not asked for are left from another batch.
		if k < sel.Len(n) && sel.Row(k) == i {
			k++
			if !v.null(i) {
				c.Data = append(c.Data, v.text(i)...)
			}
		}
		c.Offsets = append(c.Offsets, int32(len(c.Data)))
	}
}
