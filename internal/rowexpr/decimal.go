package rowexpr

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

func fromInt(v int64) decimal128.Num { return decimal128.FromI64(v) }

// power is 10^k, k at most 38.
func power(k int) decimal128.Num { return decimal128.GetScaleMultiplier(k) }

// multiply is a * b, ok when it fits 127 bits and a sign.
func multiply(a, b decimal128.Num) (p decimal128.Num, ok bool) {
	negative := (a.Sign() < 0) != (b.Sign() < 0)
	a, b = a.Abs(), b.Abs()
	ah, al, bh, bl := uint64(a.HighBits()), a.LowBits(), uint64(b.HighBits()), b.LowBits()
	if ah != 0 && bh != 0 {
		return p, false
	}
	hi, lo := bits.Mul64(al, bl)
	over, cross := bits.Mul64(ah|bh, map2(ah != 0, bl, al))
	hi, carry := bits.Add64(hi, cross, 0)
	if over != 0 || carry != 0 || hi > math.MaxInt64 {
		return p, false
	}
	p = decimal128.New(int64(hi), lo)
	if negative {
		p = p.Negate()
	}
	return p, true
}

func map2(which bool, a, b uint64) uint64 {
	if which {
		return a
	}
	return b
}

// rescale is v * 10^k, ok when it fits.
func rescale(v decimal128.Num, k int) (decimal128.Num, bool) {
	if k == 0 {
		return v, true
	}
	if k > 38 {
		return v, v.Sign() == 0
	}
	return multiply(v, power(k))
}

// add is a + b, ok when it fits.
func add(a, b decimal128.Num) (decimal128.Num, bool) {
	s := a.Add(b)
	return s, (a.HighBits()^s.HighBits())&(b.HighBits()^s.HighBits()) >= 0
}

// within reports |v| < 10^precision.
func within(v decimal128.Num, precision int) bool { return v.Abs().Less(power(precision)) }

// compareDecimals compares a / 10^sa with b / 10^sb.
func compareDecimals(a decimal128.Num, sa int, b decimal128.Num, sb int) int {
	if sa < sb {
		up, ok := rescale(a, sb-sa)
		if !ok {
			return a.Sign() // larger than anything of the other scale
		}
		a = up
	} else if sb < sa {
		up, ok := rescale(b, sa-sb)
		if !ok {
			return -b.Sign()
		}
		b = up
	}
	return a.Cmp(b)
}

// decimals is memory for what does not fit 128 bits.
type decimals struct {
	a, b, c, low big.Int
	wide         wideMemory
}

var bigOne = big.NewInt(1)

func (d *decimals) set(z *big.Int, v decimal128.Num) *big.Int {
	m := v.Abs()
	z.SetUint64(uint64(m.HighBits()))
	z.Lsh(z, 64)
	z.Or(z, d.low.SetUint64(m.LowBits()))
	if v.Sign() < 0 {
		z.Neg(z)
	}
	return z
}

// divide is a / b * 10^k: half away from zero when rounded, else toward zero. b
// is not zero and the result fits.
func (d *decimals) divide(a, b decimal128.Num, k int, rounded bool) decimal128.Num {
	q, _ := d.quotient(a, b, k, rounded)
	return q
}

func (d *decimals) quotient(a, b decimal128.Num, k int, rounded bool) (decimal128.Num, bool) {
	x, y := d.set(&d.a, a), d.set(&d.b, b)
	for ; k > 0; k -= min(k, 38) {
		x.Mul(x, d.set(&d.c, power(min(k, 38))))
	}
	for ; k < 0; k += min(-k, 38) {
		y.Mul(y, d.set(&d.c, power(min(-k, 38))))
	}
	negative := x.Sign()*y.Sign() < 0
	x.Abs(x)
	y.Abs(y)
	rest := &d.c
	x.QuoRem(x, y, rest)
	if rounded && rest.Lsh(rest, 1).Cmp(y) >= 0 {
		x.Add(x, bigOne)
	}
	if x.BitLen() > 127 {
		return decimal128.Num{}, false
	}
	if negative {
		x.Neg(x)
	}
	return decimal128.FromBigInt(x), true
}

// compareFloat compares a / 10^scale with a double as numbers.
func (d *decimals) compareFloat(a decimal128.Num, scale int, f float64) int {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 1):
		return -1
	case math.IsInf(f, -1):
		return 1
	}
	if s := cmp.Compare(a.Sign(), cmp.Compare(f, 0)); s != 0 {
		return s
	}
	fraction, exponent := math.Frexp(f)
	x, y := d.set(&d.a, a), d.b.SetInt64(int64(fraction*(1<<53)))
	exponent -= 53
	y.Mul(y, d.set(&d.c, power(scale)))
	if exponent >= 0 {
		y.Lsh(y, uint(exponent))
	} else {
		x.Lsh(x, uint(-exponent))
	}
	return x.Cmp(y)
}

// decimalArithOp is + - * / % of decimals that fit 38 digits.
type decimalArithOp struct {
	l, r           op
	fn             byte
	sa, sb, so     int // scales of the operands and of the result
	precision      int
	overflow, zero string
	out            vec
}

func newDecimalArith(n *node, l, r op) op {
	a, b := n.args[0].typ, n.args[1].typ
	if wide(n.typ) || wide(a) || wide(b) {
		return newWideArith(n, l, r)
	}
	return &decimalArithOp{l: l, r: r, fn: n.fn[0], sa: a.Scale, sb: b.Scale, so: n.typ.Scale, precision: n.typ.Precision,
		overflow: "more than " + n.typ.String() + " holds in " + show(n), zero: "division by zero in " + show(n)}
}

func (o *decimalArithOp) eval(r *run, act batch.Selection) *vec {
	x, y := o.l.eval(r, act), o.r.eval(r, act)
	v := &o.out
	v.sized(schema.StoreDecimal, r.n)
	v.strict(r.n, x, y)
	nulls := v.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		if nulls != nil && !nulls.Get(i) {
			continue
		}
		b := y.decs[i&y.index]
		reason := o.overflow
		if b.Sign() == 0 && (o.fn == '/' || o.fn == '%') {
			reason = o.zero
		} else if s, ok := o.value(&r.dec, x.decs[i&x.index], b); ok && within(s, o.precision) {
			v.decs[i] = s
			continue
		}
		r.fail(i, reason)
		v.setNull(i, r.n)
		v.decs[i] = decimal128.Num{}
	}
	return v
}

func (o *decimalArithOp) value(d *decimals, a, b decimal128.Num) (decimal128.Num, bool) {
	switch o.fn {
	case '*':
		return multiply(a, b)
	case '/':
		return d.quotient(a, b, o.so-o.sa+o.sb, true)
	case '%':
		return o.remainder(d, a, b)
	}
	a, aok := rescale(a, o.so-o.sa)
	b, bok := rescale(b, o.so-o.sb)
	if !aok || !bok {
		return a, false
	}
	if o.fn == '-' {
		b = b.Negate()
	}
	return add(a, b)
}

func (o *decimalArithOp) remainder(d *decimals, a, b decimal128.Num) (decimal128.Num, bool) {
	x, y := d.set(&d.a, a), d.set(&d.b, b)
	x.Mul(x, d.set(&d.c, power(o.so-o.sa)))
	y.Mul(y, d.set(&d.c, power(o.so-o.sb)))
	x.Rem(x, y)
	return decimal128.FromBigInt(x), x.BitLen() <= 127
}
