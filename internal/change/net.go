package change

import (
	"fmt"
	"slices"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Kind is what a net change does to the row of its key.
type Kind uint8

const (
	None        Kind = iota // inserted and deleted again
	NetDelete               // the row is there
	NetDeleteIf             // the row may be there
	NetUpdate               // the row is there; some columns are set
	NetReplace              // the row is there; all columns are set
	NetUpsert               // the row may be there; all columns are set
	NetInsert               // the row is not there
)

var kindNames = [...]string{None: "nothing", NetDelete: "delete", NetDeleteIf: "delete if there", NetUpdate: "update", NetReplace: "replace", NetUpsert: "upsert", NetInsert: "insert"}

func (k Kind) String() string { return kindNames[k] }

// Net is the changes of a lane since its last commit, at most one a key: what is
// left when each change is done to the ones before it. It holds on to the
// batches that it was given until Reset. It belongs to one goroutine.
type Net struct {
	// Loose takes what a strict one refuses, where loads overlap the stream or the
	// spec asks for repair: an insert may find its row, an update and a delete
	// may miss it.
	Loose bool

	To      Position // of the last change
	Resume  Resume
	Commit  int64 // when the last change's transaction was committed
	Changes int64 // how many were folded

	batches []*Batch
	tables  []*netTable
	rows    []netRow
	images  []netImage
	index   map[uint64]int32 // first row of a hash
	order   []orderKey
}

// netTable is what a Net knows of a table.
type netTable struct {
	table *schema.Table
	key   []int
	masks []Mask
	union map[[2]Mask]int32 // of two masks, in masks
}

// netRow is a net change.
type netRow struct {
	kind  Kind
	table int32
	next  int32 // another row of the same hash, -1 = none
	mask  int32 // columns set by an update, in the table's masks
	image int32 // the newest one, in Net.images; -1 = none
	keyed netImage
	hash  uint64
	last  Position // of its last change
}

// netImage is a row of an image, and the one that it was laid over.
type netImage struct {
	of    *Image
	row   int32
	older int32 // in Net.images, -1 = none
}

// Conflict is a change that can't follow the one before it on the same row.
type Conflict struct {
	Table    schema.Name
	Op       Op
	After    Kind
	Position Position
}

func (c *Conflict) Error() string {
	return fmt.Sprintf("%s: %s of a row whose last change was %s, at %s", c.Table, c.Op, c.After, c.Position)
}

// Hold keeps a batch until Reset. It comes before the Folds of its changes.
func (n *Net) Hold(b *Batch) {
	b.Retain()
	n.batches = append(n.batches, b)
}

// Fold adds change i of a batch that is held, by its Hash. A change that moves
// its key, or a truncate, is never folded: those are the router's. A *Conflict
// leaves the Net as it was.
func (n *Net) Fold(b *Batch, i int) error {
	c := &b.Changes[i]
	set := b.Sets[c.Set]
	t := n.tableOf(set)
	img, at := b.KeyRow(i)
	row := int32(-1)
	if len(set.Key) > 0 { // without a key every change is of a row of its own
		row = n.find(c.Hash, t, img, at)
	}
	if row < 0 {
		if n.index == nil {
			n.index = map[uint64]int32{}
		}
		first, ok := n.index[c.Hash]
		if !ok {
			first = -1
		}
		row = int32(len(n.rows))
		n.rows = append(n.rows, netRow{kind: None, table: t, next: first, image: -1, mask: -1, keyed: netImage{of: img, row: at}, hash: c.Hash})
		n.index[c.Hash] = row
		n.first(&n.rows[row], c, set)
	} else if err := n.lay(&n.rows[row], c, set); err != nil {
		return err
	}
	n.rows[row].last = c.Position
	n.To, n.Commit = c.Position, c.Commit
	n.Changes++
	return nil
}

// first is the first change of a row.
func (n *Net) first(r *netRow, c *Change, set *Set) {
	switch c.Op {
	case Insert:
		r.kind = NetInsert
		if n.Loose {
			r.kind = NetUpsert
		}
		n.whole(r, c, set)
	case Upsert:
		r.kind = NetUpsert
		n.whole(r, c, set)
	case Update:
		r.kind = NetUpdate
		n.over(r, c, set)
	case Delete:
		r.kind = NetDelete
	case DeleteThere:
		r.kind = NetDeleteIf
	}
}

// lay lays a change over those of its row before it.
func (n *Net) lay(r *netRow, c *Change, set *Set) error {
	gone := r.kind == NetDelete || r.kind == NetDeleteIf || r.kind == None
	switch {
	case c.Op == Insert && gone, c.Op == Upsert && gone:
		switch r.kind {
		case NetDelete:
			r.kind = NetReplace
		case NetDeleteIf:
			r.kind = NetUpsert
		default:
			r.kind = NetInsert
		}
		if n.Loose {
			r.kind = NetUpsert
		}
		n.whole(r, c, set)
	case c.Op == Upsert, c.Op == Insert && n.Loose:
		switch r.kind {
		case NetUpdate: // the row is there
			r.kind = NetReplace
			if n.Loose {
				r.kind = NetUpsert
			}
		}
		n.whole(r, c, set)
	case c.Op == Update && !gone:
		n.over(r, c, set)
	case c.Op == Update && n.Loose: // it would miss
	case c.Op == Delete && !gone, c.Op == DeleteThere && !gone:
		switch r.kind {
		case NetInsert:
			r.kind = None
		case NetUpsert:
			r.kind = NetDeleteIf
		default:
			r.kind = NetDelete
		}
		r.image, r.mask = -1, -1
	case c.Op == DeleteThere, c.Op == Delete && n.Loose: // nothing is there
	default:
		return &Conflict{Table: set.Table.Name, Op: c.Op, After: r.kind, Position: c.Position}
	}
	return nil
}

// whole gives the row an image of all columns.
func (n *Net) whole(r *netRow, c *Change, set *Set) {
	r.mask = -1
	r.image = n.push(netImage{of: &set.After, row: c.After, older: -1})
}

// over lays an image of some columns over what the row has.
func (n *Net) over(r *netRow, c *Change, set *Set) {
	t := n.tables[r.table]
	m := set.After.Mask(c.After)
	older := r.image
	if r.kind == NetUpdate {
		if r.mask < 0 {
			r.mask = t.intern(m)
		} else {
			r.mask = t.unite(r.mask, m)
		}
	}
	for older >= 0 { // what the new image hides is not looked at any more
		o := n.images[older]
		if !m.Holds(o.of.Mask(o.row)) {
			break
		}
		older = o.older
	}
	r.image = n.push(netImage{of: &set.After, row: c.After, older: older})
}

func (n *Net) push(i netImage) int32 {
	n.images = append(n.images, i)
	return int32(len(n.images) - 1)
}

func (n *Net) tableOf(s *Set) int32 {
	for i, t := range n.tables {
		if t.table == s.Table {
			return int32(i)
		}
	}
	n.tables = append(n.tables, &netTable{table: s.Table, key: s.Key, union: map[[2]Mask]int32{}})
	return int32(len(n.tables) - 1)
}

// find is the row with this key, -1 = there is none.
func (n *Net) find(hash uint64, table int32, img *Image, at int32) int32 {
	row, ok := n.index[hash]
	if !ok {
		return -1
	}
	for ; row >= 0; row = n.rows[row].next {
		r := &n.rows[row]
		if r.table != table {
			continue
		}
		same := true
		for _, k := range n.tables[table].key {
			if !equal(r.keyed.of.Columns[k], int(r.keyed.row), img.Columns[k], int(at)) {
				same = false
				break
			}
		}
		if same {
			return row
		}
	}
	return -1
}

func (t *netTable) intern(m Mask) int32 {
	if i := slices.Index(t.masks, m); i >= 0 {
		return int32(i)
	}
	t.masks = append(t.masks, m)
	return int32(len(t.masks) - 1)
}

func (t *netTable) unite(a int32, m Mask) int32 {
	if t.masks[a].Holds(m) {
		return a
	}
	pair := [2]Mask{t.masks[a], m}
	u, ok := t.union[pair]
	if !ok {
		u = t.intern(pair[0].Union(m))
		t.union[pair] = u
	}
	return u
}

// Len is how many keys the Net has changes of.
func (n *Net) Len() int { return len(n.rows) }

// Value is the newest value that a net change sets in column c: a column and its
// row. nil: the change does not set it.
func (n *Net) Value(row int32, c int) (*batch.Column, int) {
	for i := n.rows[row].image; i >= 0; i = n.images[i].older {
		if m := &n.images[i]; m.of.Mask(m.row).Has(c) {
			return m.of.Columns[c], int(m.row)
		}
	}
	return nil, 0
}

// Key is where the key of a net change stands: the columns of its table, of which
// those of the key hold it, and the row in them.
func (n *Net) Key(row int32) ([]*batch.Column, int) {
	k := n.rows[row].keyed
	return k.of.Columns, int(k.row)
}

// Last is the position of the last change of a net change.
func (n *Net) Last(row int32) Position { return n.rows[row].last }

// Reset empties the Net and releases its batches.
func (n *Net) Reset() {
	for _, b := range n.batches {
		b.Release()
	}
	clear(n.batches)
	clear(n.rows)
	clear(n.images)
	n.batches, n.rows, n.images, n.order = n.batches[:0], n.rows[:0], n.images[:0], n.order[:0]
	clear(n.index)
	n.Changes = 0
}
