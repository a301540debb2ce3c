package planner

import (
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// outside counts columns as checked whose types agree and which yet may hold a
// value that has no place on the way or at the target: infinity, NaN, a year out
// of the target's calendar. Nobody is warned of them, since few tables have any;
// the column's line in the plan tells. Rows that are passed on undecoded keep all.
func (t *table) outside() {
	if t.out.Encoded {
		return
	}
	for i := range t.out.Columns {
		c := &t.out.Columns[i]
		src := t.source.def.Source.Capabilities.Values
		from := schema.Type{}
		if c.ValueType != nil {
			from = *c.ValueType
		} else if s := t.src.Column(c.Source); s != nil {
			from = s.Type
		}
		if k := slices.IndexFunc(t.out.Read, func(r plan.Read) bool { return r.Name == c.Source }); k >= 0 && t.out.Read[k].Special {
			src.Infinite, src.NaNDecimals = false, false
		}
		if why := outside(src, t.caps.Values, from, c.Type); why != "" {
			refuse(c, why)
		}
	}
}

// outside names the values of a source's type that are bad rows whatever their
// digits; "" for none.
func outside(src, dst connectors.Values, from, to schema.Type) string {
	var what []string
	switch {
	case isDate(from):
		if src.Infinite {
			what = append(what, "infinity")
		}
		if isDate(to) {
			what = append(what, years(src, dst)...)
		}
	case from.IsFloat():
		if src.NaN && !dst.NaN && to.IsFloat() {
			what = append(what, "NaN")
		}
	case from.Kind == schema.Decimal && from.Precision > 0:
		held := from.Storage() == schema.StoreBytes && to.Storage() == schema.StoreBytes // as text
		if src.NaNDecimals && !held {
			what = append(what, "NaN")
		}
	}
	if len(what) == 0 {
		return ""
	}
	verb := "is"
	if len(what) > 1 || strings.HasPrefix(what[0], "years") {
		verb = "are"
	}
	return list(what, "and") + " " + verb + " refused"
}

func isDate(t schema.Type) bool {
	return t.Kind == schema.Date || t.Kind == schema.Timestamp || t.Kind == schema.TimestampTZ
}

// years are those that the source may have and the target has not.
func years(src, dst connectors.Values) (out []string) {
	if dst.FirstYear == 0 && dst.LastYear == 0 {
		return nil
	}
	every := src.FirstYear == 0 && src.LastYear == 0
	if every || src.FirstYear < dst.FirstYear {
		out = append(out, fmt.Sprintf("years before %d", dst.FirstYear))
	}
	if every || src.LastYear > dst.LastYear {
		out = append(out, fmt.Sprintf("years after %d", dst.LastYear))
	}
	return out
}

// refuse adds to a decision that some values make a row bad.
func refuse(out *plan.Column, what string) {
	if out.Decision == string(schema.FitExact) {
		out.Decision = string(schema.FitChecked)
	}
	out.Reason = strings.TrimPrefix(out.Reason+"; "+what, "; ")
}
