package verify

import (
	"sync"
	"sync/atomic"

	"penstock/internal/batch"
	"penstock/internal/ranges"
)

// sums are rows and sums of row hashes by range, of one side.
type sums struct {
	mu     sync.Mutex
	ranges []ranges.Sum // of range i+1
	keep   *keep
	kept   [][]entry // of each chunk; nothing to rely on once keep is over
}

func newSums(k *keep) *sums { return &sums{ranges: make([]ranges.Sum, Ranges), keep: k} }

// keep lets both sides' entries stay in memory while they are summed, as long as
// there is room for all of them: a table of that size is not read again to find
// what differs.
type keep struct {
	room atomic.Int64 // entries
	over atomic.Bool
}

func newKeep(most int64) *keep {
	k := &keep{}
	k.room.Store(most)
	return k
}

// take makes room for n entries; false: there is none, and nothing is kept any more.
func (k *keep) take(n int) bool {
	if !k.over.Load() && k.room.Add(-int64(n)) < 0 {
		k.over.Store(true)
	}
	return !k.over.Load()
}

// among are the kept entries of ranges that differ.
func (s *sums) among(differ []int) []entry {
	in := make([]bool, Ranges)
	for _, i := range differ {
		in[i] = true
	}
	var out []entry
	for _, list := range s.kept {
		for _, e := range list {
			if in[e.of] {
				out = append(out, e)
			}
		}
	}
	s.kept = nil
	return out
}

// summer adds the rows of one worker's chunks to the sums of its side.
type summer struct {
	into *sums
	hash *ranges.RowHasher
	open []ranges.Sum // of the chunk that is being read
	list []entry      // likewise
	took int          // of the room for them
	last int          // rows of the chunk before
}

func (s *sums) summer(h *ranges.RowHasher) *summer {
	return &summer{into: s, hash: h, open: make([]ranges.Sum, Ranges)}
}

func (s *summer) rows(chunk int, b *batch.Batch, sel batch.Selection) error {
	n := sel.Len(b.Rows)
	keep := s.into.keep.take(n)
	switch {
	case !keep:
		s.list = nil
	case s.list == nil: // chunks are of one size, nearly
		s.list = make([]entry, 0, max(n, s.last))
		s.took += n
	default:
		s.took += n
	}
	for k := range n {
		h := s.hash.Hash(b, sel.Row(k))
		of := h.Range(Ranges) - 1
		s.open[of].Add(h.Row)
		if keep {
			s.list = append(s.list, entry{s.hash.Identity(), h.Row, uint32(chunk), uint16(of)})
		}
	}
	return nil
}

func (s *summer) done() error {
	s.into.mu.Lock()
	defer s.into.mu.Unlock()
	for i := range s.open {
		s.into.ranges[i].Merge(s.open[i])
	}
	clear(s.open)
	if s.into.kept = append(s.into.kept, s.list); s.into.keep.over.Load() {
		s.into.kept = nil
	}
	s.last = len(s.list)
	s.list, s.took = nil, 0
	return nil
}

func (s *summer) drop() bool {
	clear(s.open)
	s.into.keep.room.Add(int64(s.took))
	s.list, s.took = s.list[:0], 0
	return true
}

// differing are the ranges, from 0, whose sums are not equal.
func differing(a, b *sums) []int {
	var out []int
	for i := range a.ranges {
		if a.ranges[i] != b.ranges[i] {
			out = append(out, i)
		}
	}
	return out
}
