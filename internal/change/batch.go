package change

import (
	"fmt"
	"sync"
	"sync/atomic"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Batch is changes of any tables in commit order; their images are in columns,
// a set of them a table. It is shared: who receives one calls Release when done
// with it, and Retain before handing it to another. Nothing in it changes once
// it was handed on.
type Batch struct {
	Changes []Change
	Sets    []*Set
	Resume  Resume   // reading from here sees everything after the last change
	Through Position // the source has nothing more up to here; nil = up to the last change

	refs atomic.Int32
	pool *Pool
	over *Batch // whose images some of the sets are made of
}

// Change is one change of a batch.
type Change struct {
	Op       Op
	End      bool     // the last one of its source transaction
	Set      int32    // of its table, in Batch.Sets
	Before   int32    // its row in the set's Before, -1 = it has none
	After    int32    // its row in the set's After, -1 = it has none
	Position Position // its place in the source's order
	Commit   int64    // when its transaction was committed, microseconds since 1970
	Hash     uint64   // of its table and key; the router fills it in
}

// Set is the images of one table's changes.
type Set struct {
	Table  *schema.Table
	Key    []int // key columns; empty: the table has no key
	Before Image
	After  Image
}

// Image is one side of changes, before or after, in columns: a value is absent
// (not in the change: an unchanged LOB, a partial image), NULL, or a value.
type Image struct {
	Columns []*batch.Column // as the table's
	masks   []Mask          // those that occur
	mask    []int32         // of each row, in masks
}

// Rows is how many rows the image has.
func (m *Image) Rows() int { return len(m.mask) }

// Mask is the columns that are present in a row.
func (m *Image) Mask(row int32) Mask { return m.masks[m.mask[row]] }

// Add ends a row, to each of whose columns one value was appended, NULL where it
// is absent, and returns its number.
func (m *Image) Add(present Mask) int32 {
	row := len(m.mask)
	for c, col := range m.Columns {
		if col.Len() != row+1 {
			panic(fmt.Sprintf("change: column %d has %d values, row %d ends", c, col.Len(), row))
		}
	}
	at := -1
	for i := len(m.masks) - 1; i >= 0; i-- { // the latest is the likeliest
		if m.masks[i] == present {
			at = i
			break
		}
	}
	if at < 0 {
		at = len(m.masks)
		m.masks = append(m.masks, present)
	}
	m.mask = append(m.mask, int32(at))
	return int32(row)
}

// Over is the rows of m in other columns: a value of column i is present where all
// of the columns from[i] of m are; where that is nil, in none.
func (m *Image) Over(columns []*batch.Column, from [][]int) Image {
	out := Image{Columns: columns, mask: m.mask, masks: make([]Mask, len(m.masks))}
	for i, old := range m.masks {
		var present []int
		for c, f := range from {
			if f != nil && old.HasAll(f) {
				present = append(present, c)
			}
		}
		out.masks[i] = MaskOf(len(columns), present...)
	}
	return out
}

// Remove takes the last row away again: how a reader takes a change back of which
// it could not read the rest.
func (m *Image) Remove() {
	m.mask = m.mask[:len(m.mask)-1]
	for _, c := range m.Columns {
		c.Truncate(len(m.mask))
	}
}

func (m *Image) reset() {
	for _, c := range m.Columns {
		c.Reset()
	}
	m.masks, m.mask = m.masks[:0], m.mask[:0]
}

func (m *Image) size() (n int) {
	for _, c := range m.Columns {
		n += c.Size()
	}
	return n
}

// KeyRow is where the key of change i stands: the row that it is of at the
// target. A change that moves its key has another one in its After.
func (b *Batch) KeyRow(i int) (*Image, int32) {
	c := &b.Changes[i]
	s := b.Sets[c.Set]
	if c.Before >= 0 && c.Op != Insert && c.Op != Upsert && s.Before.Mask(c.Before).HasAll(s.Key) {
		return &s.Before, c.Before
	}
	return &s.After, c.After
}

// MovesKey reports whether change i gives its row another key.
func (b *Batch) MovesKey(i int) bool {
	c := &b.Changes[i]
	if c.Op != Update || c.Before < 0 || c.After < 0 {
		return false
	}
	s := b.Sets[c.Set]
	old, now := s.Before.Mask(c.Before), s.After.Mask(c.After)
	for _, k := range s.Key {
		if old.Has(k) && now.Has(k) && !equal(s.Before.Columns[k], int(c.Before), s.After.Columns[k], int(c.After)) {
			return true
		}
	}
	return false
}

// Size is the bytes that the batch holds, about.
func (b *Batch) Size() (n int) {
	for _, s := range b.Sets {
		n += s.Before.size() + s.After.size()
	}
	return n + 96*len(b.Changes)
}

// Retain adds a holder.
func (b *Batch) Retain() { b.refs.Add(1) }

// Release takes a holder away; the last one gives the memory back to its pool.
func (b *Batch) Release() {
	switch n := b.refs.Add(-1); {
	case n < 0:
		panic("change: a batch was released twice")
	case n == 0 && b.pool != nil:
		b.pool.put(b)
	case n == 0 && b.over != nil:
		b.over.Release()
	}
}

// Over returns a batch with one holder that is to be made of what b holds: it
// takes over the caller's hold of b until its own last holder lets go.
func Over(b *Batch) *Batch {
	n := &Batch{Resume: b.Resume, Through: b.Through, over: b}
	n.refs.Store(1)
	return n
}

// SetOf returns the number of a table's set, made where there is none yet.
func (b *Batch) SetOf(t *schema.Table, key []int) int32 {
	for i, s := range b.Sets {
		if s.Table == t {
			return int32(i)
		}
	}
	s := &Set{Table: t, Key: key}
	for i := range t.Columns {
		s.Before.Columns = append(s.Before.Columns, batch.NewColumn(t.Columns[i].Type))
		s.After.Columns = append(s.After.Columns, batch.NewColumn(t.Columns[i].Type))
	}
	b.Sets = append(b.Sets, s)
	return int32(len(b.Sets) - 1)
}

// Pool recycles batches. It may be used by many goroutines.
type Pool struct {
	mu   sync.Mutex
	free []*Batch
}

// Batch returns an empty batch with one holder, to be filled.
func (p *Pool) Batch() *Batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b *Batch
	if n := len(p.free); n > 0 {
		b, p.free = p.free[n-1], p.free[:n-1]
	} else {
		b = &Batch{pool: p}
	}
	b.refs.Store(1)
	return b
}

// put keeps the memory of a batch for another one with the same tables.
func (p *Pool) put(b *Batch) {
	clear(b.Changes) // positions are not held on to
	b.Changes, b.Resume, b.Through = b.Changes[:0], nil, nil
	for _, s := range b.Sets {
		s.Before.reset()
		s.After.reset()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, b)
}
