package postgres

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// numeric appends a number of PostgreSQL's: as an integer of the column's scale
// where the type has up to 38 digits, else as text.
func (f *decoding) numeric(v []byte) (reason, detail string, err error) {
	if len(v) < numericHeader {
		return "", "", errWidth
	}
	n := int(binary.BigEndian.Uint16(v))
	weight := int(int16(binary.BigEndian.Uint16(v[2:])))
	sign := binary.BigEndian.Uint16(v[4:])
	after := int(binary.BigEndian.Uint16(v[6:]))
	if len(v) != numericHeader+2*n {
		return "", "", errWidth
	}
	groups := v[numericHeader:]
	special := ""
	switch sign {
	case 0, numericNegative:
	case numericNaN:
		special = "NaN"
	case numericInfinity:
		special = "Infinity"
	case numericMinus:
		special = "-Infinity"
	default:
		return "", "", fmt.Errorf("the server sent a number of sign %#x", sign)
	}
	if f.store != schema.StoreDecimal {
		if special != "" {
			f.data = append(f.data, special...)
		} else {
			f.data = appendGroups(f.data, groups, weight, sign == numericNegative, after)
		}
		f.offsets = append(f.offsets, int32(len(f.data)))
		return "", "", nil
	}
	if special != "" {
		if f.special && sign == numericNaN {
			f.decimals = append(f.decimals, batch.NaN)
			return "", "", nil
		}
		return special + ", which a decimal of declared digits has no place for", "", nil
	}
	hi, lo, ok := integerOf(groups, weight, f.scale)
	if !ok {
		return fmt.Sprintf("the number has no place in decimal(%d,%d)", f.digits, f.scale), "", nil
	}
	d := decimal128.New(int64(hi), lo)
	if sign == numericNegative {
		d = d.Negate()
	}
	f.decimals = append(f.decimals, d)
	return "", "", nil
}

// integerOf is a number of these groups times 10^scale; ok is false where that
// is no whole number below 2^127.
func integerOf(groups []byte, weight, scale int) (hi, lo uint64, ok bool) {
	n := len(groups) / 2
	if n == 0 {
		return 0, 0, true
	}
	// The last group may reach past the scale: its digits there are zeros.
	exp := 4*(weight-n+1) + scale
	if exp <= -4 {
		return 0, 0, false
	}
	last := uint64(binary.BigEndian.Uint16(groups[2*n-2:]))
	shift := uint64(10000)
	if exp < 0 {
		if last%tens[-exp] != 0 {
			return 0, 0, false
		}
		last, shift = last/tens[-exp], tens[4+exp]
	}
	i := 0
	for ; n-1-i > 0; i += 4 {
		part, m := uint64(0), uint64(1)
		for k := i; k < min(i+4, n-1); k++ {
			part, m = part*10000+uint64(binary.BigEndian.Uint16(groups[2*k:])), m*10000
		}
		if hi, lo, ok = mulAdd128(hi, lo, m, part); !ok {
			return 0, 0, false
		}
	}
	if hi, lo, ok = mulAdd128(hi, lo, shift, last); !ok {
		return 0, 0, false
	}
	for exp > 0 {
		step := min(exp, 4)
		if hi, lo, ok = mulAdd128(hi, lo, tens[step], 0); !ok {
			return 0, 0, false
		}
		exp -= step
	}
	return hi, lo, true
}

// mulAdd128 is (hi, lo) * m + add; ok is false past 2^127.
func mulAdd128(hi, lo, m, add uint64) (_, _ uint64, ok bool) {
	over, h := bits.Mul64(hi, m)
	carry, l := bits.Mul64(lo, m)
	h, c1 := bits.Add64(h, carry, 0)
	l, c2 := bits.Add64(l, add, 0)
	h, c3 := bits.Add64(h, 0, c2)
	return h, l, over == 0 && c1 == 0 && c3 == 0 && h>>63 == 0
}

// appendGroups writes a number with after digits behind the point, the canonical
// text of package batch.
func appendGroups(dst, groups []byte, weight int, negative bool, after int) []byte {
	n := len(groups) / 2
	if negative {
		dst = append(dst, '-')
	}
	group := func(i int) int { // of weight - i; zero outside of what is there
		if i < 0 || i >= n {
			return 0
		}
		return int(binary.BigEndian.Uint16(groups[2*i:]))
	}
	if weight < 0 {
		dst = append(dst, '0')
	} else {
		at := len(dst)
		for i := range weight + 1 {
			dst = append4(dst, group(i))
		}
		lead := at // zeros before the first digit, but for the last place
		for lead < len(dst)-1 && dst[lead] == '0' {
			lead++
		}
		dst = append(dst[:at], dst[lead:]...)
	}
	if after == 0 {
		return dst
	}
	dst = append(dst, '.')
	end := len(dst) + after
	for i := weight + 1; len(dst) < end; i++ {
		dst = append4(dst, group(i))
	}
	return dst[:end]
}

func append4(dst []byte, g int) []byte {
	return append(dst, byte('0'+g/1000%10), byte('0'+g/100%10), byte('0'+g/10%10), byte('0'+g%10))
}
