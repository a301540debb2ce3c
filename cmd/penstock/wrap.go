package main

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// reportWidth is where lines for people end when nothing says how wide their
// terminal is.
const reportWidth = 80

// wrap breaks a text at blanks so that no line is wider than width, unless a
// word alone is. The first line begins with first, the others with under. Line
// breaks of the text stay.
func wrap(s string, width int, first, under string) string {
	var out []string
	for _, para := range strings.Split(s, "\n") {
		line, empty := first, true
		for _, w := range strings.Split(para, " ") { // several blanks set parts off
			if !empty && runewidth.StringWidth(line)+1+runewidth.StringWidth(w) > width {
				out = append(out, strings.TrimRight(line, " "))
				line, empty = under, true
			}
			if w == "" && empty {
				continue
			}
			if !empty {
				line += " "
			}
			line, empty = line+w, false
		}
		out = append(out, line)
		first = under
	}
	return strings.Join(out, "\n")
}
