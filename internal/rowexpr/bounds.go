package rowexpr

import (
	"math/bits"

	"penstock/internal/schema"
)

// fallible reports whether computing n may make a row bad. Where it can't, the
// right side of and and or is computed for all rows at once, and n may be
// printed as SQL, whose errors and roundings are others.
func fallible(n *node) bool {
	for _, a := range n.args {
		if fallible(a) {
			return true
		}
	}
	switch n.kind {
	case kArith, kNegate:
		_, _, ok := bounds(n)
		return !ok
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
			_, _, ok := bounds(n)
			return !ok && !n.typ.IsFloat()
		case "int":
			return !n.args[0].typ.IsInteger()
		case "float":
			return n.args[0].typ.Kind == schema.Text || n.args[0].typ.Kind == schema.Decimal
		}
	}
	return false
}

// bounds are the least and the greatest value of an integer node; ok is false
// where it is no integer, may overflow, or may divide by zero.
func bounds(n *node) (lo, hi int64, ok bool) {
	if !n.typ.IsInteger() {
		return 0, 0, false
	}
	lo, hi = n.typ.Kind.IntRange()
	switch n.kind {
	case kConst:
		if n.lit.null {
			return 0, 0, true
		}
		return n.lit.i, n.lit.i, true
	case kCond, kCoalesce:
		branches := n.args[len(n.args)-2:]
		alo, ahi, aok := bounds(branches[0])
		blo, bhi, bok := bounds(branches[1])
		return min(alo, blo), max(ahi, bhi), aok && bok
	case kCast:
		return bounds(n.args[0])
	case kNegate:
		lo, hi, ok = bounds(n.args[0])
		return -hi, -lo, ok && lo != -1<<63
	case kCall:
		switch n.fn {
		case "len":
			return 0, 1 << 31, true
		case "int", "round":
			if n.args[0].typ.IsInteger() {
				return bounds(n.args[0])
			}
		case "abs":
			lo, hi, ok = bounds(n.args[0])
			if !ok || lo == -1<<63 {
				return 0, 0, false
			}
			return 0, max(hi, -lo), true
		}
	case kArith:
		return arithBounds(n)
	}
	return lo, hi, true
}

func arithBounds(n *node) (lo, hi int64, ok bool) {
	alo, ahi, aok := bounds(n.args[0])
	blo, bhi, bok := bounds(n.args[1])
	if !aok || !bok {
		return 0, 0, false
	}
	switch n.fn {
	case "+":
		lo, lok := addInt(alo, blo)
		hi, hok := addInt(ahi, bhi)
		return lo, hi, lok && hok
	case "-":
		lo, lok := subInt(alo, bhi)
		hi, hok := subInt(ahi, blo)
		return lo, hi, lok && hok
	case "*":
		lo, hi = 1<<63-1, -1<<63
		for _, a := range []int64{alo, ahi} {
			for _, b := range []int64{blo, bhi} {
				v, fits := mulInt(a, b)
				if !fits {
					return 0, 0, false
				}
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		return lo, hi, true
	}
	if blo <= 0 && bhi >= 0 || alo == -1<<63 {
		return 0, 0, false
	}
	m := max(ahi, -alo)
	if n.fn == "%" {
		if blo == -1<<63 {
			return -m, m, true
		}
		m = min(m, max(bhi, -blo))
	}
	return -m, m, true
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
