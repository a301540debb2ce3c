package lang

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
)

// syntaxError turns a parser's error into one that tells what was probably
// meant. The slips that come up again and again have a code of their own.
func (f *yamlFile) syntaxError(err error) diag.Diagnostic {
	message, line, col, cline, ccol := loadError(err)
	var l diag.List
	switch {
	case strings.Contains(message, "no documents"):
		return emptyFile(f.rng(0, 0))
	case strings.Contains(message, "multiple"):
		l.Errorf(diag.TwoDocuments, f.secondDocument(), "Second YAML document",
			"A file holds one document, and `---` begins another. Put it into a file of its own: a folder of files is read as one spec.")
		return l[0]
	case line == 0: // the reader's errors are about bytes, and have no position
		at := f.strangeByte()
		l.Errorf(diag.YAMLSyntax, f.rng(at, min(at+1, len(f.buf))), "YAML can't be read", "%s. A spec is UTF-8 text without control characters.", sentence(message))
		return l[0]
	}
	at := f.offset(line, col)
	context := at
	if cline > 0 {
		context = f.offset(cline, ccol)
	}
	if tab, ok := f.tab(at, message); ok {
		l.Errorf(diag.YAMLTab, tab, "Tab in the indentation", "YAML is indented by spaces alone. Replace the tab by spaces.")
		l[0].Fixes = []diag.Edit{{Title: "replace by spaces", Range: tab, NewText: strings.Repeat("  ", tab.End.Byte-tab.Start.Byte)}}
		return l[0]
	}
	if r, text, ok := f.flowBrace(at); ok {
		l.Errorf(diag.YAMLFlowBrace, r, `"${" in a YAML flow collection`,
			"Inside `{ }` and `[ ]` YAML ends the collection at the template's own brace. Put the value in quotes.")
		l[0].Fixes = []diag.Edit{{Title: "put it in quotes", Range: r, NewText: "'" + strings.ReplaceAll(text, "'", "''") + "'"}}
		return l[0]
	}
	r := f.rng(at, min(at+1, len(f.buf)))
	if at < len(f.buf) && strings.ContainsRune("@`%", rune(f.buf[at])) && strings.Contains(message, "cannot start any token") {
		l.Errorf(diag.YAMLStart, r, "Value can't begin with "+string(rune(f.buf[at])), "YAML reserves this character at the start of a value. Put the value in quotes.")
		return l[0]
	}
	if context < len(f.buf) && f.buf[context] != '{' {
		// `{schema}.t` is reported behind the brace that closed, on a block mapping.
		if brace := f.openBrace(at); brace >= 0 {
			l.Errorf(diag.YAMLStart, f.rng(brace, f.lineEnd(brace)), "Value can't begin with {",
				"YAML reads `{` as the start of a mapping and then finds more behind `}`. Put the value in quotes; a template is written ${table.schema}, with the dollar sign.")
			return l[0]
		}
	}
	if r, text, ok := f.quotedStart(at, message); ok {
		l.Errorf(diag.YAMLStart, r, "More behind a closing quote or bracket",
			"YAML ends the value where what it began with closes. Put the whole value in quotes, and quotes inside it twice.")
		l[0].Fixes = []diag.Edit{{Title: "put it in quotes", Range: r, NewText: "'" + strings.ReplaceAll(text, "'", "''") + "'"}}
		return l[0]
	}
	if strings.Contains(message, "quoted scalar") && strings.Contains(message, "end of stream") {
		l.Errorf(diag.YAMLSyntax, f.rng(context, f.lineEnd(context)), "Quote is never closed", "A text that begins with a quote ends at the next one of the same kind.")
		return l[0]
	}
	if f.tagged(at, message, &l) || f.colonLost(at, message, &l) {
		return l[0]
	}
	hint := ""
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		hint = " A value that holds `: ` must be in quotes, and a key has a space behind its colon."
	case strings.Contains(message, "<document start>"), strings.Contains(message, "expected key"):
		hint = " Keys of one mapping begin in the same column."
	}
	l.Errorf(diag.YAMLSyntax, r, "YAML syntax error", "%s.%s", sentence(message), hint)
	if strings.Contains(message, "flow") && context < at {
		l[0].Related = []diag.Related{{Message: "it begins here", Range: f.rng(context, context+1)}}
	}
	return l[0]
}

// strangeByte is the first byte that is no UTF-8 or a control character.
func (f *yamlFile) strangeByte() int {
	for i := 0; i < len(f.buf); {
		r, w := utf8.DecodeRune(f.buf[i:])
		if r == utf8.RuneError && w == 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 {
			return i
		}
		i += w
	}
	return 0
}

// quotedStart finds a value such as `'A' == status`: it begins with a quote or
// a bracket, which closes before the place where the parser gave up.
func (f *yamlFile) quotedStart(at int, message string) (r hcl.Range, text string, ok bool) {
	before := bytes.TrimRight(f.buf[:min(at, len(f.buf))], " ")
	before = bytes.TrimRight(before, "\r\n") // `[x]y`: the parser stands behind the line
	line := bytes.LastIndexByte(before, '\n') + 1
	colon := bytes.Index(f.buf[line:f.lineEnd(line)], []byte(": "))
	if !strings.Contains(message, "did not find expected key") || colon < 0 {
		return r, "", false
	}
	from := line + colon + 2
	for from < len(f.buf) && f.buf[from] == ' ' {
		from++
	}
	closing := map[byte]byte{'\'': '\'', '"': '"', '[': ']'}
	end := f.lineEnd(from)
	if from >= end || closing[f.buf[from]] == 0 {
		return r, "", false
	}
	i := bytes.IndexByte(f.buf[from+1:end], closing[f.buf[from]])
	if i < 0 || len(bytes.TrimSpace(f.buf[from+1+i+1:end])) == 0 {
		return r, "", false
	}
	text = strings.TrimRight(string(f.buf[from:end]), " ")
	return f.rng(from, from+len(text)), text, true
}

func emptyFile(r hcl.Range) diag.Diagnostic {
	var l diag.List
	return *l.Errorf(diag.EmptyFile, r, "Empty file", "There is nothing in this file but white space and comments. A spec begins with `penstock { spec = 1 }`, in YAML `penstock: {spec: 1}`.")
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".")
}

// secondDocument finds the marker that ends the first document: `---` or `...`
// at the start of a line, which no scalar may hold.
func (f *yamlFile) secondDocument() hcl.Range {
	content := false
	for i, at := range f.lines {
		end := len(f.buf)
		if i+1 < len(f.lines) {
			end = f.lines[i+1]
		}
		line := bytes.TrimRight(f.buf[at:end], "\r\n")
		marker := bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || isSpace(line[3]))
		switch {
		case marker && content:
			return f.rng(at, at+3)
		case marker:
			content = true
		case bytes.HasPrefix(line, []byte("...")):
			content = false
			if next := bytes.TrimSpace(f.buf[end:]); len(next) > 0 {
				return f.rng(at, at+3)
			}
		case len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")):
			content = true
		}
	}
	return f.rng(0, 0)
}

// tab finds the tabs among the white space that begins the line of at.
func (f *yamlFile) tab(at int, message string) (hcl.Range, bool) {
	from := at
	for from > 0 && f.buf[from-1] != '\n' {
		from--
	}
	for p := from; p < len(f.buf) && (f.buf[p] == ' ' || f.buf[p] == '\t'); p++ {
		if f.buf[p] != '\t' {
			continue
		}
		to := p
		for to < len(f.buf) && f.buf[to] == '\t' {
			to++
		}
		if strings.Contains(message, "tab character") || at <= to {
			return f.rng(p, to), true
		}
	}
	return hcl.Range{}, false
}

// flowBrace looks for "${" or "%{" around a place where a flow collection
// broke. The range is the unquoted value that holds the template.
func (f *yamlFile) flowBrace(at int) (r hcl.Range, text string, ok bool) {
	if at >= len(f.buf) || f.buf[at] != '{' || at == 0 || f.buf[at-1] != '$' && f.buf[at-1] != '%' {
		return r, "", false
	}
	from := at - 1
	for from > 0 && !strings.ContainsRune(",[{\n", rune(f.buf[from-1])) && (!isSpace(f.buf[from-1]) || f.buf[from-1] == ' ' && from > 1 && f.buf[from-2] != ':') {
		from--
	}
	for from < at-1 && isSpace(f.buf[from]) {
		from++
	}
	to, depth := at, 0
	for ; to < len(f.buf) && f.buf[to] != '\n'; to++ {
		switch f.buf[to] {
		case '{':
			depth++
			continue
		case '}':
			depth--
			if depth == 0 && (to+1 >= len(f.buf) || strings.ContainsRune(",]} \t\r\n", rune(f.buf[to+1]))) {
				return f.rng(from, to+1), string(f.buf[from : to+1]), true
			}
		}
	}
	for to > from && isSpace(f.buf[to-1]) {
		to--
	}
	return f.rng(from, to), string(f.buf[from:to]), true
}

// openBrace finds a value on the line of at, or on the one before, that begins
// with "{" and goes on behind the matching brace.
func (f *yamlFile) openBrace(at int) int {
	at = min(at, len(f.buf))
	if at > 0 && (at == len(f.buf) || f.buf[at-1] == '\n' || at < len(f.buf) && f.buf[at] == '\n') {
		at--
	}
	from := at
	for from > 0 && f.buf[from-1] != '\n' {
		from--
	}
	i := bytes.Index(f.buf[from:f.lineEnd(from)], []byte(": {"))
	if i < 0 {
		return -1
	}
	rest := f.buf[from+i+2 : f.lineEnd(from)]
	closing := bytes.IndexByte(rest, '}')
	if closing < 0 || len(bytes.TrimSpace(rest[closing+1:])) == 0 || rest[closing+1] == ' ' {
		return -1
	}
	return from + i + 2
}
