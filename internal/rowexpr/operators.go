package rowexpr

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/expr-lang/expr/ast"

	"penstock/internal/diag"
	"penstock/internal/schema"
)

func (c *checker) binary(n *ast.BinaryNode) *node {
	if op, middle := chained(n); op != nil {
		return c.chain(op, middle)
	}
	switch n.Operator {
	case "in":
		return c.in(n)
	case "matches":
		return c.matches(n)
	case "..":
		return c.notAllowed(n, "Ranges are written x >= 1 and x <= 5.")
	case "**", "^":
		return c.notAllowed(n, "There are no powers; multiply.")
	case "contains", "startsWith", "endsWith":
		return c.notAllowed(n, fmt.Sprintf("%s is written with matches: x matches \"^A\" for text that begins with A, \"A$\" that ends with it, \"A\" that has it.", n.Operator))
	}
	a, b := c.check(n.Left), c.check(n.Right)
	if a == nil || b == nil {
		return nil
	}
	switch n.Operator {
	case "and", "&&":
		return c.junction(n, kAnd, a, b)
	case "or", "||":
		return c.junction(n, kOr, a, b)
	case "==", "!=", "<", "<=", ">", ">=":
		return c.compare(n, a, b)
	case "??":
		x, y, ok := c.unify(n, a, b)
		if !ok {
			return nil
		}
		if isNil(x) {
			return x
		}
		return &node{kind: kCoalesce, typ: x.typ, null: x.null && y.null, args: []*node{x, y}}
	case "+", "-", "*", "/", "%":
		return c.arithmetic(n, a, b)
	}
	return c.notAllowed(n, fmt.Sprintf("%q is not an operator of row expressions.", n.Operator))
}

// chained finds a < b < c, which the parser makes into (a < b) && (b < c) with
// b in it twice; it returns the second comparison and b.
func chained(n *ast.BinaryNode) (op *ast.BinaryNode, middle ast.Node) {
	right, ok := n.Right.(*ast.BinaryNode)
	if !ok || n.Operator != "&&" {
		return nil, nil
	}
	left, ok := n.Left.(*ast.BinaryNode)
	if !ok {
		return nil, nil
	}
	if left.Right == right.Left {
		return right, right.Left
	}
	if last, ok := left.Right.(*ast.BinaryNode); ok && left.Operator == "&&" && last.Right == right.Left {
		return right, right.Left
	}
	return nil, nil
}

func (c *checker) chain(op *ast.BinaryNode, middle ast.Node) *node {
	from, to := c.bytes(op.Location())
	mfrom, mto := c.span(middle)
	p := c.problemAt(from, to, diag.RowNotAllowed, "Not allowed in a row expression", "Two comparisons are joined with and: a < b and b < c.")
	p.Fix = "and " + c.source.text[mfrom:mto] + " " + c.source.text[from:to]
	return nil
}

func (c *checker) junction(n *ast.BinaryNode, k kind, a, b *node) *node {
	word := map[kind]string{kAnd: "and", kOr: "or"}[k]
	if n.Operator == "||" && a.typ.Kind == schema.Text && b.typ.Kind == schema.Text {
		from, to := c.bytes(n.Location())
		c.problemAt(from, to, diag.RowOperand, "Operand of the wrong kind", "|| means or; texts are joined with +.").Fix = "+"
		return nil
	}
	if n.Operator == "||" && c.joined(n, a, b) {
		return nil
	}
	ok := true
	for i, x := range []*node{a, b} {
		if x.typ.Kind != schema.Bool {
			ok = false
			c.operand([]ast.Node{n.Left, n.Right}[i], word+" takes conditions, and this is "+kindName(x.typ)+".")
		}
	}
	if !ok {
		return nil
	}
	return &node{kind: k, typ: schema.Of(schema.Bool), null: a.null || b.null, args: []*node{a, b}}
}

// joined reports a text and a number with SQL's || between them.
func (c *checker) joined(n *ast.BinaryNode, a, b *node) bool {
	text, number := schema.Text, func(x *node) bool { return x.typ.IsNumber() }
	if !(a.typ.Kind == text && number(b)) && !(number(a) && b.typ.Kind == text) {
		return false
	}
	from, to := c.span(n)
	op, end := c.bytes(n.Location())
	left, right := strings.TrimSpace(c.source.text[from:op]), strings.TrimSpace(c.source.text[end:to])
	if number(a) {
		left = "string(" + left + ")"
	} else {
		right = "string(" + right + ")"
	}
	p := c.problem(n, diag.RowOperand, "Operand of the wrong kind", "|| means or. Texts are joined with +, and string() makes text of a number.")
	p.Fix = left + " + " + right
	return true
}

func (c *checker) compare(n *ast.BinaryNode, a, b *node) *node {
	if isNil(a) || isNil(b) {
		x := a
		if isNil(a) {
			x = b
		}
		if n.Operator != "==" && n.Operator != "!=" {
			return c.operand(n, "nil has no order; x == nil asks whether x is NULL.")
		}
		return &node{kind: kIsNull, typ: schema.Of(schema.Bool), neg: n.Operator == "!=", args: []*node{x}}
	}
	a, b, ok := c.comparable(n, n.Left, n.Right, a, b)
	if !ok {
		return nil
	}
	m := masks[n.Operator]
	if a.typ.Kind == schema.Bool && m != equal && m != less|greater {
		return c.operand(n, "Conditions have no order; compare them with == or !=.")
	}
	return &node{kind: kCompare, cmp: m, typ: schema.Of(schema.Bool), null: a.null || b.null, args: []*node{a, b}}
}

func isNil(n *node) bool { return n.typ.Kind == schema.Invalid }

// comparable lets literals take the type of what they meet and checks that the
// two can be compared.
func (c *checker) comparable(at, left, right ast.Node, a, b *node) (x, y *node, ok bool) {
	a, b, fault := adapt(a, b)
	if fault != "" {
		lit := left
		if b.kind == kConst {
			lit = right
		}
		c.problem(lit, diag.RowLiteral, "Literal can't be read", fault)
		return nil, nil, false
	}
	ka, kb := a.typ.Kind, b.typ.Kind
	switch {
	case ka == schema.JSON || kb == schema.JSON:
		c.problem(at, diag.RowMismatch, "Values can't be compared", "JSON has no one spelling; compare its text, string(x), or ask x == nil.")
		return nil, nil, false
	case ka == kb, a.typ.IsNumber() && b.typ.IsNumber(),
		ka == schema.Date && kb == schema.Timestamp, ka == schema.Timestamp && kb == schema.Date:
		return a, b, true
	}
	c.mismatch(at, left, right, a, b)
	return nil, nil, false
}

func (c *checker) mismatch(at, left, right ast.Node, a, b *node) {
	summary := fmt.Sprintf("%s can't be compared with %s", upperFirst(kindName(a.typ)), kindName(b.typ))
	p := c.problem(at, diag.RowMismatch, summary, "")
	for i, x := range []*node{a, b} {
		other := []*node{b, a}[i]
		if c.bareDate(p, []ast.Node{left, right}[i], x, other) {
			return
		}
		switch {
		case x.kind == kConst && x.typ.Kind == schema.Text && findColumn(c.columns, x.lit.s).n == 1:
			p.Detail = fmt.Sprintf("%s in quotes is text; the column is written without them.", x.text)
			p.From, p.To = c.span([]ast.Node{left, right}[i])
			p.Fix = columnText(c.columns[findColumn(c.columns, x.lit.s).i].Name)
			return
		case x.kind == kConst && x.typ.IsNumber() && other.typ.Kind == schema.Text:
			p.Detail = fmt.Sprintf("%s is text and %s is a number: write %s, or int(...) of the text.", show(other), x.text, quote(x.text))
			return
		case x.kind == kConst && x.typ.Kind == schema.Text && other.typ.IsNumber():
			p.Detail = fmt.Sprintf("%s is a number and %s is text: write a number, or string(...) of the number.", show(other), x.text)
			return
		case x.typ.Kind == schema.TimestampTZ && other.typ.Kind == schema.Timestamp, x.typ.Kind == schema.TimestampTZ && other.typ.Kind == schema.Date:
			p.Detail = "One is an instant and the other has no zone: which instant it means is not known."
			return
		}
	}
	p.Detail = fmt.Sprintf("%s is %s, %s is %s. Nothing is converted silently: use int(), float() or string().", show(a), a.typ, show(b), b.typ)
}

var dateDigits = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})$`)

// bareDate tells of a date without quotes, which reads as two subtractions.
func (c *checker) bareDate(p *Problem, at ast.Node, x, other *node) bool {
	if k := other.typ.Kind; k != schema.Date && k != schema.Timestamp && k != schema.TimestampTZ || !x.typ.IsNumber() {
		return false
	}
	from, to := c.span(at)
	text := c.source.text[from:to]
	m := dateDigits.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	p.From, p.To = from, to
	date := fmt.Sprintf("%s-%02s-%02s", m[1], m[2], m[3])
	p.Detail = fmt.Sprintf("Without quotes %s is a subtraction of numbers: quote the date, as in '%s'.", text, date)
	if _, ok := parseTemporal(other.typ.Kind, date); ok {
		p.Fix = "'" + date + "'"
	}
	return true
}

// adapt turns a literal into the type of the other side: text into a date, a
// time or a uuid; a decimal into the nearest value of a float's own precision,
// since a float compared exactly with 0.1 would never be equal to it.
func adapt(a, b *node) (x, y *node, fault string) {
	if a.kind == kConst && b.kind != kConst {
		y, x, fault = adapt(b, a)
		return x, y, fault
	}
	if b.kind != kConst || b.lit.null {
		return a, b, ""
	}
	out := *b
	switch k := a.typ.Kind; {
	case a.typ.IsFloat() && b.typ.Kind == schema.Decimal:
		out.typ = schema.Of(schema.Float64)
		out.lit = literal{f: literalFloat(b)}
		if short := float64(float32(out.lit.f)); a.typ.Kind == schema.Float32 && !math.IsInf(short, 0) {
			out.typ, out.lit.f = a.typ, short
		}
		return a, &out, ""
	case b.typ.Kind != schema.Text:
		return a, b, ""
	case k == schema.UUID:
		s, ok := parseUUID(b.lit.s)
		if !ok {
			return a, b, b.text + " is not a uuid: 123e4567-e89b-12d3-a456-426614174000."
		}
		out.typ, out.lit = a.typ, literal{s: s}
	case k == schema.Date || k == schema.Time || k == schema.Timestamp || k == schema.TimestampTZ:
		lit, ok := parseTemporal(k, b.lit.s)
		if !ok && k == schema.Date { // a day may be compared with a moment
			if lit, ok = parseTemporal(schema.Timestamp, b.lit.s); ok {
				k = schema.Timestamp
			}
		}
		if !ok {
			return a, b, fmt.Sprintf("%s is not %s: write it as %s.", b.text, kindName(a.typ), temporalForm[k])
		}
		out.typ, out.lit = schema.Type{Kind: k, Precision: 9}, lit
		if k == schema.Date {
			out.typ = schema.Of(k)
		}
	default:
		return a, b, ""
	}
	out.text = quote(string(appendValue(nil, &out)))
	return a, &out, ""
}

var temporalForm = map[schema.Kind]string{
	schema.Date: "2024-01-31", schema.Time: "10:20:30", schema.Timestamp: "2024-01-31 10:20:30",
	schema.TimestampTZ: "2024-01-31T10:20:30Z or 2024-01-31T10:20:30+01:00",
}

func (c *checker) in(n *ast.BinaryNode) *node {
	x := c.check(n.Left)
	list, ok := n.Right.(*ast.ArrayNode)
	if !ok {
		return c.notAllowed(n.Right, "After in stands a list written out: x in [1, 2].")
	}
	if len(list.Nodes) == 0 {
		return c.notAllowed(list, "The list is empty, so no row would pass.")
	}
	out := &node{kind: kIn, typ: schema.Of(schema.Bool), args: []*node{x}}
	for _, e := range list.Nodes {
		y := c.check(e)
		if x == nil || y == nil {
			ok = false
			continue
		}
		if isNil(x) || isNil(y) {
			c.operand(n, "nil is equal to nothing, so in can't find it; write x == nil or x in [...].")
			return nil
		}
		_, y, fits := c.comparable(n, n.Left, e, x, y)
		if !fits {
			ok = false
			continue
		}
		out.null = out.null || y.null
		out.args = append(out.args, y)
	}
	if !ok || x == nil {
		return nil
	}
	out.null = out.null || x.null
	return out
}

func (c *checker) matches(n *ast.BinaryNode) *node {
	x := c.check(n.Left)
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		c.problem(n.Right, diag.RowPattern, "Pattern is not a literal", "The regular expression after matches is written out as text.")
		return nil
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		detail := "It is not a regular expression in RE2 syntax."
		if e, ok := err.(*syntax.Error); ok {
			detail = fmt.Sprintf("In RE2 syntax: %s: %q.", e.Code, e.Expr)
		}
		c.problem(pattern, diag.RowPattern, "Pattern can't be read", detail)
		return nil
	}
	if x == nil {
		return nil
	}
	if x.typ.Kind != schema.Text {
		return c.operand(n.Left, "matches takes text, and this is "+kindName(x.typ)+"; string() makes text of a value.")
	}
	return &node{kind: kMatches, typ: schema.Of(schema.Bool), null: x.null, args: []*node{x}, re: re, text: quote(pattern.Value)}
}

// arithmetic checks + - * / % and, for texts, the + that joins them.
func (c *checker) arithmetic(n *ast.BinaryNode, a, b *node) *node {
	op := n.Operator
	if op == "+" && a.typ.Kind == schema.Text && b.typ.Kind == schema.Text {
		t := schema.Type{Kind: schema.Text}
		if a.typ.Length > 0 && b.typ.Length > 0 {
			t.Length = a.typ.Length + b.typ.Length
		}
		return &node{kind: kConcat, typ: t, null: a.null || b.null, args: []*node{a, b}}
	}
	for i, x := range []*node{a, b} {
		other := []*node{b, a}[i]
		at := []ast.Node{n.Left, n.Right}[i]
		switch {
		case isNil(x):
			return c.operand(at, "Arithmetic with nil is always NULL; x ?? 0 gives a value for NULL.")
		case op == "+" && x.typ.Kind == schema.Text && other.typ.IsNumber():
			c.problem(n, diag.RowOperand, "Text and a number can't be added", "Write string() of the number to join texts, or int() of the text to add numbers.")
			return nil
		case !x.typ.IsNumber():
			return c.operand(at, fmt.Sprintf("%s takes numbers, and this is %s.", op, kindName(x.typ)))
		}
	}
	a, b, _ = adapt(a, b)
	if a.typ.IsFloat() || b.typ.IsFloat() {
		if op == "%" {
			return c.operand(n, "% takes whole numbers and decimals, and here is a float; use int().")
		}
		f := schema.Of(schema.Float64)
		return &node{kind: kArith, fn: op, typ: f, null: a.null || b.null, args: []*node{cast(a, f), cast(b, f)}}
	}
	if a.typ.IsInteger() && b.typ.IsInteger() {
		return &node{kind: kArith, fn: op, typ: schema.Of(schema.Int64), null: a.null || b.null, args: []*node{a, b}}
	}
	ta, tb := operandType(a), operandType(b)
	return &node{kind: kArith, fn: op, typ: decimalResult(op, ta, tb), null: a.null || b.null, args: []*node{cast(a, ta), cast(b, tb)}}
}

func negate(x *node) *node {
	if x.kind == kConst && !x.lit.null {
		out := *x
		switch {
		case x.typ.Kind == schema.Int64 && x.lit.i != -1<<63:
			out.lit.i = -x.lit.i
			out.text = numberText(out.typ, out.lit)
			return &out
		case x.typ.Kind == schema.Decimal && !wide(x.typ):
			out.lit.d = x.lit.d.Negate()
			// The least int64 is written as the negative of a number that is none.
			if v := out.lit.d.BigInt(); x.typ.Scale == 0 && !strings.Contains(x.text, ".") && v.IsInt64() {
				out.typ, out.lit = schema.Of(schema.Int64), literal{i: v.Int64()}
			}
			out.text = numberText(out.typ, out.lit)
			return &out
		}
	}
	t := x.typ
	if t.IsInteger() {
		t = schema.Of(schema.Int64)
	}
	return &node{kind: kNegate, typ: t, null: x.null, args: []*node{x}}
}

// literalFloat is the double nearest to a number literal.
func literalFloat(n *node) float64 {
	r := new(big.Rat)
	switch {
	case n.typ.Kind == schema.Int64:
		r.SetInt64(n.lit.i)
	case wide(n.typ):
		r.SetString(n.lit.s)
	default:
		r.SetFrac(n.lit.d.BigInt(), decimal128.GetScaleMultiplier(n.typ.Scale).BigInt())
	}
	f, _ := r.Float64()
	return f
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
