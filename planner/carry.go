package planner

import (
	"slices"
	"strings"

	"penstock/internal/diag"
)

// carry lists what a table that the run creates will not have of the source's.
// Columns, NOT NULL and the primary key always come; the rest comes by `carry`,
// where the target's connector can make it.
func (t *table) carry() {
	asked := t.spec.Carry
	if !t.out.Create {
		if asked.Set && len(asked.V) > 0 {
			t.withoutEffect(asked.Range, "carry", "the target table exists and keeps what it has")
		}
		return
	}
	for _, what := range asked.V {
		if !slices.Contains(t.caps.Carry, what) {
			t.errorf(diag.CarryNotOffered, asked.Range, what, "Target can't carry "+strings.ReplaceAll(what, "_", " "),
				"%s can't make %s for a table that the run creates. Take it out of `carry`; the plan lists what is not carried.", t.target.def.Kind, strings.ReplaceAll(what, "_", " "))
		}
	}
	carried := func(what string) bool { return slices.Contains(asked.V, what) }
	add := func(words ...string) {
		t.out.NotCarried = append(t.out.NotCarried, strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " "))
	}
	if !carried("indexes") {
		for _, k := range t.src.Unique {
			add("unique key", k.Name, columnsOf(k.Columns))
		}
		for _, x := range t.src.Indexes {
			kind := "index"
			if x.Unique {
				kind = "unique index"
			}
			add(kind, x.Name, columnsOf(x.Columns))
		}
	}
	if !carried("foreign_keys") {
		for _, f := range t.src.ForeignKeys {
			add("foreign key", f.Name, columnsOf(f.Columns), "to", f.References.String())
		}
	}
	for _, c := range t.src.Columns {
		if slices.Contains(t.out.Dropped, c.Name) {
			continue
		}
		if c.Default != "" && !carried("defaults") {
			add("default of", c.Name)
		}
		if c.Identity {
			add("numbering of", c.Name)
		}
		if c.Generated != "" {
			add("expression of", c.Name)
		}
		if c.Comment != "" && !carried("comments") {
			add("comment on", c.Name)
		}
	}
}

func columnsOf(names []string) string { return "(" + strings.Join(names, ", ") + ")" }
