package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// terminal is as much of a terminal as bars ask for: it keeps what would stand
// on an endlessly high screen.
type terminal struct {
	width    int
	rows     [][]rune
	row, col int
}

var control = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

func (t *terminal) Write(p []byte) (int, error) {
	for s := string(p); s != ""; {
		if m := control.FindStringSubmatch(s); m != nil {
			n, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "A":
				t.row = max(0, t.row-max(1, n))
			case "J":
				t.rows = t.rows[:min(len(t.rows), t.row+1)]
				t.cutRow()
			case "K":
				t.cutRow()
			}
			s = s[len(m[0]):]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch r {
		case '\r':
			t.col = 0
		case '\n': // as a terminal line does it, with a carriage return
			t.row, t.col = t.row+1, 0
		default:
			t.put(r)
		}
	}
	return len(p), nil
}

func (t *terminal) put(r rune) {
	if t.col >= t.width {
		t.row, t.col = t.row+1, 0
	}
	for len(t.rows) <= t.row {
		t.rows = append(t.rows, nil)
	}
	for len(t.rows[t.row]) <= t.col {
		t.rows[t.row] = append(t.rows[t.row], ' ')
	}
	t.rows[t.row][t.col] = r
	t.col++
}

func (t *terminal) cutRow() {
	if t.row < len(t.rows) {
		t.rows[t.row] = t.rows[t.row][:min(t.col, len(t.rows[t.row]))]
	}
}

func (t *terminal) String() string {
	var out []string
	for _, r := range t.rows {
		out = append(out, strings.TrimRight(string(r), " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}
