package rowexpr

import (
	"fmt"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/schema"
)

// match is what the names rule finds: n columns fit, i is the first.
type match struct{ i, n int }

// findColumn applies the names rule: exact, else without regard to case.
func findColumn(columns []schema.Column, name string) match {
	for i := range columns {
		if columns[i].Name == name {
			return match{i, 1}
		}
	}
	m := match{}
	for i := range columns {
		if strings.EqualFold(columns[i].Name, name) {
			if m.n == 0 {
				m.i = i
			}
			m.n++
		}
	}
	return m
}

// unknownColumn is the detail for a name that is no column, and the fix.
func unknownColumn(columns []schema.Column, name string) (detail, fix string) {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	near := diag.Nearest(name, names)
	switch len(near) {
	case 0:
		var all []string
		for i := range columns {
			all = append(all, columnText(columns[i].Name))
		}
		if len(all) > 12 {
			all = append(all[:12], "...")
		}
		return fmt.Sprintf("The table has no column %q. It has %s. Text is written in quotes.", name, strings.Join(all, ", ")), ""
	case 1:
		return fmt.Sprintf("The table has no column %q. Did you mean %s?", name, columnText(near[0])), columnText(near[0])
	}
	for i := range near {
		near[i] = columnText(near[i])
	}
	return fmt.Sprintf("The table has no column %q. Did you mean %s?", name, strings.Join(near, " or ")), near[0]
}
