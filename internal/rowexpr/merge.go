package rowexpr

import (
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// mergeOp puts together the values of two branches, each computed for its own rows.
type mergeOp struct {
	store schema.Storage
	a, b  batch.Selection
	nanos []int16
	out   vec
}

// merge takes rows a from x and rows b from y. y may be nil when b is empty,
// and x when a is.
func (o *mergeOp) merge(r *run, x, y *vec) *vec {
	v := &o.out
	v.nanos = nil
	for _, from := range []*vec{x, y} {
		if from != nil && from.nanos != nil {
			o.nanos = resize(o.nanos, r.n)
			v.nanos = o.nanos
		}
	}
	v.sized(o.store, r.n)
	v.valid = nil
	take := func(rows batch.Selection, from *vec) {
		for _, i := range rows {
			v.put(o.store, int(i), from)
			if o.store != schema.StoreBool && from.null(int(i)) {
				v.setNull(int(i), r.n)
			}
		}
	}
	// Texts lie in the order of rows taken; nothing depends on it.
	if len(o.a) > 0 {
		take(o.a, x)
	}
	if len(o.b) > 0 {
		take(o.b, y)
	}
	return v
}

// condOp is c ? a : b. A row whose condition is unknown takes b.
type condOp struct {
	mergeOp
	cond, then, other op
}

func (o *condOp) eval(r *run, act batch.Selection) *vec {
	c := o.cond.eval(r, act)
	o.a, o.b = o.a[:0], o.b[:0]
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		if c.bools[i&c.index] == yes {
			o.a = append(o.a, int32(i))
		} else {
			o.b = append(o.b, int32(i))
		}
	}
	var x, y *vec
	if len(o.a) > 0 {
		x = o.then.eval(r, o.a)
	}
	if len(o.b) > 0 {
		y = o.other.eval(r, o.b)
	}
	return o.merge(r, x, y)
}

// coalesceOp is a ?? b. b is computed only for the rows where a is NULL.
type coalesceOp struct {
	mergeOp
	l, r op
}

func (o *coalesceOp) eval(r *run, act batch.Selection) *vec {
	x := o.l.eval(r, act)
	if o.store != schema.StoreBool && x.valid == nil {
		return x
	}
	o.a, o.b = o.a[:0], o.b[:0]
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		null := x.null(i)
		if o.store == schema.StoreBool {
			null = x.bools[i&x.index] == unknown
		}
		if null {
			o.b = append(o.b, int32(i))
		} else {
			o.a = append(o.a, int32(i))
		}
	}
	if len(o.b) == 0 {
		return x
	}
	return o.merge(r, x, o.r.eval(r, o.b))
}
