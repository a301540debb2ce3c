package batch

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"penstock/internal/schema"
)

// ParseText appends the value that s says to dst, read by dst's type. It takes
// what AppendText writes, and of other notations only these:
//
//	booleans      t, f, 1, 0 and capitals
//	integers      a fraction of zeros, an exponent: 12.00, 1e3
//	decimals      an exponent
//	floats        inf, -inf and capitals
//	timestamps    T for the blank; a date alone is its midnight
//	timestamptz   any offset, or Z; one of the two must be there
//	bytes, uuid   capitals
//
// The error says what is wrong with the text as a clause for people. On an
// error nothing is appended. Nothing is allocated for a value that is good.
func ParseText(dst *Column, s []byte) error {
	if plainText(dst, s) {
		return nil
	}
	if why := parseText(dst, s); why != "" {
		return parseError(why)
	}
	return nil
}

// plainText is the fast way for what nearly every value looks like: it takes
// half the time of the general one. false: nothing was appended.
func plainText(dst *Column, s []byte) bool {
	switch dst.Type.Kind {
	case schema.Int64, schema.Int32, schema.Int16:
		v, ok := plainInt(s)
		if ok && dst.Type.Kind != schema.Int64 {
			lo, hi := dst.Type.Kind.IntRange()
			ok = v >= lo && v <= hi
		}
		if ok {
			dst.Ints = append(dst.Ints, v)
			dst.appended()
		}
		return ok
	case schema.Text:
		ok := dst.Type.Length == 0 || len(s) <= dst.Type.Length && !dst.Type.Fixed
		if ok {
			dst.AppendBytes(s)
		}
		return ok
	case schema.Timestamp:
		v, ok := plainTimestamp(s)
		if ok {
			dst.AppendNanos(v, 0)
		}
		return ok
	}
	return false
}

type parseError string

func (e parseError) Error() string { return string(e) }

// parseText appends the value, or says why not.
func parseText(dst *Column, s []byte) (why string) {
	t := dst.Type
	switch t.Kind {
	case schema.Bool:
		v, why := parseBool(s)
		if why == "" {
			dst.AppendBool(v)
		}
		return why
	case schema.Int16, schema.Int32, schema.Int64:
		v, why := parseInt(s, t)
		if why == "" {
			dst.AppendInt(v)
		}
		return why
	case schema.Float32, schema.Float64:
		v, why := parseFloat(s, t)
		if why == "" {
			dst.AppendFloat(v)
		}
		return why
	case schema.Decimal:
		return parseDecimal(dst, s)
	case schema.Text:
		return dst.appendLimited(s, utf8.RuneCount, "characters", ' ')
	case schema.Bytes:
		return parseBytes(dst, s)
	case schema.UUID:
		return parseUUID(dst, s)
	case schema.JSON:
		if !json.Valid(s) {
			return fmt.Sprintf("%q is not JSON", short(s))
		}
		dst.AppendBytes(s)
		return ""
	}
	return parseTime(dst, s)
}

func parseBool(s []byte) (v bool, why string) {
	switch len(s) {
	case 1:
		switch s[0] {
		case 't', 'T', '1':
			return true, ""
		case 'f', 'F', '0':
			return false, ""
		}
	case 4:
		if equalFold(s, "true") {
			return true, ""
		}
	case 5:
		if equalFold(s, "false") {
			return false, ""
		}
	}
	return false, fmt.Sprintf("%q is neither true nor false", short(s))
}

// equalFold compares with an ASCII word in lower case.
func equalFold(s []byte, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range s {
		if s[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

func parseInt(s []byte, t schema.Type) (v int64, why string) {
	lo, hi := t.Kind.IntRange()
	if v, ok := plainInt(s); ok {
		return v, outside(v, lo, hi, t)
	}
	n, ok := scanNumber(s)
	switch {
	case !ok:
		return 0, fmt.Sprintf("%q is not a whole number", short(s))
	case n.zero():
		return 0, ""
	case n.end > n.point:
		return 0, fmt.Sprintf("%s has a fraction and %s takes none", short(s), t)
	case n.point-n.start > 19:
		return 0, fmt.Sprintf("%s is outside of %s", short(s), t)
	}
	num := n.num(0)
	v = int64(num.LowBits())
	if num.HighBits() != v>>63 { // more than 64 bits
		return 0, fmt.Sprintf("%s is outside of %s", short(s), t)
	}
	return v, outside(v, lo, hi, t)
}

// plainInt is the fast way for what nearly every integer looks like: a sign and
// at most 18 digits.
func plainInt(s []byte) (v int64, ok bool) {
	i := 0
	if len(s) > 0 && s[0] == '-' {
		i = 1
	}
	if len(s) == i || len(s)-i > 18 {
		return 0, false
	}
	for _, c := range s[i:] {
		if !isDigit(c) {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if i == 1 {
		v = -v
	}
	return v, true
}

func outside(v, lo, hi int64, t schema.Type) string {
	switch {
	case v < lo:
		return fmt.Sprintf("%d is below %d, the least that %s takes", v, lo, t)
	case v > hi:
		return fmt.Sprintf("%d is above %d, the most that %s takes", v, hi, t)
	}
	return ""
}

func parseFloat(s []byte, t schema.Type) (v float64, why string) {
	bits := 64
	if t.Kind == schema.Float32 {
		bits = 32
	}
	n, ok := scanNumber(s)
	if !ok {
		if special, ok := parseSpecial(s); ok {
			return special, ""
		}
	}
	if ok && bits == 64 {
		if v, ok := n.exactFloat(); ok {
			if n.zero() && s[0] == '-' {
				v = math.Copysign(0, -1)
			}
			return v, ""
		}
	}
	// strconv also reads hexadecimal floats, underscores and more words.
	for _, c := range s {
		if !isDigit(c) && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E' {
			return 0, fmt.Sprintf("%q is not a number", short(s))
		}
	}
	v, err := strconv.ParseFloat(unsafeString(s), bits)
	switch {
	case err == nil:
		return v, ""
	case math.IsInf(v, 0):
		return 0, fmt.Sprintf("%s is outside of %s", short(s), t)
	}
	return 0, fmt.Sprintf("%q is not a number", short(s))
}

// parseSpecial reads NaN and the infinities.
func parseSpecial(s []byte) (float64, bool) {
	if equalFold(s, "nan") {
		return math.NaN(), true
	}
	sign, word := 1, s
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		word = s[1:]
	}
	if equalFold(word, "infinity") || equalFold(word, "inf") {
		return math.Inf(sign), true
	}
	return 0, false
}

// unsafeString is s as a string for a callee that does not keep it.
func unsafeString(s []byte) string { return unsafe.String(unsafe.SliceData(s), len(s)) }

// parseDecimal reads into either form of a decimal. NaN and the infinities are
// values of a decimal without precision alone, where PostgreSQL has them.
func parseDecimal(dst *Column, s []byte) (why string) {
	n, ok := scanNumber(s)
	if !ok {
		if v, special := parseSpecial(s); special {
			if dst.Type.Precision != 0 {
				return fmt.Sprintf("%s is no value of %s", short(s), dst.Type)
			}
			dst.Data = appendFloat(dst.Data, v, 64)
			dst.endBytes()
			return ""
		}
		return fmt.Sprintf("%q is not a decimal number", short(s))
	}
	if why := n.fits(dst.Type, s); why != "" {
		return why
	}
	if dst.store == schema.StoreDecimal {
		dst.AppendDecimal(n.num(dst.Type.Scale))
		return ""
	}
	dst.Data = n.appendPlain(dst.Data)
	dst.endBytes()
	return ""
}

// endBytes ends a value that was written to Data directly.
func (c *Column) endBytes() {
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
	c.appended()
}

// appendLimited appends s if it is not longer than the type allows, and pads it
// when the type is fixed.
func (c *Column) appendLimited(s []byte, count func([]byte) int, unit string, pad byte) (why string) {
	if why := tooLong(s, c.Type, count, unit); why != "" {
		return why
	}
	c.Data = append(c.Data, s...)
	if c.Type.Fixed {
		for range c.Type.Length - count(s) {
			c.Data = append(c.Data, pad)
		}
	}
	c.endBytes()
	return ""
}

// tooLong says why s is too long for t, or "". No character takes less than an
// octet, so that short values need no counting.
func tooLong(s []byte, t schema.Type, count func([]byte) int, unit string) string {
	if t.Length == 0 || len(s) <= t.Length {
		return ""
	}
	if n := count(s); n > t.Length {
		return fmt.Sprintf("%q has %d %s and %s takes %d", short(s), n, unit, t, t.Length)
	}
	return ""
}

func octets(s []byte) int { return len(s) }

func parseBytes(dst *Column, s []byte) (why string) {
	if len(s) < 2 || s[0] != '\\' || s[1]|0x20 != 'x' {
		return fmt.Sprintf(`%q does not begin with \x, as bytes written in hexadecimal do`, short(s))
	}
	s = s[2:]
	if len(s)%2 != 0 {
		return `an odd number of hexadecimal digits follows \x`
	}
	if n := len(s) / 2; dst.Type.Length > 0 && n > dst.Type.Length {
		return fmt.Sprintf("a value has %d octets and %s takes %d", n, dst.Type, dst.Type.Length)
	}
	from := len(dst.Data)
	out, err := hex.AppendDecode(dst.Data, s)
	if err != nil {
		return fmt.Sprintf("%q is not hexadecimal", short(s))
	}
	if dst.Type.Fixed {
		for len(out)-from < dst.Type.Length {
			out = append(out, 0)
		}
	}
	dst.Data = out
	dst.endBytes()
	return ""
}

func parseUUID(dst *Column, s []byte) (why string) {
	var v [16]byte
	bad := len(s) != 36
	for i, k := 0, 0; !bad && i < 36; {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			bad = s[i] != '-'
			i++
			continue
		}
		hi, lo := hexDigit(s[i]), hexDigit(s[i+1])
		bad = hi|lo > 15
		v[k] = hi<<4 | lo&15
		i, k = i+2, k+1
	}
	if bad {
		return fmt.Sprintf("%q is not a UUID of the form 00000000-0000-0000-0000-000000000000", short(s))
	}
	dst.AppendBytes(v[:])
	return ""
}

// hexDigit is the value of a hexadecimal digit, 255 for any other byte.
func hexDigit(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}
