package planner

import (
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// carry decides what the tables that the run creates get of their sources'
// beside columns, NOT NULL and primary key, and lists what they do not get. It
// comes when all tables are decided: foreign keys are between two of them.
func (p *pipeline) carry(tables []*table, target *catalog) {
	carrying := map[schema.Name]*connectors.Carrying{}
	for _, t := range tables {
		t.carryAsked(slices.ContainsFunc(tables, func(x *table) bool { return x.spec == t.spec && x.out.Create }))
		carrying[t.src.Name] = t.carrying()
	}
	taken, sequences := p.taken(tables, target), map[schema.Name]schema.Name{}
	for _, t := range tables {
		if !t.out.Create {
			continue
		}
		c := carrying[t.src.Name]
		c.Taken, c.Sequences = taken, sequences
		c.Other = func(source schema.Name) *connectors.Carrying { return carrying[source] }
		if make := t.target.def.Target.Carry; make != nil {
			t.carried(make(c))
		} else {
			t.out.NotCarried = connectors.NotCarried(c, nil)
		}
	}
	p.incoming(tables)
}

// carryAsked checks what the spec asks for. used: it does something for a table
// of the block.
func (t *table) carryAsked(used bool) {
	asked := t.spec.Carry
	if !t.out.Create {
		if asked.Set && len(asked.V) > 0 && !used {
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
}

// carrying is the table for the target's connector.
func (t *table) carrying() *connectors.Carrying {
	c := &connectors.Carrying{Kind: t.source.def.Kind, Source: t.src, Target: t.out.Target, There: t.dst, Key: t.out.Key, What: t.spec.Carry.V,
		Fold: func(s string) string { return fold(s, t.target.names()) }}
	if t.out.Filter != "" {
		c.Partial = "a filter leaves rows of " + t.src.Name.String() + " out"
	}
	at := 0
	computed := func(n int) {
		for ; at < len(t.out.Computed) && t.out.Computed[at].Before <= n; at++ {
			x := t.out.Computed[at]
			c.Columns = append(c.Columns, connectors.CarryColumn{Name: x.Name, Native: x.Native, Source: t.src.Column(x.Source), Computed: true})
		}
	}
	for i, x := range t.out.Columns {
		computed(i)
		k := connectors.CarryColumn{Name: x.Name, Native: x.Native, Value: x.Value != ""}
		if x.Source != "" {
			k.Source = t.src.Column(x.Source)
		}
		c.Columns = append(c.Columns, k)
	}
	computed(len(t.out.Columns))
	return c
}

// taken are the names of the relations that a target has, or will have.
func (p *pipeline) taken(tables []*table, target *catalog) map[schema.Name]bool {
	out, made := map[schema.Name]bool{}, map[schema.Name]bool{}
	for _, t := range tables {
		out[t.out.Target] = true
		made[t.out.Target] = t.out.Create
	}
	if target == nil {
		return out
	}
	for _, x := range target.tables {
		if made[x.Name] {
			continue // an earlier run made it, as this plan has it
		}
		out[x.Name] = true
		add := func(name string) { out[schema.Name{Schema: x.Name.Schema, Name: name}] = true }
		if x.PrimaryKey != nil {
			add(x.PrimaryKey.Name)
		}
		for _, i := range x.Indexes {
			add(i.Name)
		}
		for _, o := range x.Objects {
			if o.Kind != schema.ObjectForeign {
				add(o.Name)
			}
		}
	}
	return out
}

// carried puts what the connector carries into the plan.
func (t *table) carried(c connectors.Carried) {
	t.out.Objects, t.out.Comment = c.Objects, c.Comments[""]
	for i := range t.out.Columns {
		x := &t.out.Columns[i]
		x.Default, x.Sequence, x.Comment = c.Defaults[x.Name], c.Sequences[x.Name], c.Comments[x.Name]
		if x.Sequence != nil {
			x.Numbered = true
		}
		x.Follows = x.Numbered && t.follows(x)
	}
	for i := range t.out.Computed {
		x := &t.out.Computed[i]
		x.Comment = c.Comments[x.Name]
		c.Made = append(c.Made, "expression of "+x.Name)
	}
	t.out.Carried, t.out.NotCarried = c.Made, c.Missing
}

// follows reports a column whose values the source numbers too.
func (t *table) follows(c *plan.Column) bool {
	return c.Source != "" && t.src.Column(c.Source).Sequence != nil
}

// incoming tells each table of the foreign keys to it.
func (p *pipeline) incoming(tables []*table) {
	for _, from := range tables {
		for _, o := range from.out.Objects {
			if len(o.Waits) == 0 {
				continue
			}
			for _, to := range tables {
				if to != from && to.out.Create && to.src.Name.String() == o.Waits[len(o.Waits)-1] {
					o.On = from.out.Target
					to.out.Incoming = append(to.out.Incoming, o)
				}
			}
		}
	}
}
