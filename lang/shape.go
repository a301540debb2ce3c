package lang

import "slices"

// shape is what may stand in a block. The shapes of the language and of the
// connectors' structs are one tree, from which every message about a name that
// does not fit is made.
type shape struct {
	name   string // as messages call it: "pipeline", "source oracle"
	parent *shape
	attrs  []string
	blocks []blockShape
}

// blockShape is a block inside a shape.
type blockShape struct {
	typ    string
	labels []string // what each label is
	many   bool
	in     *shape
}

func (s *shape) block(typ string) *blockShape {
	for i := range s.blocks {
		if s.blocks[i].typ == typ {
			return &s.blocks[i]
		}
	}
	return nil
}

func (s *shape) has(name string) bool { return slices.Contains(s.attrs, name) || s.block(name) != nil }

func (s *shape) names() []string {
	out := slices.Clone(s.attrs)
	for _, b := range s.blocks {
		out = append(out, b.typ)
	}
	slices.Sort(out)
	return out
}

// add puts a block into a shape.
func (s *shape) add(typ string, labels []string, many bool, in *shape) *shape {
	in.parent = s
	if in.name == "" {
		in.name = typ
	}
	s.blocks = append(s.blocks, blockShape{typ, labels, many, in})
	return in
}

// walk visits a shape and all below it.
func (s *shape) walk(visit func(*shape)) {
	visit(s)
	for _, b := range s.blocks {
		b.in.walk(visit)
	}
}

// The settings that a table and the defaults of its pipeline share.
var tableDefaults = []string{"to", "operations", "existing", "carry", "on_nul", "on_invalid_text"}

// The settings of a column. A column in YAML without its name shows by them.
var columnSettings = []string{"to", "type", "value", "drop", "accept_loss"}

// The settings of endpoints that belong to no connector.
var (
	endpointSettings = []string{"catalog", "probe", "tls", "tls_ca"}
	sourceSettings   = append(slices.Clone(endpointSettings), "throttle")
	targetSettings   = append(slices.Clone(endpointSettings), "names")
)

// language is the shape of a spec. options are the shapes of the blocks that
// connectors add to a table, in the order of their kinds.
func language(kinds []string, options map[string]*shape) *shape {
	root := &shape{name: "a spec"}
	root.add("penstock", nil, false, &shape{attrs: []string{"spec"}})
	root.add("variable", []string{"name"}, true, &shape{attrs: []string{"type", "default", "sensitive", "description"}})
	root.add("locals", nil, true, &shape{})
	root.add("source", []string{"kind", "name"}, true, &shape{attrs: sourceSettings})
	root.add("target", []string{"kind", "name"}, true, &shape{attrs: targetSettings})
	p := root.add("pipeline", []string{"name"}, true, &shape{attrs: []string{"from", "to", "mode", "workers", "memory", "order",
		"collisions", "schema_changes", "start", "before_load", "after_load"}})
	p.add("bad_rows", nil, false, &shape{attrs: []string{"action", "file", "limit", "values"}})
	p.add("report", nil, false, &shape{attrs: []string{"every"}})
	inner := func(s *shape) {
		s.add("range", nil, false, &shape{attrs: []string{"by", "count", "split"}})
		s.add("apply", nil, false, &shape{attrs: []string{"mode", "changes", "indexes"}})
		s.add("commit", nil, false, &shape{attrs: []string{"rows", "bytes", "every"}})
		for _, k := range kinds {
			if o := options[k]; o != nil {
				s.add(k, nil, false, &shape{name: o.name, attrs: o.attrs, blocks: o.blocks})
			}
		}
	}
	t := p.add("table", []string{"name"}, true, &shape{attrs: append([]string{"tables", "exclude", "expect", "key", "filter"}, tableDefaults...)})
	inner(t)
	t.add("column", []string{"name"}, true, &shape{attrs: columnSettings})
	inner(p.add("defaults", nil, false, &shape{attrs: tableDefaults}))
	return root
}
