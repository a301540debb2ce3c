package synthetic

import (
	"context"
	"fmt"
	"io"
	"slices"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// snapshot reads tables that never change: every snapshot is the same one.
type snapshot struct{ tables []*table }

var _ connectors.Snapshot = (*snapshot)(nil)

// Position is the table's point.
func (s *snapshot) Position(t *schema.Table) (change.Position, error) {
	own, err := s.find("read the point of", t.Name)
	if err != nil {
		return nil, err
	}
	return own.point(), nil
}

// Durable is true: rows are made again at will.
func (s *snapshot) Durable() bool { return true }

// Split cuts row numbers, which count from 1.
func (s *snapshot) Split(_ context.Context, t *schema.Table, split connectors.Split) ([]ranges.Chunk, error) {
	own, err := s.find("split", t.Name)
	if err != nil {
		return nil, err
	}
	switch split.Kind {
	case connectors.SplitBlocks:
		return ranges.SplitInts(1, own.rows, split.Count, split.ChunkRows), nil
	case connectors.SplitNone:
		return ranges.SplitInts(1, own.rows, 1, 0), nil
	}
	return nil, &connectors.Error{Op: "split", Table: own.name, Class: connectors.Fatal,
		Err: fmt.Errorf("a synthetic table is split by blocks or none, not %q", split.Kind), Hint: "Plan the spec again with this version."}
}

// OpenChunk reads the rows numbered Lo to Hi; an open end is the table's.
func (s *snapshot) OpenChunk(_ context.Context, x connectors.Extract, c ranges.Chunk) (connectors.RowReader, error) {
	own, err := s.find("read", x.Table.Name)
	if err != nil {
		return nil, err
	}
	r := &reader{table: own, next: 1, end: own.rows + 1}
	if c.Lo != nil {
		lo, err := c.Lo.Int()
		if err != nil {
			return nil, badChunk(own, c, err)
		}
		r.next = max(r.next, lo)
	}
	if c.Hi != nil {
		hi, err := c.Hi.Int()
		if err != nil {
			return nil, badChunk(own, c, err)
		}
		r.end = min(r.end, hi)
	}
	for _, name := range x.Columns {
		i := slices.IndexFunc(own.Preset.Columns, func(c schema.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, &connectors.Error{Op: "read", Table: own.name, Class: connectors.Schema,
				Err: fmt.Errorf("preset %s has no column %q", own.Preset.Name, name), Hint: "Plan the spec again with this version."}
		}
		r.columns = append(r.columns, i)
	}
	return r, nil
}

// Close has nothing to close.
func (s *snapshot) Close() error { return nil }

func (s *snapshot) find(op string, name schema.Name) (*table, error) {
	if own := find(s.tables, name); own != nil {
		return own, nil
	}
	return nil, &connectors.Error{Op: op, Table: name.String(), Class: connectors.Schema,
		Err: fmt.Errorf("the source has no such table"), Hint: "Plan the spec again."}
}

func badChunk(t *table, c ranges.Chunk, err error) error {
	return &connectors.Error{Op: "read", Table: t.name, Class: connectors.Fatal, Err: fmt.Errorf("%s: %w", c, err),
		Hint: "The stored chunks are not this source's: load the table anew with --reload."}
}

// reader makes the rows next .. end-1.
type reader struct {
	table     *table
	columns   []int // of the preset, in batch order
	next, end int64
}

// stretch is how many rows are made between two looks at the builder's limits.
// It is a multiple of the 64 rows at which a builder counts its bytes, and
// keeps what a batch holds too much below a few dozen KiB.
const stretch = 128

// Read fills b with whole columns of made-up values.
func (r *reader) Read(ctx context.Context, b *batch.Builder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.next >= r.end {
		return io.EOF
	}
	for r.next < r.end && !b.Full() {
		n := min(stretch, r.end-r.next, int64(b.Limits().Rows-b.Rows()))
		r.table.Fill(b, r.columns, r.next, int(n))
		r.next += n
	}
	return nil
}

// Close has nothing to close.
func (r *reader) Close() error { return nil }
