package lang

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"
)

// source turns what parsers report into byte offsets, and byte offsets into
// positions. It keeps two tables of lines because the YAML parser begins a new
// line at CR, NEL, LS and PS as well, while HCL and people count LF alone.
type source struct {
	name  string
	buf   []byte
	lines []int // offset of each LF line
	yaml  []yamlLine
}

// yamlLine is a line as the YAML parser counts them.
type yamlLine struct {
	at    int
	ascii bool // a column is a byte, so a huge one-line file stays linear
}

var bom = []byte("\xef\xbb\xbf")

func newSource(name string, buf []byte) *source {
	s := &source{name: name, buf: buf, lines: []int{0}, yaml: []yamlLine{{ascii: true}}}
	i := 0
	if bytes.HasPrefix(buf, bom) {
		i, s.yaml[0].at = len(bom), len(bom)
	}
	for i < len(buf) {
		r, w := rune(buf[i]), 1
		if r >= utf8.RuneSelf {
			r, w = utf8.DecodeRune(buf[i:])
			s.yaml[len(s.yaml)-1].ascii = false
		}
		i += w
		switch r {
		case '\r':
			if i < len(buf) && buf[i] == '\n' {
				i++
				s.lines = append(s.lines, i)
			}
			s.yaml = append(s.yaml, yamlLine{i, true})
		case '\n':
			s.lines = append(s.lines, i)
			s.yaml = append(s.yaml, yamlLine{i, true})
		case 0x85, 0x2028, 0x2029:
			s.yaml = append(s.yaml, yamlLine{i, true})
		}
	}
	return s
}

// offset is the byte of a position that the YAML parser reports: lines from 1,
// columns from 1 in code points.
func (s *source) offset(line, col int) int {
	switch {
	case line < 1:
		return 0
	case line > len(s.yaml):
		return len(s.buf)
	}
	l := s.yaml[line-1]
	if l.ascii {
		return min(l.at+max(col-1, 0), len(s.buf))
	}
	o := l.at
	for c := 1; c < col && o < len(s.buf); c++ {
		_, w := utf8.DecodeRune(s.buf[o:])
		o += w
	}
	return o
}

// pos is the position of a byte: LF lines from 1, columns from 1 in user-perceived characters.
func (s *source) pos(off int) hcl.Pos {
	off = min(max(off, 0), len(s.buf))
	l := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > off }) - 1
	line := s.buf[s.lines[l]:off]
	n, ascii := len(line), true
	for _, c := range line {
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if !ascii {
		n, _ = textseg.TokenCount(line, textseg.ScanGraphemeClusters)
	}
	return hcl.Pos{Line: l + 1, Column: n + 1, Byte: off}
}

func (s *source) rng(from, to int) hcl.Range {
	return hcl.Range{Filename: s.name, Start: s.pos(from), End: s.pos(max(from, to))}
}

// lineEnd is the end of the line of a byte, without its line break.
func (s *source) lineEnd(at int) int {
	i := bytes.IndexByte(s.buf[at:], '\n')
	if i < 0 {
		return len(s.buf)
	}
	return at + len(bytes.TrimRight(s.buf[at:at+i], "\r"))
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
