package rowexpr

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"penstock/internal/schema"
)

// maxDigits bounds a decimal of undeclared precision, so that 1e1000000 can't
// become a million digits.
const maxDigits = 1000

// parseNumber reads a number as it is written. Whole numbers that fit are
// Int64, all else is an exact decimal whose scale has no trailing zeros. A fault is a sentence; none is "".
func parseNumber(word string) (typ schema.Type, lit literal, fault string) {
	const bad, long = "Numbers are written 12, 1.5, 1e3 or 0xff.", "A number may have at most 1,000 digits."
	text := strings.ToLower(strings.ReplaceAll(word, "_", ""))
	if len(text) > 1 && text[0] == '0' && strings.ContainsAny(text[1:2], "xbo") {
		v, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return schema.Type{}, literal{}, bad
		}
		return schema.Of(schema.Int64), literal{i: v}, ""
	}
	mantissa, exponent := text, 0
	if i := strings.IndexByte(text, 'e'); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil {
			return schema.Type{}, literal{}, bad
		}
		mantissa, exponent = text[:i], e
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	v, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return schema.Type{}, literal{}, bad
	}
	if mantissa == text && !point && v.IsInt64() {
		return schema.Of(schema.Int64), literal{i: v.Int64()}, ""
	}
	if exponent > maxDigits || exponent < -maxDigits {
		return schema.Type{}, literal{}, long
	}
	typ, lit = decimalLiteral(v, len(fraction)-exponent)
	if wide(typ) && len(lit.s) > maxDigits {
		return schema.Type{}, literal{}, long
	}
	return typ, lit, ""
}

// decimalLiteral is v / 10^scale in its shortest form.
func decimalLiteral(v *big.Int, scale int) (schema.Type, literal) {
	v = new(big.Int).Set(v)
	ten, rest := big.NewInt(10), new(big.Int)
	for scale > 0 {
		q, r := new(big.Int).QuoRem(v, ten, rest)
		if r.Sign() != 0 {
			break
		}
		v, scale = q, scale-1
	}
	for ; scale < 0; scale++ {
		v.Mul(v, ten)
	}
	digits := len(new(big.Int).Abs(v).String())
	if precision := max(digits, scale); precision <= 38 {
		return schema.Type{Kind: schema.Decimal, Precision: precision, Scale: scale}, literal{d: decimal128.FromBigInt(v)}
	}
	return schema.Of(schema.Decimal), literal{s: string(appendScaled(nil, v.String(), scale))}
}

// numberText is how a number literal is printed: a decimal that would be read
// back as an int64 has a point.
func numberText(t schema.Type, l literal) string {
	switch {
	case t.Kind == schema.Int64:
		return strconv.FormatInt(l.i, 10)
	case wide(t):
		return l.s
	}
	s := string(appendDecimal(nil, l.d, t.Scale))
	if t.Scale == 0 && l.d.BigInt().IsInt64() {
		s += ".0"
	}
	return s
}

// appendScaled writes digits (with a sign) with the point before the last scale of them.
func appendScaled(dst []byte, digits string, scale int) []byte {
	if strings.HasPrefix(digits, "-") {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale <= 0 {
		return append(dst, digits...)
	}
	if len(digits) <= scale {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:len(digits)-scale]...)
		digits = digits[len(digits)-scale:]
	}
	dst = append(dst, '.')
	for i := len(digits); i < scale; i++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// quote writes text so that the parser reads the same text back.
func quote(s string) string {
	const hex = "0123456789abcdef"
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return string(append(b, '"'))
}

// Forms of the literals that are compared with dates and times. A fraction may
// follow the seconds of any of them.
var (
	stampForms = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"}
	zoneForms  = []string{"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04Z07:00"}
	timeForms  = []string{"15:04:05", "15:04"}
)

// parseTemporal reads text as a value of kind k.
func parseTemporal(k schema.Kind, text string) (literal, bool) {
	forms := stampForms
	switch k {
	case schema.Date:
		forms = stampForms[len(stampForms)-1:]
	case schema.TimestampTZ:
		forms = zoneForms
	case schema.Time:
		forms = timeForms
	}
	if i := strings.IndexByte(text, '.'); strings.Contains(text, ",") || i >= 0 && digitsAt(text[i+1:]) > 9 {
		return literal{}, false
	}
	for _, form := range forms {
		t, err := time.Parse(form, text)
		if err != nil || k != schema.Time && (t.Year() < 1 || t.UTC().Year() < 1 || t.UTC().Year() > 9999) {
			continue
		}
		nanos := int16(t.Nanosecond() % 1000)
		switch k {
		case schema.Date:
			return literal{i: t.Unix() / 86400}, true
		case schema.Time:
			midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
			return literal{i: t.Sub(midnight).Microseconds(), nanos: nanos}, true
		}
		return literal{i: t.UnixMicro(), nanos: nanos}, true
	}
	return literal{}, false
}

func digitsAt(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// parseUUID reads the 36-character form in either case.
func parseUUID(text string) (string, bool) {
	if len(text) != 36 {
		return "", false
	}
	var out []byte
	for i := 0; i < len(text); {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if text[i] != '-' {
				return "", false
			}
			i++
			continue
		}
		v, err := strconv.ParseUint(text[i:i+2], 16, 8)
		if err != nil {
			return "", false
		}
		out = append(out, byte(v))
		i += 2
	}
	return string(out), len(out) == 16
}
