package lang

import (
	"bytes"
	"regexp"
	"strings"

	"penstock/internal/diag"
)

// Slips that the parser notices on a later line, or far behind their first
// byte: they are looked for in the lines around the place where it gave up.

var (
	tagValue  = regexp.MustCompile(`^[ \t]*(?:- )?[\w.*?-]+:[ \t]+(![^\s,\[\]{}]*)(.*)$`)
	lostColon = regexp.MustCompile(`^([ \t]*)([A-Za-z_][\w-]*)[ \t]+([^\s:#-].*)$`)
)

// before lists the line of at and the two lines with something in them before
// it, the nearest first, as the offsets of their beginnings.
func (f *yamlFile) before(at int) []int {
	var out []int
	for from := bytes.LastIndexByte(f.buf[:min(at, len(f.buf))], '\n') + 1; len(out) < 3; {
		if len(bytes.TrimSpace(f.buf[from:f.lineEnd(from)])) > 0 {
			out = append(out, from)
		}
		if from == 0 {
			break
		}
		from = bytes.LastIndexByte(f.buf[:from-1], '\n') + 1
	}
	return out
}

// tagged finds a condition such as `!deleted != 4`: YAML takes its first word
// for a tag and fails on what follows.
func (f *yamlFile) tagged(at int, message string, l *diag.List) bool {
	if !strings.Contains(message, "expected key") && !strings.Contains(message, "tag") {
		return false
	}
	for _, from := range f.before(at) {
		m := tagValue.FindSubmatchIndex(f.buf[from:f.lineEnd(from)])
		if m == nil {
			continue
		}
		word := f.rng(from+m[2], from+m[3])
		text := strings.TrimRight(string(f.buf[from+m[2]:from+m[5]]), " \t")
		d := l.Errorf(diag.YAMLTag, word, `"!" starts a YAML tag`,
			"This reads as the tag %s, which gives a type to what follows. Put the whole value in quotes.", f.buf[from+m[2]:from+m[3]])
		d.Fixes = append(d.Fixes, quoteEdit(f, from+m[2], text))
		return true
	}
	return false
}

func quoteEdit(f *yamlFile, from int, text string) diag.Edit {
	return diag.Edit{Title: "put it in quotes", Range: f.rng(from, from+len(text)), NewText: "'" + strings.ReplaceAll(text, "'", "''") + "'"}
}

// colonLost finds a line such as `filter small_number != 4`: the parser fails
// at the colon of the line after it, or where it wants one.
func (f *yamlFile) colonLost(at int, message string, l *diag.List) bool {
	if !strings.Contains(message, "mapping values are not allowed") && !strings.Contains(message, "could not find expected") {
		return false
	}
	for _, from := range f.before(at) {
		line := f.buf[from:f.lineEnd(from)]
		m := lostColon.FindSubmatchIndex(line)
		if m == nil {
			continue
		}
		text := strings.TrimRight(string(line[m[4]:]), " \t")
		key, value := string(line[m[4]:m[5]]), strings.TrimRight(string(line[m[6]:]), " \t")
		r := f.rng(from+m[4], from+m[4]+len(text))
		d := l.Errorf(diag.YAMLSyntax, r, "No colon behind a key", "A setting is its name, a colon, a space and its value: write `%s: %s`.", key, value)
		d.Fixes = []diag.Edit{{Title: "write " + key + ": " + value, Range: r, NewText: key + ": " + value}}
		return true
	}
	return false
}
