package lang

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// reader reads bodies and values in the scope of one spec and collects what is
// wrong with them.
type reader struct {
	*scope
	diags  diag.List
	wanted string // the type that a lone reference should have: "number", "bool"; "" is a text's
}

// written is a name that stands in a body.
type written struct {
	name  string
	at    hcl.Range
	block bool
}

// content is a block's attributes and blocks, by its shape.
type content struct {
	attrs hcl.Attributes
	all   hcl.Blocks // in the order of the file
	head  hcl.Range
	shape *shape
}

func (c content) blocks(typ string) hcl.Blocks {
	return slices.DeleteFunc(slices.Clone(c.all), func(b *hcl.Block) bool { return b.Type != typ })
}

// block is the only block of a type, or nil.
func (c content) block(typ string) *hcl.Block {
	for _, b := range c.all {
		if b.Type == typ {
			return b
		}
	}
	return nil
}

// content reads a body by its shape and reports every name that the shape
// lacks, except those in known, which another step reads.
func (r *reader) content(b hcl.Body, head hcl.Range, s *shape, known ...string) content {
	c := r.partial(b, head, s)
	for _, w := range names(b) {
		if !s.has(w.name) && !slices.Contains(known, w.name) {
			r.unknown(w, s)
		}
	}
	return c
}

// partial reads what the shape names and leaves the rest.
func (r *reader) partial(b hcl.Body, head hcl.Range, s *shape) content {
	var schema hcl.BodySchema
	for _, a := range s.attrs {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: a})
	}
	for _, bs := range s.blocks {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: bs.typ, LabelNames: bs.labels})
	}
	if h, ok := b.(*hclsyntax.Body); ok {
		b = r.shaped(h, s)
	}
	got, _, diags := b.PartialContent(&schema)
	r.fromHCL(diags)
	c := content{attrs: got.Attributes, head: head, shape: s}
	once := map[string]*hcl.Block{}
	for _, blk := range got.Blocks {
		if first := once[blk.Type]; first != nil && !s.block(blk.Type).many {
			d := r.diags.Errorf(diag.Duplicate, blk.TypeRange, fmt.Sprintf("Duplicate %q", blk.Type), "%s holds one %s block. Merge the two.", s.name, blk.Type)
			d.Related = []diag.Related{{Message: "the first one", Range: first.TypeRange}}
			continue
		}
		once[blk.Type] = blk
		c.all = append(c.all, blk)
	}
	return c
}

// shaped checks what HCL's own decoding would report in words of its own: a
// block written as a setting, a setting as a block, and the number of labels.
// What is wrong is left out of the body that it returns.
func (r *reader) shaped(b *hclsyntax.Body, s *shape) *hclsyntax.Body {
	out := *b
	out.Attributes = hclsyntax.Attributes{}
	for name, a := range b.Attributes {
		if bs := s.block(name); bs != nil {
			r.diags.Errorf(diag.BlockOrSetting, a.NameRange, fmt.Sprintf("%q is a block", name),
				"It takes settings of its own: write `%s%s { ... }`, without the equals sign.", name, strings.Repeat(` "name"`, len(bs.labels)))
			continue
		}
		out.Attributes[name] = a
	}
	out.Blocks = nil
	for _, blk := range b.Blocks {
		bs := s.block(blk.Type)
		switch {
		case bs == nil && slices.Contains(s.attrs, blk.Type):
			r.diags.Errorf(diag.BlockOrSetting, blk.TypeRange, fmt.Sprintf("%q is a setting", blk.Type), "It takes one value: write `%s = ...`.", blk.Type)
		case bs != nil && len(blk.Labels) < len(bs.labels):
			r.diags.Errorf(diag.MissingLabel, r.header(blk.AsHCLBlock()), fmt.Sprintf("%s block without its %s", blk.Type, bs.labels[len(blk.Labels)]),
				"A %s block has its %s in quotes before the brace.", blk.Type, strings.Join(bs.labels, " and its "))
		case bs != nil && len(blk.Labels) > len(bs.labels):
			r.diags.Errorf(diag.ExtraLabel, r.unquoted(blk.LabelRanges[len(bs.labels)]), fmt.Sprintf("%s block with a name too many", blk.Type),
				"%s. Remove this one.", labelsWanted(blk.Type, bs.labels))
		default:
			out.Blocks = append(out.Blocks, blk)
		}
	}
	return &out
}

func labelsWanted(typ string, labels []string) string {
	if len(labels) == 0 {
		return "A " + typ + " block has no name"
	}
	return "A " + typ + " block has its " + strings.Join(labels, " and its ") + " before the brace and nothing more"
}

// names lists what is written in a body, in the order of the file.
func names(b hcl.Body) []written {
	switch b := b.(type) {
	case *yamlBody:
		return b.names()
	case *hclsyntax.Body:
		var out []written
		for _, a := range b.Attributes {
			out = append(out, written{a.Name, a.NameRange, false})
		}
		for _, blk := range b.Blocks {
			out = append(out, written{blk.Type, blk.TypeRange, true})
		}
		slices.SortFunc(out, func(a, b written) int { return a.at.Start.Byte - b.at.Start.Byte })
		return out
	}
	return nil
}

// header is what a diagnostic about a whole block points at: its last label,
// or its type where it has none. Both syntaxes have these.
func (r *reader) header(b *hcl.Block) hcl.Range {
	if n := len(b.LabelRanges); n > 0 {
		return r.unquoted(b.LabelRanges[n-1])
	}
	if y, ok := b.Body.(*yamlBody); ok {
		return y.head
	}
	return b.TypeRange
}

func (r *reader) label(b *hcl.Block, i int) Value[string] {
	return Value[string]{V: b.Labels[i], Range: r.unquoted(b.LabelRanges[i]), Set: true}
}
