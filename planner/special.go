package planner

import (
	"slices"

	"penstock/internal/schema"
)

// special decides which columns may hold infinite dates and NaN: those whose
// target has such values too, or takes them as words. In any other a row with one
// is a bad row, since the target would store something else.
func (t *table) special() {
	gives := t.source.def.Special
	for i := range t.out.Columns {
		c := &t.out.Columns[i]
		if c.Value != "" || t.target.def.Special == nil || !t.target.def.Special(c.Native) {
			continue
		}
		from := t.src.Column(c.Source)
		c.Special = from.Type.Kind == schema.Text || gives != nil && gives(from.Native) && sameKind(from.Type, c.Type)
	}
	if gives == nil {
		return
	}
	for i := range t.out.Read {
		r := &t.out.Read[i]
		r.Special = gives(r.Native) && !slices.Contains(t.computed, r.Name) &&
			(r.Type.Kind != schema.Decimal || !slices.Contains(t.filtered, r.Name))
		for _, c := range t.out.Columns {
			if c.Source == r.Name && !c.Special && !takesWords(c.Type) {
				r.Special = false
			}
		}
	}
}

// sameKind are types between which infinity stays infinity.
func sameKind(from, to schema.Type) bool {
	return from.Kind == to.Kind || from.Kind == schema.Date && to.Kind == schema.Timestamp
}

// takesWords are texts with room for "-infinity".
func takesWords(t schema.Type) bool {
	return t.Kind == schema.Text && !t.Fixed && (t.Length == 0 || t.Length >= len("-infinity"))
}
