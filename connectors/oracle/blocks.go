package oracle

import (
	"slices"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// extent is a run of blocks of one segment.
type extent struct {
	first  block
	blocks uint32
}

// end is the block behind the last one.
func (e extent) end() block { return block{e.first.object, e.first.address + e.blocks} }

func sortExtents(all []extent) {
	slices.SortFunc(all, func(a, b extent) int { return a.first.compare(b.first) })
}

// cutBlocks finds n-1 blocks at which a table falls into n parts of as many
// blocks each, or one more. Extents are in the order of ROWIDs.
func cutBlocks(all []extent, n uint64) []block {
	var total uint64
	for _, e := range all {
		total += uint64(e.blocks)
	}
	n = min(n, total)
	var edges []block
	var before uint64 // blocks of the extents that are passed
	i := 0
	for k := uint64(1); k < n; k++ {
		// The product of two numbers below 2^32 each fits: a part is never cut
		// before it is multiplied.
		at := k * total / n
		for at >= before+uint64(all[i].blocks) {
			before += uint64(all[i].blocks)
			i++
		}
		edges = append(edges, block{all[i].first.object, all[i].first.address + uint32(at-before)})
	}
	return edges
}

// piece is a stretch of ROWIDs in one segment, both ends in it.
type piece struct{ lo, hi string }

// pieces are what lies of the extents from block lo on and before block hi; nil
// is an open end. There is one for each segment, from its first such block to
// its last: every block of an extent is in exactly one piece of exactly one
// chunk, whatever lies in between.
func pieces(all []extent, lo, hi *block) []piece {
	var out []piece
	var first, last block // of the segment at hand
	some := false
	flush := func() {
		if some {
			out = append(out, piece{first.rowid(0), last.rowid(lastRow)})
		}
		some = false
	}
	for _, e := range all {
		from, to := e.first, e.end()
		if lo != nil && from.compare(*lo) < 0 {
			if to.compare(*lo) <= 0 {
				continue
			}
			from = *lo
		}
		if hi != nil && to.compare(*hi) > 0 {
			if from.compare(*hi) >= 0 {
				continue
			}
			to = *hi
		}
		if some && first.object != from.object {
			flush()
		}
		if !some {
			first, some = from, true
		}
		last = block{to.object, to.address - 1}
	}
	flush()
	return out
}

func blockEdge(b block) ranges.Edge {
	return ranges.Edge{{Kind: schema.Text, Value: b.rowid(0)}}
}

// edgeBlock is the block of an edge that blockEdge made; nil for an open end.
func edgeBlock(e ranges.Edge) (*block, error) {
	if e == nil {
		return nil, nil
	}
	if len(e) != 1 {
		return nil, &connectors.Error{Class: connectors.LostPosition, Err: errEdge, Hint: "Load the table anew with --reload."}
	}
	b, err := parseBlock(e[0].Value)
	return &b, err
}
