package planner

import (
	"slices"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/rowexpr"
)

// logged makes sure that changes hold what is asked of them: rows are found by
// their old keys, and filters and computed columns see whole rows.
func (t *table) logged() {
	log := t.src.Log
	if !t.stream || log == nil || len(t.out.Columns) == 0 {
		return
	}
	mend := ""
	if all := t.source.def.Source.LogAll; all != nil {
		mend = all(t.source.config, t.src.Name)
	}
	say := func(detail string) string {
		if mend == "" {
			return detail
		}
		return detail + " Run at the source: " + mend + "."
	}
	ops := t.out.Operations
	finds := len(ops) == 0 || slices.Contains(ops, "update") || slices.Contains(ops, "delete")
	if key, _ := t.sourceKey(); finds && !log.Holds(key) {
		t.errorf(diag.NotLogged, t.spec.DefRange, "key", "Changes do not hold the key", "%s",
			say("Old images of "+t.src.Name.String()+" in the source's log do not hold "+strings.Join(key, ", ")+", by which an updated or deleted row is found."))
		return
	}
	var all, apart []string
	for _, c := range t.src.Columns {
		all = append(all, c.Name)
	}
	whole := log.Holds(all)
	for _, r := range t.out.Read {
		if c := t.src.Column(r.Name); c != nil && c.Apart && !log.Holds([]string{c.Name}) {
			apart = append(apart, c.Name)
		}
	}
	if len(apart) == 0 || whole {
		return
	}
	absent := "A change that leaves " + strings.Join(apart, ", ") + " of " + t.src.Name.String() + " as it is may come without it"
	if t.out.Filter != "" {
		t.errorf(diag.PartImage, t.spec.Filter.Range, "filter", "Filter needs whole images", "%s",
			say(absent+", and a row that comes into the filter has to be written whole."))
	}
	for i := range t.out.Columns {
		c := &t.out.Columns[i]
		if c.Value == "" {
			continue
		}
		e, problems := rowexpr.Compile(c.Value, t.out.ReadColumns())
		if len(problems) > 0 {
			continue // told before
		}
		for _, read := range e.Columns() {
			if slices.Contains(apart, read) {
				t.errorf(diag.PartImage, t.spec.DefRange, c.Name, "Computed column needs whole images", "%s",
					say("Column "+c.Name+" is computed from "+read+". "+absent+"."))
			}
		}
	}
}
