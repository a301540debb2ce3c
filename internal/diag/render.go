package diag

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/mattn/go-runewidth"
)

// MaxText is how many diagnostics the text form shows.
const MaxText = 50

// textWidth is where prose is wrapped, behind its indent; minTextWidth is what
// narrow terminals get.
const (
	textWidth    = 90
	minTextWidth = 40
)

// Write prints diagnostics as a compiler does: what is wrong, the place, the
// bytes underlined, why, what to write instead. files are the files' bytes by
// the names in ranges; a place in a file that is not among them is printed
// without its line. At most MaxText are printed, errors before warnings when
// some have to be left out, and the rest is counted.
func Write(w io.Writer, l List, files map[string][]byte, color bool) error {
	return WriteWithin(w, l, files, color, 0)
}

// WriteWithin is Write for a terminal of so many columns: its prose is wrapped
// there, lines of files are not. 0 is as wide as Write.
//
// Every command writes what it found here, whatever other form it writes too. So
// this is where a range outside of its file is an error: whoever reads the other
// forms, an editor or a review tool, would mark the wrong place or none.
func WriteWithin(w io.Writer, l List, files map[string][]byte, color bool, columns int) error {
	l = l.Sorted()
	rest := List(nil)
	if len(l) > MaxText {
		slices.SortStableFunc(l, func(a, b Diagnostic) int { return int(a.Severity) - int(b.Severity) })
		l, rest = l[:MaxText], l[MaxText:]
	}
	p := printer{files: files, style: plainStyle, columns: columns}
	if color {
		p.style = colorStyle
	}
	for i, d := range l {
		if i > 0 {
			p.b.WriteByte('\n')
		}
		p.diagnostic(d)
	}
	if len(rest) > 0 {
		fmt.Fprintf(&p.b, "\n... and %s more; --json lists all of them\n", rest.Summary())
	}
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return err
	}
	return errors.Join(l.inside(files), rest.inside(files))
}

// inside fails at the first diagnostic that does not lie in a file that was read.
func (l List) inside(files map[string][]byte) error {
	for _, d := range l {
		src, ok := files[d.Subject.Filename]
		if a, b := d.Subject.Start.Byte, d.Subject.End.Byte; !ok || a < 0 || a > b || b > len(src) {
			return fmt.Errorf("%s is told of bytes %d to %d of %q, which has %d: a fault of penstock, not of the spec", d.Code, a, b, d.Subject.Filename, len(src))
		}
	}
	return nil
}

// Summary counts a list in words: "2 errors, 1 warning".
func (l List) Summary() string {
	count := func(s Severity) string {
		n := 0
		for _, d := range l {
			if d.Severity == s {
				n++
			}
		}
		switch n {
		case 0:
			return ""
		case 1:
			return "1 " + s.String()
		}
		return fmt.Sprintf("%d %ss", n, s)
	}
	e, w := count(Error), count(Warning)
	switch {
	case e == "" && w == "":
		return "no errors"
	case e == "":
		return w
	case w == "":
		return e
	}
	return e + ", " + w
}

// style is the terminal sequences of each part.
type style struct{ err, warn, title, gutter, help, reset string }

var (
	plainStyle = style{}
	colorStyle = style{err: "\x1b[1;31m", warn: "\x1b[1;33m", title: "\x1b[1m", gutter: "\x1b[1;34m", help: "\x1b[1;36m", reset: "\x1b[0m"}
)

func (s style) severity(v Severity) string {
	if v == Warning {
		return s.warn
	}
	return s.err
}

type printer struct {
	columns int // of the terminal; 0: not known
	b       strings.Builder
	files   map[string][]byte
	style   style
}

func (p *printer) paint(color, text string) string {
	if color == "" || text == "" {
		return text
	}
	return color + text + p.style.reset
}

func (p *printer) diagnostic(d Diagnostic) {
	lines := excerpt(p.files[d.Subject.Filename], d.Subject)
	margin := 1
	for _, s := range lines {
		margin = max(margin, len(fmt.Sprint(s.number)))
	}
	for _, r := range d.Related {
		for _, s := range excerpt(p.files[r.Range.Filename], r.Range) {
			margin = max(margin, len(fmt.Sprint(s.number)))
		}
	}
	color := p.style.severity(d.Severity)
	fmt.Fprintf(&p.b, "%s%s\n", p.paint(color, fmt.Sprintf("%s[%s]", d.Severity, d.Code)), p.paint(p.style.title, ": "+clean(d.Summary)))
	p.place(margin, "-->", d.Subject, lines)
	p.lines(margin, lines, color, '^', "")
	indent := strings.Repeat(" ", margin+1)
	bar := indent + p.paint(p.style.gutter, "|") + "\n"
	if d.Detail != "" {
		if len(lines) > 0 {
			p.b.WriteString(bar)
		}
		p.wrapped(indent+p.paint(p.style.gutter, "= "), indent+"  ", clean(d.Detail))
	}
	for _, m := range d.Mend { // whole, to be copied
		p.b.WriteString(indent + p.paint(p.style.help, "run: ") + clean(m) + "\n")
	}
	for _, f := range d.Fixes {
		p.wrapped(indent+p.paint(p.style.help, "help: "), indent+"      ", clean(f.text()))
	}
	for _, r := range d.Related {
		lines := excerpt(p.files[r.Range.Filename], r.Range)
		p.place(margin, ":::", r.Range, lines)
		if len(lines) == 0 {
			p.wrapped(indent+p.paint(p.style.gutter, "= "), indent+"  ", clean(r.Message))
		}
		p.lines(margin, lines, p.style.gutter, '-', clean(r.Message))
	}
}

// place prints where a snippet stands.
func (p *printer) place(margin int, arrow string, r hcl.Range, lines []shown) {
	at := r.Filename
	if r.Start.Line > 0 && (len(lines) > 0 || r.Start.Byte > 0) {
		at = fmt.Sprintf("%s:%d:%d", r.Filename, r.Start.Line, r.Start.Column)
	}
	fmt.Fprintf(&p.b, "%s%s %s\n", strings.Repeat(" ", margin), p.paint(p.style.gutter, arrow), clean(at))
	if len(lines) > 0 {
		p.b.WriteString(strings.Repeat(" ", margin+1) + p.paint(p.style.gutter, "|") + "\n")
	}
}

// lines prints source lines, the bytes meant underlined, with a label behind the last.
func (p *printer) lines(margin int, lines []shown, color string, mark rune, label string) {
	for i, s := range lines {
		if s.gap {
			p.b.WriteString(p.paint(p.style.gutter, "...") + "\n")
		}
		text := ""
		if s.text != "" {
			text = " " + s.text
		}
		fmt.Fprintf(&p.b, "%s%s\n", p.paint(p.style.gutter, fmt.Sprintf("%*d |", margin, s.number)), text)
		under := strings.Repeat(string(mark), s.to-s.from)
		if i == len(lines)-1 && label != "" {
			under += " " + label
		}
		fmt.Fprintf(&p.b, "%s%s %s%s\n", strings.Repeat(" ", margin+1), p.paint(p.style.gutter, "|"), strings.Repeat(" ", s.from), p.paint(color, under))
	}
}

// wrapped prints prose; rest is what later lines begin with.
func (p *printer) wrapped(first, rest, text string) {
	width := textWidth
	if p.columns > 0 {
		width = min(textWidth, max(minTextWidth, p.columns-runewidth.StringWidth(rest)))
	}
	start := first
	for _, para := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		col := 0
		p.b.WriteString(start)
		for i, word := range words(para) {
			n := runewidth.StringWidth(word)
			switch {
			case i == 0:
			case col+1+n > width:
				p.b.WriteString("\n" + rest)
				col = 0
			default:
				p.b.WriteByte(' ')
				col++
			}
			p.b.WriteString(word)
			col += n
		}
		p.b.WriteByte('\n')
		start = rest
	}
}

// words takes prose apart where it may be wrapped: not inside `code`.
func words(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if n := len(out); n > 0 && strings.Count(out[n-1], "`")%2 == 1 && len(out[n-1])+len(w) < textWidth {
			out[n-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

// clean keeps control characters of a spec from reaching a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '\ufffd'
		}
		return r
	}, s)
}
