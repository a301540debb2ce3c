package planner

import (
	"slices"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// split decides how the table is cut into ranges.
func (t *table) split() {
	s := t.spec.Split
	r := plan.Range{Count: s.Count.V, Auto: s.Count.V == 0}
	if r.Auto {
		r.Count = t.pipeline.out.Workers
	}
	var by []string
	ok := true
	if s.By.Set {
		if by, ok = t.columnsNamed("by", s.By.V); !ok {
			return
		}
	}
	key, _ := t.sourceKey()
	if t.loads {
		ok = t.cut(&r, by, key)
	} else {
		t.deal(&r, by, key)
	}
	if !ok {
		return
	}
	if len(by) > 0 {
		t.checkBy(&r)
	}
	// A hash is taken of them, and a bad row is named by them.
	t.readAlso(r.By)
	t.out.Range = r
}

// cut chooses among the splits that the source offers for this table, which
// come in the source's order of preference.
func (t *table) cut(r *plan.Range, by, key []string) bool {
	s := t.spec.Split
	offered := t.source.def.Source.Splits(t.src)
	if len(offered) == 0 {
		offered = []connectors.SplitKind{connectors.SplitNone}
	}
	kind := connectors.SplitKind(s.Kind.V)
	auto := kind == "" || kind == "auto"
	switch {
	case !auto:
	case len(by) > 0 && slices.Contains(offered, connectors.SplitKey):
		kind, r.Why = connectors.SplitKey, "`by` names its columns"
	case len(by) > 0:
		kind, r.Why = connectors.SplitHash, "`by` names its columns, and "+t.source.id+" can't seek to them"
	default:
		kind = offered[0]
		r.Why = t.why(kind)
	}
	if t.appendsAtOnce() {
		if count := s.Count; count.V > 1 {
			t.warn(diag.NotSplit, count.Range, "count", "Table is not split",
				"The point that "+t.source.id+" is read at can't be read again after a crash, and rows appended to a table can't be told from those that were there. So all rows of "+t.src.Name.String()+" go in by one transaction.")
		}
		r.Split, r.Count, r.Auto = connectors.SplitNone, 1, false
		r.Why = "existing = append, and the source's point ends with its session: all rows go in at once or not at all"
		return true
	}
	if kind == connectors.SplitHash {
		if r.Scan = offered[0]; len(by) == 0 {
			by = key
		}
	} else if kind != connectors.SplitNone && !slices.Contains(offered, kind) {
		t.errorf(diag.SplitNotOffered, s.Kind.Range, string(kind), "Table can't be split like this",
			"%s can't be split by %s. It can be split by: %s.", t.src.Name, kind, list(splitNames(offered), "or"))
		return false
	}
	if kind == connectors.SplitKey && len(by) == 0 {
		by = key
	}
	if len(by) == 0 && (kind == connectors.SplitKey || kind == connectors.SplitHash) {
		t.errorf(diag.SplitNeedsKey, s.Kind.Range, "key", "Split needs a column",
			"A split by %s needs columns, and %s has no key. Name them: range { by = [...] }.", kind, t.src.Name)
		return false
	}
	if kind == connectors.SplitNone {
		t.unsplit(r, auto)
	}
	if s.By.Set && kind != connectors.SplitKey && kind != connectors.SplitHash {
		t.withoutEffect(s.By.Range, "by", "a split by "+string(kind)+" does not look at columns")
		by = nil
	}
	r.Split, r.By = kind, by
	return true
}

// appendsAtOnce reports that a load must not leave a part of itself behind: it
// could neither be continued at its point nor be taken out again.
func (t *table) appendsAtOnce() bool {
	return t.spec.Existing.V == string(connectors.ExistingAppend) && !t.source.def.Source.Capabilities.Durable
}

// unsplit makes the table one range, and says so where more were asked for.
func (t *table) unsplit(r *plan.Range, auto bool) {
	count := t.spec.Split.Count
	if count.V > 1 {
		if !auto {
			t.errorf(diag.NotSplit, count.Range, "count", "Table is not split", "split = \"none\" gives one range, and count asks for %d. Take one of the two out.", count.V)
		} else {
			t.warn(diag.NotSplit, count.Range, "count", "Table is not split",
				"Nothing fixes the edges of a piece of "+t.src.Name.String()+", so it is read as one range, which is also what a restart repeats.")
		}
	}
	r.Count, r.Auto = 1, false
}

// why is a clause on the split that `auto` takes.
func (t *table) why(kind connectors.SplitKind) string {
	switch kind {
	case connectors.SplitBlocks:
		return "the source can seek to blocks"
	case connectors.SplitKey:
		return "the source can seek to keys"
	}
	if t.src.View {
		return "it is a view"
	}
	return "nothing fixes the edges of a piece"
}

// deal is the split of a stream: keys go to ranges by hash.
func (t *table) deal(r *plan.Range, by, key []string) {
	if k := t.spec.Split.Kind; k.Set && k.V != "auto" && k.V != "hash" {
		t.withoutEffect(k.Range, "split", "a stream deals its keys to ranges by hash")
	}
	if len(by) == 0 {
		by = key
	}
	r.Split, r.By, r.Why = connectors.SplitHash, by, "a stream deals keys by hash"
	if len(by) == 0 {
		r.Split, r.Count, r.Auto, r.Why = connectors.SplitNone, 1, false, "it has no key"
	}
}

// checkBy looks at the columns that bound the ranges.
func (t *table) checkBy(r *plan.Range) {
	for i, name := range r.By {
		c := t.src.Column(name)
		at := t.spec.Split.By.Range
		if i < len(t.spec.Split.By.V) {
			at = t.spec.Split.By.V[i].Range
		}
		switch {
		case c.Problem != "" || c.Type.Kind == schema.Invalid || c.Type.Kind == schema.JSON:
			t.errorf(diag.RangeType, at, name, "Column can't bound a range", "%s of %s is %s: no order and no hash is defined for it. Name other columns.", name, t.src.Name, c.Native)
		case c.Nullable:
			t.warn(diag.NullableRange, at, name, "Range column may be NULL",
				"All rows of "+t.src.Name.String()+" whose "+name+" is NULL belong to range 1. When there are many, it takes longer than the others.")
		}
	}
}

// readAlso adds columns to those that are read.
func (t *table) readAlso(names []string) {
	need := map[string]bool{}
	for _, r := range t.out.Read {
		need[r.Name] = true
	}
	for _, n := range names {
		need[n] = true
	}
	t.read(need)
}

func splitNames(kinds []connectors.SplitKind) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, string(k))
	}
	if !slices.Contains(kinds, connectors.SplitHash) {
		out = append(out, "hash")
	}
	return out
}
