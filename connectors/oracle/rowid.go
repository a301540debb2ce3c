package oracle

import (
	"cmp"
	"fmt"
	"strings"
)

// block is where rows lie: the segment by its data object's number, then file
// and block in the 32 bits that a ROWID keeps of both. Blocks order as ROWIDs do.
type block struct {
	object  uint32
	address uint32
}

func (b block) compare(o block) int {
	return cmp.Or(cmp.Compare(b.object, o.object), cmp.Compare(b.address, o.address))
}

const (
	blockBits = 22   // of an address: the rest is the file's relative number
	bigFile   = 1024 // relative number of a big file tablespace's one file, whose blocks take all 32 bits
	lastRow   = 32767
)

// addressOf packs a file's relative number and a block's.
func addressOf(file, number int64) (uint32, error) {
	switch {
	case file == bigFile && number >= 0 && number < 1<<32:
		return uint32(number), nil
	case file > 0 && file < bigFile && number >= 0 && number < 1<<blockBits:
		return uint32(file<<blockBits | number), nil
	}
	return 0, fmt.Errorf("block %d of file %d has no place in a ROWID", number, file)
}

const rowidDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// rowid is a row's address as CHARTOROWID reads it: 18 digits to the base of 64,
// of the object 6, the file 3, the block 6 and the row 3. A conversion knows
// nothing of tablespaces, so a big file's block numbers are split the same way.
func (b block) rowid(row int) string {
	out := make([]byte, 0, 18)
	for _, part := range []struct {
		v      uint32
		digits int
	}{{b.object, 6}, {b.address >> blockBits, 3}, {b.address & (1<<blockBits - 1), 6}, {uint32(row), 3}} {
		for i := part.digits - 1; i >= 0; i-- {
			out = append(out, rowidDigits[uint64(part.v)>>(6*i)&63])
		}
	}
	return string(out)
}

// parseBlock reads the block of a ROWID whose row is the first.
func parseBlock(text string) (block, error) {
	var parts [4]uint64
	at := 0
	ok := len(text) == 18
	for i, digits := range []int{6, 3, 6, 3} {
		for range digits {
			if !ok {
				break
			}
			d := strings.IndexByte(rowidDigits, text[at])
			ok = d >= 0
			parts[i] = parts[i]<<6 | uint64(max(d, 0))
			at++
		}
	}
	if !ok || parts[0] >= 1<<32 || parts[1] >= bigFile || parts[2] >= 1<<blockBits || parts[3] != 0 {
		return block{}, fmt.Errorf("%q is not the ROWID of a block's first row", text)
	}
	return block{uint32(parts[0]), uint32(parts[1]<<blockBits | parts[2])}, nil
}
