package verify

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"

	"penstock/internal/batch"
	"penstock/internal/ranges"
)

// entry is a row of a range that differs: 40 bytes, whatever the row has.
type entry struct {
	key, row ranges.Hash128
	chunk    uint32 // of its side, where the row is found again
	of       uint16 // its range, from 0; not kept in a file
}

const entrySize = 40

// entries hold the rows of both sides' differing ranges until they are matched.
// They are matched group by group, each group as many ranges as memory takes;
// where there are several groups, entries wait in a file a side.
type entries struct {
	group []int32 // of each range; -1 for one that does not differ
	count int     // of groups
	sides [2]heap
}

// heap is one side's entries.
type heap struct {
	mu     sync.Mutex
	groups [][]entry // in memory: all of them, or with a file those not written yet
	file   *os.File  // nil: all of them are in memory
	size   int64
	blocks [][]block // of each group, in the file
}

// block is a stretch of the file.
type block struct {
	at int64
	n  int
}

// blockEntries is what is written at once: 20 KiB, so that hundreds of groups
// being filled stay small.
const blockEntries = 512

// newEntries makes room for the rows of the ranges that differ, whose numbers
// the sums tell. most is how many entries may be in memory at once; dir takes the
// files, if there are any.
func newEntries(a, b *sums, differ []int, most int64, dir func() (string, error)) (*entries, error) {
	e := &entries{group: make([]int32, Ranges), count: 1}
	for i := range e.group {
		e.group[i] = -1
	}
	held := int64(0)
	for _, i := range differ {
		n := a.ranges[i].Rows + b.ranges[i].Rows
		if held > 0 && held+n > most {
			e.count++
			held = 0
		}
		held += n
		e.group[i] = int32(e.count - 1)
	}
	for s := range e.sides {
		h := &e.sides[s]
		h.groups = make([][]entry, e.count)
		if e.count == 1 {
			continue
		}
		d, err := dir()
		if err != nil {
			return nil, errors.Join(err, e.close())
		}
		if h.file, err = os.CreateTemp(d, "verify-*"); err != nil {
			return nil, errors.Join(err, e.close())
		}
		h.blocks = make([][]block, e.count)
	}
	return e, nil
}

// add takes entries of one side, with the group of each.
func (h *heap) add(of []int32, list []entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, x := range list {
		g := of[i]
		h.groups[g] = append(h.groups[g], x)
		if h.file != nil && len(h.groups[g]) == blockEntries {
			if err := h.flush(int(g)); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes a group's entries to the file.
func (h *heap) flush(g int) error {
	list := h.groups[g]
	if len(list) == 0 {
		return nil
	}
	buf := make([]byte, 0, len(list)*entrySize)
	for _, x := range list {
		for _, v := range []uint64{x.key.Hi, x.key.Lo, x.row.Hi, x.row.Lo, uint64(x.chunk)} {
			buf = binary.LittleEndian.AppendUint64(buf, v)
		}
	}
	if _, err := h.file.WriteAt(buf, h.size); err != nil {
		return err
	}
	h.blocks[g] = append(h.blocks[g], block{h.size, len(list)})
	h.size += int64(len(buf))
	h.groups[g] = list[:0]
	return nil
}

// take gives a group's entries away.
func (h *heap) take(g int) ([]entry, error) {
	out := h.groups[g]
	h.groups[g] = nil
	if h.file == nil {
		return out, nil
	}
	for _, b := range h.blocks[g] {
		r := bufio.NewReader(io.NewSectionReader(h.file, b.at, int64(b.n)*entrySize))
		var raw [entrySize]byte
		for range b.n {
			if _, err := io.ReadFull(r, raw[:]); err != nil {
				return nil, err
			}
			word := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8*i:]) }
			out = append(out, entry{ranges.Hash128{Hi: word(0), Lo: word(1)}, ranges.Hash128{Hi: word(2), Lo: word(3)}, uint32(word(4)), 0})
		}
	}
	return out, nil
}

// close removes the files.
func (e *entries) close() error {
	var errs []error
	for i := range e.sides {
		if f := e.sides[i].file; f != nil {
			errs = append(errs, f.Close(), os.Remove(f.Name()))
			e.sides[i].file = nil
		}
	}
	return errors.Join(errs...)
}

// collector picks the rows of differing ranges out of one worker's chunks.
type collector struct {
	e      *entries
	into   *heap
	hash   *ranges.RowHasher
	list   []entry // of the open chunk
	groups []int32
	gone   bool // some of the open chunk's are with the others already
}

// heldEntries is how many rows of a chunk wait for its end, so that it can be
// read again: more than chunks have, but for a table that is one chunk.
const heldEntries = 200_000

func (c *collector) rows(chunk int, b *batch.Batch, sel batch.Selection) error {
	for k := range sel.Len(b.Rows) {
		h := c.hash.Hash(b, sel.Row(k))
		of := h.Range(Ranges) - 1
		g := c.e.group[of]
		if g < 0 {
			continue
		}
		c.list = append(c.list, entry{c.hash.Identity(), h.Row, uint32(chunk), uint16(of)})
		c.groups = append(c.groups, g)
	}
	if len(c.list) < heldEntries {
		return nil
	}
	c.gone = true
	return c.flush()
}

func (c *collector) flush() error {
	err := c.into.add(c.groups, c.list)
	c.list, c.groups = c.list[:0], c.groups[:0]
	return err
}

func (c *collector) done() error {
	c.gone = false
	return c.flush()
}

func (c *collector) drop() bool {
	c.list, c.groups = c.list[:0], c.groups[:0]
	return !c.gone
}
