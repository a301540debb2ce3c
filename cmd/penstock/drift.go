package main

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/planner/plan"
)

// stale says that checked-in catalogs do not say what is there, in words.
func (a *app) stale(path string, l *live) error {
	var pulls []string
	for _, e := range l.ends {
		for _, d := range l.drift {
			if e.Catalog != "" && d.Endpoint == e.ID {
				pulls = append(pulls, fmt.Sprintf("  %s catalog pull %s %s", a.program, quote(path), e.ID))
				break
			}
		}
	}
	return &connectors.Error{Class: connectors.Schema,
		Err: fmt.Errorf("the checked-in catalogs no longer say what is there:\n%sRecord them again and read the difference, or go on with --accept-drift:\n%s",
			driftLines(l.drift), strings.Join(pulls, "\n"))}
}

// driftLines writes a difference a line.
func driftLines(list []plan.Difference) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "  %s\n", d)
	}
	return b.String()
}
