package rowexpr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"penstock/internal/diag"
	"penstock/internal/schema"
)

// maxProblems is how many faults of one expression are worth reading.
const maxProblems = 20

// checker turns the parser's tree into nodes with types. A method returns nil
// where it has recorded a problem; what holds the nil says nothing more.
type checker struct {
	*source
	columns  []schema.Column
	problems []Problem
}

func (c *checker) problem(at ast.Node, code diag.Code, summary, detail string) *Problem {
	from, to := c.span(at)
	return c.problemAt(from, to, code, summary, detail)
}

func (c *checker) problemAt(from, to int, code diag.Code, summary, detail string) *Problem {
	p := Problem{Code: code, Summary: summary, Detail: detail, From: from, To: to}
	if len(c.problems) == maxProblems {
		return &p
	}
	c.problems = append(c.problems, p)
	return &c.problems[len(c.problems)-1]
}

func (c *checker) notAllowed(at ast.Node, detail string) *node {
	c.problem(at, diag.RowNotAllowed, "Not allowed in a row expression", detail)
	return nil
}

func (c *checker) check(n ast.Node) *node {
	switch n := n.(type) {
	case *ast.NilNode:
		return &node{kind: kConst, null: true, lit: literal{null: true}, text: "nil"}
	case *ast.BoolNode:
		return &node{kind: kConst, typ: schema.Of(schema.Bool), lit: literal{b: n.Value}, text: fmt.Sprint(n.Value)}
	case *ast.IntegerNode, *ast.FloatNode:
		return c.number(n)
	case *ast.StringNode:
		return c.text(n)
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			return c.notAllowed(n, `$env names a column: write $env["Order Id"].`)
		}
		return c.column(n, n.Value)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			return c.notAllowed(n, "Values have no methods; the functions are "+functionNames+".")
		}
		return c.call(n, callee.Value, n.Arguments)
	}
	return c.notAllowed(n, refusal(n))
}

// refusal says what to write instead of a construct of the parser's language
// that row expressions do not have.
func refusal(n ast.Node) string {
	switch n.(type) {
	case *ast.VariableDeclaratorNode:
		return "Expressions have no variables: repeat the value, or compute it as a column of its own."
	case *ast.SequenceNode:
		return "An expression is one value: remove what stands after the semicolon."
	case *ast.ArrayNode:
		return "A list may stand only after in: x in [1, 2]."
	case *ast.MapNode:
		return "Expressions have no maps: write a ? b : c for each case."
	case *ast.BytesNode:
		return "Bytes have no literal form; text is written \"...\"."
	case *ast.PredicateNode, *ast.PointerNode:
		return "Expressions have no loops and closures: they see one row."
	case *ast.ChainNode:
		return "Values have no members; a NULL passes through by itself."
	}
	return "This is not part of row expressions."
}

func (c *checker) number(n ast.Node) *node {
	t, i := c.tokens, c.token(n.Location())
	if i < 0 {
		return c.notAllowed(n, "This number can't be found in the text.")
	}
	typ, lit, fault := parseNumber(t[i].Value)
	if fault != "" {
		c.problem(n, diag.RowLiteral, "Number can't be read", fault)
		return nil
	}
	return &node{kind: kConst, typ: typ, lit: lit, text: numberText(typ, lit)}
}

func (c *checker) text(n *ast.StringNode) *node {
	if !utf8.ValidString(n.Value) {
		c.problem(n, diag.RowLiteral, "Text can't be read", "Its escapes do not make valid UTF-8; characters are written \\u00e4.")
		return nil
	}
	return &node{kind: kConst, typ: schema.Type{Kind: schema.Text, Length: max(1, utf8.RuneCountInString(n.Value))},
		lit: literal{s: n.Value}, text: quote(n.Value)}
}

func (c *checker) column(at ast.Node, name string) *node {
	m := findColumn(c.columns, name)
	switch {
	case m.n == 0:
		detail, fix := unknownColumn(c.columns, name)
		p := c.problem(at, diag.RowUnknownColumn, fmt.Sprintf("Unknown column %q", name), detail)
		if _, quoted := at.(*ast.StringNode); quoted && fix != "" {
			fix = "" // inside $env[...] the fix would need its quotes: say it in words only
		}
		p.Fix = fix
		return nil
	case m.n > 1:
		var names []string
		for i := range c.columns {
			if strings.EqualFold(c.columns[i].Name, name) {
				names = append(names, columnText(c.columns[i].Name))
			}
		}
		c.problem(at, diag.RowAmbiguousColumn, fmt.Sprintf("Ambiguous column %q", name),
			"The table has "+strings.Join(names, " and ")+": write the one that is meant exactly so.")
		return nil
	}
	col := &c.columns[m.i]
	if col.Type.Kind == schema.Invalid {
		why := col.Problem
		if why == "" {
			why = "its type " + col.Native + " is not known"
		}
		c.problem(at, diag.RowUnreadable, fmt.Sprintf("Column %s can't be read", col.Name), "Expressions can't use it: "+strings.TrimSuffix(why, ".")+".")
		return nil
	}
	return &node{kind: kColumn, typ: col.Type, null: col.Nullable, name: col.Name}
}

// member is $env["Order Id"], or a slip.
func (c *checker) member(n *ast.MemberNode) *node {
	property, literal := n.Property.(*ast.StringNode)
	owner, named := n.Node.(*ast.IdentifierNode)
	switch {
	case named && literal && owner.Value == "$env":
		return c.column(property, property.Value)
	case named && owner.Value == "$env":
		return c.notAllowed(n, `The name in $env[...] is written out: $env["Order Id"].`)
	case named && literal:
		detail := "Expressions see one row of one table: write the column alone."
		if m := findColumn(c.columns, property.Value); m.n == 1 {
			from, to := c.span(n)
			c.problemAt(from, to, diag.RowNotAllowed, "Not allowed in a row expression", detail).Fix = columnText(c.columns[m.i].Name)
			return nil
		}
		return c.notAllowed(n, detail)
	}
	return c.notAllowed(n, "Values have no members and no elements; s[0:1] is the first character.")
}

func (c *checker) unary(n *ast.UnaryNode) *node {
	x := c.check(n.Node)
	if x == nil {
		return nil
	}
	switch n.Operator {
	case "not", "!":
		if x.typ.Kind != schema.Bool {
			detail := "not takes a condition, and this is " + kindName(x.typ) + "."
			if t := c.after(n.Node); t != "" && (masks[t] != 0 || t == "in" || t == "matches") {
				detail += fmt.Sprintf(" It binds more tightly than %s: write not (a %s b).", t, t)
			}
			return c.operand(n.Node, detail)
		}
		if x.kind == kIsNull || x.kind == kIn || x.kind == kMatches {
			neg := *x // one form for not (x == nil) and x != nil, for not in and not matches
			neg.neg = !x.neg
			return &neg
		}
		return &node{kind: kNot, typ: x.typ, null: x.null, args: []*node{x}}
	case "-", "+":
		if !x.typ.IsNumber() {
			return c.operand(n.Node, n.Operator+" takes a number, and this is "+kindName(x.typ)+".")
		}
		if n.Operator == "+" {
			return x
		}
		return negate(x)
	}
	return c.notAllowed(n, refusal(n))
}

// after is the token that follows a node, "" at the end.
func (c *checker) after(n ast.Node) string {
	_, to := c.span(n)
	for _, t := range c.tokens {
		if from, _ := c.bytes(t.Location); from >= to {
			return t.Value
		}
	}
	return ""
}

func (c *checker) operand(at ast.Node, detail string) *node {
	c.problem(at, diag.RowOperand, "Operand of the wrong kind", detail)
	return nil
}

func (c *checker) slice(n *ast.SliceNode) *node {
	x := c.check(n.Node)
	if x == nil {
		return nil
	}
	if x.typ.Kind != schema.Text {
		return c.operand(n.Node, "[from:to] takes text, and this is "+kindName(x.typ)+"; string() makes text of a value.")
	}
	out := &node{kind: kSlice, typ: schema.Type{Kind: schema.Text, Length: x.typ.Length}, null: x.null, args: []*node{x}, hi: maxBound}
	if n.From != nil {
		if v, ok := c.bound(n.From); ok {
			out.lo = v
		} else {
			return nil
		}
	}
	if n.To != nil {
		v, ok := c.bound(n.To)
		if !ok {
			return nil
		}
		out.hi = v
	}
	if width := out.hi - out.lo; out.hi != maxBound && (out.lo >= 0) == (out.hi >= 0) && (out.typ.Length == 0 || width < int64(out.typ.Length)) {
		out.typ.Length = int(max(1, width))
	}
	return out
}

// maxBound stands for "to the end". No text has so many characters.
const maxBound = 1 << 31

// bound is an end of a slice: a whole number, negative from the end of the text.
func (c *checker) bound(n ast.Node) (int64, bool) {
	x := c.check(n)
	if x == nil {
		return 0, false
	}
	if x.kind != kConst || x.typ.Kind != schema.Int64 || x.lit.i >= maxBound || x.lit.i <= -maxBound {
		c.operand(n, "The bounds of [from:to] are whole numbers written out, in characters; negative ones count from the end.")
		return 0, false
	}
	return x.lit.i, true
}

func (c *checker) conditional(n *ast.ConditionalNode) *node {
	if !n.Ternary {
		return c.notAllowed(n, "if { } else { } is written a ? b : c.")
	}
	if n.Cond == n.Exp1 {
		return c.notAllowed(n, "a ?: b is written a ?? b, or a ? a : b.")
	}
	cond, a, b := c.check(n.Cond), c.check(n.Exp1), c.check(n.Exp2)
	if cond == nil || a == nil || b == nil {
		return nil
	}
	if cond.typ.Kind != schema.Bool {
		return c.operand(n.Cond, "Before ? stands a condition, and this is "+kindName(cond.typ)+".")
	}
	a, b, ok := c.unify(n, a, b)
	if !ok {
		return nil
	}
	if isNil(a) {
		return a
	}
	return &node{kind: kCond, typ: a.typ, null: a.null || b.null, args: []*node{cond, a, b}}
}
