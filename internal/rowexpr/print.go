package rowexpr

import (
	"strconv"
	"strings"

	"github.com/expr-lang/expr/parser/utils"
)

// String is the expression in its one form: columns in the catalog's spelling,
// and, or and not for their signs, parentheses where they are needed. It reads
// back as the same expression, so that it may stand in plans and digests.
func (e *Expr) String() string { return e.root.print(0) }

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

// print writes n, in parentheses when it binds less tightly than level.
func (n *node) print(level int) string {
	if n.kind == kCast {
		return n.args[0].print(level)
	}
	s := n.bare()
	// The parser wants a ?? b in parentheses beside any other operator.
	if n.binding() < level || n.kind == kCoalesce && level > bindCond && level != bindCoalesce {
		return "(" + s + ")"
	}
	return s
}

func (n *node) bare() string {
	arg := func(i, level int) string { return n.args[i].print(level) }
	switch n.kind {
	case kColumn:
		return columnText(n.name)
	case kConst:
		return n.text
	case kNot:
		return "not " + arg(0, bindNot)
	case kAnd:
		return arg(0, bindAnd) + " and " + arg(1, bindAnd)
	case kOr:
		return arg(0, bindOr) + " or " + arg(1, bindOr)
	case kCompare:
		return arg(0, bindCompare+1) + " " + n.cmp.String() + " " + arg(1, bindCompare+1)
	case kIsNull:
		if n.neg {
			return arg(0, bindCompare+1) + " != nil"
		}
		return arg(0, bindCompare+1) + " == nil"
	case kIn:
		var list []string
		for i := range n.args[1:] {
			list = append(list, arg(i+1, 0))
		}
		return arg(0, bindCompare+1) + n.negated(" in [") + strings.Join(list, ", ") + "]"
	case kMatches:
		return arg(0, bindCompare+1) + n.negated(" matches ") + n.text
	case kArith, kConcat:
		op := "+"
		if n.kind == kArith {
			op = n.fn
		}
		return arg(0, n.binding()) + " " + op + " " + arg(1, n.binding()+1)
	case kNegate:
		return "-" + arg(0, bindSign+1)
	case kCoalesce:
		return arg(0, bindCoalesce) + " ?? " + arg(1, bindCoalesce+1)
	case kCond:
		return arg(0, bindCond+1) + " ? " + arg(1, 0) + " : " + arg(2, 0)
	case kSlice:
		lo, hi := "", ""
		if n.lo != 0 {
			lo = strconv.FormatInt(n.lo, 10)
		}
		if n.hi != maxBound {
			hi = strconv.FormatInt(n.hi, 10)
		}
		return arg(0, bindPostfix) + "[" + lo + ":" + hi + "]"
	case kCall:
		return n.fn + "(" + arg(0, 0) + ")"
	}
	return "?"
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
