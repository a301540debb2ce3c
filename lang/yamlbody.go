package lang

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	yaml "go.yaml.in/yaml/v4"
)

// yamlBody is a YAML mapping read as an HCL body. As in HCL's own JSON syntax
// the schema decides whether a key is an attribute or a block; a labelled
// block is a mapping under its labels, a repeated one without labels a list.
type yamlBody struct {
	f    *yamlFile
	n    *yaml.Node // a mapping, or null for an empty block
	head hcl.Range  // the label or key that introduced it
	rest []string   // the only keys still to be read; nil: all
}

var _ hcl.Body = (*yamlBody)(nil)

// pair is a key with its value.
type pair struct {
	key string
	at  hcl.Range
	val *yaml.Node
}

// pairs lists a mapping in the order of the file, merges behind: a key written
// here beats a merged one. Keys that begin with "x-" hold anchors and are left out.
func (f *yamlFile) pairs(n *yaml.Node) []pair {
	n = f.resolve(n)
	if n.Kind == yaml.SequenceNode { // of a merge
		var out []pair
		for _, c := range n.Content {
			for _, p := range f.pairs(c) {
				if !slices.ContainsFunc(out, func(q pair) bool { return q.key == p.key }) {
					out = append(out, p)
				}
			}
		}
		return out
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var out, merged []pair
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode || own[k.Value]: // reported by the check
		case isMerge(k):
			merged = append(merged, f.pairs(v)...)
		case strings.HasPrefix(k.Value, "x-"):
		default:
			own[k.Value] = true
			out = append(out, pair{k.Value, f.inner(k), v})
		}
	}
	for _, p := range merged {
		if !own[p.key] {
			own[p.key] = true
			out = append(out, p)
		}
	}
	return out
}

func (b *yamlBody) pairs() []pair {
	ps := b.f.pairs(b.n)
	if b.rest == nil {
		return ps
	}
	return slices.DeleteFunc(ps, func(p pair) bool { return !slices.Contains(b.rest, p.key) })
}

// names lists what is written in the body. A mapping counts as a block.
func (b *yamlBody) names() []written {
	var out []written
	for _, p := range b.pairs() {
		out = append(out, written{p.key, p.at, b.f.resolve(p.val).Kind == yaml.MappingNode})
	}
	return out
}

// Content is PartialContent that refuses what the schema doesn't name.
func (b *yamlBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	c, rest, diags := b.PartialContent(s)
	for _, p := range rest.(*yamlBody).pairs() {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unexpected key", Subject: p.at.Ptr(),
			Detail: fmt.Sprintf("No setting or block is named %q here.", p.key)})
	}
	return c, diags
}

// PartialContent reads what the schema names.
func (b *yamlBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	c := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: b.head}
	rest := &yamlBody{f: b.f, n: b.n, head: b.head, rest: []string{}}
	var diags hcl.Diagnostics
	for _, p := range b.pairs() {
		if slices.ContainsFunc(s.Attributes, func(a hcl.AttributeSchema) bool { return a.Name == p.key }) {
			c.Attributes[p.key] = b.attribute(p)
			continue
		}
		i := slices.IndexFunc(s.Blocks, func(h hcl.BlockHeaderSchema) bool { return h.Type == p.key })
		if i < 0 {
			rest.rest = append(rest.rest, p.key)
			continue
		}
		u := unpacking{b: b, typ: p.key, at: p.at, out: &c.Blocks}
		u.labelled(p.val, p.at, s.Blocks[i].LabelNames, nil, nil)
		diags = append(diags, u.diags...)
	}
	for _, a := range s.Attributes {
		if a.Required && c.Attributes[a.Name] == nil {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Missing setting", Subject: b.head.Ptr(),
				Detail: fmt.Sprintf("%q is required here.", a.Name)})
		}
	}
	return c, rest, diags
}

// JustAttributes reads every key as an attribute.
func (b *yamlBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	out := hcl.Attributes{}
	for _, p := range b.pairs() {
		out[p.key] = b.attribute(p)
	}
	return out, nil
}

// MissingItemRange is the label or key that introduced the body.
func (b *yamlBody) MissingItemRange() hcl.Range { return b.head }

// attribute makes an attribute of a pair. Its Range is the name alone: to find
// the end of every value would cost more than the rest of the decoding.
func (b *yamlBody) attribute(p pair) *hcl.Attribute {
	return &hcl.Attribute{Name: p.key, Expr: &yamlExpr{f: b.f, n: p.val}, Range: p.at, NameRange: p.at}
}

// coded carries one of our codes through HCL's diagnostics.
type coded diag.Code

// mended is coded with an edit.
type mended struct {
	code diag.Code
	edit diag.Edit
}

// unpacking turns the value of a block's key into blocks.
type unpacking struct {
	b     *yamlBody
	typ   string
	at    hcl.Range
	out   *hcl.Blocks
	diags hcl.Diagnostics
}

func (u *unpacking) errorf(code diag.Code, at hcl.Range, summary, detail string, args ...any) {
	u.diags = append(u.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at, Extra: coded(code)})
}

// labelled walks down the labels. head is the key that stands above v.
func (u *unpacking) labelled(v *yaml.Node, head hcl.Range, left, labels []string, ranges []hcl.Range) {
	if len(left) == 0 {
		u.body(v, head, labels, ranges)
		return
	}
	f := u.b.f
	n := f.resolve(v)
	ps := f.pairs(n)
	lacks := n.Kind != yaml.MappingNode
	for _, p := range ps {
		k := f.resolve(p.val)
		lacks = lacks || k.Kind != yaml.MappingNode && k.ShortTag() != "!!null"
	}
	if lacks && u.bareColumns(ps) {
		return
	}
	if lacks {
		u.errorf(diag.MissingLabel, head, fmt.Sprintf("%s block without its %s", u.typ, left[0]),
			"A %s is a mapping under its %s: write `%s` with its settings one level below that.", u.typ, strings.Join(left, " and its "), strings.Join(left, ": ")+":")
		return
	}
	for _, p := range ps {
		u.labelled(p.val, p.at, left[1:], append(slices.Clip(labels), p.key), append(slices.Clip(ranges), p.at))
	}
}

// bareColumns reports columns that are given an expression alone, as in
// `name: upper(name)`. It is false where a column's own settings stand in the
// place of its name.
func (u *unpacking) bareColumns(ps []pair) bool {
	f := u.b.f
	bare := func(p pair) bool {
		n := f.resolve(p.val)
		return n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null"
	}
	if u.typ != "column" || len(ps) == 0 || slices.ContainsFunc(ps, func(p pair) bool { return bare(p) && slices.Contains(columnSettings, p.key) }) {
		return false
	}
	for _, p := range ps {
		if !bare(p) {
			continue
		}
		u.errorf(diag.BlockOrSetting, p.at, fmt.Sprintf("%q is a block", head2(u.typ, []string{p.key})),
			"It takes settings of its own: write `%s: {value: ...}` for an expression that gives its values.", p.key)
		if n := f.resolve(p.val); n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0 {
			u.diags[len(u.diags)-1].Extra = mended{diag.BlockOrSetting, diag.Edit{Title: "make it its value", Range: f.rangeOf(n),
				NewText: "{value: '" + strings.ReplaceAll(n.Value, "'", "''") + "'}"}}
		}
	}
	return true
}

func (u *unpacking) body(v *yaml.Node, head hcl.Range, labels []string, ranges []hcl.Range) {
	f := u.b.f
	n := f.resolve(v)
	add := func(n *yaml.Node, head hcl.Range) {
		*u.out = append(*u.out, &hcl.Block{Type: u.typ, Labels: labels, LabelRanges: ranges, DefRange: head, TypeRange: u.at,
			Body: &yamlBody{f: f, n: n, head: head}})
	}
	switch {
	case n.Kind == yaml.MappingNode, n.ShortTag() == "!!null": // `kafka:` alone is an empty block
		add(n, head)
	case n.Kind == yaml.SequenceNode && len(labels) == 0 && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return f.resolve(c).Kind != yaml.MappingNode }):
		for _, c := range n.Content {
			at := head
			if ps := f.pairs(c); len(ps) > 0 {
				at = ps[0].at
			}
			add(f.resolve(c), at)
		}
	default:
		u.errorf(diag.BlockOrSetting, head, fmt.Sprintf("%q is a block", head2(u.typ, labels)),
			"It takes settings of its own, not %s: write them one level below it, or as `%s: {name: value}`.", kindOf(n), u.typ)
	}
}

func head2(typ string, labels []string) string {
	return strings.Join(append([]string{typ}, labels...), " ")
}
