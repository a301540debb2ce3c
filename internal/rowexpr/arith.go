package rowexpr

import (
	"math"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// intArithOp is + - * / % of whole numbers. Division goes toward zero and the
// remainder has the sign of the dividend, as in PostgreSQL, SQL Server and
// SQLite. Nothing wraps.
type intArithOp struct {
	l, r           op
	fn             byte
	safe           bool // no row can be bad
	overflow, zero string
	out            vec
}

func (o *intArithOp) eval(r *run, act batch.Selection) *vec {
	x, y := o.l.eval(r, act), o.r.eval(r, act)
	v := &o.out
	v.sized(schema.StoreInt, r.n)
	v.strict(r.n, x, y)
	a, b, ai, bi := x.ints, y.ints, x.index, y.index
	if o.safe && act == nil && o.fn != '/' && o.fn != '%' {
		out := v.ints[:r.n]
		switch o.fn {
		case '+':
			for i := range out {
				out[i] = a[i&ai] + b[i&bi]
			}
		case '-':
			for i := range out {
				out[i] = a[i&ai] - b[i&bi]
			}
		case '*':
			for i := range out {
				out[i] = a[i&ai] * b[i&bi]
			}
		}
		return v
	}
	nulls := v.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		p, q := a[i&ai], b[i&bi]
		var s int64
		ok, reason := true, o.overflow
		switch o.fn {
		case '+':
			s, ok = addInt(p, q)
		case '-':
			s, ok = subInt(p, q)
		case '*':
			s, ok = mulInt(p, q)
		case '/', '%':
			switch {
			case q == 0:
				ok, reason = false, o.zero
			case q == -1 && o.fn == '/':
				s, ok = subInt(0, p)
			case q == -1:
			case o.fn == '/':
				s = p / q
			default:
				s = p % q
			}
		}
		v.ints[i] = s
		if !ok && (nulls == nil || nulls.Get(i)) {
			r.fail(i, reason)
			v.setNull(i, r.n)
		}
	}
	return v
}

// floatArithOp is + - * / of doubles. A result that finite operands can't have
// is a bad row: infinity is not a sum.
type floatArithOp struct {
	l, r           op
	fn             byte
	overflow, zero string
	out            vec
}

func (o *floatArithOp) eval(r *run, act batch.Selection) *vec {
	x, y := o.l.eval(r, act), o.r.eval(r, act)
	v := &o.out
	v.sized(schema.StoreFloat, r.n)
	v.strict(r.n, x, y)
	nulls := v.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		p, q := x.floats[i&x.index], y.floats[i&y.index]
		var s float64
		ok, reason := true, o.overflow
		switch o.fn {
		case '+':
			s = p + q
		case '-':
			s = p - q
		case '*':
			s = p * q
		case '/':
			s = p / q
			if q == 0 {
				ok, reason = false, o.zero
			}
		}
		if math.IsInf(s, 0) && !math.IsInf(p, 0) && !math.IsInf(q, 0) {
			ok = false
		}
		v.floats[i] = s
		if !ok && (nulls == nil || nulls.Get(i)) {
			r.fail(i, reason)
			v.setNull(i, r.n)
		}
	}
	return v
}

// mapOp computes each value from one value. f returns why it can't, or "".
type mapOp struct {
	x     op
	store schema.Storage
	f     func(r *run, x, out *vec, i int) string
	out   vec
}

func (o *mapOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	v := &o.out
	v.sized(o.store, r.n)
	v.valid = x.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		if o.store == schema.StoreBytes {
			v.lo[i] = int32(len(v.data))
			v.hi[i] = v.lo[i]
		}
		if x.null(i) {
			continue
		}
		if reason := o.f(r, x, v, i); reason != "" {
			r.fail(i, reason)
			v.setNull(i, r.n)
			continue
		}
		if o.store == schema.StoreBytes {
			v.hi[i] = int32(len(v.data))
		}
	}
	return v
}

// number is -x, abs(x) and round(x).
func (c *compiler) number(n *node, fn string, x op) op {
	t := n.args[0].typ
	o := &mapOp{x: x, store: n.typ.Storage()}
	overflow := "integer overflow in " + show(n)
	switch {
	case t.IsInteger() && fn == "round":
		return x
	case t.IsInteger():
		o.f = func(_ *run, x, out *vec, i int) string {
			v := x.ints[i&x.index]
			if fn == "-" || v < 0 {
				if v == -1<<63 {
					return overflow
				}
				v = -v
			}
			out.ints[i] = v
			return ""
		}
	case t.IsFloat():
		f := map[string]func(float64) float64{"-": func(v float64) float64 { return -v }, "abs": math.Abs, "round": math.Round}[fn]
		o.f = func(_ *run, x, out *vec, i int) string {
			out.floats[i] = f(x.floats[i&x.index])
			return ""
		}
	case wide(n.typ) || wide(t):
		o.f = wideFunction(fn, n)
	case fn == "round":
		o.f = func(r *run, x, out *vec, i int) string {
			out.decs[i] = r.dec.divide(x.decs[i&x.index], fromInt(1), -t.Scale, true)
			return ""
		}
	default:
		o.f = func(_ *run, x, out *vec, i int) string {
			v := x.decs[i&x.index]
			if fn == "-" || v.Sign() < 0 {
				v = v.Negate()
			}
			out.decs[i] = v
			return ""
		}
	}
	return o
}
