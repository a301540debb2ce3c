package plan

import (
	"fmt"
	"strings"
)

// Mapping is a target column and what it is made of.
type Mapping struct {
	From     string // a source column with its type, or a row expression
	To       string // the target column with its type
	Decision string // "exact", "checked", "lossy"; "computed, exact" and "new, exact" where no source column is carried
	Reason   string // what the decision rests on; may be empty
	Plain    bool   // carried as it is
}

// columns counts a table's columns in words, and lists all of them.
func columns(x *Table) (string, []Mapping) {
	var list []Mapping
	counts := map[string]int{}
	for _, c := range x.Columns {
		m := Mapping{From: c.Value, To: c.Name + " " + c.Native, Decision: c.Decision, Reason: c.Reason, Plain: isPlain(c)}
		if c.Value == "" {
			m.From = strings.TrimSpace(c.Source + " " + x.native(c.Source))
		}
		what := c.Decision
		switch {
		case c.New:
			m.Decision, what = "new, "+c.Decision, "new"
		case c.Value != "":
			m.Decision = "computed, " + c.Decision
			if c.Decision == "exact" {
				what = "computed"
			}
		}
		counts[what]++
		list = append(list, m)
	}
	s := fmt.Sprintf("%d", len(x.Columns))
	if counts["exact"] == len(x.Columns) {
		s += ", all exact"
	} else {
		var parts []string
		for _, what := range []string{"exact", "computed", "new", "checked", "lossy"} {
			if n := counts[what]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, what))
			}
		}
		s += ": " + strings.Join(parts, ", ")
	}
	if len(x.Dropped) > 0 {
		s += "; dropped: " + strings.Join(x.Dropped, ", ")
	}
	return s, list
}

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
