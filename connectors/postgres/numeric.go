package postgres

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// A numeric is its digits to the base of 10,000 behind a header of four shorts:
// how many there are, the power of the first one, the sign, and the decimal
// digits after the point.
const (
	numericHeader   = 8
	numericNegative = 0x4000
	numericNaN      = 0xc000
	numericInfinity = 0xd000
	numericMinus    = 0xf000 // minus infinity
	// 39 decimal digits, cut at a point that need not lie between two groups.
	numericRoom = numericHeader + 2*11
)

var tens = [...]uint64{1, 10, 100, 1000, 10000}

// putNumeric writes v, an integer with scale digits after the point, and its
// length before it, into b, which has room; it returns the octets written.
func putNumeric(b []byte, v decimal128.Num, scale int) int {
	sign := uint16(0)
	if v.Sign() < 0 {
		sign = numericNegative
		v = v.Negate() // of -2^127 it is itself, and right as a number without a sign
	}
	hi, lo := uint64(v.HighBits()), v.LowBits()
	var groups [11]uint16 // the last group first
	n, after := 0, (scale+3)/4
	if r := scale & 3; r != 0 {
		// The last group holds r digits only: they are its first ones.
		var rem uint64
		hi, lo, rem = div128(hi, lo, tens[r])
		groups[0] = uint16(rem * tens[4-r])
		n = 1
	}
	for hi != 0 {
		var rem uint64
		hi, lo, rem = div128(hi, lo, 10000)
		groups[n] = uint16(rem)
		n++
	}
	for lo != 0 {
		groups[n] = uint16(lo % 10000)
		lo /= 10000
		n++
	}
	for n > 0 && groups[n-1] == 0 { // only where the loops above wrote nothing
		n--
	}
	first := 0
	for first < n && groups[first] == 0 {
		first++
	}
	weight := n - after - 1
	if first == n { // zero
		weight, sign = 0, 0
	}
	length := numericHeader + 2*(n-first)
	binary.BigEndian.PutUint32(b, uint32(length))
	binary.BigEndian.PutUint16(b[4:], uint16(n-first))
	binary.BigEndian.PutUint16(b[6:], uint16(weight))
	binary.BigEndian.PutUint16(b[8:], sign)
	binary.BigEndian.PutUint16(b[10:], uint16(scale))
	p := 12
	for i := n - 1; i >= first; i-- {
		binary.BigEndian.PutUint16(b[p:], groups[i])
		p += 2
	}
	return p
}

// putNaN is putNumeric for what is no number.
func putNaN(b []byte) int {
	binary.BigEndian.PutUint32(b, numericHeader)
	clear(b[4 : 4+numericHeader])
	binary.BigEndian.PutUint16(b[8:], numericNaN)
	return 4 + numericHeader
}

func div128(hi, lo, by uint64) (qhi, qlo, rem uint64) {
	qhi = hi / by
	qlo, rem = bits.Div64(hi%by, lo, by)
	return qhi, qlo, rem
}

// appendNumericText writes a decimal that is given as text, in the canonical
// form of package batch, with its length before it. ok is false for any other text.
func appendNumericText(dst, s []byte) (_ []byte, ok bool) {
	special := func(sign uint16) ([]byte, bool) {
		dst = binary.BigEndian.AppendUint32(dst, numericHeader)
		dst = binary.BigEndian.AppendUint32(dst, 0)
		return binary.BigEndian.AppendUint32(dst, uint32(sign)<<16), true
	}
	switch string(s) {
	case "NaN":
		return special(numericNaN)
	case "Infinity":
		return special(numericInfinity)
	case "-Infinity":
		return special(numericMinus)
	}
	sign := uint16(0)
	if len(s) > 0 && s[0] == '-' {
		sign, s = numericNegative, s[1:]
	}
	point := len(s)
	for i, c := range s {
		switch {
		case c == '.' && point == len(s):
			point = i
		case c-'0' > 9:
			return dst, false
		}
	}
	whole, frac := s[:point], s[min(point+1, len(s)):]
	if len(whole)+len(frac) == 0 || len(frac) > 16383 || len(whole) > 131072 {
		return dst, false
	}
	at := len(dst)
	dst = append(dst, make([]byte, 4+numericHeader)...)
	// Groups are counted from the point to both sides: the first one of the whole
	// part and the last one of the fraction may have less than four digits.
	groups := (len(whole) + 3) / 4
	weight := groups - 1
	lead, count, zeros := true, 0, 0
	put := func(g uint16) {
		switch {
		case lead && g == 0:
			weight--
		case g == 0: // written only if another digit follows
			lead = false
			zeros++
		default:
			lead = false
			for ; zeros > 0; zeros-- {
				dst = append(dst, 0, 0)
				count++
			}
			dst = binary.BigEndian.AppendUint16(dst, g)
			count++
		}
	}
	for i := range groups {
		from := len(whole) - 4*(groups-i)
		g := uint16(0)
		for _, c := range whole[max(from, 0) : from+4] {
			g = g*10 + uint16(c-'0')
		}
		put(g)
	}
	for i := 0; i < len(frac); i += 4 {
		g := uint16(0)
		for k := i; k < i+4; k++ {
			g *= 10
			if k < len(frac) {
				g += uint16(frac[k] - '0')
			}
		}
		put(g)
	}
	if count == 0 {
		weight, sign = 0, 0
	}
	h := dst[at:]
	binary.BigEndian.PutUint32(h, uint32(len(dst)-at-4))
	binary.BigEndian.PutUint16(h[4:], uint16(count))
	binary.BigEndian.PutUint16(h[6:], uint16(int16(weight)))
	binary.BigEndian.PutUint16(h[8:], sign)
	binary.BigEndian.PutUint16(h[10:], uint16(len(frac)))
	return dst, true
}
