package batch

import (
	"encoding/hex"
	"math"
	"strconv"

	"penstock/internal/schema"
)

// AppendText appends the canonical text of row i to dst and returns it. A NULL
// appends nothing: the caller tells it from an empty text by IsNull.
//
//	booleans      true, false
//	integers      -12
//	floats        the shortest decimal that reads back as the same value: 0.1, 1e+21, NaN, Infinity, -Infinity
//	decimals      plain digits with the digits of the scale: 12.50, 0.05
//	text, json    as it is
//	bytes         \x and hexadecimal digits in lower case
//	date          2006-01-02; year 0 is 1 BC; -0043-03-15; 12006-01-02
//	time          15:04:05, with a fraction where it is not zero and without its trailing zeros: 15:04:05.5
//	timestamp     2006-01-02 15:04:05.5
//	timestamptz   2006-01-02 15:04:05.5+00:00, always in UTC
//	uuid          lower case with hyphens
//	special       infinity, -infinity of dates and timestamps; NaN of a decimal
//
// Nothing is allocated beyond dst.
func AppendText(dst []byte, c *Column, i int) []byte {
	if c.IsNull(i) {
		return dst
	}
	switch c.Type.Kind {
	case schema.Bool:
		return strconv.AppendBool(dst, c.Bools.Get(i))
	case schema.Int16, schema.Int32, schema.Int64:
		return strconv.AppendInt(dst, c.Ints[i], 10)
	case schema.Float32:
		return appendFloat(dst, c.Floats[i], 32)
	case schema.Float64:
		return appendFloat(dst, c.Floats[i], 64)
	case schema.Decimal:
		if c.store == schema.StoreDecimal {
			if c.Decimals[i] == NaN {
				return append(dst, "NaN"...)
			}
			return appendDecimal(dst, c.Decimals[i], c.Type.Scale)
		}
	case schema.Bytes:
		return hex.AppendEncode(append(dst, `\x`...), c.Bytes(i))
	case schema.Date:
		if infinite(c.Ints[i]) {
			return appendInfinite(dst, c.Ints[i])
		}
		return appendDate(dst, c.Ints[i])
	case schema.Time:
		return appendClock(dst, c.Ints[i], c.nanos(i))
	case schema.Timestamp:
		if infinite(c.Ints[i]) {
			return appendInfinite(dst, c.Ints[i])
		}
		return appendTimestamp(dst, c.Ints[i], c.nanos(i))
	case schema.TimestampTZ:
		if infinite(c.Ints[i]) {
			return appendInfinite(dst, c.Ints[i])
		}
		return append(appendTimestamp(dst, c.Ints[i], c.nanos(i)), "+00:00"...)
	case schema.UUID:
		return appendUUID(dst, c.Bytes(i))
	}
	return append(dst, c.Bytes(i)...)
}

func (c *Column) nanos(i int) int16 {
	if len(c.Nanos) == 0 {
		return 0
	}
	return c.Nanos[i]
}

// appendFloat writes without an exponent between 1e-6 and 1e21, as JSON in
// browsers does.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, bits)
}

func appendUUID(dst, v []byte) []byte {
	if len(v) != 16 { // a programmer's mistake at the source, shown instead of hidden
		return hex.AppendEncode(dst, v)
	}
	dst = append(hex.AppendEncode(dst, v[:4]), '-')
	dst = append(hex.AppendEncode(dst, v[4:6]), '-')
	dst = append(hex.AppendEncode(dst, v[6:8]), '-')
	dst = append(hex.AppendEncode(dst, v[8:10]), '-')
	return hex.AppendEncode(dst, v[10:])
}

func appendUint(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }
