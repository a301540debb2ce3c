package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	lite "modernc.org/sqlite/lib"
)

// sparseChunks is how many chunks a table is cut into by the span of its
// rowids without counting its rows first. More, and a table of a few rows with
// keys all over 64 bits would become millions of empty chunks.
const sparseChunks = 256

// cutTable finds the edges of a table's chunks.
func cutTable(ctx context.Context, c *conn, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	s.Count, s.ChunkRows = max(s.Count, 1), max(s.ChunkRows, 1)
	switch s.Kind {
	case connectors.SplitBlocks:
		rowid := rowidOf(t)
		if t.Storage != storageRowid || rowid == "" {
			return nil, fmt.Errorf("it has no rowid to be cut by")
		}
		return cutRowids(ctx, c, t, s, rowid)
	case connectors.SplitKey:
		if len(splitColumns(t, s)) == 0 {
			return nil, fmt.Errorf("it has no key to be cut by")
		}
		return cutKeys(ctx, c, t, s)
	case connectors.SplitNone:
		n := int64(0)
		if t.Stats != nil {
			n = t.Stats.Rows
		}
		return []ranges.Chunk{{ID: 1, Range: 1, Rows: n}}, nil
	}
	return nil, fmt.Errorf("split = %q is not offered", s.Kind)
}

// cutRowids cuts the span of rowids into equal pieces: no more than ChunkRows
// rows each, since rowids are unique. Where rowids are so sparse that most
// pieces would be empty, the edges are looked up instead.
func cutRowids(ctx context.Context, c *conn, t *schema.Table, s connectors.Split, rowid string) ([]ranges.Chunk, error) {
	lo, hi, some, err := rowidSpan(ctx, c, t.Name.Name, rowid)
	if err != nil {
		return nil, err
	}
	if !some {
		return number(nil, s.Count, 0), nil
	}
	span := uint64(hi) - uint64(lo) // rowids less one: the whole of 64 bits would not fit
	n := span / uint64(s.ChunkRows) // less one, likewise
	if n >= max(sparseChunks, 4*uint64(s.Count)) {
		rows, err := countRows(ctx, c, t)
		if err != nil {
			return nil, err
		}
		if span/4 > uint64(rows) {
			return cutKeys(ctx, c, t, s)
		}
	}
	n = max(n, min(uint64(s.Count-1), span))
	// n+1 pieces; with n = 2^64-1, which no step can be made for, cutKeys was taken.
	step := span/(n+1) + 1
	var edges []ranges.Edge
	for at := step; at <= span && at >= step; at += step {
		edges = append(edges, ranges.IntEdge(int64(uint64(lo)+at)))
	}
	return number(edges, s.Count, int64(min(step, math.MaxInt64))), nil
}

func countRows(ctx context.Context, c *conn, t *schema.Table) (n int64, err error) {
	_, err = c.query(ctx, "SELECT count(*) FROM "+quote(t.Name.Name), nil, func(s *stmt) error { n = s.int(0); return nil })
	return n, err
}

// cutKeys walks the order of the split and takes every so many rows' key for an
// edge. An edge is never NULL: rows with a NULL key sort before all others and
// are of the first chunk. Rows of equal keys stay together.
func cutKeys(ctx context.Context, c *conn, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	rows, err := countRows(ctx, c, t)
	if err != nil {
		return nil, err
	}
	n := (rows + s.ChunkRows - 1) / s.ChunkRows
	n = min(max(n, int64(s.Count)), max(rows, 1))
	step := (rows + n - 1) / max(n, 1)
	q := newRead(connectors.Extract{Table: t, Columns: []string{}, Split: s})
	q.columns = strings.Join(q.by, ", ")
	var notNull []string
	for _, b := range q.by {
		if !isRowid(b) {
			notNull = append(notNull, b+" IS NOT NULL")
		}
	}
	var edges []ranges.Edge
	var last ranges.Edge
	for {
		sql := q.walk(last, notNull)
		args, err := edgeArgs(last)
		if err != nil {
			return nil, err
		}
		var next ranges.Edge
		if _, err := c.query(ctx, sql, append(args, step), func(s *stmt) error {
			next = edgeOf(s, len(q.by))
			return nil
		}); err != nil {
			return nil, err
		}
		if next == nil {
			return number(edges, s.Count, step), nil
		}
		last = next
		if survivesJSON(next) {
			edges = append(edges, next)
		}
	}
}

// walk finds the key that stands a number of rows behind an edge, and is not
// the edge's own again.
func (q read) walk(last ranges.Edge, notNull []string) string {
	where := append([]string{}, notNull...)
	order := strings.Join(q.by, ", ")
	if last == nil {
		sql := "SELECT " + order + " FROM " + q.table
		if len(where) > 0 {
			sql += " WHERE " + strings.Join(where, " AND ")
		}
		return sql + " ORDER BY " + order + " LIMIT 1 OFFSET ?"
	}
	// From the edge on, skip what a chunk holds; the first key after it that is
	// greater than the edge is the next one. Equal keys longer than a chunk make
	// the chunk longer.
	params := strings.TrimSuffix(strings.Repeat("?, ", len(q.by)), ", ")
	if len(q.by) > 1 {
		order, params = "("+order+")", "("+params+")"
	}
	where = append(where, order+" > "+params)
	list := strings.Join(q.by, ", ")
	return "SELECT " + list + " FROM " + q.table + " WHERE " + strings.Join(where, " AND ") + " ORDER BY " + list + " LIMIT 1 OFFSET max(? - 1, 0)"
}

// edgeOf is the key in the current row.
func edgeOf(s *stmt, n int) ranges.Edge {
	e := make(ranges.Edge, n)
	for i := range n {
		switch s.storage(i) {
		case lite.SQLITE_INTEGER:
			e[i] = ranges.Bound{Kind: schema.Int64, Value: strconv.FormatInt(s.int(i), 10)}
		case lite.SQLITE_FLOAT:
			e[i] = ranges.Bound{Kind: schema.Float64, Value: strconv.FormatFloat(s.float(i), 'g', -1, 64)}
		case lite.SQLITE_BLOB:
			e[i] = ranges.Bound{Kind: schema.Bytes, Value: hex.EncodeToString(s.bytes(i))}
		default:
			e[i] = ranges.Bound{Kind: schema.Text, Value: s.text(i)}
		}
	}
	return e
}

// survivesJSON is false for texts that are not UTF-8. They would come back from
// the stored edges changed, and rows next to the edge would be lost; the chunk
// goes on to the next edge instead.
func survivesJSON(e ranges.Edge) bool {
	for _, b := range e {
		if !utf8.ValidString(b.Value) {
			return false
		}
	}
	return true
}

// edgeArgs are an edge's values, of the storage class they had in the file.
func edgeArgs(e ranges.Edge) ([]any, error) {
	var out []any
	for _, b := range e {
		var v any = b.Value
		var err error
		switch b.Kind {
		case schema.Int64:
			v, err = strconv.ParseInt(b.Value, 10, 64)
		case schema.Float64:
			v, err = strconv.ParseFloat(b.Value, 64)
		case schema.Bytes:
			v, err = hex.DecodeString(b.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("edge %s: %w", e, err)
		}
		out = append(out, v)
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
