// Package batch holds rows in columns in memory: Arrow's layout, recycled
// builders, and selections instead of copied rows.
package batch

import (
	"fmt"
	"sync"

	"penstock/internal/schema"
)

// Selection lists the rows of a batch that count, ascending. nil is all rows;
// an empty one that is not nil is none.
type Selection []int32

// Len is how many rows are selected out of rows.
func (s Selection) Len(rows int) int {
	if s == nil {
		return rows
	}
	return len(s)
}

// Row is the batch's row number of the i-th selected row.
func (s Selection) Row(i int) int {
	if s == nil {
		return i
	}
	return int(s[i])
}

// Batch is rows in columns, sealed. It belongs to whoever received it, until
// Release gives its memory back; nothing taken from it lives longer.
type Batch struct {
	Rows    int
	Columns []*Column
	// Encoded is the rows one behind the other in the form that their connector
	// reads and writes them in, all of them selected; such a batch has no columns.
	// nil is a batch of columns.
	Encoded []byte

	own    []*Column
	wide   []*Column // of own, those of texts and octets
	pool   *Pool
	parent *Batch
	origin Origin
}

// Size is the bytes that the batch holds, its parent's included.
func (b *Batch) Size() int {
	n := len(b.Encoded)
	for _, c := range b.own {
		n += c.Size()
	}
	if b.parent != nil {
		n += b.parent.Size()
	}
	return n
}

// Parent is the batch that SealOver took columns of; nil where there is none.
func (b *Batch) Parent() *Batch { return b.parent }

// Release gives the memory back to the pool it came from. Releasing twice is a
// programmer's mistake and panics.
func (b *Batch) Release() {
	p, parent := b.pool, b.parent
	if p == nil {
		panic("batch: released twice")
	}
	b.pool, b.parent = nil, nil
	p.put(b)
	if parent != nil {
		parent.Release()
	}
}

// Limits say when a builder is full.
type Limits struct {
	Rows  int // 0 = DefaultRows
	Bytes int // 0 = DefaultBytes
}

// Eight thousand rows keep the cost per batch below the cost per row; a MiB is
// half of an L2 cache, and what a target's bulk path takes at once.
const (
	DefaultRows  = 8192
	DefaultBytes = 1 << 20
)

// Pool recycles batches of one list of column types. It may be used by many
// goroutines.
type Pool struct {
	types  []schema.Type
	limits Limits

	mu     sync.Mutex
	free   []*Batch
	rooms  []room // by column, of the batches that were sealed
	octets int    // of encoded rows that a batch has had at most
}

// NewPool returns a pool for batches with these columns.
func NewPool(types []schema.Type, l Limits) *Pool {
	if l.Rows == 0 {
		l.Rows = DefaultRows
	}
	if l.Bytes == 0 {
		l.Bytes = DefaultBytes
	}
	return &Pool{types: append([]schema.Type{}, types...), limits: l, rooms: make([]room, len(types))}
}

// Types are the column types of the pool's batches.
func (p *Pool) Types() []schema.Type { return p.types }

// Builder returns an empty builder.
func (p *Pool) Builder() *Builder {
	p.mu.Lock()
	var b *Batch
	if n := len(p.free); n > 0 {
		b, p.free = p.free[n-1], p.free[:n-1]
	}
	if b == nil {
		b = &Batch{own: make([]*Column, len(p.types)), Encoded: roomFor[[]byte](nil, min(p.octets, p.limits.Bytes+p.limits.Bytes/16))}
		for i, t := range p.types {
			b.own[i] = NewColumn(t)
			p.rooms[i].make(b.own[i], p.limits)
			if b.own[i].store == schema.StoreBytes {
				b.wide = append(b.wide, b.own[i])
			}
		}
	}
	p.mu.Unlock()
	b.pool = p
	return &Builder{b: b, limits: p.limits, wide: b.wide}
}

// learn keeps in mind how large the pool's batches are.
func (p *Pool) learn(b *Batch) {
	p.mu.Lock()
	for i, c := range b.own {
		p.rooms[i].learn(c)
	}
	p.octets = max(p.octets, len(b.Encoded))
	p.mu.Unlock()
}

// maxKept is how many idle batches a pool keeps; more are left to the garbage
// collector, so that a burst does not pin its peak for the rest of the run.
const maxKept = 64

func (p *Pool) put(b *Batch) {
	for _, c := range b.own {
		c.fitting(p.limits)
		c.Reset()
	}
	if cap(b.Encoded) > 2*p.limits.Bytes {
		b.Encoded = nil
	}
	b.Rows, b.Columns, b.Encoded = 0, b.Columns[:0], b.Encoded[:0]
	b.origin.reset()
	p.mu.Lock()
	if len(p.free) < maxKept {
		p.free = append(p.free, b)
	}
	p.mu.Unlock()
}

// Builder fills a batch. A reader appends one value to each column for a row;
// or it appends whole columns to their slices and calls Grew on each.
type Builder struct {
	b      *Batch
	limits Limits
	wide   []*Column // those of texts and octets
}

// Column is column i, to append to.
func (b *Builder) Column(i int) *Column { return b.b.own[i] }

// Columns are all columns, to append to.
func (b *Builder) Columns() []*Column { return b.b.own }

// Limits are the bounds at which the builder is full.
func (b *Builder) Limits() Limits { return b.limits }

// Rows is how many rows the first column has; a builder of no columns counts
// with AddRows.
func (b *Builder) Rows() int {
	if len(b.b.own) == 0 {
		return b.b.Rows
	}
	return b.b.own[0].rows
}

// AddRows counts rows of a batch that has no columns.
func (b *Builder) AddRows(n int) { b.b.Rows += n }

// AddEncoded adds a row, as its connector encodes it, to a builder of no columns.
func (b *Builder) AddEncoded(row []byte) {
	b.b.Encoded = append(b.b.Encoded, row...)
	b.b.Rows++
}

// Full reports whether another row should go into the next batch.
func (b *Builder) Full() bool {
	n := b.Rows()
	if n >= b.limits.Rows {
		return true
	}
	if len(b.b.Encoded) >= b.limits.Bytes {
		return true
	}
	// Texts and octets can be of any size, so each row looks at theirs; summing
	// all sizes costs more than a row and is done every 64th.
	for _, c := range b.wide {
		if len(c.Data) >= b.limits.Bytes {
			return true
		}
	}
	return n&63 == 0 && n > 0 && b.size() >= b.limits.Bytes
}

// Err says that a value did not fit into a batch at all. A builder with an
// error is discarded: its rows are not what was read.
func (b *Builder) Err() error {
	for i, c := range b.wide {
		if c.overflow {
			return fmt.Errorf("a value of text or octet column %d is too long: a batch holds 2 GiB of them", i+1)
		}
	}
	return nil
}

func (b *Builder) size() int {
	n := 0
	for _, c := range b.b.own {
		n += c.Size()
	}
	return n
}

// Seal ends the batch. The builder must not be used afterwards.
func (b *Builder) Seal() *Batch {
	out := b.b
	b.b = nil
	if len(out.own) > 0 {
		out.Rows = out.own[0].rows
	}
	out.Columns = append(out.Columns[:0], out.own...)
	out.pool.learn(out)
	for i, c := range out.own {
		c.check()
		if c.rows != out.Rows {
			panic(fmt.Sprintf("batch: column %d has %d rows, column 0 has %d", i, c.rows, out.Rows))
		}
	}
	return out
}

// SealOver ends a batch that takes columns of parent as they are: column k of
// the result is parent's column from[k] when that is not negative, else the
// builder's own column ^from[k]. The result owns parent and releases it.
func (b *Builder) SealOver(parent *Batch, from []int) *Batch {
	out := b.b
	b.b = nil
	out.Rows, out.parent = parent.Rows, parent
	out.Columns = out.Columns[:0]
	for _, i := range from {
		if i >= 0 {
			out.Columns = append(out.Columns, parent.Columns[i])
			continue
		}
		c := out.own[^i]
		c.check()
		if c.rows != parent.Rows {
			panic(fmt.Sprintf("batch: computed column %d has %d rows, its batch has %d", ^i, c.rows, parent.Rows))
		}
		out.Columns = append(out.Columns, c)
	}
	out.pool.learn(out)
	return out
}

// Discard gives the builder's memory back unsealed.
func (b *Builder) Discard() {
	out := b.b
	b.b = nil
	out.pool.put(out)
}
