package planner

import (
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// prepareLog is what the source's log is read by: it is there before the first row
// is read, so that nothing is lost between the rows and the changes.
func (p *pipeline) prepareLog(source *catalog, after []string) []string {
	s := plan.Stage{ID: plan.PrepareLog, Kind: plan.StagePrepare, Parallel: 1, After: after}
	if x := p.source.def.Source.Changes; x != nil {
		s.Statements = x.Prepare(p.source.config, p.followed(source), p.loads)
	} else {
		s.Statements, s.NotBuilt = notBuilt(), true
	}
	p.add(s)
	return []string{s.ID}
}

// followed is what the stream reads of the source.
func (p *pipeline) followed(source *catalog) connectors.ChangeStream {
	out := connectors.ChangeStream{Pipeline: p.out.Name}
	for i := range p.out.Tables {
		t := &p.out.Tables[i]
		out.Tables = append(out.Tables, t.Followed(source.exact[t.Source.String()]))
	}
	return out
}

// streamStages are the capture of the log and the lanes that apply it. No
// change of a table is applied before its load is finished; until then the
// source keeps its log from the snapshot's point on.
func (p *pipeline) streamStages(after []string) {
	lanes := p.lanes()
	p.add(plan.Stage{ID: plan.ExtractLog, Kind: plan.StageExtract, After: after, With: []string{plan.ApplyChanges}, Parallel: 1, NotBuilt: p.source.def.Source.Changes == nil})
	s := plan.Stage{ID: plan.ApplyChanges, Kind: plan.StageApply, After: after, With: []string{plan.ExtractLog}, Parallel: min(p.out.Workers, lanes), Lanes: lanes}
	if x := p.target.def.Target.Stream; x != nil {
		begin, end := x.Begin(), x.End()
		for i := range p.out.Tables {
			t := &p.out.Tables[i]
			all := slices.Concat(begin, x.Changes(t.Streamed(), t.Apply.Changes), end)
			s.NotBuilt = s.NotBuilt || lacks(all)
			s.Loads = append(s.Loads, plan.TableStatements{Table: t.Source.String(), Statements: all})
		}
	} else {
		s.Statements, s.NotBuilt = notBuilt(), true
	}
	p.add(s)
}

// route decides which lanes take the changes of each table. Changes of one key
// stay in order by themselves; where one table's rows depend on another's, or on
// those of other keys, their changes stay in order in one lane.
func (p *pipeline) route(tables []*table) {
	at := map[schema.Name]*table{} // by target
	for _, t := range tables {
		at[t.out.Target] = t
	}
	for _, t := range tables {
		if first := tables[0]; t.out.Apply.Changes != first.out.Apply.Changes {
			t.errorf(diag.OneWay, t.spec.DefRange, "changes", "Tables of a stream enter in different ways",
				"Changes of %s enter by %s, and those of %s by %s. A pipeline's stream has one way: give one of them another pipeline.", t.src.Name, t.out.Apply.Changes, first.src.Name, first.out.Apply.Changes)
		}
	}
	// One lane for what refers to each other, named by the first of them.
	lane := map[*table]*table{}
	root := func(t *table) *table {
		for lane[t] != nil {
			t = lane[t]
		}
		return t
	}
	why := map[*table]string{}
	byName := p.spec.Order.Set && p.spec.Order.V == "key"
	for _, t := range tables {
		switch {
		case len(t.out.Key) == 0:
			why[t] = "it has no key"
		case t.looseKey() != "":
			why[t] = "texts that differ may be equal in column " + t.looseKey() + " of its key"
		case byName:
		case t.secondUnique() != "":
			why[t] = "it has a second unique index, " + t.secondUnique()
		}
		if byName {
			continue
		}
		for _, o := range t.refersTo(at) {
			why[t], why[o] = firstOf(why[t], "it refers to "+o.out.Target.String()), firstOf(why[o], t.out.Target.String()+" refers to it")
			if a, b := root(t), root(o); a != b {
				lane[max2(a, b, tables)] = min2(a, b, tables)
			}
		}
	}
	rank := ranks(tables, at)
	keys := p.caps.Lanes == connectors.LanesKeys // elsewhere the lane follows from the table
	for i := range p.out.Tables {
		o := &p.out.Tables[i]
		t := at[o.Target]
		if !keys {
			if rank[t] > 0 {
				o.Route = &plan.Route{Rank: rank[t]}
			}
			continue
		}
		r := &plan.Route{Rank: rank[t]}
		if n := t.spec.Split.Count.V; n > 0 {
			r.Ranges = n
		}
		if why[t] != "" {
			r.Why, r.Alone, r.Ranges = why[t], root(t).src.Name.String(), 0
		}
		o.Route = r
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// min2 is the one of two tables that comes first, max2 the other.
func min2(a, b *table, order []*table) *table {
	if slices.Index(order, a) < slices.Index(order, b) {
		return a
	}
	return b
}

func max2(a, b *table, order []*table) *table {
	if min2(a, b, order) == a {
		return b
	}
	return a
}

// ranks give a table a lower number than those that refer to it. In a circle of
// references the order is the plan's.
func ranks(tables []*table, at map[schema.Name]*table) map[*table]int {
	out := map[*table]int{}
	var visit func(t *table, open map[*table]bool) int
	visit = func(t *table, open map[*table]bool) int {
		if n, ok := out[t]; ok || open[t] {
			return n
		}
		open[t] = true
		n := 0
		for _, o := range t.refersTo(at) {
			n = max(n, visit(o, open)+1)
		}
		out[t] = n
		return n
	}
	for _, t := range tables {
		visit(t, map[*table]bool{})
	}
	return out
}

// refersTo are the pipeline's other tables that foreign keys at the target refer to.
func (t *table) refersTo(at map[schema.Name]*table) (out []*table) {
	add := func(o *table) {
		if o != nil && o != t && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	if t.dst != nil {
		for _, f := range t.dst.ForeignKeys {
			add(at[f.References])
		}
		return out
	}
	if slices.Contains(t.spec.Carry.V, "foreign_keys") {
		for _, f := range t.src.ForeignKeys {
			for _, o := range at {
				if o.src.Name == f.References {
					add(o)
				}
			}
		}
	}
	return out
}

// secondUnique is a unique index or key of the target table beside the one that
// rows are found by; "" where there is none.
func (t *table) secondUnique() string {
	of, names := t.dst, func(c []string) []string { return c }
	if of == nil {
		if !slices.Contains(t.spec.Carry.V, "indexes") {
			return ""
		}
		of, names = t.src, t.targetNames
	}
	other := func(columns []string) bool {
		c := slices.Sorted(slices.Values(names(columns)))
		return !slices.Equal(c, slices.Sorted(slices.Values(t.out.Key)))
	}
	if of.PrimaryKey != nil && t.dst != nil && other(of.PrimaryKey.Columns) {
		return firstOf(of.PrimaryKey.Name, "its primary key")
	}
	for _, k := range of.Unique {
		if other(k.Columns) {
			return firstOf(k.Name, "of ("+strings.Join(k.Columns, ", ")+")")
		}
	}
	for _, x := range of.Indexes {
		if x.Unique && other(x.Columns) {
			return x.Name
		}
	}
	return ""
}

// targetNames are the names at the target of columns of the source.
func (t *table) targetNames(source []string) []string {
	out := slices.Clone(source)
	for i, s := range out {
		for _, c := range t.out.Columns {
			if c.Source == s {
				out[i] = c.Name
			}
		}
	}
	return out
}

// looseKey is a column of the key whose values are equal by more than their octets.
func (t *table) looseKey() string {
	for _, k := range t.out.Key {
		for _, c := range t.out.Columns {
			if c.Name != k || c.Source == "" {
				continue
			}
			if s := t.src.Column(c.Source); s != nil && s.Loose {
				return s.Name
			}
		}
	}
	return ""
}
