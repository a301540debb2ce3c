package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// lockTables keeps the tables from changing their form. It is what SELECT
// takes, earlier; materialized views and foreign tables are locked by a SELECT.
func (n *snapshot) lockTables(ctx context.Context, tables []*schema.Table) error {
	var names []string
	for _, t := range tables {
		if lockable(t) && !n.locked[t.Name.String()] {
			names = append(names, relation(t))
		}
	}
	if len(names) == 0 {
		return nil
	}
	if _, err := run(ctx, n.holder, "LOCK TABLE "+strings.Join(names, ", ")+" IN ACCESS SHARE MODE"); err != nil {
		return err
	}
	for _, t := range tables {
		n.locked[t.Name.String()] = n.locked[t.Name.String()] || lockable(t)
	}
	return nil
}

func lockable(t *schema.Table) bool {
	return t.Storage != storageForeign && !(t.View && t.Storage == storageHeap)
}

const (
	columnTypes = `SELECT a.attname, ` + typeName + ` FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`
	selectSize  = `SELECT greatest(pg_relation_size(c.oid) / current_setting('block_size')::bigint, 0), c.reltuples::bigint, c.relpages FROM pg_class c WHERE c.oid = to_regclass($1)`
	// Partitions in the order of their names, each with its blocks.
	selectLeaves = `SELECT n.nspname, c.relname, c.relkind = 'f', CASE c.relkind WHEN 'f' THEN 1 ELSE pg_relation_size(c.oid) / current_setting('block_size')::bigint END, c.reltuples::bigint, c.relpages
FROM pg_partition_tree(to_regclass($1)) p JOIN pg_class c ON c.oid = p.relid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE p.isleaf AND c.relkind <> 'p' ORDER BY n.nspname, c.relname`
)

// steady locks a table and makes sure, once, that it has the columns that it
// had when its catalog was read: values would be taken for those of another type.
func (n *snapshot) steady(ctx context.Context, c *pgconn.PgConn, t *schema.Table) error {
	name := t.Name.String()
	if n.locked[name+"\x00seen"] {
		return nil
	}
	if lockable(t) {
		if err := n.lockTables(ctx, []*schema.Table{t}); err != nil {
			return err
		}
	} else if _, err := run(ctx, c, "SELECT FROM "+quoteName(t.Name)+" LIMIT 0"); err != nil {
		return err
	}
	have := map[string]string{}
	if _, err := query(ctx, c, columnTypes, func(r [][]byte) error { have[string(r[0])] = string(r[1]); return nil }, quoteName(t.Name)); err != nil {
		return err
	}
	for _, col := range t.Columns {
		if native, ok := have[col.Name]; !ok || native != col.Native {
			return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("column %s was %s and is %s now", col.Name, col.Native, orGone(native)), Hint: "The table has just been changed: plan again."}
		}
	}
	n.locked[name+"\x00seen"] = true
	return nil
}

func orGone(native string) string {
	if native == "" {
		return "gone"
	}
	return native
}

// leaf is a partition that holds rows.
type leaf struct {
	name    string // quoted, with its schema
	foreign bool   // of another server: it is read whole
	blocks  int64
	rows    float64 // a block, by the statistics; 0 = not known
}

// Split cuts a table.
func (n *snapshot) Split(ctx context.Context, t *schema.Table, s connectors.Split) (cut []ranges.Chunk, err error) {
	s.Count, s.ChunkRows = max(s.Count, 1), max(s.ChunkRows, 1)
	err = n.hold(func(c *pgconn.PgConn) error {
		if err := n.steady(ctx, c, t); err != nil {
			return err
		}
		switch s.Kind {
		case connectors.SplitBlocks:
			cut, err = n.cutBlocks(ctx, c, t, s)
		case connectors.SplitKey:
			cut, err = cutKeys(ctx, c, t, s)
		case connectors.SplitNone:
			cut = []ranges.Chunk{{ID: 1, Range: 1}}
			if t.Stats != nil {
				cut[0].Rows = t.Stats.Rows
			}
		default:
			err = fmt.Errorf("split = %q is not offered", s.Kind)
		}
		return err
	})
	if err != nil {
		return nil, at("split", t.Name.String(), err)
	}
	return cut, nil
}

// cutBlocks cuts the blocks that the table has now: at least those that rows of
// the snapshot are in. The outer ends are open in any case.
func (n *snapshot) cutBlocks(ctx context.Context, c *pgconn.PgConn, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	if n.old {
		return nil, &connectors.Error{Class: connectors.Fatal, Err: errors.New("a server before PostgreSQL 14 can't seek to blocks"), Hint: `Cut the table by its key: range { split = "key" }, or not at all: split = "none".`}
	}
	leaves, err := n.leavesOf(ctx, c, t)
	if err != nil {
		return nil, err
	}
	blocks, rows := int64(0), 0.0
	for _, l := range leaves {
		blocks += l.blocks
		rows += float64(l.blocks) * l.density(t)
	}
	density := 1.0 // rows a block, over all
	if blocks > 0 {
		density = max(rows/float64(blocks), 0.01)
	}
	chunk := max(1, int64(float64(s.ChunkRows)/density))
	cut := ranges.SplitInts(0, blocks-1, s.Count, chunk)
	for i := range cut {
		k := &cut[i]
		k.Rows = int64(float64(k.Rows) * density)
		if t.Storage == storagePartitioned {
			k.Lo, k.Hi = leafEdge(leaves, k.Lo), leafEdge(leaves, k.Hi)
		}
	}
	return cut, nil
}

// density is how many rows a block has: by the statistics, else by the width of
// the columns.
func (l leaf) density(t *schema.Table) float64 {
	if l.rows > 0 {
		return l.rows
	}
	const page, tuple = 8192 - 24, 28 // less what every block and every row takes
	return page / float64(t.EstimatedRowBytes()+tuple)
}

// leavesOf lists what a table's rows lie in: itself, or its partitions. n.mu is
// held.
func (n *snapshot) leavesOf(ctx context.Context, c *pgconn.PgConn, t *schema.Table) ([]leaf, error) {
	name := quoteName(t.Name)
	if known, ok := n.leaves[name]; ok {
		return known, nil
	}
	var out []leaf
	add := func(name string, foreign bool, blocks, tuples, pages int64) {
		l := leaf{name: name, foreign: foreign, blocks: blocks}
		if tuples > 0 && pages > 0 {
			l.rows = float64(tuples) / float64(pages)
		}
		out = append(out, l)
	}
	var err error
	if t.Storage == storagePartitioned {
		_, err = query(ctx, c, selectLeaves, func(r [][]byte) error {
			add(quoteName(schema.Name{Schema: string(r[0]), Name: string(r[1])}), isTrue(r[2]), number(r[3]), number(r[4]), number(r[5]))
			return nil
		}, name)
	} else {
		_, err = query(ctx, c, selectSize, func(r [][]byte) error {
			add(name, false, number(r[0]), number(r[1]), number(r[2]))
			return nil
		}, name)
	}
	if err != nil {
		return nil, err
	}
	n.leaves[name] = out
	return out, nil
}

// leafEdge turns a count of blocks over all partitions into a partition and a
// block of it.
func leafEdge(leaves []leaf, e ranges.Edge) ranges.Edge {
	if e == nil {
		return nil
	}
	at, _ := e.Int() // SplitInts made it
	for _, l := range leaves {
		if at < l.blocks {
			return ranges.Edge{{Kind: schema.Text, Value: l.name}, ranges.IntEdge(at)[0]}
		}
		at -= l.blocks
	}
	return nil // past the last one: never an inner edge
}

// statements are what reads a chunk: one statement, or one a partition.
func (n *snapshot) statements(ctx context.Context, x connectors.Extract, k ranges.Chunk) ([]string, error) {
	for _, name := range x.Columns {
		if x.Table.Column(name) == nil {
			return nil, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("there is no column %s", name), Hint: "Plan again: the table changed since."}
		}
	}
	q := newRead(x)
	if whole := q.text(); x.Statement != "" && x.Statement != whole {
		return nil, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("the plan reads by %q, this version by %q", x.Statement, whole), Hint: "Plan again with this version of penstock."}
	}
	var leaves []leaf
	if err := n.hold(func(c *pgconn.PgConn) (err error) {
		if err = n.steady(ctx, c, x.Table); err == nil && q.leaves {
			leaves, err = n.leavesOf(ctx, c, x.Table)
		}
		return err
	}); err != nil {
		return nil, err
	}
	if !q.leaves {
		return []string{q.statement(q.table, k.Lo, k.Hi)}, nil
	}
	return leafStatements(q, leaves, k)
}

// leafStatements reads the blocks from k.Lo up to k.Hi, which may lie in two
// partitions with others between them.
func leafStatements(q read, leaves []leaf, k ranges.Chunk) ([]string, error) {
	first, last := 0, len(leaves)-1
	for i, e := range []ranges.Edge{k.Lo, k.Hi} {
		if e == nil {
			continue
		}
		at := slices.IndexFunc(leaves, func(l leaf) bool { return l.name == e[0].Value })
		if at < 0 {
			return nil, fmt.Errorf("partition %s is gone", e[0].Value)
		}
		if i == 0 {
			first = at
		} else {
			last = at
		}
	}
	var out []string
	for i := first; i <= last; i++ {
		var lo, hi ranges.Edge
		if i == first {
			lo = k.Lo
		}
		if i == last {
			hi = k.Hi
		}
		if hi != nil && hi[1].Value == "0" || lo != nil && leaves[i].foreign && lo[1].Value != "0" {
			continue
		}
		table := "ONLY " + leaves[i].name
		if leaves[i].foreign {
			lo, hi = nil, nil
		}
		out = append(out, q.statement(table, lo, hi))
	}
	return out, nil
}

// cutKeys takes every so many rows' key for an edge, in the order of the key.
// An edge is never NULL, and rows of equal keys stay together.
func cutKeys(ctx context.Context, c *pgconn.PgConn, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	q := newRead(connectors.Extract{Table: t, Split: s})
	if len(q.by) == 0 {
		return nil, errors.New("it has no key to be cut by")
	}
	var names, texts, notNull []string
	for _, k := range q.by {
		names = append(names, k.name)
		texts = append(texts, k.name+"::text")
		notNull = append(notNull, k.name+" IS NOT NULL")
	}
	rows := int64(0)
	if _, err := query(ctx, c, "SELECT count(*) FROM "+q.table, func(r [][]byte) error { rows = number(r[0]); return nil }); err != nil {
		return nil, err
	}
	n := min(max((rows+s.ChunkRows-1)/s.ChunkRows, int64(s.Count)), max(rows, 1))
	step := max((rows+n-1)/n, 1)
	sql := fmt.Sprintf("SELECT %s FROM (SELECT %s, row_number() OVER (ORDER BY %s) - 1 AS \"penstock n\" FROM %s WHERE %s) AS t WHERE \"penstock n\" > 0 AND \"penstock n\" %% $1 = 0 ORDER BY \"penstock n\"",
		strings.Join(texts, ", "), strings.Join(names, ", "), strings.Join(names, ", "), q.table, strings.Join(notNull, " AND "))
	var edges []ranges.Edge
	if _, err := query(ctx, c, sql, func(r [][]byte) error {
		e := make(ranges.Edge, len(r))
		for i, v := range r {
			e[i] = ranges.Bound{Kind: schema.Text, Value: string(v)}
		}
		if n := len(edges); n == 0 || !slices.Equal(edges[n-1], e) {
			edges = append(edges, e)
		}
		return nil
	}, step); err != nil {
		return nil, err
	}
	cut := ranges.Chunks(edges, s.Count)
	for i := range cut {
		cut[i].Rows = step
	}
	return cut, nil
}
