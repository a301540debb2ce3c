package lsp

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text is a document that turns bytes into the protocol's positions, whose
// columns are UTF-16 code units, and back.
type text struct {
	s     string
	lines []int // where each begins
}

func newText(s string) text {
	t := text{s: s, lines: []int{0}}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// position is the place of a byte; one outside of the text is its nearest end.
func (t text) position(offset int) position {
	offset = min(max(offset, 0), len(t.s))
	line := 0
	for lo, hi := 0, len(t.lines); lo < hi; {
		if mid := (lo + hi) / 2; t.lines[mid] <= offset {
			line, lo = mid, mid+1
		} else {
			hi = mid
		}
	}
	n := 0
	for i := t.lines[line]; i < offset; {
		r, w := utf8.DecodeRuneInString(t.s[i:])
		if i += w; i > offset {
			break // inside of a character: its beginning
		}
		n += units(r)
	}
	return position{line, n}
}

// offset is the byte of a place; one behind its line's end is that end.
func (t text) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.s)
	}
	i, n := t.lines[p.Line], 0
	for i < len(t.s) && t.s[i] != '\n' && t.s[i] != '\r' {
		r, w := utf8.DecodeRuneInString(t.s[i:])
		if n += units(r); n > p.Character {
			break
		}
		i += w
	}
	return i
}

func (t text) span(from, to int) span { return span{t.position(from), t.position(to)} }

func units(r rune) int { return max(utf16.RuneLen(r), 1) }

// pathOf is the file of a URI. A document that is in no file keeps its URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // /C:/x
		p = p[1:]
	}
	return filepath.FromSlash(p)
}

func uriOf(path string) string {
	if strings.Contains(path, "://") || strings.HasPrefix(path, "untitled:") {
		return path
	}
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}
