package lang

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// fromSyntax puts one of HCL's syntax errors into our form.
func fromSyntax(s *source, d *hcl.Diagnostic) diag.Diagnostic {
	var l diag.List
	at := s.rng(0, 0)
	if d.Subject != nil {
		at = s.rng(d.Subject.Start.Byte, d.Subject.End.Byte)
	}
	text := string(s.buf[at.Start.Byte:at.End.Byte])
	switch {
	case d.Summary == "Attribute redefined":
		l.Errorf(diag.Duplicate, at, fmt.Sprintf("Duplicate %q", text), "It is set twice in the same block; only one can count. Remove one of them.")
	case d.Summary == "Invalid single-argument block definition":
		l.Errorf(diag.HCLOneLine, at, "More than one setting on one line",
			"A block on a single line holds exactly one setting. Put the braces and each setting on lines of their own, without commas.")
	case d.Summary == "Argument definition required" && strings.HasPrefix(d.Detail, "A single-line block"):
		l.Errorf(diag.HCLOneLine, at, "Block inside a block on one line",
			"A block on a single line holds exactly one setting and no block. Put the braces of the outer block on lines of their own.")
	case d.Summary == "Invalid multi-line string":
		end := s.lineEnd(at.Start.Byte)
		from := max(bytes.LastIndexByte(s.buf[:end], '"'), 0)
		l.Errorf(diag.HCLSyntax, s.rng(from, end), "Quote is never closed",
			"A text in quotes ends on its own line. For one of several lines write <<-END and close it with END on a line of its own.")
	case d.Summary == "Unclosed configuration block":
		open, next := s.unclosed(at.Start.Byte)
		where := "before the end of the file"
		if next > 0 {
			where = fmt.Sprintf("before line %d", next)
		}
		at = s.rng(open, open+1)
		l.Errorf(diag.HCLSyntax, at, "Block is never closed", "The block of line %d isn't closed: its } is missing %s.", at.Start.Line, where)
	case s.quotesLost(at, &l), s.spacedNumber(at, &l), s.quotesSingle(at, &l), s.equalsLost(at, &l):
	default:
		l.Errorf(diag.HCLSyntax, at, ourWords.Replace(strings.TrimRight(d.Summary, ".")), "%s", ourWords.Replace(sentence(d.Detail))+".")
		if i := bytes.IndexByte(s.buf[at.Start.Byte:at.End.Byte], '\n'); i > 0 {
			// HCL points at everything up to the end of the file for what is
			// never closed; the first line says as much.
			l[0].Subject = s.rng(at.Start.Byte, at.Start.Byte+i)
		}
	}
	return l[0]
}

// ourWords turns HCL's word for a setting into ours.
var ourWords = strings.NewReplacer("An argument or block definition", "A setting or block", "Argument or block definition", "Setting or block",
	"An argument definition", "A setting", "an argument definition", "a setting", "Argument definitions", "Settings", "argument definitions", "settings",
	"Argument definition", "Setting", "argument definition", "setting", "An argument", "A setting", "an argument", "a setting",
	"Arguments", "Settings", "arguments", "settings", "Argument", "Setting", "argument", "setting")

// unclosed finds the brace that is probably the one never closed: HCL knows the
// outermost alone. A block's lines are indented further than its header, so a
// line that is not ends the block in its writer's mind. next is that line, 0
// where there is none; HCL's own answer stands in for what isn't found.
func (s *source) unclosed(outermost int) (open, next int) {
	tokens, _ := hclsyntax.LexConfig(s.buf, s.name, hcl.InitialPos)
	type brace struct{ at, indent int }
	var stack []brace
	line, indent := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenEOF, hclsyntax.TokenStringLit, hclsyntax.TokenCHeredoc:
			continue // they stand where they like
		}
		if t.Range.Start.Line != line {
			line = t.Range.Start.Line
			indent = t.Range.Start.Byte - s.lines[min(line, len(s.lines))-1]
			if n := len(stack); n > 0 {
				top := stack[n-1]
				if t.Type == hclsyntax.TokenCBrace && indent < top.indent || t.Type != hclsyntax.TokenCBrace && indent <= top.indent {
					return top.at, line
				}
			}
		}
		switch t.Type {
		case hclsyntax.TokenOBrace:
			stack = append(stack, brace{t.Range.Start.Byte, indent})
		case hclsyntax.TokenCBrace:
			stack = stack[:max(len(stack)-1, 0)]
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			stack = append(stack, brace{t.Range.Start.Byte, -1})
		case hclsyntax.TokenTemplateSeqEnd:
			stack = stack[:max(len(stack)-1, 0)]
		}
	}
	return outermost, 0
}

var (
	spacedDigits     = regexp.MustCompile(`-?[0-9]+(?:[_,][0-9]+)+$`)
	singleQuotedText = regexp.MustCompile(`^'([^'"\\$%]*)'\s*\}?\s*$`)
	noEquals         = regexp.MustCompile(`^(\s*)([A-Za-z_][\w-]*)(\s*:\s*|\s+)("[^"]*"|\[.*\]|-?[0-9.]+|true|false|(?:var|local|source|target)\.[\w-]+)\s*$`)
	rowSetting       = regexp.MustCompile(`(?:^|[\s{])(filter|value)\s*=\s*`)
)

// spacedNumber finds 1_000_000 and 1,000,000, where HCL ends the number at the
// first sign that is no digit.
func (s *source) spacedNumber(at hcl.Range, l *diag.List) bool {
	from, to := at.Start.Byte, at.Start.Byte
	for to < len(s.buf) && (s.buf[to] == '_' || s.buf[to] == ',' || s.buf[to] >= '0' && s.buf[to] <= '9') {
		to++
	}
	line := s.lines[at.Start.Line-1]
	m := spacedDigits.FindIndex(s.buf[line:to])
	if m == nil || from < line+m[0] || !bytes.ContainsAny(s.buf[from:to], "_,") {
		return false
	}
	r := s.rng(line+m[0], to)
	plain := strings.NewReplacer("_", "", ",", "").Replace(string(s.buf[line+m[0] : to]))
	d := l.Errorf(diag.AmbiguousNumber, r, "Ambiguous number", "A number has nothing between its digits: write %s.", plain)
	d.Fixes = []diag.Edit{{Title: "write " + plain, Range: r, NewText: plain}}
	return true
}

// quotesSingle finds a text in single quotes, which HCL does not have.
func (s *source) quotesSingle(at hcl.Range, l *diag.List) bool {
	from := at.Start.Byte
	if from >= len(s.buf) || s.buf[from] != '\'' {
		return false
	}
	d := l.Errorf(diag.HCLSyntax, s.rng(from, from+1), "Text in single quotes", "A text stands in double quotes. Single quotes are for texts inside a row expression: filter = \"name == 'x'\".")
	if m := singleQuotedText.FindSubmatch(s.buf[from:s.lineEnd(from)]); m != nil {
		r := s.rng(from, from+len(m[1])+2)
		d.Subject = r
		d.Fixes = []diag.Edit{{Title: "write double quotes", Range: r, NewText: `"` + string(m[1]) + `"`}}
	}
	return true
}

// quotesLost finds a row expression without quotes that is no HCL either, such
// as filter = a == 1 and b == 2.
func (s *source) quotesLost(at hcl.Range, l *diag.List) bool {
	line := s.lines[at.Start.Line-1]
	end := s.lineEnd(line)
	m := rowSetting.FindIndex(s.buf[line:min(at.Start.Byte, end)])
	if m == nil {
		return false
	}
	from := line + m[1]
	text := strings.TrimSpace(string(s.buf[from:end]))
	if bytes.IndexByte(s.buf[line:from], '{') >= 0 {
		text = strings.TrimSpace(strings.TrimSuffix(text, "}"))
	}
	if text == "" || singleQuotedText.MatchString(text) || strings.ContainsAny(text[:1], "\"<#/[") || strings.ContainsAny(text, "#{}") {
		return false
	}
	r := s.rng(from, from+len(text))
	d := l.Errorf(diag.HCLSyntax, r, "Row expression without quotes", "It is worked out for each row, from the columns of the table: the whole of it stands in quotes.")
	d.Fixes = []diag.Edit{{Title: "quote all of it", Range: r, NewText: hclQuote(text)}}
	return true
}

// equalsLost finds a setting written `name: value` or `name value`.
func (s *source) equalsLost(at hcl.Range, l *diag.List) bool {
	line := s.lines[at.Start.Line-1]
	m := noEquals.FindSubmatchIndex(s.buf[line:s.lineEnd(line)])
	if m == nil {
		return false
	}
	name, value := string(s.buf[line+m[4]:line+m[5]]), string(s.buf[line+m[8]:line+m[9]])
	r := s.rng(line+m[4], line+m[9])
	d := l.Errorf(diag.HCLSyntax, r, fmt.Sprintf("No = behind %q", name), "A setting is its name, an equals sign and its value: write `%s = %s`.", name, value)
	d.Fixes = []diag.Edit{{Title: "write =", Range: r, NewText: name + " = " + value}}
	return true
}
