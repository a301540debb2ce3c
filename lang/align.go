package lang

// A byteMap says where each byte of a decoded text came from: byte i of the
// text was written as source bytes from[i] to to[i]. from has one entry more,
// the place after the last byte.
type byteMap struct {
	from, to []int
	end      int  // where the scalar ends in the source, closing quote included
	ok       bool // false: the text could not be followed; everything points at the start
}

// span is the source of the bytes a..b of the text.
func (m byteMap) span(a, b int) (from, to int) {
	n := len(m.from) - 1
	a, b = min(max(a, 0), n), min(max(b, 0), n)
	if b <= a {
		return m.from[a], m.from[a]
	}
	return m.from[a], max(m.to[b-1], m.from[a])
}

// quoting says how a text was written.
type quoting uint8

const (
	plain        quoting = iota // as it stands: YAML plain and block scalars
	singleQuoted                // YAML: '' is a quote
	doubleQuoted                // YAML: backslash escapes, lines joined by a backslash
	hclQuoted                   // HCL: backslash escapes, $${ and %%{
	hclPlain                    // HCL heredocs and YAML values read as templates: $${ and %%{
)

// align follows text through src from byte p on. White space is folded,
// chomped and indented away in many ways by both syntaxes, but all other bytes
// keep their order; so those are matched one by one and the white space falls
// in between. p is behind the opening quote. Where a byte doesn't match, the
// map falls back to its start: a place that is coarse, never one that is wrong.
func align(src []byte, p int, text string, q quoting) byteMap {
	start := p
	m := byteMap{from: make([]int, len(text)+1), to: make([]int, len(text)), ok: true}
	for i := 0; i < len(text); {
		dec, w := unit(src, p, q)
		switch {
		case w > 0 && len(dec) > 0 && hasPrefixAt(text, i, dec):
			for k := range dec {
				m.from[i+k], m.to[i+k] = p, p+w
			}
			i += len(dec)
			p += w
		case w > 0 && len(dec) == 0: // a joined line
			p += w
		case p < len(src) && isSpace(src[p]):
			p++
		case isSpace(text[i]):
			m.from[i], m.to[i] = p, p
			i++
		default:
			for k := range m.to {
				m.from[k], m.to[k] = start, start
			}
			m.from[len(text)], m.end, m.ok = start, start, false
			return m
		}
	}
	m.from[len(text)], m.end = p, p
	return m
}

func hasPrefixAt(s string, i int, prefix []byte) bool {
	return len(s)-i >= len(prefix) && s[i:i+len(prefix)] == string(prefix)
}

// unit decodes what stands at src[p]: the bytes it means and how many it takes.
func unit(src []byte, p int, q quoting) (dec []byte, width int) {
	if p >= len(src) {
		return nil, 0
	}
	two := func(a, b byte) bool { return p+1 < len(src) && src[p] == a && src[p+1] == b }
	switch q {
	case singleQuoted:
		if two('\'', '\'') {
			return src[p : p+1], 2
		}
		if src[p] == '\'' {
			return nil, 0
		}
	case doubleQuoted:
		switch {
		case two('\\', '\n'), two('\\', '\r'):
			w := 2
			for p+w < len(src) && isSpace(src[p+w]) {
				w++
			}
			return nil, w
		case src[p] == '\\':
			return unescape(src[p:], yamlEscapes)
		case src[p] == '"':
			return nil, 0
		}
	case hclQuoted, hclPlain:
		if (two('$', '$') || two('%', '%')) && p+2 < len(src) && src[p+2] == '{' {
			return src[p+1 : p+3], 3
		}
		if q == hclQuoted && src[p] == '\\' {
			return unescape(src[p:], hclEscapes)
		}
	}
	return src[p : p+1], 1
}
