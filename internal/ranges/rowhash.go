package ranges

import (
	"math/bits"

	"penstock/internal/batch"

	"github.com/zeebo/xxh3"
)

// AppendRow appends the canonical encoding of row i of some columns to dst and
// returns it: their values' encodings (AppendKey), one behind the other. A
// column that is nil is absent in the row, which is neither NULL nor a value.
func AppendRow(dst []byte, columns []*batch.Column, i int) []byte {
	for _, c := range columns {
		if c == nil {
			dst = append(dst, tagAbsent)
			continue
		}
		dst = AppendKey(dst, c, i)
	}
	return dst
}

// Hash128 is an xxh3-128 hash.
type Hash128 struct{ Hi, Lo uint64 }

// RowHash is what two sides compare of a row.
type RowHash struct {
	Key  uint64  // xxh3-64 of the key's encoding; of a row without a key, the low half of Row
	Null bool    // the key has a NULL in it
	Row  Hash128 // xxh3-128 of the row's encoding, key columns first
}

// Range is the range of the row, 1 .. n: that of Hasher where there is a key.
func (h RowHash) Range(n int) int {
	if h.Null {
		return 1
	}
	return int(h.Key%uint64(n)) + 1
}

// RowHasher hashes whole rows. It belongs to one goroutine.
type RowHasher struct {
	key, rest []int
	buf       []byte
	keyed     int // bytes of buf that are the last row's key
}

// NewRowHasher returns a hasher of rows of so many columns, of which those of
// key, in the key's order, identify a row; without any, the row is its own key.
func NewRowHasher(columns int, key []int) *RowHasher {
	h := &RowHasher{key: key}
	for i := range columns {
		in := false
		for _, k := range key {
			in = in || k == i
		}
		if !in {
			h.rest = append(h.rest, i)
		}
	}
	return h
}

// Hash is the hash of row i.
func (h *RowHasher) Hash(b *batch.Batch, i int) RowHash {
	var out RowHash
	buf := h.buf[:0]
	for _, k := range h.key {
		c := b.Columns[k]
		out.Null = out.Null || c.IsNull(i)
		buf = AppendKey(buf, c, i)
	}
	h.keyed = len(buf)
	for _, k := range h.rest {
		buf = AppendKey(buf, b.Columns[k], i)
	}
	h.buf = buf
	out.Row = Hash128(xxh3.Hash128(buf))
	if len(h.key) == 0 {
		h.keyed, out.Key = len(buf), out.Row.Lo
		return out
	}
	out.Key = xxh3.Hash(buf[:h.keyed])
	return out
}

// Identity is the xxh3-128 hash of the key of the row that was hashed last: what
// tells one key from another where 64 bits are too few.
func (h *RowHasher) Identity() Hash128 { return Hash128(xxh3.Hash128(h.buf[:h.keyed])) }

// Sum is rows and the sum of their hashes modulo 2^128: the same for the same
// rows in whatever order. XOR would not see two copies of a row for none.
type Sum struct {
	Rows int64
	Hash Hash128
}

// Add adds a row.
func (s *Sum) Add(h Hash128) {
	s.Rows++
	s.Hash.add(h)
}

// Merge adds the rows of another sum.
func (s *Sum) Merge(o Sum) {
	s.Rows += o.Rows
	s.Hash.add(o.Hash)
}

func (h *Hash128) add(o Hash128) {
	var carry uint64
	h.Lo, carry = bits.Add64(h.Lo, o.Lo, 0)
	h.Hi, _ = bits.Add64(h.Hi, o.Hi, carry)
}
