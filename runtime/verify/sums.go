package verify

import (
	"sync"

	"penstock/internal/batch"
	"penstock/internal/ranges"
)

// sums are rows and sums of row hashes by range, of one side.
type sums struct {
	mu     sync.Mutex
	ranges []ranges.Sum // of range i+1
}

func newSums() *sums { return &sums{ranges: make([]ranges.Sum, Ranges)} }

// summer adds the rows of one worker's chunks to the sums of its side.
type summer struct {
	into *sums
	hash *ranges.RowHasher
	open []ranges.Sum // of the chunk that is being read
}

func (s *sums) summer(h *ranges.RowHasher) *summer {
	return &summer{into: s, hash: h, open: make([]ranges.Sum, Ranges)}
}

func (s *summer) rows(_ int, b *batch.Batch, sel batch.Selection) error {
	for k := range sel.Len(b.Rows) {
		h := s.hash.Hash(b, sel.Row(k))
		s.open[h.Range(Ranges)-1].Add(h.Row)
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
	return nil
}

func (s *summer) drop() bool {
	clear(s.open)
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
