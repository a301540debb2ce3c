package diag

import (
	"bytes"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// region is a range as review tools count it: lines from 1, columns from 1 in
// UTF-16 code units, the end behind the last one.
type region struct{ line, column, endLine, endColumn int }

// regionOf gives the region of a range; ok is false where the file has no such
// bytes, as when it could not be read.
func regionOf(src []byte, r hcl.Range) (at region, ok bool) {
	if len(src) == 0 || r.Start.Byte < 0 || r.Start.Byte > r.End.Byte || r.End.Byte > len(src) {
		return region{}, false
	}
	at.line, at.column = lineAndColumn(src, r.Start.Byte)
	at.endLine, at.endColumn = lineAndColumn(src, r.End.Byte)
	return at, true
}

func lineAndColumn(src []byte, at int) (line, column int) {
	begin := bytes.LastIndexByte(src[:at], '\n') + 1
	return 1 + bytes.Count(src[:begin], []byte("\n")), 1 + utf16Len(src[begin:at])
}

// utf16Len counts UTF-16 code units; a byte that is no UTF-8 is one, as the
// replacement character is that a reader puts in its place.
func utf16Len(b []byte) int {
	n := 0
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		n++
		if r > 0xffff {
			n++
		}
		b = b[w:]
	}
	return n
}

// uri is a path as a URI reference: relative ones stay relative. Bytes that a
// URI can't have are escaped.
func uri(path string) string {
	p := filepath.ToSlash(path)
	if strings.HasPrefix(p, "/") {
		return (&url.URL{Scheme: "file", Path: p}).String()
	}
	return (&url.URL{Path: p}).String()
}

// help is a diagnostic's detail and its fixes, a line each.
func (d Diagnostic) help() string {
	var lines []string
	if d.Detail != "" {
		lines = append(lines, clean(d.Detail))
	}
	for _, f := range d.Fixes {
		lines = append(lines, "help: "+clean(f.text()))
	}
	return strings.Join(lines, "\n")
}

// text says what an edit writes, where that is short enough to say.
func (f Edit) text() string {
	if strings.TrimSpace(f.NewText) != "" && len(f.NewText) <= 200 && !strings.Contains(f.NewText, "\n") && !strings.Contains(f.Title, f.NewText) {
		return f.Title + ": " + f.NewText
	}
	return f.Title
}
