package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// valueRange is the bytes of a value that carry its meaning, the same in both
// syntaxes: a text without its quotes, a lone "${x}" without its braces.
func (s *scope) valueRange(e hcl.Expression) hcl.Range {
	switch e := e.(type) {
	case *hclsyntax.TemplateWrapExpr:
		return e.Wrapped.Range()
	case *hclsyntax.TemplateExpr:
		src := s.sources[e.SrcRange.Filename]
		if src == nil || e.SrcRange.Start.Byte >= len(src.buf) {
			return e.SrcRange
		}
		if src.buf[e.SrcRange.Start.Byte] == '"' || len(e.Parts) == 0 {
			return s.unquoted(e.SrcRange)
		}
		from, to := e.Parts[0].Range().Start.Byte, e.Parts[len(e.Parts)-1].Range().End.Byte
		for from < to && isSpace(src.buf[from]) { // a heredoc's indentation
			from++
		}
		for to > from && isSpace(src.buf[to-1]) {
			to--
		}
		return src.rng(from, to)
	}
	return e.Range()
}

// unquoted is a range without the quotes around it.
func (s *scope) unquoted(r hcl.Range) hcl.Range {
	src := s.sources[r.Filename]
	a, b := r.Start.Byte, r.End.Byte
	if src == nil || b > len(src.buf) || b-a < 2 || src.buf[a] != '"' || src.buf[b-1] != '"' {
		return r
	}
	return src.rng(a+1, b-1)
}
