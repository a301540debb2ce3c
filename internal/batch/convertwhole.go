package batch

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// whole appends the values of all rows to dst's slices at once, whatever is in
// the rows that do not count, and reports whether there is such a way.
func (c *Converter) whole(src, dst *Column) bool {
	switch c.how {
	case waySame, wayLimit, wayCopy:
		copyValues(src, dst)
	case wayTime:
		c.wholeTime(src, dst)
	case wayDateToTime:
		if slices.ContainsFunc(src.Ints, beyondTimes) {
			return false
		}
		for _, days := range src.Ints {
			if !infinite(days) {
				days *= microsPerDay
			}
			dst.Ints = append(dst.Ints, days)
		}
		if dst.hasNanos() {
			dst.Nanos = append(dst.Nanos, make([]int16, len(src.Ints))...)
		}
	default:
		return false
	}
	return true
}

// beyondTimes reports a day whose microseconds leave 64 bits.
func beyondTimes(days int64) bool {
	const most = math.MaxInt64/microsPerDay - 1
	return (days > most || days < -most) && !infinite(days)
}

func copyValues(src, dst *Column) {
	switch src.store {
	case schema.StoreInt:
		dst.Ints = append(dst.Ints, src.Ints...)
		dst.Nanos = append(dst.Nanos, src.Nanos...)
	case schema.StoreFloat:
		dst.Floats = append(dst.Floats, src.Floats...)
	case schema.StoreDecimal:
		dst.Decimals = append(dst.Decimals, src.Decimals...)
	case schema.StoreBool:
		for i := range src.rows {
			dst.Bools = dst.Bools.push(dst.rows+i, src.Bools.Get(i))
		}
	case schema.StoreBytes:
		base := int32(len(dst.Data))
		dst.Data = append(dst.Data, src.Data...)
		for _, o := range src.Offsets[1:] {
			dst.Offsets = append(dst.Offsets, base+o)
		}
	}
}

// wholeTime rounds half up: to the digits of the target, where it keeps fewer
// than the source.
func (c *Converter) wholeTime(src, dst *Column) {
	keep := dst.hasNanos()
	step := int64(1) // nanoseconds of the target's last digit
	for p := c.dst.Precision; p < 9; p++ {
		step *= 10
	}
	if c.dst.Precision >= c.src.Precision {
		step = 1
	}
	for i, micros := range src.Ints {
		nanos := int64(src.nanos(i))
		if step > 1 && !infinite(micros) {
			micros, nanos = roundTime(micros, nanos, step)
		}
		dst.Ints = append(dst.Ints, micros)
		if keep {
			dst.Nanos = append(dst.Nanos, int16(nanos))
		}
	}
}

// roundTime rounds to a multiple of step nanoseconds. Microseconds times 1000
// would overflow past the year 2262, so that the second is kept apart.
func roundTime(micros, nanos, step int64) (int64, int64) {
	second := floorDiv(micros, microsPerSecond) * microsPerSecond
	n := (micros-second)*1000 + nanos
	n = (n + step/2) / step * step
	return second + n/1000, n % 1000
}

// check tests the selected values against the limits of the target type.
func (c *Converter) check(src *Column, sel Selection, bad []BadValue) []BadValue {
	next := 0
	live := func(i int) bool { // called with ascending rows
		for sel != nil && next < len(sel) && int(sel[next]) < i {
			next++
		}
		return (sel == nil || next < len(sel) && int(sel[next]) == i) && !src.IsNull(i)
	}
	report := func(i int, why string) {
		if why != "" {
			bad = append(bad, BadValue{Row: int32(i), Reason: why})
		}
	}
	switch src.store {
	case schema.StoreInt:
		lo, hi := c.dst.Kind.IntRange()
		for i, v := range src.Ints {
			if (v < lo || v > hi) && live(i) {
				report(i, outside(v, lo, hi, c.dst))
			}
		}
	case schema.StoreDecimal:
		limit := decimal128.GetScaleMultiplier(c.dst.Precision)
		for i, v := range src.Decimals {
			if !below(v, limit) && v != NaN && live(i) {
				report(i, c.beyond(src, i))
			}
		}
	case schema.StoreBytes:
		count, unit := utf8.RuneCount, "characters"
		if c.dst.Kind == schema.Bytes {
			count, unit = octets, "octets"
		}
		for i := range src.rows {
			switch n := int(src.Offsets[i+1] - src.Offsets[i]); {
			case c.dst.Kind == schema.Decimal:
				if live(i) && !(c.special && equalFold(src.Bytes(i), "nan")) {
					report(i, c.beyond(src, i))
				}
			case n > c.dst.Length && live(i):
				report(i, tooLong(src.Bytes(i), c.dst, count, unit))
			}
		}
	}
	return bad
}

// below reports |v| < limit.
func below(v, limit decimal128.Num) bool {
	if v.Sign() < 0 {
		v = v.Negate()
	}
	hi, top := uint64(v.HighBits()), uint64(limit.HighBits())
	return hi < top || hi == top && v.LowBits() < limit.LowBits()
}

// beyond says why the decimal of row i has no place in the target's decimal.
func (c *Converter) beyond(src *Column, i int) string {
	text := c.text(src, i)
	n, ok := scanNumber(text)
	if !ok {
		if c.dst.Precision == 0 {
			return ""
		}
		return fmt.Sprintf("%s is no value of %s", short(text), c.dst)
	}
	return n.fits(c.dst, text)
}
