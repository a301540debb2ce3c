package rowexpr

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/parser/utils"
)

// String is the expression in its one form: columns in the catalog's spelling,
// and, or and not for their signs, parentheses where they are needed. It reads
// back as the same expression, so that it may stand in plans and digests.
func (e *Expr) String() string {
	p := printer{limit: 1 << 30}
	p.node(e.root, 0)
	return p.String()
}

// show is a node in a message.
func show(n *node) string {
	p := printer{limit: 40}
	p.node(n, 0)
	s := p.String()
	if utf8.RuneCountInString(s) > 40 {
		return string([]rune(s)[:37]) + "..."
	}
	return s
}

// printer writes at least limit bytes of an expression, if it has so many.
type printer struct {
	strings.Builder
	limit int
}

func (p *printer) words(words ...string) {
	for _, w := range words {
		p.WriteString(w)
	}
}

// Levels of binding, as in the parser.
const (
	bindCond = iota + 1
	bindOr
	bindAnd
	bindCompare
	bindAdd
	bindNot
	bindMultiply
	bindSign
	bindCoalesce
	bindPostfix
)

// binding is how tightly the outermost operator of n binds.
func (n *node) binding() int {
	switch n.kind {
	case kCond:
		return bindCond
	case kOr:
		return bindOr
	case kAnd:
		return bindAnd
	case kCompare, kIsNull, kIn, kMatches:
		return bindCompare
	case kConcat:
		return bindAdd
	case kArith:
		if n.fn == "+" || n.fn == "-" {
			return bindAdd
		}
		return bindMultiply
	case kNot:
		return bindNot
	case kNegate:
		return bindSign
	case kCoalesce:
		return bindCoalesce
	case kConst:
		if strings.HasPrefix(n.text, "-") {
			return bindSign
		}
	case kCast:
		return n.args[0].binding()
	}
	return bindPostfix
}

// node writes n, in parentheses when it binds less tightly than level.
func (p *printer) node(n *node, level int) {
	if p.Len() > p.limit {
		return
	}
	if n.kind == kCast {
		p.node(n.args[0], level)
		return
	}
	// The parser wants a ?? b in parentheses beside any other operator.
	if n.binding() < level || n.kind == kCoalesce && level > bindCond && level != bindCoalesce {
		p.words("(")
		p.bare(n)
		p.words(")")
		return
	}
	p.bare(n)
}

// infix writes a binary operator; its sides bind at least as tightly as left and right.
func (p *printer) infix(n *node, op string, left, right int) {
	p.node(n.args[0], left)
	p.words(" ", op, " ")
	p.node(n.args[1], right)
}

func (p *printer) bare(n *node) {
	switch n.kind {
	case kColumn:
		p.words(columnText(n.name))
	case kConst:
		p.words(n.text)
	case kNot:
		p.words("not ")
		p.node(n.args[0], bindNot)
	case kAnd:
		p.infix(n, "and", bindAnd, bindAnd)
	case kOr:
		p.infix(n, "or", bindOr, bindOr)
	case kCompare:
		p.infix(n, n.cmp.String(), bindCompare+1, bindCompare+1)
	case kIsNull:
		p.node(n.args[0], bindCompare+1)
		if n.neg {
			p.words(" != nil")
		} else {
			p.words(" == nil")
		}
	case kIn:
		p.node(n.args[0], bindCompare+1)
		p.words(n.negated(" in ["))
		for i, item := range n.args[1:] {
			if i > 0 {
				p.words(", ")
			}
			p.node(item, 0)
		}
		p.words("]")
	case kMatches:
		p.node(n.args[0], bindCompare+1)
		p.words(n.negated(" matches "), n.text)
	case kArith:
		p.infix(n, n.fn, n.binding(), n.binding()+1)
	case kConcat:
		p.infix(n, "+", bindAdd, bindAdd+1)
	case kNegate:
		p.words("-")
		p.node(n.args[0], bindSign+1)
	case kCoalesce:
		p.infix(n, "??", bindCoalesce, bindCoalesce+1)
	case kCond:
		p.node(n.args[0], bindCond+1)
		p.words(" ? ")
		p.node(n.args[1], 0)
		p.words(" : ")
		p.node(n.args[2], 0)
	case kSlice:
		p.node(n.args[0], bindPostfix)
		p.words("[")
		if n.lo != 0 {
			p.words(strconv.FormatInt(n.lo, 10))
		}
		p.words(":")
		if n.hi != maxBound {
			p.words(strconv.FormatInt(n.hi, 10))
		}
		p.words("]")
	case kCall:
		p.words(n.fn, "(")
		p.node(n.args[0], 0)
		p.words(")")
	}
}

func (n *node) negated(word string) string {
	if n.neg {
		return " not" + word
	}
	return word
}

// words can't be the name of a column as it stands.
var words = map[string]bool{
	"true": true, "false": true, "nil": true, "not": true, "in": true, "or": true, "and": true, "matches": true,
	"contains": true, "startsWith": true, "endsWith": true, "let": true, "if": true, "else": true, "$env": true,
}

// columnText is how a column is written in an expression.
func columnText(name string) string {
	if utils.IsValidIdentifier(name) && !words[name] && !sqlWords[strings.ToLower(name)] {
		return name
	}
	return "$env[" + quote(name) + "]"
}

// sqlWords are read as a slip where an operator or an operand may stand, so a
// column of such a name is written in $env[...].
var sqlWords = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "is": true, "like": true, "between": true, "null": true, "case": true, "mod": true,
}
