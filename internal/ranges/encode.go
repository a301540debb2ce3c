package ranges

import (
	"bytes"
	"encoding/binary"
	"math"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// The first byte of an encoded value. Numbers that are whole share one tag
// whatever their type, so that a key keeps its range when NUMBER(10) at one end
// is bigint at the other. docs/hash.md publishes these: they never change.
const (
	tagNull byte = iota
	tagBool
	tagInteger
	tagDecimal
	tagFloat
	tagText
	tagBytes
	tagDate
	tagTime
	tagTimestamp
	tagTimestampTZ
	tagUUID
	tagJSON
	tagAbsent // of a column that a row does not have
)

// AppendKey appends the canonical encoding of row i of c to dst and returns it:
// equal values give equal bytes, different ones different bytes, and no
// encoding is the beginning of another, so that those of several columns can
// stand one behind the other. docs/hash.md describes it.
func AppendKey(dst []byte, c *batch.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, tagNull)
	}
	switch c.Type.Kind {
	case schema.Bool:
		if c.Bools.Get(i) {
			return append(dst, tagBool, 1)
		}
		return append(dst, tagBool, 0)
	case schema.Int16, schema.Int32, schema.Int64:
		return appendInteger(dst, tagInteger, c.Ints[i])
	case schema.Float32, schema.Float64:
		return appendFloat(dst, c.Floats[i])
	case schema.Decimal:
		return appendDecimal(dst, c, i)
	case schema.Bytes:
		return appendBytes(dst, tagBytes, c.Bytes(i))
	case schema.Date:
		return appendInteger(dst, tagDate, c.Ints[i])
	case schema.Time:
		return appendTime(dst, tagTime, c, i)
	case schema.Timestamp:
		return appendTime(dst, tagTimestamp, c, i)
	case schema.TimestampTZ:
		return appendTime(dst, tagTimestampTZ, c, i)
	case schema.UUID:
		return appendBytes(dst, tagUUID, c.Bytes(i))
	case schema.JSON:
		return appendBytes(dst, tagJSON, c.Bytes(i))
	}
	return appendBytes(dst, tagText, c.Bytes(i))
}

// appendInteger is a tag and the zigzag varint: one byte for -64 .. 63.
func appendInteger(dst []byte, tag byte, v int64) []byte {
	return binary.AppendVarint(append(dst, tag), v)
}

// appendFloat folds what compares as equal: the two zeros, and every NaN.
func appendFloat(dst []byte, v float64) []byte {
	switch {
	case v == 0:
		v = 0
	case v != v:
		return append(dst, tagFloat, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0)
	}
	return binary.BigEndian.AppendUint64(append(dst, tagFloat), math.Float64bits(v))
}

func appendBytes(dst []byte, tag byte, v []byte) []byte {
	return append(binary.AppendUvarint(append(dst, tag), uint64(len(v))), v...)
}

// appendTime is microseconds and the nanoseconds below them: timestamps of the
// years 1-9999 in nanoseconds would leave 64 bits.
func appendTime(dst []byte, tag byte, c *batch.Column, i int) []byte {
	var nanos uint64
	if len(c.Nanos) != 0 {
		nanos = uint64(c.Nanos[i])
	}
	return binary.AppendUvarint(appendInteger(dst, tag, c.Ints[i]), nanos)
}

// appendDecimal writes a whole number that fits 64 bits as an integer. All else
// is plain text without zeros that say nothing.
func appendDecimal(dst []byte, c *batch.Column, i int) []byte {
	if c.Storage() == schema.StoreDecimal {
		v, scale := c.Decimals[i], c.Type.Scale
		if n := int64(v.LowBits()); v.HighBits() == n>>63 { // fits 64 bits
			for scale > 0 && n%10 == 0 {
				n /= 10
				if scale--; n == 0 {
					scale = 0
				}
			}
			if scale == 0 {
				return appendInteger(dst, tagInteger, n)
			}
		}
	}
	var text, short [64]byte
	plain := appendShortest(short[:0], batch.AppendText(text[:0], c, i))
	if n, ok := whole(plain); ok {
		return appendInteger(dst, tagInteger, n)
	}
	return appendBytes(dst, tagDecimal, plain)
}

// appendShortest writes a plain decimal without the zeros that do not change
// its value: -007.50 is -7.5. What is no plain decimal (NaN, Infinity) stays as
// it is.
func appendShortest(dst, text []byte) []byte {
	digits, neg := bytes.CutPrefix(text, []byte("-"))
	before, after, _ := bytes.Cut(digits, []byte("."))
	if !allDigits(before) || !allDigits(after) || len(before)+len(after) == 0 {
		return append(dst, text...)
	}
	before, after = bytes.TrimLeft(before, "0"), bytes.TrimRight(after, "0")
	if len(before)+len(after) == 0 {
		return append(dst, '0')
	}
	if neg {
		dst = append(dst, '-')
	}
	if len(before) == 0 {
		dst = append(dst, '0')
	}
	dst = append(dst, before...)
	if len(after) > 0 {
		dst = append(append(dst, '.'), after...)
	}
	return dst
}

func allDigits(s []byte) bool {
	for _, b := range s {
		if b-'0' > 9 {
			return false
		}
	}
	return true
}

// whole reads a shortest decimal that is an integer of 64 bits.
func whole(text []byte) (n int64, ok bool) {
	digits, neg := bytes.CutPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 19 || !allDigits(digits) {
		return 0, false
	}
	var u uint64 // 19 digits fit
	for _, b := range digits {
		u = u*10 + uint64(b-'0')
	}
	switch {
	case neg && u <= 1<<63:
		return -int64(u), true
	case !neg && u < 1<<63:
		return int64(u), true
	}
	return 0, false
}
