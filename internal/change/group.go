package change

import (
	"cmp"
	"math"
	"slices"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Group is net changes that one statement can carry: of one table and kind, of
// updates those that set the same columns. Rows ascend by their keys, about as
// they lie in an index.
type Group struct {
	Table *schema.Table
	Key   []int // columns of the table
	Kind  Kind
	Set   Mask    // NetUpdate: the columns set, the key's among them where the source sends them
	Rows  []int32 // for Net.Value and Net.Key
}

// orderKey sorts net changes.
type orderKey struct {
	group  uint64
	prefix uint64 // of the key, ordered as the key is
	row    int32
}

// Groups sorts the net changes into groups, in an order in which they can be
// done: deletes first, then updates, then inserts, and where a table refers to
// another, rank is lower for the one referred to: its rows come earlier and go
// later. rank may be nil. What was inserted and deleted again is left out.
func (n *Net) Groups(rank func(*schema.Table) int) []Group {
	ranks := make([]int, len(n.tables))
	order := make([]int, len(n.tables)) // table numbers by rank
	for i, t := range n.tables {
		order[i] = i
		if rank != nil {
			ranks[i] = rank(t.table)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	place := make([]uint64, len(order))
	for p, t := range order {
		place[t] = uint64(p)
	}
	n.order = n.order[:0]
	for i := range n.rows {
		r := &n.rows[i]
		if r.kind == None {
			continue
		}
		p, after := place[r.table], uint64(1)
		if r.kind <= NetDeleteIf {
			p, after = uint64(len(order))-p, 0
		}
		k := orderKey{group: after<<63 | p<<40 | uint64(r.kind)<<32 | uint64(uint32(r.mask+1)), row: int32(i)}
		if key := n.tables[r.table].key; len(key) > 0 {
			k.prefix = prefix(r.keyed.of.Columns[key[0]], int(r.keyed.row))
		}
		n.order = append(n.order, k)
	}
	slices.SortFunc(n.order, n.compare)
	var out []Group
	rows := make([]int32, len(n.order))
	for i, k := range n.order {
		rows[i] = k.row
	}
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && n.order[j].group == n.order[i].group {
			j++
		}
		r := &n.rows[rows[i]]
		t := n.tables[r.table]
		g := Group{Table: t.table, Key: t.key, Kind: r.kind, Rows: rows[i:j:j]}
		if r.kind == NetUpdate {
			g.Set = t.masks[r.mask]
		}
		out = append(out, g)
		i = j
	}
	return out
}

func (n *Net) compare(a, b orderKey) int {
	if c := cmp.Compare(a.group, b.group); c != 0 {
		return c
	}
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	x, y := &n.rows[a.row], &n.rows[b.row]
	for _, k := range n.tables[x.table].key {
		if c := compare(x.keyed.of.Columns[k], int(x.keyed.row), y.keyed.of.Columns[k], int(y.keyed.row)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.row, b.row)
}

// prefix is a number that orders as the value does, or is equal.
func prefix(c *batch.Column, i int) uint64 {
	if c.IsNull(i) {
		return 0
	}
	signed := func(v int64) uint64 { return uint64(v) ^ 1<<63 }
	switch c.Storage() {
	case schema.StoreInt:
		return signed(c.Ints[i])
	case schema.StoreFloat:
		bits := math.Float64bits(c.Floats[i] + 0) // one zero
		if bits>>63 != 0 {
			return ^bits
		}
		return bits | 1<<63
	case schema.StoreBool:
		if c.Bools.Get(i) {
			return 1
		}
		return 0
	case schema.StoreDecimal:
		d := c.Decimals[i]
		switch hi, lo := d.HighBits(), d.LowBits(); {
		case hi == 0 && lo < 1<<63, hi == -1 && lo >= 1<<63:
			return signed(int64(lo))
		case hi < 0:
			return 0
		}
		return math.MaxUint64
	}
	var p uint64
	for k, b := range c.Bytes(i)[:min(8, len(c.Bytes(i)))] {
		p |= uint64(b) << (56 - 8*k)
	}
	return p
}
