package planner

import (
	"strings"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner/plan"

	"github.com/hashicorp/hcl/v2"
)

// column is a target column on its way into the plan.
type column struct {
	spec   *lang.Column   // nil: the spec does not mention it
	source *schema.Column // nil: a new column
	name   string         // at the target
	at     hcl.Range      // what diagnostics of it point at
	value  *expression    // nil: the source column as it is
}

// columns decides what is read, what the target columns are, and where their
// values come from.
func (t *table) columns() {
	blocks := t.columnBlocks()
	cols := t.sourceColumns(blocks)
	cols = append(cols, t.newColumns()...)
	filter := t.filter()
	if len(t.src.Columns) == 0 && len(cols) == 0 {
		t.errorf(diag.NoColumns, t.spec.DefRange, t.src.Name.String(), "Table without columns", "%s has no columns, so that its rows hold nothing to carry. Leave it out with `exclude`.", t.src.Name)
		return
	}
	if len(cols) == 0 {
		t.errorf(diag.NoColumns, t.spec.DefRange, "columns", "No column left", "Every column of %s is dropped.", t.src.Name)
		return
	}
	t.checkNamesApart(cols)
	for _, c := range cols {
		t.column(c)
	}
	cols = t.computedByTarget(cols)
	t.checkUnfed(cols)
	t.reads(cols, filter)
}

// columnBlocks finds the source column that each column block is about. Blocks
// of new columns are left out.
func (t *table) columnBlocks() map[*schema.Column]*lang.Column {
	out := map[*schema.Column]*lang.Column{}
	for _, b := range t.spec.Columns {
		c := t.src.Find(b.Label.V)
		if c == nil {
			continue
		}
		if twin := out[c]; twin != nil {
			d := t.errorf(diag.ColumnCollision, b.DefRange, c.Name, "Two blocks on one column", "%q and %q are the same column of %s.", twin.Label.V, b.Label.V, t.src.Name)
			d.Related = append(d.Related, diag.Related{Message: "the other one", Range: twin.DefRange})
			continue
		}
		out[c] = b
	}
	return out
}

// sourceColumns are the source's columns that are not dropped, in its order.
func (t *table) sourceColumns(blocks map[*schema.Column]*lang.Column) []column {
	out := make([]column, 0, len(t.src.Columns))
	t.out.Columns = make([]plan.Column, 0, len(t.src.Columns))
	for i := range t.src.Columns {
		sc := &t.src.Columns[i]
		b := blocks[sc]
		c := column{spec: b, source: sc, name: fold(sc.Name, t.target.names()), at: t.spec.DefRange}
		if b != nil {
			c.at = b.DefRange
			if b.Drop.V {
				t.checkDropped(b)
				t.out.Dropped = append(t.out.Dropped, sc.Name)
				continue
			}
			if b.To.Set {
				c.name, c.at = b.To.V, b.To.Range
			}
			if b.Value.Set {
				if c.value = t.expression(b.Value, false); c.value == nil {
					continue
				}
			}
		}
		if c.value == nil && t.leftToTarget(sc, c.name) {
			continue
		}
		if sc.Problem != "" && c.value == nil {
			t.errorf(diag.UnsupportedType, c.at, sc.Name, "Column of an unsupported type",
				"Column %s of %s is %s: %s. Leave it out: column %q { drop = true }.", sc.Name, t.src.Name, sc.Native, strings.TrimSuffix(sc.Problem, "."), sc.Name)
			continue
		}
		out = append(out, c)
	}
	return out
}

func (t *table) checkDropped(b *lang.Column) {
	for _, s := range []struct {
		name string
		set  bool
		at   hcl.Range
	}{{"to", b.To.Set, b.To.Range}, {"type", b.Type.Set, b.Type.Range}, {"value", b.Value.Set, b.Value.Range}} {
		if s.set {
			t.errorf(diag.ColumnContradicts, s.at, s.name, "Column block contradicts itself", "Column %q is dropped, so it has no `%s` at the target. Take one of the two out.", b.Label.V, s.name)
		}
	}
}

// newColumns are the column blocks whose label is no source column, in the
// order of the spec.
func (t *table) newColumns() []column {
	var out []column
	for _, b := range t.spec.Columns {
		if t.src.Find(b.Label.V) != nil {
			continue
		}
		near := diag.Nearest(b.Label.V, columnNames(t.src))
		if !b.Value.Set {
			d := t.errorf(diag.NewColumnNoValue, b.Label.Range, b.Label.V, "Unknown column "+quoteName(b.Label.V),
				"%s has no column %q.%s A new column needs a `value`.", t.src.Name, b.Label.V, didYouMean(b.Label.V, columnNames(t.src)))
			if len(near) == 1 {
				d.Fixes = append(d.Fixes, diag.Edit{Title: "write " + near[0], Range: b.Label.Sub(0, len(b.Label.V)), NewText: near[0]})
			}
			continue
		}
		if b.Drop.V {
			t.checkDropped(b)
			continue
		}
		c := column{spec: b, name: b.Label.V, at: b.DefRange}
		if b.To.Set {
			c.name, c.at = b.To.V, b.To.Range
		}
		if len(near) > 0 {
			t.warn(diag.NewColumnNearName, b.Label.Range, b.Label.V, "New column looks like a source column",
				quoteName(b.Label.V)+" is no column of "+t.src.Name.String()+", so it becomes a new one. Was "+list(near, "or")+" meant?")
		}
		if c.value = t.expression(b.Value, false); c.value != nil {
			out = append(out, c)
		}
	}
	return out
}

// checkNamesApart refuses two columns of one name at the target.
func (t *table) checkNamesApart(cols []column) {
	first := make(map[string]int, len(cols))
	for i, c := range cols {
		at := c.name
		if t.dst != nil {
			if dc := t.dst.Find(c.name); dc != nil {
				at = dc.Name
			}
		}
		j, twice := first[at]
		if !twice {
			first[at] = i
			continue
		}
		a := cols[j]
		t.errorf(diag.ColumnCollision, c.at, c.name, "Two columns with one name",
			"%s and %s of %s would both be %q at the target. Give one of them another name with `to`, or drop it.", a.origin(), c.origin(), t.src.Name, c.name)
	}
}

func (c column) origin() string {
	switch {
	case c.source != nil:
		return c.source.Name
	default:
		return "the new column " + quoteName(c.spec.Label.V)
	}
}

// reads lists the source columns that the plan reads, in the source's order:
// what goes to the target, and what filter and expressions look at. A hash
// split also reads its columns (see split).
func (t *table) reads(cols []column, filter *expression) {
	need := make(map[string]bool, len(t.src.Columns))
	for _, c := range cols {
		if c.value == nil {
			need[c.source.Name] = true
			continue
		}
		for _, n := range c.value.Columns() {
			need[n] = true
		}
		t.computed = append(t.computed, c.value.Columns()...)
	}
	if filter != nil {
		t.out.Filter = filter.String()
		t.filtered = filter.Columns()
		for _, n := range filter.Columns() {
			need[n] = true
		}
	}
	t.read(need)
}

// read sets the columns that are read, in the source's order.
func (t *table) read(need map[string]bool) {
	t.out.Read = make([]plan.Read, 0, len(need))
	for _, c := range t.src.Columns {
		if need[c.Name] {
			t.out.Read = append(t.out.Read, plan.Read{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable})
		}
	}
}

func columnNames(s *schema.Table) []string {
	var out []string
	for _, c := range s.Columns {
		out = append(out, c.Name)
	}
	return out
}

func quoteName(s string) string { return `"` + s + `"` }
