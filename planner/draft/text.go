package draft

import (
	"fmt"
	"regexp"
	"strings"
)

// item is a piece of a spec in either syntax: a setting, a block, or comments
// alone.
type item struct {
	comments []string // on lines above
	name     string   // "": comments alone
	value    any      // of a setting: string, int, bool, []string, raw, secretOf
	note     string   // behind it
	isBlock  bool
	labels   []string
	in       []item
	off      bool // written as a comment
}

// raw is a value that is written as it stands.
type raw string

// secretOf is a reference to an environment variable.
type secretOf string

func comment(format string, args ...any) item {
	return item{comments: []string{fmt.Sprintf(format, args...)}}
}

func setting(name string, value any) item { return item{name: name, value: value} }

func block(name string, labels []string, in ...item) item {
	return item{name: name, isBlock: true, labels: labels, in: in}
}

func off(i item) item { i.off = true; return i }

// page gathers lines.
type page struct {
	b     strings.Builder
	depth int
	off   int // inside of what is a comment
}

func (p *page) line(text string) {
	p.b.WriteString(strings.Repeat("  ", p.depth))
	if p.off > 0 {
		p.b.WriteString("# ")
	}
	p.b.WriteString(text + "\n")
}

func (p *page) comments(i item) {
	for _, c := range i.comments {
		for _, l := range strings.Split(c, "\n") {
			p.line("# " + l)
		}
	}
}

func note(i item) string {
	if i.note == "" {
		return ""
	}
	return " # " + strings.ReplaceAll(i.note, "\n", " ")
}

func hclText(items []item) []byte {
	p := &page{}
	for _, i := range items {
		if p.b.Len() > 0 && i.name != "" {
			p.b.WriteByte('\n')
		}
		p.hcl(i)
	}
	return []byte(p.b.String())
}

func (p *page) hcl(i item) {
	p.comments(i)
	if i.name == "" {
		return
	}
	if i.off {
		p.off++
		defer func() { p.off-- }()
	}
	if !i.isBlock {
		p.line(i.name + " = " + hclValue(i.value) + note(i))
		return
	}
	head := i.name
	for _, l := range i.labels {
		head += " " + hclQuote(l)
	}
	switch {
	case len(i.in) == 0:
		p.line(head + " {}")
		return
	case len(i.in) == 1 && !i.in[0].isBlock && i.in[0].note == "" && !i.in[0].off && i.in[0].comments == nil:
		p.line(head + " { " + i.in[0].name + " = " + hclValue(i.in[0].value) + " }")
		return
	}
	p.line(head + " {")
	p.depth++
	for n, in := range i.in {
		if n > 0 && in.isBlock && !in.off && i.name == "pipeline" {
			p.b.WriteByte('\n')
		}
		p.hcl(in)
	}
	p.depth--
	p.line("}")
}

func hclValue(v any) string {
	switch v := v.(type) {
	case raw:
		return string(v)
	case secretOf:
		return "env(" + hclQuote(string(v)) + ")"
	case string:
		return hclQuote(v)
	case []string:
		out := make([]string, len(v))
		for i, s := range v {
			out[i] = hclQuote(s)
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// template escapes what would begin a template, in both syntaxes.
var template = strings.NewReplacer("${", "$${", "%{", "%%{")

func hclQuote(s string) string { return template.Replace(quote(s)) }

// quote writes a text in double quotes, with the escapes that HCL and YAML share.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func yamlText(items []item) []byte {
	p := &page{}
	p.yaml(items)
	return []byte(p.b.String())
}

// yaml writes items; blocks of one name that follow each other share its key.
func (p *page) yaml(items []item) {
	open := ""
	for n, i := range items {
		if p.depth == 0 && n > 0 && i.name != "" && i.isBlock {
			p.b.WriteByte('\n')
		}
		switch {
		case i.name == "":
			p.comments(i)
			continue
		case !i.isBlock:
			p.comments(i)
			open = ""
			p.switched(i, func() { p.line(yamlKey(i.name) + ": " + yamlValue(i.value) + note(i)) })
			continue
		}
		if len(i.labels) == 0 || i.off {
			p.comments(i)
			open = ""
			p.switched(i, func() { p.body(i.name, i) })
			continue
		}
		if open != i.name {
			p.line(i.name + ":")
			open = i.name
		}
		p.depth++
		for _, l := range i.labels[:len(i.labels)-1] {
			p.line(yamlKey(l) + ":")
			p.depth++
		}
		p.comments(i)
		p.body(i.labels[len(i.labels)-1], i)
		p.depth -= len(i.labels)
	}
}

func (p *page) switched(i item, write func()) {
	if i.off {
		p.off++
		defer func() { p.off-- }()
	}
	write()
}

func (p *page) body(key string, i item) {
	switch {
	case len(i.in) == 0:
		p.line(yamlKey(key) + ": {}")
		return
	case len(i.in) == 1 && !i.in[0].isBlock && i.in[0].note == "" && !i.in[0].off && i.in[0].comments == nil:
		p.line(yamlKey(key) + ": {" + i.in[0].name + ": " + yamlQuoted(i.in[0].value) + "}")
		return
	}
	p.line(yamlKey(key) + ":")
	p.depth++
	p.yaml(i.in)
	p.depth--
}

// plainYAML is texts that YAML reads as texts without quotes.
var plainYAML = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

var notText = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)

func yamlKey(s string) string {
	if plainYAML.MatchString(s) && !notText.MatchString(s) {
		return s
	}
	return quote(s)
}

func yamlValue(v any) string {
	switch v := v.(type) {
	case raw:
		return string(v)
	case secretOf:
		return "${env(" + quote(string(v)) + ")}"
	case string:
		return template.Replace(yamlKey(v))
	}
	return yamlQuoted(v)
}

// yamlQuoted is a value inside of { }.
func yamlQuoted(v any) string {
	switch v := v.(type) {
	case raw:
		return string(v)
	case secretOf:
		return `'${env("` + string(v) + `")}'`
	case string:
		return template.Replace(yamlKey(v))
	case []string:
		out := make([]string, len(v))
		for i, s := range v {
			out[i] = template.Replace(yamlKey(s))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	return fmt.Sprint(v)
}
