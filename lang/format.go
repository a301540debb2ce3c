package lang

import (
	"bytes"
	"unicode"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// maxFormatPasses bounds how often a file is laid out until nothing moves any
// more: hclwrite aligns some comments only once what is before them stands.
const maxFormatPasses = 4

// Format lays out a file of HCL: indentation, blanks around signs, columns of
// equals signs and comments. Nothing but white space changes, comments stay. A
// file whose syntax is wrong is not touched; the list says what is wrong.
func Format(name string, src []byte) ([]byte, diag.List) {
	_, l := parseHCL(name, src)
	for i := range l {
		if l[i].Code == diag.Duplicate {
			continue // a spec can't hold it twice, a file can
		}
		return nil, l
	}
	text, head := src, []byte(nil)
	if bytes.HasPrefix(src, bom) {
		text, head = src[len(bom):], bom
	}
	out := text
	for range maxFormatPasses {
		next := hclwrite.Format(out)
		if bytes.Equal(next, out) {
			break
		}
		out = next
	}
	if !bytes.Equal(inked(text), inked(out)) {
		// Never seen. The file is worth more than its looks.
		return src, nil
	}
	return append(bytes.Clone(head), out...), nil
}

// Masked is a file of a spec with asterisks, byte for byte, where a secret
// seems to stand in it.
func Masked(src []byte) []byte { return masked(src) }

// inked is a text without its white space.
func inked(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, b)
}
