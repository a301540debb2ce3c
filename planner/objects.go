package planner

import (
	"slices"

	"penstock/internal/schema"
)

// objects are the indexes and constraints of a table that is there, where the
// spec puts them off, and the tables that refer to it.
func (t *table) objects() {
	if t.dst == nil {
		return
	}
	if of := t.target.def.Target.Objects; of != nil && t.out.Apply.Indexes == "defer" {
		t.out.Objects = of(t.dst)
	}
	for _, x := range t.target.catalog.tables {
		if x != t.dst && slices.ContainsFunc(x.ForeignKeys, func(f schema.ForeignKey) bool { return f.References == t.dst.Name }) {
			t.out.ReferredBy = append(t.out.ReferredBy, x.Name)
		}
	}
}
