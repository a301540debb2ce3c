package rowexpr

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/expr-lang/expr/ast"

	"penstock/internal/schema"
)

// asDecimal is the decimal type that holds every value of an integer or decimal type.
func asDecimal(t schema.Type) schema.Type {
	switch t.Kind {
	case schema.Int16:
		return schema.Type{Kind: schema.Decimal, Precision: 5}
	case schema.Int32:
		return schema.Type{Kind: schema.Decimal, Precision: 10}
	case schema.Int64:
		return schema.Type{Kind: schema.Decimal, Precision: 19}
	}
	if wide(t) {
		return schema.Of(schema.Decimal)
	}
	return t
}

// operandType is asDecimal for an operand. A literal has as many digits as are
// written, so that d / 3 does not get the digits of a division by any int64.
func operandType(n *node) schema.Type {
	if n.kind == kConst && n.typ.Kind == schema.Int64 && !n.lit.null {
		return schema.Type{Kind: schema.Decimal, Precision: len(strings.TrimPrefix(strconv.FormatInt(n.lit.i, 10), "-"))}
	}
	return asDecimal(n.typ)
}

// decimalResult is the type of a op b. Sums, differences, products and
// remainders are exact. A quotient has max(6, scale(a) + precision(b) + 1)
// digits after the point, half rounded away from zero; of more than 38 digits
// in all, digits after the point are given up down to six.
//
// Where a result may need more than 38 digits it is held in 38 as long as 20
// remain before the point, and a row that needs more is bad; else its precision
// is undeclared, and it is computed in up to 1,000 digits.
func decimalResult(op string, a, b schema.Type) schema.Type {
	if wide(a) || wide(b) {
		return schema.Of(schema.Decimal)
	}
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	var p, s int
	switch op {
	case "+", "-":
		s = max(a.Scale, b.Scale)
		p = whole + s + 1
	case "*":
		s = a.Scale + b.Scale
		p = a.Precision + b.Precision
	case "%":
		s = max(a.Scale, b.Scale)
		p = whole + s
	case "/":
		before := a.Precision - a.Scale + b.Scale
		s = max(6, a.Scale+b.Precision+1)
		if before+s > 38 {
			s = max(min(s, 38-before), 6)
		}
		p = before + s
	}
	return limited(p, s)
}

// limited is decimal(p, s), or what stands for it beyond 38 digits.
func limited(p, s int) schema.Type {
	switch {
	case p <= 38:
		return schema.Type{Kind: schema.Decimal, Precision: p, Scale: s}
	case s <= 18:
		return schema.Type{Kind: schema.Decimal, Precision: 38, Scale: s}
	}
	return schema.Of(schema.Decimal)
}

// unify gives the two branches of ?: or ?? one type.
func (c *checker) unify(at ast.Node, a, b *node) (x, y *node, ok bool) {
	left, right := branches(at)
	switch {
	case isNil(a) && isNil(b):
		return a, b, true // the caller makes one nil of them
	case isNil(a):
		return typedNull(a, b.typ), b, true
	case isNil(b):
		return a, typedNull(b, a.typ), true
	}
	if a.typ.Kind == schema.JSON && b.typ.Kind == schema.JSON {
		return a, b, true
	}
	a, b, ok = c.comparable(at, left, right, a, b)
	if !ok {
		return nil, nil, false
	}
	t := common(a.typ, b.typ)
	return cast(a, t), cast(b, t), true
}

func branches(n ast.Node) (left, right ast.Node) {
	switch n := n.(type) {
	case *ast.ConditionalNode:
		return n.Exp1, n.Exp2
	case *ast.BinaryNode:
		return n.Left, n.Right
	}
	return n, n
}

func typedNull(n *node, t schema.Type) *node {
	out := *n
	out.typ = t
	return &out
}

// common is the type that holds the values of two comparable types.
func common(a, b schema.Type) schema.Type {
	switch {
	case a.IsFloat() || b.IsFloat():
		if a.Kind == b.Kind {
			return a
		}
		return schema.Of(schema.Float64)
	case a.IsInteger() && b.IsInteger():
		return schema.Of(max(a.Kind, b.Kind))
	case a.IsNumber():
		x, y := asDecimal(a), asDecimal(b)
		if wide(x) || wide(y) {
			return schema.Of(schema.Decimal)
		}
		s := max(x.Scale, y.Scale)
		return limited(max(x.Precision-x.Scale, y.Precision-y.Scale)+s, s)
	case a.Kind == schema.Text || a.Kind == schema.Bytes:
		t := schema.Type{Kind: a.Kind, Length: max(a.Length, b.Length), Fixed: a.Fixed && b.Fixed && a.Length == b.Length}
		if a.Length == 0 || b.Length == 0 {
			t.Length = 0
		}
		return t
	case a.Kind != b.Kind: // a date and a timestamp
		t := a
		if a.Kind == schema.Date {
			t = b
		}
		return t
	case a.Kind == schema.Time || a.Kind == schema.Timestamp || a.Kind == schema.TimestampTZ:
		a.Precision = max(a.Precision, b.Precision)
	}
	return a
}

// cast is n as type t, which holds its values up to overflow. Literals are
// converted here, once.
func cast(n *node, t schema.Type) *node {
	if n.typ == t {
		return n
	}
	same := n.typ.Storage() == t.Storage() && n.typ.Scale == t.Scale && (n.typ.Kind == schema.Date) == (t.Kind == schema.Date)
	out := *n
	out.typ = t
	switch {
	case n.kind == kConst && (same || n.lit.null):
		return &out
	case n.kind == kConst && n.typ.IsNumber() && t.IsFloat():
		out.lit = literal{f: literalFloat(n)}
		return &out
	case n.kind == kConst && n.typ.IsNumber() && t.Kind == schema.Decimal:
		v, scale := scaled(n)
		if wide(t) {
			_, out.lit = wideLiteral(v, scale)
			return &out
		}
		if up := t.Scale - scale; up >= 0 {
			v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(up)), nil))
			if v.BitLen() < 127 {
				out.lit = literal{d: decimal128.FromBigInt(v)}
				return &out
			}
		}
	}
	return &node{kind: kCast, typ: t, null: n.null, args: []*node{n}}
}

// scaled is a whole or decimal literal as v / 10^scale.
func scaled(n *node) (v *big.Int, scale int) {
	switch {
	case n.typ.Kind == schema.Int64:
		return big.NewInt(n.lit.i), 0
	case !wide(n.typ):
		return n.lit.d.BigInt(), n.typ.Scale
	}
	whole, fraction, _ := strings.Cut(n.lit.s, ".")
	v, _ = new(big.Int).SetString(whole+fraction, 10) // canonical text always reads
	return v, len(fraction)
}

// wideLiteral is v / 10^scale as a literal of undeclared precision.
func wideLiteral(v *big.Int, scale int) (schema.Type, literal) {
	t, lit := decimalLiteral(v, scale)
	if wide(t) {
		return t, lit
	}
	return schema.Of(schema.Decimal), literal{s: string(appendScaled(nil, lit.d.BigInt().String(), t.Scale))}
}

// textLength is the longest text that string() makes of a type, 0 = unbounded.
func textLength(t schema.Type) int {
	switch t.Kind {
	case schema.Bool:
		return 5
	case schema.Int16, schema.Int32, schema.Int64:
		lo, _ := t.Kind.IntRange()
		return len(strconv.FormatInt(lo, 10))
	case schema.Float32, schema.Float64:
		return 24
	case schema.Decimal:
		if !wide(t) {
			return t.Precision + 3
		}
	case schema.Date:
		return 10
	case schema.Time:
		return 18
	case schema.Timestamp:
		return 29
	case schema.TimestampTZ:
		return 35
	case schema.UUID:
		return 36
	case schema.Text:
		return t.Length
	}
	return 0
}
