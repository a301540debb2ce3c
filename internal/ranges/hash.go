package ranges

import (
	"encoding/binary"
	"fmt"
	"slices"

	"penstock/internal/batch"

	"github.com/zeebo/xxh3"
)

// Hasher puts the rows of batches into ranges by their keys: the hash is
// xxh3-64, without a seed, of the key columns' encodings one behind the other
// (AppendKey), and the range is 1 + hash mod n. A key with a NULL in it belongs
// to range 1. A Hasher belongs to one goroutine.
type Hasher struct {
	columns []int
	buf     []byte
}

// NewHasher returns a hasher of the batch columns that make the key, in the
// key's order. A key without columns is a programmer's mistake and panics.
func NewHasher(columns []int) *Hasher {
	if len(columns) == 0 {
		panic("ranges: a key needs a column")
	}
	return &Hasher{columns: slices.Clone(columns)}
}

// Hash is the hash of row i's key; null reports that the key has a NULL in it.
func (h *Hasher) Hash(b *batch.Batch, i int) (hash uint64, null bool) {
	return h.HashColumns(b.Columns, i)
}

// HashColumns is Hash for columns that stand in no batch.
func (h *Hasher) HashColumns(columns []*batch.Column, i int) (hash uint64, null bool) {
	h.buf = h.buf[:0]
	for _, k := range h.columns {
		c := columns[k]
		null = null || c.IsNull(i)
		h.buf = AppendKey(h.buf, c, i)
	}
	return xxh3.Hash(h.buf), null
}

// Range is the range of row i, 1 .. n.
func (h *Hasher) Range(b *batch.Batch, i, n int) int32 {
	hash, null := h.Hash(b, i)
	if null {
		return 1
	}
	return int32(hash%uint64(n)) + 1
}

// Ranges gives the range, 1 .. n, of each selected row, in the selection's
// order. It writes over out, grows it where it is too short, and returns it.
func (h *Hasher) Ranges(b *batch.Batch, sel batch.Selection, n int, out []int32) []int32 {
	if n < 1 {
		panic(fmt.Sprintf("ranges: %d ranges", n))
	}
	rows := sel.Len(b.Rows)
	out = slices.Grow(out[:0], rows)[:rows]
	if c := b.Columns[h.columns[0]]; len(h.columns) == 1 && c.Type.IsInteger() {
		integerRanges(c, sel, n, out)
		return out
	}
	for k := range out {
		out[k] = h.Range(b, sel.Row(k), n)
	}
	return out
}

// integerRanges is the loop for the key that most tables have.
func integerRanges(c *batch.Column, sel batch.Selection, n int, out []int32) {
	var buf [1 + binary.MaxVarintLen64]byte
	buf[0] = tagInteger
	for k := range out {
		i := sel.Row(k)
		if c.IsNull(i) {
			out[k] = 1
			continue
		}
		size := binary.PutVarint(buf[1:], c.Ints[i])
		out[k] = int32(xxh3.Hash(buf[:1+size])%uint64(n)) + 1
	}
}
