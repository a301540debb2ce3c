package verify

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
)

// record is a row with its values.
type record struct {
	cells []connectors.Cell
	enc   []string // their encodings, which are what was compared
}

// records are rows by their hashes; nil for one that was not met yet.
type records struct {
	mu   sync.Mutex
	rows map[ranges.Hash128]*record
}

// read reads the rows of entries once more, out of the chunks that they are in.
func (s *side) read(ctx context.Context, list []*entry) (map[ranges.Hash128]*record, error) {
	r := &records{rows: map[ranges.Hash128]*record{}}
	var chunks []int
	for _, e := range list {
		r.rows[e.row] = nil
		chunks = append(chunks, int(e.chunk))
	}
	slices.Sort(chunks)
	chunks = slices.Compact(chunks)
	if _, err := s.scan(ctx, chunks, func() visitor { return &picker{into: r, hash: s.hasher()} }); err != nil {
		return nil, err
	}
	for _, x := range r.rows {
		if x == nil {
			return nil, fmt.Errorf("read the %s: a row that was there a moment ago is not any more: it changed while it was compared", s.name)
		}
	}
	return r.rows, nil
}

// picker looks for rows. Reading a chunk again finds them again.
type picker struct {
	into *records
	hash *ranges.RowHasher
}

func (p *picker) rows(_ int, b *batch.Batch, sel batch.Selection) error {
	for k := range sel.Len(b.Rows) {
		i := sel.Row(k)
		h := p.hash.Hash(b, i).Row
		p.into.mu.Lock()
		if have, wanted := p.into.rows[h]; wanted && have == nil {
			p.into.rows[h] = recordOf(b, i)
		}
		p.into.mu.Unlock()
	}
	return nil
}

func (p *picker) done() error { return nil }

func (p *picker) drop() bool { return true }

func recordOf(b *batch.Batch, i int) *record {
	x := &record{}
	for _, c := range b.Columns {
		x.cells = append(x.cells, connectors.Cell{Text: string(batch.AppendText(nil, c, i)), Null: c.IsNull(i)})
		x.enc = append(x.enc, string(ranges.AppendKey(nil, c, i)))
	}
	return x
}
