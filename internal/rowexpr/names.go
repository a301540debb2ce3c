package rowexpr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

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

// nearest are up to three names that name may have been meant to be, the
// nearest first.
func nearest(columns []schema.Column, name string) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	for i := range columns {
		c := columns[i].Name
		d := levenshtein.Distance(strings.ToLower(c), strings.ToLower(name), nil)
		if d <= max(1, min(len(c), len(name))/3) {
			found = append(found, near{c, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.distance - b.distance })
	var names []string
	for _, f := range found[:min(3, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// unknownColumn is the detail for a name that is no column, and the fix.
func unknownColumn(columns []schema.Column, name string) (detail, fix string) {
	near := nearest(columns, name)
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
