package oracle

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// blockBytes is the size of a block where statistics don't say how many rows
// one holds: Oracle's default.
const blockBytes = 8192

// cut finds the edges of a table's chunks.
func (n *snapshot) cut(ctx context.Context, c *conn, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	s.Count, s.ChunkRows = max(s.Count, 1), max(s.ChunkRows, 1)
	switch s.Kind {
	case connectors.SplitBlocks:
		return n.cutBlocks(ctx, c, t, s)
	case connectors.SplitKey:
		if len(splitColumns(t, s)) == 0 {
			return nil, fmt.Errorf("it has no key to be cut by")
		}
		return n.cutKeys(ctx, c, t, s)
	case connectors.SplitNone:
		return []ranges.Chunk{{ID: 1, Range: 1, Rows: statRows(t)}}, nil
	}
	return nil, fmt.Errorf("split = %q is not offered", s.Kind)
}

func statRows(t *schema.Table) int64 {
	if t.Stats == nil {
		return 0
	}
	return t.Stats.Rows
}

// cutBlocks cuts a table's blocks into equal parts, as many as its rows take.
func (n *snapshot) cutBlocks(ctx context.Context, c *conn, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	all, err := n.extentsOf(ctx, c, t)
	if err != nil {
		return nil, err
	}
	var total int64
	for _, e := range all {
		total += int64(e.blocks)
	}
	rows := statRows(t)
	if rows == 0 {
		rows = total * int64(max(blockBytes/t.EstimatedRowBytes(), 1))
	}
	parts := max((rows+s.ChunkRows-1)/s.ChunkRows, int64(s.Count))
	var edges []ranges.Edge
	for _, b := range cutBlocks(all, uint64(parts)) {
		edges = append(edges, blockEdge(b))
	}
	return number(edges, s.Count, rows/int64(len(edges)+1)), nil
}

// cutKeys takes every so many rows' key for an edge. An edge is never NULL: rows
// with a NULL key sort before all others and are of the first chunk. Rows of
// equal keys stay together.
func (n *snapshot) cutKeys(ctx context.Context, c *conn, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	q, err := newRead(connectors.Extract{Table: t, Split: s})
	if err != nil {
		return nil, err
	}
	var rows int64
	if err := c.all(ctx, q.count(), 1, func(row []driver.Value) error {
		v, err := unsigned(row[0])
		rows = int64(v)
		return err
	}, int64(n.at)); err != nil {
		return nil, err
	}
	parts := min(max((rows+s.ChunkRows-1)/s.ChunkRows, int64(s.Count)), max(rows, 1))
	step := (rows + parts - 1) / parts
	if parts == 1 {
		return number(nil, s.Count, rows), nil
	}
	var edges []ranges.Edge
	var last ranges.Edge
	err = c.all(ctx, q.edges(), len(q.by), func(row []driver.Value) error {
		if e, ok := keyEdge(row); ok && !slices.Equal(e, last) {
			last = e
			edges = append(edges, e)
		}
		return nil
	}, int64(n.at), step)
	if err != nil {
		return nil, err
	}
	return number(edges, s.Count, step), nil
}

// keyEdge is a key's texts. One that is not UTF-8 would come back from the stored
// edges changed, and rows next to it would be lost: ok is false, and the chunk
// goes on to the next one.
func keyEdge(row []driver.Value) (e ranges.Edge, ok bool) {
	for _, v := range row {
		s, is := v.(string)
		if !is || !utf8.ValidString(s) {
			return nil, false
		}
		e = append(e, ranges.Bound{Kind: schema.Text, Value: s})
	}
	return e, true
}

// stretch are the binds of a chunk of keys.
func stretch(k ranges.Chunk, places []place) ([]driver.Value, error) {
	var out []driver.Value
	for _, p := range places {
		e := k.Lo
		if p.hi {
			e = k.Hi
		}
		if p.i >= len(e) {
			return nil, &connectors.Error{Class: connectors.LostPosition, Err: errEdge, Hint: "Load the table anew with --reload."}
		}
		out = append(out, e[p.i].Value)
	}
	return out, nil
}

// number makes chunks of the edges between them and deals them to ranges.
func number(edges []ranges.Edge, count int, rows int64) []ranges.Chunk {
	n := len(edges) + 1
	out := make([]ranges.Chunk, n)
	for i := range out {
		out[i] = ranges.Chunk{ID: i + 1, Range: i*min(count, n)/n + 1, Rows: rows}
		if i > 0 {
			out[i].Lo = edges[i-1]
		}
		if i < len(edges) {
			out[i].Hi = edges[i]
		}
	}
	return out
}

// rowNumber names a row for people.
func rowNumber(k ranges.Chunk, row int64) string {
	return "row " + strconv.FormatInt(row, 10) + " of " + k.String()
}
