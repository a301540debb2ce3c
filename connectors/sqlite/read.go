package sqlite

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// splits lists how a table can be cut, the best first.
func splits(t *schema.Table) []connectors.SplitKind {
	switch {
	case t.Storage == storageRowid && rowidOf(t) != "":
		return []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitKey, connectors.SplitNone}
	case t.Storage != "" && t.DefaultKey() != nil:
		return []connectors.SplitKind{connectors.SplitKey, connectors.SplitNone}
	case t.Storage != "": // by columns that the spec names
		return []connectors.SplitKind{connectors.SplitNone, connectors.SplitKey}
	}
	return []connectors.SplitKind{connectors.SplitNone}
}

// read is the statement that reads one chunk, in its parts.
type read struct {
	columns string
	table   string
	by      []string // what rows are cut and ordered by: the rowid, quoted columns, or nothing
}

// newRead follows from the plan alone: the same Extract gives the same text
// when the plan is made and when it is run.
func newRead(x connectors.Extract) read {
	q := read{columns: quoteList(x.Columns), table: quote(x.Table.Name.Name)}
	if len(x.Columns) == 0 {
		q.columns = "NULL" // rows are still counted
	}
	switch x.Split.Kind {
	case connectors.SplitBlocks:
		q.by = []string{rowidOf(x.Table)}
	case connectors.SplitKey:
		for _, c := range splitColumns(x.Table, x.Split) {
			q.by = append(q.by, quote(c))
		}
	}
	return q
}

// splitColumns are the columns of a key split: those asked for, else the key.
func splitColumns(t *schema.Table, s connectors.Split) []string {
	by := s.By
	if len(by) == 0 {
		by = t.DefaultKey()
	}
	out := make([]string, len(by))
	for i, n := range by {
		out[i] = n
		if c := t.Find(n); c != nil {
			out[i] = c.Name
		}
	}
	return out
}

// statement is the text for a chunk with these ends; an open end leaves its
// condition out.
func (q read) statement(lo, hi bool) string {
	return "SELECT " + q.columns + q.from(lo, hi)
}

// from is the statement behind its column list.
func (q read) from(lo, hi bool) string {
	var b strings.Builder
	b.WriteString(" FROM " + q.table)
	if len(q.by) == 0 {
		return b.String()
	}
	var where []string
	if lo {
		where = append(where, q.notBefore("lo"))
	}
	if hi {
		where = append(where, q.before("hi", !lo))
	}
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	b.WriteString(" ORDER BY " + strings.Join(q.by, ", "))
	return b.String()
}

// param names the i-th value of an edge: :lo, or :lo1, :lo2 where there are more.
func (q read) param(edge string, i int) string {
	if len(q.by) == 1 {
		return ":" + edge
	}
	return fmt.Sprintf(":%s%d", edge, i+1)
}

// before is true for rows that sort before the edge. SQLite sorts NULL first,
// and an edge is never NULL; a comparison with NULL is neither true nor false,
// so NULLs are asked for by name where they can be: in the first chunk, which
// has no lower end, and behind the first column.
func (q read) before(edge string, nulls bool) string {
	last := len(q.by) - 1
	cond := func(i int, nulls bool) string {
		c := q.by[i] + " < " + q.param(edge, i)
		if nulls && !isRowid(q.by[i]) {
			c = "(" + c + " OR " + q.by[i] + " IS NULL)"
		}
		return c
	}
	out := cond(last, nulls || last > 0)
	for i := last - 1; i >= 0; i-- {
		out = fmt.Sprintf("(%s OR %s = %s AND %s)", cond(i, nulls || i > 0), q.by[i], q.param(edge, i), out)
	}
	return out
}

// notBefore is true for exactly the rows that before is not true for.
func (q read) notBefore(edge string) string {
	last := len(q.by) - 1
	out := q.by[last] + " >= " + q.param(edge, last)
	for i := last - 1; i >= 0; i-- {
		col, p := q.by[i], q.param(edge, i)
		out = fmt.Sprintf("(%s > %s OR %s = %s AND %s)", col, p, col, p, out)
		if i == 0 {
			// Says nothing new, but it is what an index can be entered by.
			out = fmt.Sprintf("%s >= %s AND %s", col, p, out)
		}
	}
	return out
}

func isRowid(by string) bool { return !strings.HasPrefix(by, `"`) }
