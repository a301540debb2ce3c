package batch

import (
	"fmt"
	"math/bits"

	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// pow19 is the largest power of ten below 2^64: a decimal128 is at most two of
// its digits and a bit.
const pow19 = 10_000_000_000_000_000_000

// appendDecimal writes v, an integer of scale digits after the point.
func appendDecimal(dst []byte, v decimal128.Num, scale int) []byte {
	neg := v.Sign() < 0
	if neg {
		v = v.Negate()
		dst = append(dst, '-')
	}
	var buf [40]byte // 39 digits of 2^127, filled from the right
	p := len(buf)
	hi, lo := uint64(v.HighBits()), v.LowBits()
	for hi != 0 {
		var rem uint64
		q := hi / pow19
		lo, rem = bits.Div64(hi%pow19, lo, pow19)
		hi = q
		for range 19 {
			p--
			buf[p] = byte('0' + rem%10)
			rem /= 10
		}
	}
	for lo != 0 {
		p--
		buf[p] = byte('0' + lo%10)
		lo /= 10
	}
	for p < len(buf) && buf[p] == '0' { // the high part was a multiple that left zeros in front
		p++
	}
	digits := buf[p:]
	if scale == 0 {
		if len(digits) == 0 {
			return append(dst, '0')
		}
		return append(dst, digits...)
	}
	if n := len(digits) - scale; n > 0 {
		dst = append(dst, digits[:n]...)
		digits = digits[n:]
	} else {
		dst = append(dst, '0')
	}
	dst = append(dst, '.')
	for range scale - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// number is a decimal as it is written, taken apart and not yet evaluated. Its
// digits are a then b; the point stands after digit point, which may lie
// outside of them.
type number struct {
	neg        bool
	a, b       []byte
	point      int
	start, end int // first significant digit, and behind the last one; equal when it is zero
}

// maxExponent bounds what a written exponent can make us write out: no database
// has decimals of more digits.
const maxExponent = 20_000

// scanNumber takes [+-]digits[.digits][e[+-]digits] apart.
func scanNumber(s []byte) (n number, ok bool) {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		n.neg = s[i] == '-'
		i++
	}
	from := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	n.a = s[from:i]
	if i < len(s) && s[i] == '.' {
		i++
		from = i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		n.b = s[from:i]
	}
	if len(n.a)+len(n.b) == 0 {
		return n, false
	}
	n.point = len(n.a)
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		exp, used := scanExponent(s[i+1:])
		if used == 0 {
			return n, false
		}
		n.point += exp
		i += 1 + used
	}
	if i != len(s) {
		return n, false
	}
	total := len(n.a) + len(n.b)
	for n.start < total && n.at(n.start) == '0' {
		n.start++
	}
	n.end = total
	for n.end > n.start && n.at(n.end-1) == '0' {
		n.end--
	}
	if n.start == n.end {
		n.neg = false
	}
	return n, true
}

// scanExponent reads a signed exponent; used is 0 when there is none or it is
// beyond maxExponent.
func scanExponent(s []byte) (exp, used int) {
	i, neg := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	from := i
	for i < len(s) && isDigit(s[i]) {
		exp = exp*10 + int(s[i]-'0')
		if exp > maxExponent {
			return 0, 0
		}
		i++
	}
	if i == from {
		return 0, 0
	}
	if neg {
		exp = -exp
	}
	return exp, i
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func (n *number) at(i int) byte {
	if i < len(n.a) {
		return n.a[i]
	}
	return n.b[i-len(n.a)]
}

func (n *number) zero() bool { return n.start == n.end }

// fits says why n has no place in decimal(precision, scale), or "".
func (n *number) fits(t schema.Type, text []byte) string {
	if n.zero() || t.Precision == 0 {
		return ""
	}
	if frac := n.end - n.point; frac > t.Scale {
		if t.Scale <= 0 {
			return fmt.Sprintf("%s has a fraction and %s takes none", short(text), t)
		}
		return fmt.Sprintf("%s has %d digits after the point and %s takes %d", short(text), frac, t, t.Scale)
	}
	if whole := n.point - n.start; whole > t.Precision-t.Scale {
		return fmt.Sprintf("%s has %d digits before the point and %s takes %d", short(text), max(whole, 0), t, max(t.Precision-t.Scale, 0))
	}
	return ""
}

// num is n as a decimal128 of scale; n must fit 38 digits at that scale.
func (n *number) num(scale int) decimal128.Num {
	var hi, lo uint64
	mulAdd := func(m, add uint64) {
		h, l := bits.Mul64(lo, m)
		var carry uint64
		lo, carry = bits.Add64(l, add, 0)
		hi = hi*m + h + carry
	}
	for i := n.start; i < n.end; {
		var part, m uint64 = 0, 1
		for k := 0; k < 18 && i < n.end; k++ {
			part = part*10 + uint64(n.at(i)-'0')
			m *= 10
			i++
		}
		mulAdd(m, part)
	}
	if !n.zero() {
		for z := n.point + scale - n.end; z > 0; z -= 18 {
			m := uint64(1)
			for range min(z, 18) {
				m *= 10
			}
			mulAdd(m, 0)
		}
	}
	v := decimal128.New(int64(hi), lo)
	if n.neg {
		v = v.Negate()
	}
	return v
}

// appendPlain writes n without an exponent, keeping the digits after the point
// as they were written.
func (n *number) appendPlain(dst []byte) []byte {
	if n.neg {
		dst = append(dst, '-')
	}
	total := len(n.a) + len(n.b)
	if n.zero() || n.point <= n.start {
		dst = append(dst, '0')
	} else {
		for i := n.start; i < n.point; i++ {
			dst = n.appendDigit(dst, i)
		}
	}
	if total > n.point {
		dst = append(dst, '.')
		for i := n.point; i < total; i++ {
			dst = n.appendDigit(dst, i)
		}
	}
	return dst
}

// appendDigit writes the digit at i, zero outside of what was written.
func (n *number) appendDigit(dst []byte, i int) []byte {
	if i < 0 || i >= len(n.a)+len(n.b) {
		return append(dst, '0')
	}
	return append(dst, n.at(i))
}

// exactFloat is n as a float64 where one rounding makes it: a whole number below
// 2^53 times or over a power of ten that is exact itself.
func (n *number) exactFloat() (v float64, ok bool) {
	digits, exp := n.end-n.start, n.point-n.end
	if digits > 15 || exp < -22 || exp > 22 {
		return 0, digits == 0
	}
	var m uint64
	for i := n.start; i < n.end; i++ {
		m = m*10 + uint64(n.at(i)-'0')
	}
	v = float64(m)
	if n.neg {
		v = -v
	}
	if exp < 0 {
		return v / exactPowers[-exp], true
	}
	return v * exactPowers[exp], true
}

// exactPowers are the powers of ten that a float64 holds exactly.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// short is a value as a reason shows it: whole when it is short, else its beginning.
func short(text []byte) string {
	const limit = 40
	if len(text) <= limit {
		return string(text)
	}
	cut := limit
	for cut > 0 && text[cut]&0xc0 == 0x80 { // not inside a character
		cut--
	}
	return string(text[:cut]) + "..."
}
