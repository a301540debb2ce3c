package ranges

import "math/bits"

// SplitInts cuts the integers first .. last into count ranges of nearly equal
// length, and each range into chunks of nearly equal length, at most chunkRows
// integers each; chunkRows below 1 leaves a range whole. There are never more
// ranges than integers, and never less than one. The outer ends are open, so
// that every int64 belongs to exactly one chunk, also one that was added past
// last since it was looked up.
func SplitInts(first, last int64, count int, chunkRows int64) []Chunk {
	var rows uint64
	if last >= first {
		// All 2^64 integers are counted as one less; the open ends hold it.
		if rows = uint64(last - first); rows != 1<<64-1 {
			rows++
		}
	}
	ranges := max(1, min(uint64(max(count, 1)), rows))
	var out []Chunk
	for r := range ranges {
		lo, hi := share(rows, r, ranges), share(rows, r+1, ranges)
		chunks := uint64(1)
		if chunkRows > 0 && hi > lo {
			chunks = (hi-lo-1)/uint64(chunkRows) + 1
		}
		for k := range chunks {
			from, to := lo+share(hi-lo, k, chunks), lo+share(hi-lo, k+1, chunks)
			c := Chunk{ID: len(out) + 1, Range: int(r) + 1, Rows: int64(min(to-from, 1<<63-1))}
			if len(out) > 0 {
				c.Lo = IntEdge(first + int64(from))
			}
			if to != rows {
				c.Hi = IntEdge(first + int64(to))
			}
			out = append(out, c)
		}
	}
	return out
}

// share is total*i/n, without overflow: where part i of n begins.
func share(total, i, n uint64) uint64 {
	hi, lo := bits.Mul64(total, i)
	q, _ := bits.Div64(hi, lo, n) // hi < n, since i <= n and total < 2^64
	return q
}

// Chunks makes chunks of the inner edges of a split, ascending and distinct:
// one more than there are edges, with open outer ends, dealt to ranges in
// order. There are never more ranges than chunks.
func Chunks(edges []Edge, ranges int) []Chunk {
	n := len(edges) + 1
	ranges = max(1, min(ranges, n))
	out := make([]Chunk, n)
	for i := range out {
		out[i] = Chunk{ID: i + 1, Range: i*ranges/n + 1}
		if i > 0 {
			out[i].Lo = edges[i-1]
		}
		if i < len(edges) {
			out[i].Hi = edges[i]
		}
	}
	return out
}
