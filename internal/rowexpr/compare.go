package rowexpr

import (
	"bytes"
	"cmp"
	"math"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// comparison compares two vecs, which may be of different kinds of number.
type comparison struct {
	mask mask
	same schema.Storage // both sides lie so and compare as they lie; 0 = slow
	slow func(r *run, a, b *vec, i int) (int, bool)
	bad  string
}

// newComparison picks how values of two types are compared. Numbers of
// different kinds are compared exactly, as the numbers that they are.
func newComparison(m mask, a, b schema.Type, n *node) comparison {
	c := comparison{mask: m, bad: "not a decimal number in " + show(n)}
	ka, kb := a.Kind, b.Kind
	sa, sb := a.Scale, b.Scale
	switch {
	case wide(a) || wide(b):
		c.slow = compareWide(a, b)
	case a.Kind == schema.Decimal && b.Kind == schema.Decimal:
		c.slow = func(_ *run, x, y *vec, i int) (int, bool) {
			return compareDecimals(x.decs[i&x.index], sa, y.decs[i&y.index], sb), true
		}
	case a.IsInteger() && kb == schema.Decimal:
		c.slow = func(_ *run, x, y *vec, i int) (int, bool) {
			return compareDecimals(fromInt(x.ints[i&x.index]), 0, y.decs[i&y.index], sb), true
		}
	case ka == schema.Decimal && b.IsInteger():
		c.slow = func(_ *run, x, y *vec, i int) (int, bool) {
			return compareDecimals(x.decs[i&x.index], sa, fromInt(y.ints[i&y.index]), 0), true
		}
	case a.IsInteger() && b.IsFloat():
		c.slow = func(_ *run, x, y *vec, i int) (int, bool) {
			return compareIntFloat(x.ints[i&x.index], y.floats[i&y.index]), true
		}
	case a.IsFloat() && b.IsInteger():
		c.slow = func(_ *run, x, y *vec, i int) (int, bool) {
			return -compareIntFloat(y.ints[i&y.index], x.floats[i&x.index]), true
		}
	case ka == schema.Decimal && b.IsFloat():
		c.slow = func(r *run, x, y *vec, i int) (int, bool) {
			return r.dec.compareFloat(x.decs[i&x.index], sa, y.floats[i&y.index]), true
		}
	case a.IsFloat() && kb == schema.Decimal:
		c.slow = func(r *run, x, y *vec, i int) (int, bool) {
			return -r.dec.compareFloat(y.decs[i&y.index], sb, x.floats[i&x.index]), true
		}
	case a.IsInteger() && b.IsInteger(), a.IsFloat() && b.IsFloat():
		c.same = a.Storage()
	case ka != kb: // a date and a timestamp
		da, db := ka == schema.Date, kb == schema.Date
		c.slow = func(_ *run, x, y *vec, i int) (int, bool) { return compareMoments(x, y, da, db, i), true }
	default:
		c.same = a.Storage()
		if ka == schema.Time || ka == schema.Timestamp || ka == schema.TimestampTZ {
			c.slow = func(_ *run, x, y *vec, i int) (int, bool) { return compareMoments(x, y, false, false, i), true }
		}
	}
	return c
}

const dayMicros = 24 * 60 * 60 * 1e6

// midnight is the moment at which a day begins. An infinite day stays infinite,
// and one past all moments is the last or the first of them; ok is false then.
func midnight(days int64) (moment int64, ok bool) {
	const most = math.MaxInt64/int64(dayMicros) - 1
	switch {
	case days == batch.Infinity || days == batch.MinusInfinity:
		return days, true
	case days > most:
		return batch.Infinity - 1, false
	case days < -most:
		return batch.MinusInfinity + 1, false
	}
	return days * dayMicros, true
}

// compareMoments compares times, to the nanosecond; a date is its midnight.
func compareMoments(x, y *vec, dateX, dateY bool, i int) int {
	a, b := x.ints[i&x.index], y.ints[i&y.index]
	if dateX {
		a, _ = midnight(a)
	}
	if dateY {
		b, _ = midnight(b)
	}
	if a != b {
		return cmp.Compare(a, b)
	}
	var na, nb int16
	if x.nanos != nil {
		na = x.nanos[i&x.index]
	}
	if y.nanos != nil {
		nb = y.nanos[i&y.index]
	}
	return cmp.Compare(na, nb)
}

// compareFloats orders NaN as PostgreSQL and Oracle do: equal to itself and
// greater than every number.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return cmp.Compare(bit(math.IsNaN(a)), bit(math.IsNaN(b)))
}

// compareIntFloat compares a whole number with a double as numbers, without
// rounding the whole number.
func compareIntFloat(a int64, b float64) int {
	switch {
	case math.IsNaN(b) || b >= 1<<63:
		return -1
	case b < -1<<63:
		return 1
	}
	whole := math.Trunc(b)
	if c := cmp.Compare(a, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, b-whole)
}

// into sets out for the rows of act: no, yes or unknown.
func (c *comparison) into(out []uint8, r *run, x, y *vec, act batch.Selection) {
	n, m := r.n, c.mask
	store := c.same
	if c.slow != nil && (store == 0 || x.nanos != nil || y.nanos != nil) {
		c.slowly(out, r, x, y, act)
		return
	}
	switch store {
	case schema.StoreInt:
		compareAll(out, m, x.ints, y.ints, x.index, y.index, act, n)
	case schema.StoreFloat:
		if y.index == 0 && x.index == -1 && act == nil {
			compareAll(out, m, x.floats, y.floats, x.index, y.index, act, n)
			break
		}
		for k, l := 0, act.Len(n); k < l; k++ {
			i := act.Row(k)
			out[i] = m.holds(compareFloats(x.floats[i&x.index], y.floats[i&y.index]))
		}
	case schema.StoreBool:
		for k, l := 0, act.Len(n); k < l; k++ {
			i := act.Row(k)
			a, b := x.bools[i&x.index], y.bools[i&y.index]
			if out[i] = m.holds(cmp.Compare(a, b)); a|b >= unknown {
				out[i] = unknown
			}
		}
		return
	case schema.StoreBytes:
		c.texts(out, x, y, act, n)
	}
	markUnknown(out, x.valid)
	markUnknown(out, y.valid)
}

// compareAll compares numbers that lie alike. A constant on the right, the
// common case, has a loop without branches for each operator; these loops give
// a NaN on the left its place above all numbers.
func compareAll[T int64 | float64](out []uint8, m mask, x, y []T, xi, yi int, act batch.Selection, n int) {
	if yi == 0 && xi == -1 && act == nil {
		c, x, out := y[0], x[:n], out[:n]
		switch m {
		case equal:
			for i, v := range x {
				out[i] = bit(v == c)
			}
		case less | greater:
			for i, v := range x {
				out[i] = bit(v != c)
			}
		case less:
			for i, v := range x {
				out[i] = bit(v < c)
			}
		case less | equal:
			for i, v := range x {
				out[i] = bit(v <= c)
			}
		case greater:
			for i, v := range x {
				out[i] = bit(!(v <= c))
			}
		case greater | equal:
			for i, v := range x {
				out[i] = bit(!(v < c))
			}
		}
		return
	}
	if act == nil {
		for i := range out[:n] {
			out[i] = m.holds(cmp.Compare(x[i&xi], y[i&yi]))
		}
		return
	}
	for _, i := range act {
		out[i] = m.holds(cmp.Compare(x[int(i)&xi], y[int(i)&yi]))
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// texts compares by bytes, which is the order of code points.
func (c *comparison) texts(out []uint8, x, y *vec, act batch.Selection, n int) {
	if c.mask == equal || c.mask == less|greater {
		same := bit(c.mask == equal)
		for k, l := 0, act.Len(n); k < l; k++ {
			i := act.Row(k)
			out[i] = 1 ^ same ^ bit(string(x.text(i)) == string(y.text(i)))
		}
		return
	}
	for k, l := 0, act.Len(n); k < l; k++ {
		i := act.Row(k)
		out[i] = c.mask.holds(bytes.Compare(x.text(i), y.text(i)))
	}
}

func (c *comparison) slowly(out []uint8, r *run, x, y *vec, act batch.Selection) {
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		if x.null(i) || y.null(i) {
			out[i] = unknown
			continue
		}
		outcome, ok := c.slow(r, x, y, i)
		if !ok {
			r.fail(i, c.bad)
			out[i] = unknown
			continue
		}
		out[i] = c.mask.holds(outcome)
	}
}

type compareOp struct {
	comparison
	l, r op
	out  vec
}

func (o *compareOp) eval(r *run, act batch.Selection) *vec {
	x, y := o.l.eval(r, act), o.r.eval(r, act)
	o.out.sized(schema.StoreBool, r.n)
	o.into(o.out.bools, r, x, y, act)
	return &o.out
}
