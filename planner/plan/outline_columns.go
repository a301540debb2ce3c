package plan

import (
	"fmt"
	"strings"
)

// Mapping is a target column and what it is made of.
type Mapping struct {
	From     string // a source column with its type, or a row expression
	To       string // the target column with its type
	Decision string // "exact", "checked", "lossy"; "new, exact" where the source has none
	Reason   string // what the decision rests on; may be empty
	Plain    bool   // carried as it is
}

// columns counts a table's columns in words, and lists all of them.
func columns(x *Table) (string, []Mapping) {
	plain := 0
	var list []Mapping
	for _, c := range x.Columns {
		m := Mapping{From: c.Value, To: c.Name + " " + c.Native, Decision: c.Decision, Reason: c.Reason, Plain: isPlain(c)}
		if m.Plain {
			plain++
		}
		if c.Value == "" {
			m.From = strings.TrimSpace(c.Source + " " + x.native(c.Source))
		}
		if c.New {
			m.Decision = "new, " + c.Decision
		}
		list = append(list, m)
	}
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
