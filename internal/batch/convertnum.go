package batch

import (
	"fmt"
	"math"
	"strconv"

	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// dateToTime is for a column in which a day lies past all times.
func (c *Converter) dateToTime(src *Column, i int, dst *Column) (why string) {
	days := src.Ints[i]
	switch {
	case beyondTimes(days):
		return fmt.Sprintf("%s is past the times that %s has", c.text(src, i), c.dst)
	case !infinite(days):
		days *= microsPerDay
	}
	dst.AppendInt(days)
	return ""
}

func (c *Converter) timeToDate(src *Column, i int, dst *Column) (why string) {
	v := src.Ints[i]
	days := floorDiv(v, microsPerDay)
	if v != days*microsPerDay || src.nanos(i) != 0 {
		return fmt.Sprintf("%s is not at midnight and a date has no time of day", c.text(src, i))
	}
	dst.AppendInt(days)
	return ""
}

func (c *Converter) intToFloat(v int64, dst *Column) (why string) {
	f := float64(v)
	if c.dst.Kind == schema.Float32 {
		f = float64(float32(v))
	}
	if !wholeFloat(f) || int64(f) != v {
		return fmt.Sprintf("%d needs more digits than a %s has", v, c.dst)
	}
	dst.AppendFloat(f)
	return ""
}

// wholeFloat reports whether f is a whole number that an int64 holds.
func wholeFloat(f float64) bool { return f >= -1<<63 && f < 1<<63 && f == math.Trunc(f) }

func (c *Converter) intToDecimal(v int64, dst *Column) (why string) {
	room := c.dst.Precision - c.dst.Scale
	num := decimal128.FromI64(v)
	if room < 19 && !below(num, decimal128.GetScaleMultiplier(room)) && v != 0 {
		return fmt.Sprintf("%d has more than the %d digits before the point that %s takes", v, room, c.dst)
	}
	dst.AppendDecimal(num.Mul(decimal128.GetScaleMultiplier(c.dst.Scale)))
	return ""
}

// floatToFloat rounds to 24 bits. A finite value beyond the range of a float32
// would become infinite: that is no rounding.
func (c *Converter) floatToFloat(v float64, dst *Column) (why string) {
	f := float64(float32(v))
	if math.IsInf(f, 0) && !math.IsInf(v, 0) {
		return fmt.Sprintf("%g is outside of %s", v, c.dst)
	}
	dst.AppendFloat(f)
	return ""
}

func (c *Converter) floatToInt(v float64, dst *Column) (why string) {
	if !wholeFloat(v) {
		if v == v && !math.IsInf(v, 0) && v != math.Trunc(v) {
			return fmt.Sprintf("%s has a fraction and %s takes none", appendFloat(nil, v, 64), c.dst)
		}
		return fmt.Sprintf("%s is outside of %s", appendFloat(nil, v, 64), c.dst)
	}
	lo, hi := c.dst.Kind.IntRange()
	if why := outside(int64(v), lo, hi, c.dst); why != "" {
		return why
	}
	dst.AppendInt(int64(v))
	return ""
}

// fromDecimal turns a decimal128 into an integer or a decimal128 of another
// scale. Most values are one word; the others go by their digits.
func (c *Converter) fromDecimal(src *Column, i int, dst *Column) (why string) {
	v := src.Decimals[i]
	scale := 0
	if v == NaN && c.how == wayRescale {
		dst.AppendDecimal(NaN)
		return ""
	}
	if c.how == wayRescale {
		scale = c.dst.Scale
	}
	word := int64(v.LowBits())
	if v.HighBits() != word>>63 { // more than 64 bits
		return parseText(dst, c.text(src, i))
	}
	switch up := scale - src.Type.Scale; {
	case up >= 0:
		num := v
		if up > 18 {
			return parseText(dst, c.text(src, i))
		}
		num = num.Mul(decimal128.GetScaleMultiplier(up)) // below 2^63 * 10^18: no overflow
		if c.how == wayRescale {
			return c.putDecimal(num, src, i, dst)
		}
	default:
		if up < -18 {
			return parseText(dst, c.text(src, i))
		}
		unit := int64(decimal128.GetScaleMultiplier(-up).LowBits())
		if word%unit != 0 {
			return parseText(dst, c.text(src, i)) // says what is wrong
		}
		word /= unit
		if c.how == wayRescale {
			return c.putDecimal(decimal128.FromI64(word), src, i, dst)
		}
	}
	lo, hi := c.dst.Kind.IntRange()
	if why := outside(word, lo, hi, c.dst); why != "" {
		return why
	}
	dst.AppendInt(word)
	return ""
}

func (c *Converter) putDecimal(v decimal128.Num, src *Column, i int, dst *Column) (why string) {
	if !below(v, decimal128.GetScaleMultiplier(c.dst.Precision)) {
		return c.beyond(src, i)
	}
	dst.AppendDecimal(v)
	return ""
}

// numToFloat takes the nearest float and tests that nothing is lost by it: the
// shortest decimal that reads back as the float is the value that was written,
// or the float is that whole number to the last digit.
func (c *Converter) numToFloat(src *Column, i int, dst *Column) (why string) {
	bits := 64
	if c.dst.Kind == schema.Float32 {
		bits = 32
	}
	text := c.text(src, i)
	n, ok := scanNumber(text)
	if bits == 64 && ok {
		// Up to 15 digits come back from any float64.
		if f, ok := n.exactFloat(); ok {
			dst.AppendFloat(f)
			return ""
		}
	}
	f, why := parseFloat(text, c.dst)
	if why != "" {
		return why
	}
	if !ok { // NaN, Infinity
		dst.AppendFloat(f)
		return ""
	}
	var buf [32]byte
	back := strconv.AppendFloat(buf[:0], f, 'e', -1, bits)
	if m, ok := scanNumber(back); !ok || !n.equal(&m) {
		if whole, why := parseInt(text, schema.Of(schema.Int64)); why != "" || !wholeFloat(f) || int64(f) != whole {
			return fmt.Sprintf("%s needs more digits than a %s has", short(text), c.dst)
		}
	}
	dst.AppendFloat(f)
	return ""
}

// equal compares two numbers by value.
func (n *number) equal(m *number) bool {
	if n.neg != m.neg || n.end-n.start != m.end-m.start {
		return false
	}
	if n.zero() {
		return true
	}
	if n.point-n.start != m.point-m.start {
		return false
	}
	for k := range n.end - n.start {
		if n.at(n.start+k) != m.at(m.start+k) {
			return false
		}
	}
	return true
}
