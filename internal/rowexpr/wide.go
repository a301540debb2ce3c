package rowexpr

import (
	"cmp"
	"math"
	"math/big"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/cockroachdb/apd/v3"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Decimals of undeclared precision, or of more than 38 digits, lie in memory as
// text. They are compared in 128 bits where both sides fit, else as apd.

// wideMemory is scratch for them.
type wideMemory struct {
	x, y, z apd.Decimal
	buf     []byte
}

// Sums and products are exact, since nothing limits the precision of this
// context; the digits of operands and results are limited instead. A quotient
// has 38 significant digits, half rounded away from zero.
var (
	exactContext    = apd.BaseContext
	quotientContext = apd.BaseContext.WithPrecision(38)
	wholeContext    = apd.BaseContext.WithPrecision(4 * maxDigits)
)

// Ranks of values that are no numbers, in their order.
const (
	rankMinus  = -1 // -Infinity
	rankFinite = 0
	rankPlus   = 1 // Infinity
	rankNaN    = 2
)

func rankOf(text []byte) int {
	if len(text) == 0 {
		return rankFinite
	}
	switch c := text[0] | 0x20; {
	case c == 'n':
		return rankNaN
	case c == 'i':
		return rankPlus
	case text[0] == '-' && len(text) > 1 && text[1]|0x20 == 'i':
		return rankMinus
	}
	return rankFinite
}

// str reads bytes as a string without a copy; the callee keeps nothing of it.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// load reads the value of row i, of any kind of number, into d.
func load(d *apd.Decimal, t schema.Type, v *vec, i int) (rank int, ok bool) {
	i &= v.index
	switch {
	case t.IsInteger():
		d.SetInt64(v.ints[i])
	case t.IsFloat():
		return loadFloat(d, v.floats[i])
	case !wide(t):
		setBig128(d, v.decs[i], t.Scale)
	default:
		text := v.text(i)
		if rank := rankOf(text); rank != rankFinite {
			return rank, true
		}
		if len(text) > maxDigits+2 {
			return 0, false
		}
		if _, cond, err := d.SetString(str(text)); err != nil || cond.Any() || d.Form != apd.Finite || !fitsDigits(d) {
			return 0, false
		}
	}
	return rankFinite, true
}

func setBig128(d *apd.Decimal, n decimal128.Num, scale int) {
	m := n.Abs()
	if m.HighBits() == 0 {
		d.Coeff.SetUint64(m.LowBits())
	} else {
		d.Coeff.SetUint64(uint64(m.HighBits()))
		d.Coeff.Lsh(&d.Coeff, 64)
		d.Coeff.Or(&d.Coeff, new(apd.BigInt).SetUint64(m.LowBits()))
	}
	d.Form, d.Negative, d.Exponent = apd.Finite, n.Sign() < 0, int32(-scale)
}

// loadFloat reads a double as the exact number that it is: m * 2^-k is m * 5^k / 10^k.
func loadFloat(d *apd.Decimal, f float64) (rank int, ok bool) {
	switch {
	case math.IsNaN(f):
		return rankNaN, true
	case math.IsInf(f, 1):
		return rankPlus, true
	case math.IsInf(f, -1):
		return rankMinus, true
	}
	fraction, exponent := math.Frexp(math.Abs(f))
	m := big.NewInt(int64(fraction * (1 << 53)))
	exponent -= 53
	d.Exponent = 0
	if exponent >= 0 {
		m.Lsh(m, uint(exponent))
	} else {
		m.Mul(m, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(-exponent)), nil))
		d.Exponent = int32(exponent)
	}
	d.Coeff.SetMathBigInt(m)
	d.Form, d.Negative = apd.Finite, f < 0
	return rankFinite, true
}

func fitsDigits(d *apd.Decimal) bool {
	digits := d.NumDigits()
	return digits+int64(max(d.Exponent, 0)) <= maxDigits && -int64(d.Exponent) <= maxDigits
}

// appendWide writes d without an exponent and without zeros at the end.
func appendWide(dst []byte, d *apd.Decimal) []byte {
	if d.IsZero() {
		return append(dst, '0')
	}
	d.Reduce(d)
	return d.Append(dst, 'f')
}

// compareWide compares two numbers of which one is text.
func compareWide(a, b schema.Type) func(r *run, x, y *vec, i int) (int, bool) {
	return func(r *run, x, y *vec, i int) (int, bool) {
		p, sp, pok := short(a, x, i)
		q, sq, qok := short(b, y, i)
		if pok && qok {
			return compareDecimals(p, sp, q, sq), true
		}
		m := &r.dec.wide
		ra, aok := load(&m.x, a, x, i)
		rb, bok := load(&m.y, b, y, i)
		if !aok || !bok {
			return 0, false
		}
		if ra != rankFinite || rb != rankFinite {
			return cmp.Compare(ra, rb), true
		}
		return m.x.Cmp(&m.y), true
	}
}

// short is the value of row i when it fits 128 bits.
func short(t schema.Type, v *vec, i int) (n decimal128.Num, scale int, ok bool) {
	switch {
	case t.IsInteger():
		return fromInt(v.ints[i&v.index]), 0, true
	case t.IsFloat():
		return n, 0, false
	case !wide(t):
		return v.decs[i&v.index], t.Scale, true
	}
	return parseShort(v.text(i))
}

// parseShort reads up to 18 digits with a point and a sign: most numbers, and
// several times faster than reading any.
func parseShort(text []byte) (n decimal128.Num, scale int, ok bool) {
	b := text
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 {
		return n, 0, false
	}
	var v int64
	digits, point := 0, -1
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			v, digits = v*10+int64(c-'0'), digits+1
		case c == '.' && point < 0:
			point = i
		default:
			return n, 0, false
		}
	}
	if digits == 0 || digits > 18 {
		return n, 0, false
	}
	if point >= 0 {
		scale = len(b) - point - 1
	}
	if negative {
		v = -v
	}
	return fromInt(v), scale, true
}

// wideArithOp is + - * / % where an operand or the result is text.
type wideArithOp struct {
	l, r                   op
	a, b                   schema.Type
	fn                     byte
	overflow, zero, unread string
	out                    vec
	to                     schema.Type
}

func newWideArith(n *node, l, r op) op {
	return &wideArithOp{l: l, r: r, a: n.args[0].typ, b: n.args[1].typ, fn: n.fn[0], to: n.typ,
		overflow: "more than 1,000 digits in " + show(n), zero: "division by zero in " + show(n), unread: "not a decimal number in " + show(n)}
}

func (o *wideArithOp) eval(r *run, act batch.Selection) *vec {
	x, y := o.l.eval(r, act), o.r.eval(r, act)
	v := &o.out
	v.sized(schema.StoreBytes, r.n)
	v.strict(r.n, x, y)
	nulls := v.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		v.lo[i] = int32(len(v.data))
		if nulls == nil || nulls.Get(i) {
			if d, scale, ok := o.inShort(x, y, i); ok {
				v.data = appendShort(v.data, d, scale)
			} else if reason := o.value(&r.dec.wide, x, y, i); reason != "" {
				r.fail(i, reason)
				v.setNull(i, r.n)
			} else {
				v.data = appendWide(v.data, &r.dec.wide.z)
			}
		}
		v.hi[i] = int32(len(v.data))
	}
	return v
}

// inShort is the sum, difference or product where all fit 128 bits, as most
// numbers of undeclared precision do.
func (o *wideArithOp) inShort(x, y *vec, i int) (d decimal128.Num, scale int, ok bool) {
	if o.fn == '/' || o.fn == '%' {
		return d, 0, false
	}
	a, sa, aok := short(o.a, x, i)
	b, sb, bok := short(o.b, y, i)
	if !aok || !bok {
		return d, 0, false
	}
	if o.fn == '*' {
		d, ok = multiply(a, b)
		return d, sa + sb, ok
	}
	scale = max(sa, sb)
	a, aok = rescale(a, scale-sa)
	b, bok = rescale(b, scale-sb)
	if !aok || !bok {
		return d, 0, false
	}
	if o.fn == '-' {
		b = b.Negate()
	}
	d, ok = add(a, b)
	return d, scale, ok
}

// appendShort writes v / 10^scale as appendWide does.
func appendShort(dst []byte, v decimal128.Num, scale int) []byte {
	if v.Sign() == 0 {
		return append(dst, '0')
	}
	dst = appendDecimal(dst, v, scale)
	for n := len(dst); scale > 0 && dst[n-1] == '0'; n, scale = n-1, scale-1 {
		dst = dst[:n-1]
	}
	if n := len(dst); dst[n-1] == '.' {
		dst = dst[:n-1]
	}
	return dst
}

func (o *wideArithOp) value(m *wideMemory, x, y *vec, i int) (reason string) {
	ra, aok := load(&m.x, o.a, x, i)
	rb, bok := load(&m.y, o.b, y, i)
	if !aok || !bok || ra != rankFinite || rb != rankFinite {
		return o.unread
	}
	var err error
	switch o.fn {
	case '+':
		_, err = exactContext.Add(&m.z, &m.x, &m.y)
	case '-':
		_, err = exactContext.Sub(&m.z, &m.x, &m.y)
	case '*':
		_, err = exactContext.Mul(&m.z, &m.x, &m.y)
	case '/', '%':
		if m.y.IsZero() {
			return o.zero
		}
		if o.fn == '/' {
			_, err = quotientContext.Quo(&m.z, &m.x, &m.y)
		} else {
			_, err = wholeContext.Rem(&m.z, &m.x, &m.y)
		}
	}
	if err != nil || !fitsDigits(&m.z) {
		return o.overflow
	}
	return ""
}

// wideFunction is -x, abs(x) and round(x) of a decimal that is text.
func wideFunction(fn string, n *node) func(r *run, x, out *vec, i int) string {
	t := n.args[0].typ
	unread, overflow := "not a decimal number in "+show(n), "more than 1,000 digits in "+show(n)
	return func(r *run, x, out *vec, i int) string {
		m := &r.dec.wide
		if rank, ok := load(&m.x, t, x, i); !ok || rank != rankFinite {
			return unread
		}
		switch fn {
		case "-":
			m.z.Neg(&m.x)
		case "abs":
			m.z.Abs(&m.x)
		case "round":
			if _, err := wholeContext.Quantize(&m.z, &m.x, 0); err != nil {
				return overflow
			}
		}
		out.data = appendWide(out.data, &m.z)
		return ""
	}
}
