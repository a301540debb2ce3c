package comment

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names and expressions come from databases and specs, and a comment is read by
// people who trust it: none may end a table, open a tag, make a link or call a
// person. Every ASCII character that Markdown or HTML might see something in, in
// the middle of a line, is written as a numeric reference, which can't begin or
// end anything. No line begins with a text of others.

// harmless are the ASCII characters besides letters and digits that mean nothing there.
const harmless = " ,;()/\"'=+-%?"

// escape writes a text that means only itself, on one line.
func escape(s string) string {
	var b strings.Builder
	last := ' '
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			b.WriteRune('\ufffd') // a change of direction would show other words than there are
		case r == '.' && last != 'w' && last != 'W': // "www." begins a link
			b.WriteRune(r)
		case strings.ContainsRune(harmless, r) || r >= 0x80 || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		default:
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		}
		last = r
	}
	return b.String()
}

// code shows a text as code: there GitHub looks for no names of people or issues.
func code(s string) string { return "<code>" + escape(s) + "</code>" }

var mention = regexp.MustCompile("`[^`]*`|@|#|GH-")

// prose is a sentence of ours with names of users in it: what stands in
// backticks becomes code, and nothing calls anybody.
func prose(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range mention.FindAllStringIndex(s, -1) {
		b.WriteString(escape(s[at:m[0]]))
		b.WriteString(code(strings.Trim(s[m[0]:m[1]], "`")))
		at = m[1]
	}
	b.WriteString(escape(s[at:]))
	return b.String()
}

// short cuts a text at n characters.
func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// fence is a block of code, whatever is in it.
func fence(language, s string) string {
	run, longest := 0, 2
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	mark := strings.Repeat("`", longest+1)
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			return '\ufffd'
		}
		return r
	}, s)
	return mark + language + "\n" + strings.TrimRight(s, "\n") + "\n" + mark + "\n"
}
