package lang

import (
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A piece is a part of an evaluated text: literal bytes of the spec, or what
// an interpolation gave.
type piece struct {
	text    string
	literal bool
	rng     hcl.Range // in the decoded text for YAML, in the file for HCL
	quote   quoting
}

// textOf makes a text of an evaluated expression. Its map to the source is
// found on the first use: it is needed for errors alone.
func (s *scope) textOf(e hcl.Expression, v string, ctx *hcl.EvalContext) Text {
	whole := s.valueRange(e)
	t := Text{Value: Value[string]{V: v, Range: whole, Set: true}}
	src := s.sources[whole.Filename]
	if src == nil {
		return t
	}
	find := sync.OnceValue(func() byteMap { return s.mapText(e, v, ctx, src) })
	t.at = func(from, to int) hcl.Range {
		m := find()
		if !m.ok {
			return whole
		}
		a, b := m.span(from, to)
		return src.rng(a, b)
	}
	return t
}

func (s *scope) mapText(e hcl.Expression, v string, ctx *hcl.EvalContext, src *source) byteMap {
	y, isYAML := e.(*yamlExpr)
	var syntax hclsyntax.Expression
	quote := hclPlain
	switch {
	case !isYAML:
		var ok bool
		if syntax, ok = e.(hclsyntax.Expression); !ok {
			return byteMap{}
		}
		if a := syntax.Range().Start.Byte; a < len(src.buf) && src.buf[a] == '"' {
			quote = hclQuoted
		}
	case !y.parsed && !isTemplate(y.f.resolve(y.n)):
		return y.f.scalar(y.f.resolve(y.n))
	default:
		syntax, _ = y.template()
	}
	m := byteMap{ok: true}
	for _, p := range pieces(syntax, quote, ctx) {
		var pm byteMap
		switch {
		case !p.literal && isYAML:
			r := y.move(p.rng)
			pm = flat(len(p.text), r.Start.Byte, r.End.Byte)
		case !p.literal:
			pm = flat(len(p.text), p.rng.Start.Byte, p.rng.End.Byte)
		case isYAML:
			pm = align([]byte(y.f.resolve(y.n).Value), p.rng.Start.Byte, p.text, p.quote)
			for i := range pm.to {
				r := y.move(hcl.Range{Start: hcl.Pos{Byte: pm.from[i]}, End: hcl.Pos{Byte: pm.to[i]}})
				pm.from[i], pm.to[i] = r.Start.Byte, r.End.Byte
			}
			r := y.move(hcl.Range{Start: hcl.Pos{Byte: pm.end}, End: hcl.Pos{Byte: pm.end}})
			pm.from[len(pm.to)] = r.Start.Byte
		default:
			pm = align(src.buf, p.rng.Start.Byte, p.text, p.quote)
		}
		if !pm.ok {
			return byteMap{}
		}
		m.from = append(m.from[:len(m.to)], pm.from...)
		m.to = append(m.to, pm.to...)
	}
	m.ok = len(m.to) == len(v)
	return m
}

func flat(n, from, to int) byteMap {
	m := byteMap{from: make([]int, n+1), to: make([]int, n), ok: true}
	for i := range m.to {
		m.from[i], m.to[i] = from, to
	}
	m.from[n] = to
	return m
}

// pieces takes an evaluated text apart.
func pieces(e hclsyntax.Expression, q quoting, ctx *hcl.EvalContext) []piece {
	parts := []hclsyntax.Expression{e}
	if t, ok := e.(*hclsyntax.TemplateExpr); ok {
		parts = t.Parts
	}
	var out []piece
	for _, p := range parts {
		v, diags := p.Value(ctx)
		if diags.HasErrors() || !v.IsKnown() || v.IsNull() {
			continue
		}
		s, ok := asString(v)
		if !ok {
			continue
		}
		_, literal := p.(*hclsyntax.LiteralValueExpr)
		out = append(out, piece{s, literal, p.Range(), q})
	}
	return out
}

// asString is how a template writes a value.
func asString(v cty.Value) (string, bool) {
	switch v.Type() {
	case cty.String:
		return v.AsString(), true
	case cty.Bool:
		if v.True() {
			return "true", true
		}
		return "false", true
	case cty.Number:
		return v.AsBigFloat().Text('f', -1), true
	}
	return "", false
}
