package rowexpr

import (
	"math/bits"

	"penstock/internal/schema"
)

// span64 is the least and the greatest value of an integer node; known is false
// where it is no integer, may overflow, or may divide by zero.
type span64 struct {
	lo, hi int64
	known  bool
}

// settle finds, from the leaves up, what the values of each node may be and
// which nodes may make a row bad. Where the right side of and and or can't, it
// is computed for all rows at once; and only what can't is printed as SQL,
// whose errors and roundings are others.
func (n *node) settle() {
	for _, a := range n.args {
		a.settle()
	}
	n.span = n.bounds()
	n.ownFault = n.faulty()
	n.fallible = n.ownFault
	for _, a := range n.args {
		n.fallible = n.fallible || a.fallible
	}
}

// faulty reports whether n may fail though its operands did not.
func (n *node) faulty() bool {
	switch n.kind {
	case kArith, kNegate:
		return !n.span.known
	case kConcat:
		return true // of texts of which each fits, the sum may not
	case kCompare, kIn:
		for _, a := range n.args {
			if wide(a.typ) {
				return true // its text is read here
			}
		}
	case kCast:
		from := n.args[0].typ
		return n.typ.IsNumber() && !(from.IsFloat() && n.typ.IsFloat()) && !(from.IsInteger() && (n.typ.IsFloat() || n.typ.IsInteger()))
	case kCall:
		switch n.fn {
		case "abs", "round":
			return !n.span.known && !n.typ.IsFloat()
		case "int":
			return !n.args[0].typ.IsInteger()
		case "float":
			return n.args[0].typ.Kind == schema.Text || wide(n.args[0].typ)
		}
	}
	return false
}

func (n *node) bounds() span64 {
	if !n.typ.IsInteger() {
		return span64{}
	}
	lo, hi := n.typ.Kind.IntRange()
	switch n.kind {
	case kConst:
		return span64{n.lit.i, n.lit.i, true} // of NULL, 0 is as good as any
	case kCond, kCoalesce:
		a, b := n.args[len(n.args)-2].span, n.args[len(n.args)-1].span
		return span64{min(a.lo, b.lo), max(a.hi, b.hi), a.known && b.known}
	case kCast:
		return n.args[0].span
	case kNegate:
		a := n.args[0].span
		return span64{-a.hi, -a.lo, a.known && a.lo != -1<<63}
	case kCall:
		a := n.args[0].span
		switch {
		case n.fn == "len":
			return span64{0, 1 << 31, true}
		case n.fn == "abs":
			return span64{0, max(a.hi, -a.lo), a.known && a.lo != -1<<63}
		case n.args[0].typ.IsInteger(): // int, round
			return a
		}
	case kArith:
		return arithBounds(n.fn, n.args[0].span, n.args[1].span)
	}
	return span64{lo, hi, true}
}

func arithBounds(op string, a, b span64) span64 {
	if !a.known || !b.known {
		return span64{}
	}
	switch op {
	case "+":
		lo, lok := addInt(a.lo, b.lo)
		hi, hok := addInt(a.hi, b.hi)
		return span64{lo, hi, lok && hok}
	case "-":
		lo, lok := subInt(a.lo, b.hi)
		hi, hok := subInt(a.hi, b.lo)
		return span64{lo, hi, lok && hok}
	case "*":
		out := span64{1<<63 - 1, -1 << 63, true}
		for _, p := range []int64{a.lo, a.hi} {
			for _, q := range []int64{b.lo, b.hi} {
				v, fits := mulInt(p, q)
				out = span64{min(out.lo, v), max(out.hi, v), out.known && fits}
			}
		}
		return out
	}
	if b.lo <= 0 && b.hi >= 0 || a.lo == -1<<63 {
		return span64{}
	}
	m := max(a.hi, -a.lo)
	if op == "%" && b.lo != -1<<63 {
		m = min(m, max(b.hi, -b.lo))
	}
	return span64{-m, m, true}
}

func addInt(a, b int64) (int64, bool) {
	s := a + b
	return s, (a^s)&(b^s) >= 0
}

func subInt(a, b int64) (int64, bool) {
	d := a - b
	return d, (a^b)&(a^d) >= 0
}

func mulInt(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	high := int64(hi) // of the signed product
	if a < 0 {
		high -= b
	}
	if b < 0 {
		high -= a
	}
	return int64(lo), high == int64(lo)>>63
}
