package oracle

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRowidsAreWrittenAsOracleDoes(t *testing.T) {
	tests := []struct {
		object       uint32
		file, number int64
		row          int
		want         string
	}{
		{258, 1, 2082, 0, "AAAAECAABAAAAgiAAA"}, // published examples
		{73877, bigFile, 20, 4, "AAASCVAAAAAAAAUAAE"},
		{1<<32 - 1, 1023, 1<<22 - 1, lastRow, "D/////AP/AAP///H//"},
		{1, bigFile, 1 << 22, 0, "AAAAABAABAAAAAAAAA"}, // a block that needs more than 22 bits
	}
	for _, c := range tests {
		address, err := addressOf(c.file, c.number)
		if err != nil {
			t.Fatal(err)
		}
		if got := (block{c.object, address}).rowid(c.row); got != c.want {
			t.Errorf("object %d, file %d, block %d, row %d is %s, want %s", c.object, c.file, c.number, c.row, got, c.want)
		}
	}
	for _, c := range [][2]int64{{0, 1}, {bigFile + 1, 1}, {4, 1 << 22}, {bigFile, 1 << 32}, {4, -1}} {
		if a, err := addressOf(c[0], c[1]); err == nil {
			t.Errorf("file %d, block %d has the address %d, want an error", c[0], c[1], a)
		}
	}
}

// TestEveryBlockIsInOnePieceOfOneChunk is what "no row is lost, none comes
// twice" rests on.
func TestEveryBlockIsInOnePieceOfOneChunk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []extent
		blocks := map[block]int{}
		for object := range rapid.IntRange(0, 4).Draw(t, "segments") {
			next := uint32(rapid.IntRange(0, 1<<20).Draw(t, "first"))
			for range rapid.IntRange(1, 5).Draw(t, "extents") {
				next += uint32(rapid.IntRange(0, 50).Draw(t, "gap"))
				n := uint32(rapid.IntRange(1, 20).Draw(t, "blocks"))
				all = append(all, extent{block{uint32(object*7 + 1), next}, n})
				for i := range n {
					blocks[block{uint32(object*7 + 1), next + i}] = 0
				}
				next += n
			}
		}
		sortExtents(all)
		edges := cutBlocks(all, uint64(rapid.IntRange(1, 40).Draw(t, "parts")))
		var sizes []int
		for i := range len(edges) + 1 {
			var lo, hi *block
			if i > 0 {
				lo = &edges[i-1]
			}
			if i < len(edges) {
				hi = &edges[i]
			}
			size := 0
			for _, p := range pieces(all, lo, hi) {
				for b := range blocks {
					if r := b.rowid(0); ordered(t, p.lo) <= ordered(t, r) && ordered(t, r) <= ordered(t, p.hi[:15]+"AAA") && p.lo[:6] == r[:6] {
						blocks[b]++
						size++
					}
				}
			}
			sizes = append(sizes, size)
		}
		for b, n := range blocks {
			if n != 1 {
				t.Fatalf("block %v is in %d pieces; edges %v, extents %v", b, n, edges, all)
			}
		}
		if len(blocks) == 0 {
			return
		}
		for _, s := range sizes {
			if s < len(blocks)/len(sizes) || s > len(blocks)/len(sizes)+1 {
				t.Fatalf("%d blocks in parts of %v", len(blocks), sizes)
			}
		}
	})
}

// ordered is a ROWID as a number that sorts as the database does.
func ordered(t *rapid.T, rowid string) uint64 {
	b, err := parseBlock(rowid[:15] + "AAA")
	if err != nil {
		t.Fatal(err)
	}
	return uint64(b.object)<<32 | uint64(b.address)
}

func FuzzParseBlock(f *testing.F) {
	f.Add("AAAAECAABAAAAgiAAA")
	f.Add("D/////AP/AAP///AAA")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBlock(text)
		if err == nil && b.rowid(0) != text {
			t.Fatalf("%q reads as %v, which is written %q", text, b, b.rowid(0))
		}
	})
}
