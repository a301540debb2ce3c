package postgres

import (
	"fmt"
	"strconv"
	"strings"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// splits lists how a table can be cut, the best first. Blocks are read once
// each and need no key; those of a partitioned table are those of its partitions.
func splits(t *schema.Table) []connectors.SplitKind {
	switch {
	case t.Storage == storageForeign:
		return []connectors.SplitKind{connectors.SplitNone}
	case t.View && t.Storage == "": // by columns that the spec names
		return []connectors.SplitKind{connectors.SplitNone, connectors.SplitKey}
	case t.DefaultKey() == nil:
		return []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitNone}
	}
	return []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitKey, connectors.SplitNone}
}

// read is the statement that reads a chunk of a table, in its parts.
type read struct {
	columns string
	table   string // with ONLY where rows of other tables would come with it
	split   connectors.SplitKind
	by      []keyColumn // of a key split
	leaves  bool        // blocks of a partitioned table: a statement a partition
}

// keyColumn is a column that rows are cut by.
type keyColumn struct {
	name     string // quoted
	cast     string // the type that an edge's text is read as
	nullable bool
}

// newRead follows from the plan alone: the same Extract gives the same text
// when the plan is made and when it is run.
func newRead(x connectors.Extract) read {
	q := read{table: relation(x.Table), split: x.Split.Kind}
	list := make([]string, len(x.Columns))
	for i, n := range x.Columns {
		list[i] = quote(n)
		if c := x.Table.Column(n); c != nil && !x.Encoded && wireOf(c.Native).form == formNone {
			list[i] += "::text"
		}
	}
	q.columns = strings.Join(list, ", ")
	switch x.Split.Kind {
	case connectors.SplitBlocks:
		q.leaves = x.Table.Storage == storagePartitioned
	case connectors.SplitKey:
		q.by = keyColumns(x.Table, x.Split)
	}
	return q
}

// relation is the table as FROM names it: without ONLY, a table that others
// inherit from would give their rows too, which come by themselves.
func relation(t *schema.Table) string {
	if t.Storage == storagePartitioned || t.View {
		return quoteName(t.Name)
	}
	return "ONLY " + quoteName(t.Name)
}

// keyColumns are the columns of a key split: those asked for, else the key.
func keyColumns(t *schema.Table, s connectors.Split) []keyColumn {
	by := s.By
	if len(by) == 0 {
		by = t.DefaultKey()
	}
	var out []keyColumn
	for _, n := range by {
		k := keyColumn{name: quote(n), nullable: true}
		if c := t.Find(n); c != nil {
			k = keyColumn{name: quote(c.Name), cast: wireOf(c.Native).name, nullable: c.Nullable}
		}
		out = append(out, k)
	}
	return out
}

// copyOut wraps a SELECT: binary, and read as it comes.
func copyOut(sel string) string { return "COPY (" + sel + ") TO STDOUT (FORMAT binary)" }

// text is the statement as the plan shows it, of a chunk with two ends.
func (q read) text() string {
	table := q.table
	if q.leaves {
		table = "ONLY :partition"
	}
	return copyOut(q.sel(table, q.where(":lo", ":hi")))
}

// statement is the text for a chunk; an open end leaves its condition out. Of a
// partitioned table that is cut by blocks it is that of one partition.
func (q read) statement(table string, lo, hi ranges.Edge) string {
	return copyOut(q.sel(table, q.where(q.bound(lo), q.bound(hi))))
}

func (q read) sel(table, where string) string {
	s := "SELECT " + q.columns
	if q.columns != "" {
		s += " "
	}
	return s + "FROM " + table + where
}

// where is true for the rows from lo up to hi; an end that is "" is open. A row
// with a NULL among the columns that it is cut by belongs to the first chunk.
func (q read) where(lo, hi string) string {
	var cond []string
	switch q.split {
	case connectors.SplitBlocks:
		if lo != "" {
			cond = append(cond, "ctid >= "+lo)
		}
		if hi != "" {
			cond = append(cond, "ctid < "+hi)
		}
	case connectors.SplitKey:
		cond = q.between(lo, hi)
	}
	if len(cond) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(cond, " AND ")
}

func (q read) between(lo, hi string) (cond []string) {
	names := make([]string, len(q.by))
	var nulls, notNull []string
	for i, k := range q.by {
		names[i] = k.name
		if k.nullable {
			nulls = append(nulls, k.name+" IS NULL")
			notNull = append(notNull, k.name+" IS NOT NULL")
		}
	}
	key := strings.Join(names, ", ")
	if len(names) > 1 {
		key = "(" + key + ")"
	}
	if lo != "" {
		cond = append(cond, key+" >= "+lo)
		if len(names) > 1 { // a row's comparison may be true before it comes to its NULL
			cond = append(cond, notNull...)
		}
	}
	switch {
	case hi == "":
	case lo == "" && nulls != nil:
		cond = append(cond, "("+key+" < "+hi+" OR "+strings.Join(nulls, " OR ")+")")
	default:
		cond = append(cond, key+" < "+hi)
	}
	return cond
}

// bound writes an edge as SQL; "" for an open one. COPY takes no parameters:
// the values are blocks, which are numbers, or texts, which are quoted.
func (q read) bound(e ranges.Edge) string {
	if e == nil {
		return ""
	}
	if q.split == connectors.SplitBlocks {
		n, _ := strconv.ParseInt(e[len(e)-1].Value, 10, 64)
		return fmt.Sprintf("'(%d,0)'::tid", n)
	}
	values := make([]string, len(e))
	for i, b := range e {
		values[i] = literal(b.Value)
		if i < len(q.by) && q.by[i].cast != "" {
			values[i] += "::" + q.by[i].cast
		}
	}
	if len(values) == 1 {
		return values[0]
	}
	return "(" + strings.Join(values, ", ") + ")"
}

// literal writes a text as SQL does, whatever standard_conforming_strings is.
func literal(s string) string {
	s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		s = "E" + strings.ReplaceAll(s, `\`, `\\`)
	}
	return s
}

// Read is the statement of a chunk.
func (sourceExplainer) Read(x connectors.Extract) []connectors.Statement {
	q := newRead(x)
	s := connectors.Statement{SQL: q.text(), Locks: "ACCESS SHARE"}
	switch {
	case q.leaves:
		s.Comment = "a chunk, partition by partition; :lo and :hi are blocks"
	case q.split == connectors.SplitBlocks:
		s.Comment = "a chunk; :lo and :hi are blocks"
	case q.split == connectors.SplitKey:
		s.Comment = "a chunk; :lo and :hi are keys"
	}
	return []connectors.Statement{s}
}

// sourceExplainer writes the statements that read.
type sourceExplainer struct{}

var _ connectors.SourceExplainer = sourceExplainer{}
