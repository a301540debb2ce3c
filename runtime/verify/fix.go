package verify

import "penstock/connectors"

// fixes are the statements that make listed rows of the target what they are at
// the source: deletions first, so that no value is there twice on the way.
func fixes(d *connectors.Dialect, t connectors.Load, list []*Row) []string {
	var deletes, updates, inserts []string
	for _, r := range list {
		switch {
		case r.Kind == DifferentRow && r.sole:
			updates = append(updates, d.Update(t, r.source, r.changed))
			continue
		case r.target != nil && r.sole:
			deletes = append(deletes, d.Delete(t, r.target))
		case r.target != nil:
			deletes = append(deletes, d.DeleteOne(t, r.target))
		}
		if r.source != nil {
			inserts = append(inserts, d.Insert(t, r.source))
		}
	}
	return append(append(deletes, updates...), inserts...)
}
