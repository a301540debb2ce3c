package lsp

import (
	"strings"
)

// yamlPlace reads the lines before the byte by their indentation, and the flow
// collections of the last by their brackets.
func yamlPlace(src string, offset int) place {
	type key struct {
		indent int
		name   string
		block  bool // its value is a block scalar
		value  bool // something stands behind its colon
	}
	var stack []key
	lines := strings.Split(src[:offset], "\n")
	for n, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		rest := strings.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		last := n == len(lines)-1
		if !last && (rest == "" || strings.HasPrefix(rest, "#")) {
			continue
		}
		if k := len(stack); k > 0 && stack[k-1].block && indent > stack[k-1].indent {
			continue
		}
		for item, ok := strings.CutPrefix(rest, "- "); ok; item, ok = strings.CutPrefix(rest, "- ") {
			indent += 2
			rest = item
		}
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		name, value, found := cutKey(rest)
		if found {
			stack = append(stack, key{indent, name, strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">"), value != ""})
		}
		if !last {
			continue
		}
		var p place
		for _, k := range stack {
			p.keys = append(p.keys, k.name)
		}
		switch {
		case found && strings.ContainsAny(strings.TrimLeft(value, " ")[:min(1, len(strings.TrimLeft(value, " ")))], "{["):
			flow(&p, value)
		case found:
			p.attr, p.keys = name, p.keys[:len(p.keys)-1]
			p.quoted = strings.Count(value, `"`)%2 == 1 || strings.Count(value, `'`)%2 == 1
		case len(lines) > 1 && strings.HasPrefix(strings.TrimLeft(line, " "), "- ") && len(p.keys) > 0: // an item of a list of texts
			p.attr, p.keys, p.list = p.keys[len(p.keys)-1], p.keys[:len(p.keys)-1], true
		}
		return p
	}
	return place{}
}

// cutKey takes `name: value` apart. A name may be in quotes.
func cutKey(s string) (name, value string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if q := s[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[1:], q)
		if end < 0 {
			return "", "", false
		}
		name, s = s[1:1+end], s[2+end:]
		rest, ok := strings.CutPrefix(strings.TrimLeft(s, " "), ":")
		return name, strings.TrimLeft(rest, " "), ok
	}
	if strings.ContainsAny(s[:1], "{[#") {
		return "", "", false
	}
	for i := 0; i < len(s); i++ {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ') {
			return strings.TrimSpace(s[:i]), strings.TrimLeft(s[i+1:], " "), true
		}
	}
	return "", "", false
}

// flow follows the brackets of a value: {a: {b: [c, .
func flow(p *place, value string) {
	type level struct {
		list bool
		keys int // keys that were there before it
	}
	var stack []level
	word, quote := "", byte(0)
	attr := ""
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word += string(c)
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			if attr != "" {
				p.keys = append(p.keys, attr)
			}
			n := len(p.keys)
			if attr != "" {
				n--
			}
			stack = append(stack, level{c == '[', n})
			word, attr = "", ""
		case c == '}' || c == ']':
			if len(stack) > 0 {
				p.keys = p.keys[:stack[len(stack)-1].keys]
				stack = stack[:len(stack)-1]
			}
			word, attr = "", ""
		case c == ',':
			word, attr = "", ""
		case c == ':' && (i+1 == len(value) || value[i+1] == ' '):
			attr, word = strings.TrimSpace(word), ""
		default:
			word += string(c)
		}
	}
	p.quoted = quote != 0
	switch {
	case len(stack) > 0 && stack[len(stack)-1].list && len(p.keys) > 0:
		p.attr, p.keys, p.list = p.keys[len(p.keys)-1], p.keys[:len(p.keys)-1], true
	case len(stack) > 0:
		p.attr = attr
	}
}
