package planner

import (
	"penstock/connectors"
	"penstock/lang"
	"penstock/planner/plan"
)

// Names of the live checks that every endpoint has; its connector has others.
const (
	CheckConnection = "connection"
	CheckCatalog    = "catalog"
	CheckState      = "state"
)

// liveChecks lists what only a connection to an endpoint can tell.
func liveChecks(e *endpoint) []plan.Check {
	var out []plan.Check
	if !e.local() {
		out = append(out, plan.Check{Name: CheckConnection, About: "that it is there, and takes this user"})
	}
	if e.spec.Catalog.Set {
		out = append(out, plan.Check{Name: CheckCatalog, About: "that it still is what its file says"})
	} else if e.spec.Role == lang.Target {
		out = append(out, plan.Check{Name: CheckCatalog, About: "what is in it already: it is planned as empty"})
	}
	if e.spec.Role == lang.Source {
		return named(out, e.def.Source.Live)
	}
	out = append(out, plan.Check{Name: CheckState, About: "loads of earlier runs, unfinished or of another definition"})
	return named(out, e.def.Target.Live)
}

func named[E any](out []plan.Check, live []connectors.Check[E]) []plan.Check {
	for _, c := range live {
		out = append(out, plan.Check{Name: c.Name, About: c.About})
	}
	return out
}
