package lang

import (
	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// parseHCL reads a file of HCL's native syntax.
func parseHCL(name string, src []byte) (hcl.Body, diag.List) {
	s := newSource(name, src)
	if at := tooDeep(src); at >= 0 {
		var l diag.List
		l.Errorf(diag.HCLSyntax, s.rng(at, at+1), "Nested too deeply", "At most %d brackets and signs may be open at once.", maxNesting)
		return nil, l
	}
	f, hd := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	var l diag.List
	body, ok := f.Body.(*hclsyntax.Body)
	for _, d := range hd {
		slip := fromSyntax(s, d)
		if n := len(l); n > 0 && slip.Code != diag.Duplicate && l[n-1].Subject.Start.Line == slip.Subject.Start.Line {
			continue // what the first fault of a line leads to
		}
		l = append(l, slip)
		if last := &l[len(l)-1]; last.Code == diag.Duplicate && ok {
			if first := innermost(body, last.Subject).Attributes[string(src[last.Subject.Start.Byte:last.Subject.End.Byte])]; first != nil {
				last.Related = []diag.Related{{Message: "set here first", Range: first.NameRange}}
			}
		}
		if d.Summary == "Invalid multi-line string" {
			break // from here on what is inside of quotes and what is outside is swapped
		}
	}
	if !ok {
		return nil, l
	}
	if len(l) == 0 && len(body.Attributes) == 0 && len(body.Blocks) == 0 {
		return nil, diag.List{emptyFile(s.rng(0, 0))}
	}
	return body, l
}

// HCL is parsed by recursion without a bound of its own, and a stack that
// overflows can't be caught: more than this is refused before.
const (
	maxNesting      = 5_000
	maxConditionals = 100_000 // in a file; each may stand inside the one before
)

// tooDeep is the byte where a source nests too deeply, or -1. Brackets in
// texts are counted as well, which the bound is wide enough for.
func tooDeep(src []byte) int {
	depth, signs, conditionals := 0, 0, 0
	for i, c := range src {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '?':
			conditionals++
		}
		switch c {
		case '!', '-':
			signs++
		case ' ', '\t', '\n', '\r':
		default:
			signs = 0
		}
		if depth > maxNesting || signs > maxNesting || conditionals > maxConditionals {
			return i
		}
	}
	return -1
}

// innermost is the body around a place.
func innermost(b *hclsyntax.Body, at hcl.Range) *hclsyntax.Body {
	for _, blk := range b.Blocks {
		if blk.Range().Start.Byte <= at.Start.Byte && at.End.Byte <= blk.CloseBraceRange.End.Byte {
			return innermost(blk.Body, at)
		}
	}
	return b
}
