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

// columnSettings are the settings of a column. A column in YAML without its name
// shows by them.
var columnSettings = columnBlock().fieldNames()

// shape is what may stand in a block, as messages see it. named gives a block
// inside one called so its name in them.
func (b *Block) shape(noun string, named func(noun, block string) string) *shape {
	s := &shape{name: noun, attrs: b.fieldNames()}
	for _, in := range b.Blocks {
		s.add(in.Name, in.Labels, in.Many, in.shape(named(noun, in.Name), named))
	}
	return s
}

// language is the shape of a spec. options are the shapes of the blocks that
// connectors add to a table, in the order of their kinds.
func language(kinds []string, options map[string]*shape) *shape {
	root := languageBlocks().shape("a spec", func(_, block string) string { return block })
	p := root.block("pipeline").in
	for _, s := range []*shape{p.block("table").in, p.block("defaults").in} {
		for _, k := range kinds {
			if o := options[k]; o != nil {
				s.add(k, nil, false, &shape{name: o.name, attrs: o.attrs, blocks: o.blocks})
			}
		}
	}
	return root
}
