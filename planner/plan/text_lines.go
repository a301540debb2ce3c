package plan

import (
	"strings"
	"unicode/utf8"
)

// Lines of the text form end where a review page does, or a terminal, unless it
// is so narrow that statements would fall into words.
const (
	minWidth = 60
	maxWidth = 100
)

// label is the room of a field's name.
const label = 12

func (t *text) line(indent int, s string) {
	if s != "" {
		t.out.WriteString(strings.Repeat(" ", indent))
		t.out.WriteString(s)
	}
	t.out.WriteByte('\n')
}

// field is a named line; what does not fit goes on under its beginning.
func (t *text) field(indent int, name, value string) {
	t.hanging(indent, name+strings.Repeat(" ", max(1, label-len(name))), value)
}

func (t *text) fields(indent int, facts []Fact) {
	for _, f := range facts {
		t.field(indent, f.Name, f.Value)
	}
}

// wrapped breaks a text at blanks. Leading blanks of its own are kept, and
// lines that go on are set two further in.
func (t *text) wrapped(indent int, s string) {
	lead := len(s) - len(strings.TrimLeft(s, " "))
	t.hanging(indent+lead, "", s[lead:])
}

func (t *text) hanging(indent int, head, s string) {
	under := indent + len(head)
	if head == "" {
		under += 2
	}
	line, first := strings.Repeat(" ", indent)+head, true
	used := utf8.RuneCountInString(line)
	empty := true
	for _, w := range strings.Split(s, " ") { // blanks inside a statement are its own
		n := utf8.RuneCountInString(w)
		if !empty && used+1+n > t.width {
			t.line(0, line)
			line, used, empty, first = strings.Repeat(" ", under), under, true, false
		}
		if !empty {
			line, used = line+" ", used+1
		}
		line, used, empty = line+w, used+n, false
	}
	if !empty || first {
		t.line(0, strings.TrimRight(line, " "))
	}
}
