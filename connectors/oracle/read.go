package oracle

import (
	"errors"
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

var errEdge = errors.New("the stored edges of the table's chunks are not those of its split")

// Texts of times in edges. S is a blank, or the minus of a year before the first.
const (
	formatDate      = "SYYYY-MM-DD HH24:MI:SS"
	formatTimestamp = "SYYYY-MM-DD HH24:MI:SS.FF9"
)

// read is the statement that reads one chunk, in its parts.
type read struct {
	items []string
	table string // with its SCN, as t
	kind  connectors.SplitKind
	by    []keyColumn
}

// keyColumn is a column that chunks are cut by.
type keyColumn struct {
	name     string // quoted, of t
	nullable bool
	item     string // what an edge's text is read by
	bind     string // what a text is compared as; %s is the bind
}

// newRead follows from the plan alone: the same Extract gives the same text when
// the plan is made and when it is run.
func newRead(x connectors.Extract) (read, error) {
	q := read{kind: x.Split.Kind, table: tableName(x.Table.Name) + " AS OF SCN :scn t"}
	for _, n := range x.Columns {
		c := x.Table.Column(n)
		if c == nil {
			return q, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("there is no column %s", n), Hint: "Plan again: the table changed since."}
		}
		q.items = append(q.items, itemsOf(c)...)
	}
	if len(q.items) == 0 {
		q.items = []string{"NULL"} // rows are still counted
	}
	if x.Split.Kind == connectors.SplitKey {
		for _, n := range splitColumns(x.Table, x.Split) {
			k, err := keyOf(x.Table, n)
			if err != nil {
				return q, err
			}
			q.by = append(q.by, k)
		}
	}
	return q, nil
}

func tableName(n schema.Name) string { return quote(n.Schema) + "." + quote(n.Name) }

// quote makes an identifier of a name. No name of Oracle's holds a quotation mark.
func quote(name string) string { return `"` + name + `"` }

// quotable reports whether a name can be written at all.
func quotable(name string) bool { return name != "" && !strings.ContainsAny(name, "\"\x00") }

// itemsOf are the expressions that a column is read by: itself, where the driver
// reads the type right; else what makes a type of it that the driver does.
func itemsOf(c *schema.Column) []string {
	col := "t." + quote(c.Name)
	switch wordOf(c.Native) {
	case "TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH LOCAL TIME ZONE":
		// The driver knows not every region's name.
		return []string{"SYS_EXTRACT_UTC(" + col + ")"}
	case "INTERVAL YEAR TO MONTH", "INTERVAL DAY TO SECOND":
		return []string{"TO_CHAR(" + col + ")"} // it misreads negative ones
	case "CLOB", "NCLOB", "BLOB":
		// It gives an empty one as NULL: the length tells them apart.
		return []string{col, "DBMS_LOB.GETLENGTH(" + col + ")"}
	case "XMLTYPE":
		return []string{"XMLSERIALIZE(CONTENT " + col + " AS CLOB)"}
	case "JSON":
		return []string{"JSON_SERIALIZE(" + col + " RETURNING CLOB)"}
	case "VECTOR":
		return []string{"FROM_VECTOR(" + col + " RETURNING CLOB)"}
	case "BOOLEAN":
		return []string{"CASE WHEN " + col + " THEN 1 WHEN NOT " + col + " THEN 0 END"}
	case "ROWID":
		return []string{"ROWIDTOCHAR(" + col + ")"}
	case "UROWID":
		return []string{"CAST(" + col + " AS VARCHAR2(4000))"}
	}
	return []string{col}
}

// wordOf is a native type without what stands in brackets, in capitals.
func wordOf(native string) string {
	n, err := connectors.SplitType(native)
	if err != nil {
		return ""
	}
	word := strings.ToUpper(n.Word)
	for _, owner := range []string{"SYS.", "PUBLIC."} {
		word = strings.TrimPrefix(word, owner)
	}
	return word
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

// keyOf says how a column's values become the texts of edges and back.
func keyOf(t *schema.Table, name string) (keyColumn, error) {
	c := t.Column(name)
	if c == nil {
		return keyColumn{}, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("there is no column %s", name), Hint: "Plan again: the table changed since."}
	}
	col := "t." + quote(c.Name)
	k := keyColumn{name: col, nullable: c.Nullable, item: col, bind: "%s"}
	switch word := wordOf(c.Native); {
	case c.Type.Kind == schema.Decimal:
		k.bind = "TO_NUMBER(%s)"
	case word == "DATE":
		k.item, k.bind = "TO_CHAR("+col+", '"+formatDate+"')", "TO_DATE(%s, '"+formatDate+"')"
	case word == "TIMESTAMP":
		k.item, k.bind = "TO_CHAR("+col+", '"+formatTimestamp+"')", "TO_TIMESTAMP(%s, '"+formatTimestamp+"')"
	case word == "RAW":
		k.item, k.bind = "RAWTOHEX("+col+")", "HEXTORAW(%s)"
	case word == "VARCHAR2" || word == "VARCHAR" || word == "CHAR" || word == "NVARCHAR2" || word == "NCHAR" || word == "CHARACTER":
	default:
		return k, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("chunks can't be cut by column %s, which is %s", name, c.Native), Hint: "Name columns of numbers, texts, dates or RAWs in `range { by = ... }`."}
	}
	return k, nil
}

// statement is the text for a chunk with these ends. An open end leaves its
// condition out; a range of ROWIDs always has both.
func (q read) statement(lo, hi bool) (sql string, binds []place) {
	var b strings.Builder
	b.WriteString("SELECT /*+ NO_PARALLEL(t) */ " + strings.Join(q.items, ", ") + " FROM " + q.table)
	switch q.kind {
	case connectors.SplitBlocks:
		b.WriteString(" WHERE t.ROWID BETWEEN CHARTOROWID(:lo) AND CHARTOROWID(:hi)")
	case connectors.SplitKey:
		var where []string
		if lo {
			where = append(where, q.notBefore(&binds))
		}
		if hi {
			where = append(where, q.before(&binds, !lo))
		}
		if len(where) > 0 {
			b.WriteString(" WHERE " + strings.Join(where, " AND "))
		}
		b.WriteString(" ORDER BY " + q.order())
	}
	return b.String(), binds
}

// order puts NULL first, where there can be one; else the key's index serves.
func (q read) order() string {
	out := make([]string, len(q.by))
	for i, k := range q.by {
		out[i] = k.name
		if k.nullable {
			out[i] += " NULLS FIRST"
		}
	}
	return strings.Join(out, ", ")
}

// place is where a value of an edge is bound.
type place struct {
	hi bool
	i  int
}

// param writes the i-th value of an edge: :lo, or :lo1, :lo2 where there are more.
func (q read) param(binds *[]place, hi bool, i int) string {
	*binds = append(*binds, place{hi, i})
	name := ":lo"
	if hi {
		name = ":hi"
	}
	if len(q.by) > 1 {
		name += fmt.Sprint(i + 1)
	}
	return fmt.Sprintf(q.by[i].bind, name)
}

// before is true for rows that sort before the edge. NULL sorts first, and an
// edge is never NULL; a comparison with NULL is neither true nor false, so NULLs
// are asked for by name where they can be: in the first chunk, which has no lower
// end, and behind the first column.
func (q read) before(binds *[]place, nulls bool) string {
	var level func(i int) string
	level = func(i int) string {
		out := q.by[i].name + " < " + q.param(binds, true, i)
		if (nulls || i > 0) && q.by[i].nullable {
			out = "(" + out + " OR " + q.by[i].name + " IS NULL)"
		}
		if i == len(q.by)-1 {
			return out
		}
		equal := q.by[i].name + " = " + q.param(binds, true, i)
		return "(" + out + " OR " + equal + " AND " + level(i+1) + ")"
	}
	return level(0)
}

// notBefore is true for exactly the rows that before is not true for.
func (q read) notBefore(binds *[]place) string {
	var level func(i int) string
	level = func(i int) string {
		if i == len(q.by)-1 {
			return q.by[i].name + " >= " + q.param(binds, false, i)
		}
		out := q.by[i].name + " > " + q.param(binds, false, i)
		equal := q.by[i].name + " = " + q.param(binds, false, i)
		return "(" + out + " OR " + equal + " AND " + level(i+1) + ")"
	}
	if len(q.by) == 1 {
		return level(0)
	}
	// Says nothing new, but it is what an index can be entered by.
	return q.by[0].name + " >= " + q.param(binds, false, 0) + " AND " + level(0)
}

// notNull leaves out the rows that no edge is taken from.
func (q read) notNull() string {
	var where []string
	for _, k := range q.by {
		if k.nullable {
			where = append(where, k.name+" IS NOT NULL")
		}
	}
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// count is how many rows edges are taken from.
func (q read) count() string { return "SELECT COUNT(*) FROM " + q.table + q.notNull() }

// edges are the keys of every so manieth row.
func (q read) edges() string {
	var names, items, order []string
	for i, k := range q.by {
		names = append(names, fmt.Sprintf("k%d", i+1))
		items = append(items, fmt.Sprintf("%s k%d", k.item, i+1))
		order = append(order, k.name)
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM (SELECT " + strings.Join(items, ", ") + ", ROW_NUMBER() OVER (ORDER BY " + strings.Join(order, ", ") + ") n FROM " +
		q.table + q.notNull() + ") WHERE n > 1 AND MOD(n - 1, :step) = 0 ORDER BY n"
}
