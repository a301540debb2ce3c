package lsp

import (
	"strings"

	"penstock/lang"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// place is where a cursor stands in a spec that may be half typed.
type place struct {
	keys   []string // blocks and labels from the top: pipeline, p, table, SCOTT.EMP
	attr   string   // the setting in whose value it stands; "": at a name
	quoted bool     // inside quotes
	list   bool     // inside a list
}

// placeOf finds the place of a byte, by the file's syntax.
func placeOf(name, src string, offset int) place {
	if isYAML(name) {
		return yamlPlace(src, offset)
	}
	return hclPlace(src, offset)
}

func isYAML(name string) bool {
	low := strings.ToLower(name)
	return strings.HasSuffix(low, ".yaml") || strings.HasSuffix(low, ".yml")
}

// level is what an opened bracket stands for.
type level struct {
	keys int    // how many keys it added
	attr string // of brackets in a value: the setting
	list bool
}

// hclPlace reads the tokens before the byte. The lexer takes any bytes, so a
// spec that does not parse has a place too.
func hclPlace(src string, offset int) place {
	tokens, _ := hclsyntax.LexConfig([]byte(src[:offset]), "", hcl.InitialPos)
	var p place
	var stack []level
	var words []string // names and labels since the statement's beginning
	attr, open, label := "", false, ""
	inValue := func() bool { return attr != "" || len(stack) > 0 && stack[len(stack)-1].attr != "" }
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			open, label = true, ""
		case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
			label += string(t.Bytes)
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			open = false
			if !inValue() {
				words = append(words, label)
			}
		case hclsyntax.TokenIdent:
			if !inValue() && !open {
				words = append(words, string(t.Bytes))
			}
		case hclsyntax.TokenEqual:
			if !inValue() && len(words) > 0 {
				attr = words[len(words)-1]
			}
		case hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp, hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
			l := level{list: t.Type == hclsyntax.TokenOBrack}
			switch {
			case attr != "":
				l.attr = attr
			case len(stack) > 0 && stack[len(stack)-1].attr != "":
				l.attr = stack[len(stack)-1].attr
			default:
				l.keys = len(words)
				p.keys = append(p.keys, words...)
			}
			stack = append(stack, l)
			words, attr = nil, ""
		case hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			if n := len(stack); n > 0 {
				l := stack[n-1]
				stack = stack[:n-1]
				p.keys = p.keys[:len(p.keys)-l.keys]
				attr = ""
				if l.attr != "" && (len(stack) == 0 || stack[len(stack)-1].attr == "") {
					attr = l.attr
				}
			}
			words = nil
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			if len(stack) == 0 || stack[len(stack)-1].attr == "" {
				words, attr = nil, ""
			}
		}
	}
	p.quoted = open
	switch {
	case attr != "":
		p.attr = attr
	case len(stack) > 0 && stack[len(stack)-1].attr != "":
		p.attr, p.list = stack[len(stack)-1].attr, stack[len(stack)-1].list
	case len(words) > 0 && (open || !isWordByte(src, offset-1)): // a label is wanted
		p.keys = append(p.keys, words...)
	case len(words) > 1:
		p.keys = append(p.keys, words[:len(words)-1]...)
	}
	return p
}

func isWordByte(src string, i int) bool {
	return i >= 0 && i < len(src) && (src[i] == '_' || src[i] == '-' || src[i] >= '0' && src[i] <= '9' || src[i] >= 'A' && src[i] <= 'Z' || src[i] >= 'a' && src[i] <= 'z' || src[i] >= 0x80)
}

// scope is what the keys of a place lead to.
type scope struct {
	block *lang.Block // the innermost block; its Kinds where its first label is wanted
	label int         // which label of block is wanted; -1: the cursor is inside of it
	// What the keys name on the way; "" where they don't.
	role, kind, endpoint, pipeline, table, column string
}

// scopeOf follows keys down the grammar. ok is false where they lead nowhere.
func scopeOf(root *lang.Block, keys []string) (s scope, ok bool) {
	s = scope{block: root, label: -1}
	for i := 0; i < len(keys); {
		b := s.block.Block(keys[i])
		if b == nil {
			return s, false
		}
		i++
		labels := b.Labels
		s.block = b
		for n := range labels {
			if i >= len(keys) {
				s.label = n
				return s, true
			}
			switch b.Name {
			case "source", "target":
				s.role = b.Name
				if n == 0 {
					s.kind = keys[i]
				} else {
					s.endpoint = keys[i]
				}
			case "pipeline":
				s.pipeline = keys[i]
			case "table":
				s.table = keys[i]
			case "column":
				s.column = keys[i]
			}
			i++
		}
		if len(b.Kinds) > 0 {
			if s.block = b.Kind(s.kind); s.block == nil {
				return s, false
			}
		}
	}
	return s, true
}
