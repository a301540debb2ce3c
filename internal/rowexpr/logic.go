package rowexpr

import (
	"regexp"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// The truth tables, by left*3 + right.
var (
	andTable = [9]uint8{no, no, no, no, yes, unknown, no, unknown, unknown}
	orTable  = [9]uint8{no, yes, unknown, yes, yes, yes, unknown, yes, unknown}
)

// junctionOp is and, or. A left side that decides keeps the right side from
// being evaluated, where that could make the row bad.
type junctionOp struct {
	l, r    op
	table   *[9]uint8
	decided uint8
	narrow  bool
	rows    batch.Selection
	out     vec
}

func (o *junctionOp) eval(r *run, act batch.Selection) *vec {
	x := o.l.eval(r, act)
	o.out.sized(schema.StoreBool, r.n)
	out := o.out.bools
	if o.narrow {
		o.rows = o.rows[:0]
		for k, l := 0, act.Len(r.n); k < l; k++ {
			i := act.Row(k)
			out[i] = o.decided
			if x.bools[i&x.index] != o.decided {
				o.rows = append(o.rows, int32(i))
			}
		}
		if len(o.rows) == 0 {
			return &o.out
		}
		act = o.rows
	}
	y := o.r.eval(r, act)
	if act == nil && x.index == -1 && y.index == -1 {
		a, b := x.bools[:len(out)], y.bools[:len(out)]
		for i := range out {
			out[i] = o.table[a[i]*3+b[i]]
		}
		return &o.out
	}
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		out[i] = o.table[x.bools[i&x.index]*3+y.bools[i&y.index]]
	}
	return &o.out
}

type notOp struct {
	x   op
	out vec
}

var notTable = [3]uint8{yes, no, unknown}

func (o *notOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	o.out.sized(schema.StoreBool, r.n)
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		o.out.bools[i] = notTable[x.bools[i&x.index]]
	}
	return &o.out
}

// isNullOp is x == nil, which is never unknown.
type isNullOp struct {
	x     op
	bools bool
	neg   bool
	out   vec
}

func (o *isNullOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	o.out.sized(schema.StoreBool, r.n)
	out := o.out.bools
	switch {
	case o.bools:
		for k, l := 0, act.Len(r.n); k < l; k++ {
			i := act.Row(k)
			out[i] = bit(x.bools[i&x.index] == unknown != o.neg)
		}
	case x.valid == nil:
		fill(out, bit(o.neg))
	default:
		for i := range out {
			out[i] = bit(x.valid.Get(i) == o.neg)
		}
	}
	return &o.out
}

// inOp looks for a value in a list. Constants are looked up in a set; others
// are compared one after the other.
type inOp struct {
	x     op
	neg   bool
	ints  map[int64]struct{}
	texts map[string]struct{}
	few   []int64 // up to eight are found faster one by one
	items []op
	each  []comparison
	one   []uint8
	out   vec
}

func (c *compiler) in(n *node) op {
	o := &inOp{x: c.compile(n.args[0]), neg: n.neg}
	t := n.args[0].typ
	for _, item := range n.args[1:] {
		_, item = fit(n.args[0], item)
		constant := item.kind == kConst && !item.lit.null && n.args[0].kind != kConst
		switch {
		case constant && t.IsInteger() && item.typ.IsInteger():
			if o.ints == nil {
				o.ints = map[int64]struct{}{}
			}
			o.ints[item.lit.i] = struct{}{}
		case constant && t.Kind == schema.Text && item.typ.Kind == schema.Text:
			if o.texts == nil {
				o.texts = map[string]struct{}{}
			}
			o.texts[item.lit.s] = struct{}{}
		default:
			o.items = append(o.items, c.compile(item))
			o.each = append(o.each, newComparison(equal, t, item.typ, n))
		}
	}
	if len(o.ints) > 0 && len(o.ints) <= 8 {
		for v := range o.ints {
			o.few = append(o.few, v)
		}
	}
	return o
}

func (o *inOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	o.out.sized(schema.StoreBool, r.n)
	out := o.out.bools
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		out[i] = no
		switch {
		case o.few != nil:
			v := x.ints[i&x.index]
			for _, w := range o.few {
				out[i] |= bit(v == w)
			}
		case o.ints != nil:
			_, found := o.ints[x.ints[i&x.index]]
			out[i] = bit(found)
		case o.texts != nil:
			_, found := o.texts[string(x.text(i))]
			out[i] = bit(found)
		}
	}
	markUnknown(out, x.valid)
	for j, item := range o.items {
		o.one = resize(o.one, r.n)
		o.each[j].into(o.one, r, x, item.eval(r, act), act)
		for k, l := 0, act.Len(r.n); k < l; k++ {
			i := act.Row(k)
			out[i] = orTable[out[i]*3+o.one[i]]
		}
	}
	if o.neg {
		for i, v := range out {
			out[i] = notTable[v]
		}
	}
	return &o.out
}

type matchesOp struct {
	x   op
	re  *regexp.Regexp
	neg bool
	out vec
}

func (o *matchesOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	o.out.sized(schema.StoreBool, r.n)
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		if x.null(i) {
			o.out.bools[i] = unknown
			continue
		}
		o.out.bools[i] = bit(o.re.Match(x.text(i)) != o.neg)
	}
	return &o.out
}
