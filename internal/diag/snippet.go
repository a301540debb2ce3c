package diag

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/mattn/go-runewidth"
)

// shown is one line of a file as it stands on a screen, with the columns that
// are underlined.
type shown struct {
	number   int    // of the line, from 1
	text     string // tabs expanded, control characters replaced, cut to the screen
	from, to int    // screen columns, from 0; to is behind the last one
	gap      bool   // lines between this one and the one before are left out
}

const (
	tabWidth  = 4
	lineWidth = 110 // of source code on the screen; a longer line is cut around what is underlined
	maxLines  = 4   // of a range; more are shown as the first two and the last
)

// excerpt gives the lines that a range covers. It is empty when the file is
// unknown or has no such bytes.
func excerpt(src []byte, r hcl.Range) []shown {
	a, b := r.Start.Byte, r.End.Byte
	if len(src) == 0 || a < 0 || a > b || b > len(src) {
		return nil
	}
	var out []shown
	number := 1 + bytes.Count(src[:a], []byte("\n"))
	for at := bytes.LastIndexByte(src[:a], '\n') + 1; ; number++ {
		end := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := bytes.TrimSuffix(src[at:end], []byte("\r"))
		from, to := max(a-at, 0), min(b-at, len(line))
		if at > a { // a line that goes on: its indentation isn't meant
			from = len(line) - len(bytes.TrimLeft(line, " \t"))
		}
		out = append(out, show(number, line, min(from, len(line)), to))
		if b <= end || b == end+1 || end == len(src) {
			break
		}
		at = end + 1
	}
	if len(out) > maxLines {
		last := out[len(out)-1]
		last.gap = true
		out = append(out[:2], last)
	}
	return out
}

// show lays a line out for the screen; from and to are its bytes.
func show(number int, line []byte, from, to int) shown {
	s := shown{number: number, from: -1, to: -1}
	var text strings.Builder
	col := 0
	var starts []int // screen column of each rune, for cutting
	for i := 0; i < len(line); {
		r, w := utf8.DecodeRune(line[i:])
		if i >= from && s.from < 0 {
			s.from = col
		}
		if i >= to && s.to < 0 {
			s.to = col
		}
		starts = append(starts, col)
		switch {
		case r == '\t':
			n := tabWidth - col%tabWidth
			text.WriteString(strings.Repeat(" ", n))
			starts = append(starts, seq(col+1, n-1)...)
			col += n
		case r == utf8.RuneError && w == 1 || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != 0x200d:
			text.WriteRune('\ufffd') // an escape sequence or a change of direction must not reach the terminal
			col++
		default:
			text.WriteRune(r)
			col += runewidth.RuneWidth(r)
		}
		i += w
	}
	if s.from < 0 {
		s.from = col
	}
	if s.to < 0 {
		s.to = col
	}
	s.text = text.String()
	if s.to <= s.from {
		s.to = s.from + 1
	}
	if col > lineWidth {
		s.cut(starts, col)
	}
	return s
}

func seq(from, n int) []int {
	out := make([]int, max(n, 0))
	for i := range out {
		out[i] = from + i
	}
	return out
}

// cut keeps the part of a long line around its underlined columns.
func (s *shown) cut(starts []int, width int) {
	first := max(0, min(s.from-lineWidth/3, width-lineWidth))
	runes := []rune(s.text)
	i := 0
	for i < len(starts) && starts[i] < first {
		i++
	}
	j := i
	for j < len(starts) && starts[j] < first+lineWidth {
		j++
	}
	offset, text := 0, ""
	if i < len(starts) {
		offset = starts[i]
	}
	text = string(runes[i:min(j, len(runes))])
	before := 0
	if i > 0 {
		text, before = "…"+text, 1
	}
	if j < len(runes) {
		text += "…"
	}
	s.text = text
	s.from = max(s.from-offset, 0) + before
	s.to = min(max(s.to-offset, 0)+before, runewidth.StringWidth(text))
	s.to = max(s.to, s.from+1)
}
