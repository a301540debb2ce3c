package planner

import (
	"fmt"
	"slices"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// travel decides whether rows are passed on undecoded: between two ends of one
// connector whose columns agree, where nothing has to look at a row. What keeps
// them from it is said, since it costs time.
func (t *table) travel() {
	passes := t.target.def.Passes
	if passes == nil || t.source.def != t.target.def || !t.loads {
		return
	}
	t.out.Decoded = t.looksAtRows(passes)
	t.out.Encoded = t.out.Decoded == ""
}

// looksAtRows says what needs the values of a row; "" for nothing.
func (t *table) looksAtRows(passes func(source, target string) bool) string {
	o := &t.out
	switch {
	case o.Apply.Mode != t.caps.Modes[0]:
		return "apply.mode is " + o.Apply.Mode
	case o.Filter != "":
		return "a filter looks at them"
	case o.Range.Split == connectors.SplitHash:
		return "rows are dealt to ranges by a hash"
	case t.pipeline.out.BadRows.Action != "stop":
		return "bad rows are set aside, which needs each row by itself"
	case o.OnNUL != "reject" || o.OnInvalid != "reject":
		return "texts are mended on the way"
	case t.stream:
		return "a stream follows"
	}
	for _, c := range o.Columns {
		native := ""
		if i := slices.IndexFunc(o.Read, func(r plan.Read) bool { return r.Name == c.Source }); i >= 0 {
			native = o.Read[i].Native
		}
		switch {
		case c.Value != "":
			return "column " + c.Name + " is computed"
		case c.Decision != string(schema.FitExact):
			return "values of column " + c.Name + " are " + c.Decision
		case native == c.Native && !passes(native, c.Native):
			return fmt.Sprintf("column %s is %s, which goes as text", c.Name, native)
		case !passes(native, c.Native):
			return fmt.Sprintf("column %s is %s and %s", c.Name, native, c.Native)
		}
	}
	if len(o.Read) != len(o.Columns) {
		return "columns are read that are not carried"
	}
	for i, c := range o.Columns {
		if o.Read[i].Name != c.Source {
			return "the columns come in another order"
		}
	}
	return ""
}
