package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	yaml "go.yaml.in/yaml/v4"
)

// The parser tells where a node starts and nothing more. Ends are found by
// following a scalar's text through the source, and from there outwards.

// start is the first byte of a node's value, behind its anchor and tag.
func (f *yamlFile) start(n *yaml.Node) int {
	o := f.offset(n.Line, n.Column)
	if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0 {
		return o // nothing stands behind the anchor
	}
	for o < len(f.buf) && (f.buf[o] == '&' && n.Anchor != "" || f.buf[o] == '!' && n.Style&yaml.TaggedStyle != 0) {
		for o < len(f.buf) && !isSpace(f.buf[o]) && !isFlow(f.buf[o]) {
			o++
		}
		for o < len(f.buf) && isSpace(f.buf[o]) {
			o++
		}
	}
	return o
}

// isFlow reports the characters that no anchor, alias or tag may hold.
func isFlow(c byte) bool { return strings.IndexByte(",[]{}", c) >= 0 }

// scalar maps a scalar's text to the source.
func (f *yamlFile) scalar(n *yaml.Node) byteMap {
	p := f.start(n)
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		for p < len(f.buf) && f.buf[p] != '\n' { // the indicator's line
			p++
		}
		return align(f.buf, p, n.Value, plain)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return f.closed(align(f.buf, p+1, n.Value, doubleQuoted), '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return f.closed(align(f.buf, p+1, n.Value, singleQuoted), '\'')
	}
	return align(f.buf, p, n.Value, plain)
}

// closed moves the end of a quoted scalar behind its closing quote.
func (f *yamlFile) closed(m byteMap, quote byte) byteMap {
	for p := m.end; m.ok && p < len(f.buf); p++ {
		switch {
		case f.buf[p] == quote:
			m.end = p + 1
			return m
		case f.buf[p] == '\\' && p+1 < len(f.buf) && isSpace(f.buf[p+1]):
			p++
		case !isSpace(f.buf[p]):
			return m
		}
	}
	return m
}

// end is the byte behind a node.
func (f *yamlFile) end(n *yaml.Node) int {
	if e, ok := f.ends[n]; ok {
		return e
	}
	e := f.findEnd(n)
	f.ends[n] = e
	return e
}

func (f *yamlFile) findEnd(n *yaml.Node) int {
	e := f.start(n)
	switch n.Kind {
	case yaml.ScalarNode:
		if m := f.scalar(n); m.ok {
			return m.end
		}
		return e
	case yaml.AliasNode:
		for e < len(f.buf) && !isSpace(f.buf[e]) && !isFlow(f.buf[e]) {
			e++
		}
		return e
	}
	if len(n.Content) > 0 {
		e = max(e, f.end(n.Content[len(n.Content)-1]))
	} else {
		e++
	}
	if n.Style&yaml.FlowStyle != 0 {
		for e < len(f.buf) && f.buf[e] != '}' && f.buf[e] != ']' {
			if f.buf[e] == '#' {
				for e < len(f.buf) && f.buf[e] != '\n' {
					e++
				}
				continue
			}
			e++
		}
		e++
	}
	return min(e, len(f.buf))
}

func (f *yamlFile) rangeOf(n *yaml.Node) hcl.Range { return f.rng(f.start(n), f.end(n)) }

// inner is the range of a node, of a quoted scalar without its quotes: the
// same bytes that HCL has between its quotes.
func (f *yamlFile) inner(n *yaml.Node) hcl.Range {
	a, b := f.start(n), f.end(n)
	if n.Kind == yaml.ScalarNode {
		switch {
		case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && b-a >= 2:
			return f.rng(a+1, b-1)
		case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			if m := f.scalar(n); m.ok && len(n.Value) > 0 {
				from, to := m.span(0, len(strings.TrimRight(n.Value, "\n")))
				return f.rng(from, to)
			}
		}
	}
	return f.rng(a, b)
}

// firstLine is the range of a node up to the end of its first line.
func (f *yamlFile) firstLine(n *yaml.Node) hcl.Range {
	r := f.inner(n)
	a, b := r.Start.Byte, r.End.Byte
	for i := a; i < b; i++ {
		if f.buf[i] == '\n' {
			b = i
		}
	}
	return f.rng(a, b)
}

// resolve follows aliases to the node that they stand for.
func (f *yamlFile) resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
