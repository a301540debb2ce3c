package stream

import (
	"penstock/internal/change"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	"github.com/zeebo/xxh3"
)

// Order is what a stream keeps the order of.
type Order string

// What is kept in order: the changes of a key, those of a table, or all.
const (
	ByKey    Order = "key"
	ByTable  Order = "table"
	ByCommit Order = "commit"
)

// Route says which lane a change goes to.
type Route struct {
	Order Order
	Lanes int
	Count map[string]int // key ranges of a table, by its name; absent or 0 = as many as lanes
	// Alone names tables whose changes share one lane each whatever their keys:
	// those without a key, with a second unique index, or with enforced foreign
	// keys. Tables with one value here share a lane.
	Alone map[string]string
}

// table is what the router keeps of a table.
type table struct {
	hash   uint64
	count  uint64
	fixed  bool // one lane for the whole table
	hasher *ranges.Hasher
	// mix keeps equal keys of two tables apart in a lane's net changes.
	mix     uint64
	columns []int // of the key
	after   change.Position
}

func (r Route) table(t *schema.Table, key []int) *table {
	name := t.Name.String()
	out := &table{hash: xxh3.HashString(name), mix: xxh3.HashString(name), columns: key, count: uint64(r.Lanes)}
	if n := r.Count[name]; n > 0 {
		out.count = uint64(n)
	}
	if alone, ok := r.Alone[name]; ok {
		out.fixed, out.hash = true, xxh3.HashString(alone)
	}
	if len(key) == 0 || r.Order == ByTable {
		out.fixed = true
	}
	if r.Order == ByCommit {
		out.fixed, out.hash = true, 0
	}
	if len(key) > 0 {
		out.hasher = ranges.NewHasher(key)
	}
	return out
}

// lane is the lane of a key, by its hash.
func (t *table) lane(key uint64, lanes int) int {
	n := uint64(lanes)
	if t.fixed {
		return int(t.hash % n)
	}
	return int((t.hash%n + key%t.count) % n)
}

// key is the hash of a row's key. Without a key every row is one of its own,
// and the order of the table's lane is what counts.
func (t *table) key(m *change.Image, row int32) uint64 {
	if t.hasher == nil {
		return 0
	}
	h, _ := t.hasher.HashColumns(m.Columns, int(row))
	return h
}
