package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// manyColumns is from where on columns that are carried as they are, under
// their own names, are only counted.
const manyColumns = 8

func (t *text) columns(x *Table) {
	plain := 0
	for _, c := range x.Columns {
		if isPlain(c) {
			plain++
		}
	}
	fold := !t.options.All && plain > manyColumns
	s := fmt.Sprintf("%d", len(x.Columns))
	switch {
	case plain == len(x.Columns):
		s += ", all exact"
	default:
		s += fmt.Sprintf(", %d exact as they are", plain)
	}
	if len(x.Dropped) > 0 {
		s += "; dropped: " + strings.Join(x.Dropped, ", ")
	}
	t.field(4, "columns", s)
	var lines []mapping
	for _, c := range x.Columns {
		if fold && isPlain(c) {
			continue
		}
		from, native := c.Source, ""
		if c.Value != "" {
			from = c.Value
		} else {
			native = x.native(c.Source)
		}
		if c.New {
			c.Decision = "new, " + c.Decision
		}
		lines = append(lines, mapping{strings.TrimSpace(from + " " + native), c.Name + " " + c.Native, c.Decision, c.Reason})
	}
	t.mappings(lines)
}

// mapping is a line of a table's columns.
type mapping struct{ from, to, decision, reason string }

// mappings writes columns under each other. A reason that several in a row
// share stands once, below the last of them.
func (t *text) mappings(lines []mapping) {
	from, to := 0, 0
	for _, l := range lines {
		from, to = max(from, utf8.RuneCountInString(l.from)), max(to, utf8.RuneCountInString(l.to))
	}
	// One long expression must not push the others to the edge.
	from, to = min(from, 40), min(to, 40)
	for i, l := range lines {
		whole := strings.TrimRight(pad(l.from, from)+" -> "+pad(l.to, to)+"  "+l.decision, " ")
		if 6+utf8.RuneCountInString(whole) <= t.width {
			t.line(6, whole)
		} else { // the decision goes below what it is about
			t.hanging(6, l.from+" -> ", strings.TrimRight(l.to, " "))
			t.wrapped(10, l.decision)
		}
		if l.reason != "" && (i+1 == len(lines) || lines[i+1].reason != l.reason) {
			t.wrapped(10, l.reason)
		}
	}
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) }

// isPlain reports a column whose values are carried as they are.
func isPlain(c Column) bool { return c.Decision == "exact" && c.Value == "" }

// native is the type of a source column as its database writes it.
func (t *Table) native(column string) string {
	for _, r := range t.Read {
		if r.Name == column {
			return r.Native
		}
	}
	return ""
}
