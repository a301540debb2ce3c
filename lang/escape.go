package lang

import (
	"strconv"
	"unicode/utf8"
)

// The escapes of YAML 1.2.2, section 5.7, and of HCL's quoted templates.
var (
	yamlEscapes = map[byte]rune{'0': 0, 'a': 7, 'b': 8, 't': '\t', '\t': '\t', 'n': '\n', 'v': 11, 'f': 12, 'r': '\r',
		'e': 27, ' ': ' ', '"': '"', '/': '/', '\\': '\\', 'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029}
	hclEscapes = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\'}
)

// unescape decodes the escape at the start of b, which begins with a backslash.
// A width of 0 means that there is none.
func unescape(b []byte, escapes map[byte]rune) (dec []byte, width int) {
	if len(b) < 2 {
		return nil, 0
	}
	if r, ok := escapes[b[1]]; ok {
		return utf8.AppendRune(nil, r), 2
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[b[1]]
	if digits == 0 || len(b) < 2+digits {
		return nil, 0
	}
	n, err := strconv.ParseUint(string(b[2:2+digits]), 16, 32)
	if err != nil {
		return nil, 0
	}
	return utf8.AppendRune(nil, rune(n)), 2 + digits
}
