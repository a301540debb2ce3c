package rowexpr

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// compiler turns nodes into operators.
type compiler struct {
	index func(column string) int
}

func (c *compiler) compile(n *node) op {
	arg := func(i int) op { return c.compile(n.args[i]) }
	switch n.kind {
	case kColumn:
		return &columnOp{at: c.index(n.name), store: n.typ.Storage()}
	case kConst:
		return newConst(n)
	case kNot:
		return &notOp{x: arg(0)}
	case kAnd:
		return &junctionOp{l: arg(0), r: arg(1), table: &andTable, decided: no, narrow: n.args[1].fallible}
	case kOr:
		return &junctionOp{l: arg(0), r: arg(1), table: &orTable, decided: yes, narrow: n.args[1].fallible}
	case kCompare:
		l, r := fit(n.args[0], n.args[1])
		return &compareOp{l: c.compile(l), r: c.compile(r), comparison: newComparison(n.cmp, l.typ, r.typ, n)}
	case kIsNull:
		return &isNullOp{x: arg(0), bools: n.args[0].typ.Kind == schema.Bool, neg: n.neg}
	case kIn:
		return c.in(n)
	case kMatches:
		return &matchesOp{x: arg(0), re: n.re, neg: n.neg}
	case kArith:
		switch n.typ.Storage() {
		case schema.StoreInt:
			return &intArithOp{l: arg(0), r: arg(1), fn: n.fn[0], safe: !n.ownFault, overflow: "integer overflow in " + show(n), zero: "division by zero in " + show(n)}
		case schema.StoreFloat:
			return &floatArithOp{l: arg(0), r: arg(1), fn: n.fn[0], overflow: "out of range of a double in " + show(n), zero: "division by zero in " + show(n)}
		}
		return newDecimalArith(n, arg(0), arg(1))
	case kNegate:
		return c.number(n, "-", arg(0))
	case kConcat:
		return &concatOp{l: arg(0), r: arg(1), long: "text longer than 1 GiB in " + show(n)}
	case kCoalesce:
		return &coalesceOp{l: arg(0), r: arg(1), mergeOp: mergeOp{store: n.typ.Storage()}}
	case kCond:
		return &condOp{cond: arg(0), then: arg(1), other: arg(2), mergeOp: mergeOp{store: n.typ.Storage()}}
	case kSlice:
		return &viewOp{x: arg(0), view: sliced(n.lo, n.hi)}
	case kCast:
		return newConversion(n, arg(0))
	case kCall:
		switch n.fn {
		case "upper":
			return &caseOp{x: arg(0), upper: true}
		case "lower":
			return &caseOp{x: arg(0)}
		case "trim":
			return &viewOp{x: arg(0), view: trimmed}
		case "len":
			return &lenOp{x: arg(0), octets: n.args[0].typ.Kind == schema.Bytes}
		case "abs", "round":
			return c.number(n, n.fn, arg(0))
		case "int", "float", "string":
			return newConversion(n, arg(0))
		}
	}
	panic(fmt.Sprintf("rowexpr: no operator for %s", show(n)))
}

// columnOp is a column of the batch, where it lies.
type columnOp struct {
	at    int
	store schema.Storage
	out   vec
	bools []uint8
}

func (o *columnOp) eval(r *run, act batch.Selection) *vec {
	c, v := r.batch.Columns[o.at], &o.out
	if c.Storage() != o.store {
		panic(fmt.Sprintf("rowexpr: column %d of the batch is %s, the expression was compiled for another type", o.at, c.Type))
	}
	*v = vec{index: -1, valid: c.Valid, own: v.own}
	switch o.store {
	case schema.StoreInt:
		v.ints, v.nanos = c.Ints, c.Nanos
		if len(c.Nanos) == 0 {
			v.nanos = nil
		}
	case schema.StoreFloat:
		v.floats = c.Floats
	case schema.StoreDecimal:
		v.decs = c.Decimals
	case schema.StoreBytes:
		v.data, v.lo, v.hi, v.tiled = c.Data, c.Offsets[:r.n], c.Offsets[1:r.n+1], true
	case schema.StoreBool:
		o.bools = resize(o.bools, r.n)
		for i := range o.bools {
			o.bools[i] = c.Bools[i>>3] >> (i & 7) & 1
		}
		markUnknown(o.bools, c.Valid)
		v.bools = o.bools
	}
	return v
}

// constOp is a constant: one value for every row.
type constOp struct {
	out  vec
	null bool
}

func newConst(n *node) *constOp {
	o := &constOp{null: n.lit.null}
	v := &o.out
	v.ints, v.floats, v.decs = []int64{n.lit.i}, []float64{n.lit.f}, []decimal128.Num{n.lit.d}
	if n.lit.nanos != 0 {
		v.nanos = []int16{n.lit.nanos}
	}
	v.data, v.lo, v.hi = []byte(n.lit.s), []int32{0}, []int32{int32(len(n.lit.s))}
	v.bools = []uint8{no}
	switch {
	case n.lit.null:
		v.bools[0] = unknown
	case n.lit.b:
		v.bools[0] = yes
	}
	return o
}

func (o *constOp) eval(r *run, act batch.Selection) *vec {
	o.out.index = 0
	if o.null {
		o.out.allNull(r.n)
	}
	return &o.out
}

// fit turns a decimal constant that meets an integer into an integer, and an
// integer that meets a float into a float, where the value stays the same: the
// comparison of equal kinds is several times faster.
func fit(a, b *node) (x, y *node) {
	if a.kind == kConst && b.kind != kConst {
		y, x = fit(b, a)
		return x, y
	}
	if b.kind != kConst || b.lit.null {
		return a, b
	}
	out := *b
	switch {
	case a.typ.IsInteger() && b.typ.Kind == schema.Decimal:
		v, scale := scaled(b)
		if scale == 0 && v.IsInt64() {
			out.typ, out.lit = schema.Of(schema.Int64), literal{i: v.Int64()}
			return a, &out
		}
	case a.typ.IsFloat() && b.typ.IsInteger() && b.lit.i >= -1<<53 && b.lit.i <= 1<<53:
		out.typ, out.lit = schema.Of(schema.Float64), literal{f: float64(b.lit.i)}
		return a, &out
	}
	return a, b
}
