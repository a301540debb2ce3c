package planner

import (
	"slices"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// leftToTarget reports a column that both sides compute: the target's makes its
// own values, and no row brings one.
func (t *table) leftToTarget(sc *schema.Column, name string) bool {
	if t.dst == nil || sc.Generated == "" {
		return false
	}
	dc := t.dst.Find(name)
	if dc == nil || dc.Generated == "" {
		return false
	}
	t.out.Left = append(t.out.Left, dc.Name)
	return true
}

// computedByTarget takes the columns out that a new table computes by itself, as its
// source does: where `carry` has defaults and the connector can say it in the
// target's words. It gives the columns that rows bring. A column of the key has
// to come with its row.
func (t *table) computedByTarget(cols []column) []column {
	compute := t.target.def.Target.Compute
	if t.dst != nil || compute == nil || !slices.Contains(t.spec.Carry.V, "defaults") {
		return cols
	}
	key := t.src.DefaultKey()
	for _, k := range t.spec.Key.V {
		if c := t.src.Find(k.V); c != nil {
			key = append(slices.Clone(key), c.Name)
		}
	}
	for i := range t.src.Columns {
		sc := &t.src.Columns[i]
		at := slices.IndexFunc(t.out.Columns, func(x plan.Column) bool { return x.Source == sc.Name })
		if sc.Generated == "" || at < 0 || slices.Contains(key, sc.Name) {
			continue
		}
		expression, _ := compute(t.carrying(), sc)
		if expression == "" {
			continue // it becomes a plain column; the list of what is not carried says why
		}
		x := t.out.Columns[at]
		t.out.Computed = append(t.out.Computed, connectors.ComputedColumn{Name: x.Name, Native: x.Native, Nullable: x.Nullable, Expression: expression, Before: at, Source: sc.Name})
		t.out.Columns = slices.Delete(t.out.Columns, at, at+1)
		cols = slices.DeleteFunc(cols, func(c column) bool { return c.source == sc && c.value == nil })
	}
	return cols
}
