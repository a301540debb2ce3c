package oracletest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Database is the model: tables, whose rows are kept with the SCNs they came and
// went at, and a clock of SCNs that every commit moves.
type Database struct {
	DBID      int64 // identity of the database
	Resetlogs int64 // SCN of its incarnation

	mu     sync.RWMutex
	scn    uint64
	oldest uint64 // undo reaches back to here
	tables []*Table
	object uint32
	blocks map[uint32]uint32 // next free block, by file
}

// NewDatabase is empty, at some SCN.
func NewDatabase() *Database {
	return &Database{DBID: 2861594501, Resetlogs: 1, scn: 4_200_000, object: 73_000, blocks: map[uint32]uint32{}}
}

// SCN is the clock.
func (d *Database) SCN() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.scn
}

// Create makes a table. It panics where the table makes no sense, which is the
// test's mistake.
func (d *Database) Create(t *Table) *Table {
	if err := t.prepare(); err != nil {
		panic("oracletest: " + err.Error())
	}
	if len(t.Parts) == 0 {
		t.Parts = []Part{{}}
	}
	t.RowsPerBlock, t.ExtentBlocks = cmp.Or(t.RowsPerBlock, 20), cmp.Or(t.ExtentBlocks, 8)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range t.Parts {
		d.object += 7
		t.segments = append(t.segments, &segment{Part: p, object: d.object})
	}
	d.scn++
	t.altered = d.scn
	d.tables = append(d.tables, t)
	return t
}

// Insert adds rows to the i-th part and commits. Values are text as
// Column.Type wants it, or nil; text that is empty is NULL but for LOBs.
func (d *Database) Insert(t *Table, part int, rows ...[]any) {
	values := make([][][]byte, len(rows))
	for i, r := range rows {
		if len(r) != len(t.fields) {
			panic(fmt.Sprintf("oracletest: %d values for the %d columns of %s", len(r), len(t.fields), t.Name))
		}
		values[i] = make([][]byte, len(r))
		for j, v := range r {
			if v == nil {
				continue
			}
			b, err := t.fields[j].encode(fmt.Sprint(v))
			if err != nil {
				panic("oracletest: " + err.Error())
			}
			values[i][j] = b
		}
	}
	d.InsertEncoded(t, part, values)
}

// InsertEncoded adds rows of values as they go on the wire, which the table keeps.
func (d *Database) InsertEncoded(t *Table, part int, rows [][][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := t.segments[part]
	d.scn++
	all := slices.Clip(s.rows) // those that are being read stay as they are
	for _, v := range rows {
		all = append(all, &row{address: d.place(t, s), born: d.scn, values: v})
	}
	if !slices.IsSortedFunc(all, byAddress) {
		all = slices.Clone(all)
		slices.SortFunc(all, byAddress)
	}
	s.rows = all
}

func byAddress(a, b *row) int {
	switch {
	case a.address.less(b.address):
		return -1
	case b.address.less(a.address):
		return 1
	}
	return 0
}

// place is the address of a segment's next row. Extents alternate between the
// segment's files, so that later rows may have lower addresses.
func (d *Database) place(t *Table, s *segment) rowid {
	if s.slot == t.RowsPerBlock || s.filled == 0 {
		s.filled, s.slot = s.filled+1, 0
		if total := uint32(len(s.extents)) * t.ExtentBlocks; uint32(s.filled) > total {
			d.extend(t, s)
		}
	}
	at := uint32(s.filled - 1)
	e := s.extents[at/t.ExtentBlocks]
	a := rowid{object: s.object, block: e.file<<22 | (e.block + at%t.ExtentBlocks), slot: uint16(s.slot)}
	if s.Bigfile {
		a.block = e.block + at%t.ExtentBlocks
	}
	s.slot++
	return a
}

// bigfile is the relative number of a big file tablespace's file.
const bigfile = 1024

func (d *Database) extend(t *Table, s *segment) {
	file := uint32(4)
	switch {
	case s.Bigfile:
		file = bigfile
	case len(s.Files) > 0:
		file = s.Files[len(s.extents)%len(s.Files)]
	}
	if d.blocks[file] == 0 {
		d.blocks[file] = 128
	}
	if s.FirstBlock > d.blocks[file] {
		d.blocks[file] = s.FirstBlock
	}
	s.extents = append(s.extents, extent{file: file, block: d.blocks[file], blocks: t.ExtentBlocks})
	d.blocks[file] += 2 * t.ExtentBlocks // others lie in between
}

// Delete lets the rows go that which is true for, given their values as text of
// the wire, and commits.
func (d *Database) Delete(t *Table, which func(values [][]byte) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scn++
	for _, s := range t.segments {
		for _, r := range s.rows {
			if r.died.Load() == 0 && which(r.values) {
				r.died.Store(d.scn)
			}
		}
	}
}

// Alter counts as a change of the table's definition: what it was before can't
// be read any more.
func (d *Database) Alter(t *Table) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scn++
	t.altered = d.scn
}

// Forget overwrites the undo of all that was before now.
func (d *Database) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scn++
	d.oldest = d.scn
}

// Rows is how many rows of a table there are now.
func (d *Database) Rows(t *Table) (n int64) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, s := range t.segments {
		for _, r := range s.rows {
			if r.died.Load() == 0 {
				n++
			}
		}
	}
	return n
}

func (d *Database) find(owner, name string) *Table {
	for _, t := range d.tables {
		if t.Owner == owner && t.Name == name {
			return t
		}
	}
	return nil
}

// sorted are the tables by owner and name.
func (d *Database) sorted() []*Table {
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := slices.Clone(d.tables)
	sort.SliceStable(out, func(i, j int) bool {
		return strings.Compare(out[i].Owner+"\x00"+out[i].Name, out[j].Owner+"\x00"+out[j].Name) < 0
	})
	return out
}

// readable says why a table can't be read as of an SCN.
func (d *Database) readable(t *Table, scn uint64) *Error {
	switch {
	case scn > d.scn:
		return &Error{8181, "specified number is not a valid system change number"}
	case t.altered > scn:
		return &Error{1466, "unable to read data - table definition has changed"}
	case scn < d.oldest:
		return &Error{1555, `snapshot too old: rollback segment number 7 with name "_SYSSMU7$" too small`}
	}
	return nil
}
