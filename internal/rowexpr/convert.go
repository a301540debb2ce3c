package rowexpr

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/cockroachdb/apd/v3"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// newConversion is int(), float(), string() and the conversions between kinds
// of number, and of a date to a timestamp, that are implied.
func newConversion(n *node, x op) op {
	from, to := n.args[0].typ, n.typ
	date := from.Kind == schema.Date && to.Kind != schema.Date
	if from.Storage() == to.Storage() && from.IsNumber() == to.IsNumber() && from.Scale == to.Scale && !date &&
		(from.Kind == to.Kind || from.IsNumber() && wide(from) == wide(to)) {
		return x // as it lies
	}
	o := &mapOp{x: x, store: to.Storage()}
	what := show(n)
	switch {
	case to.Kind == schema.Text:
		if from.Kind == schema.Bool {
			return &boolTextOp{x: x}
		}
		o.f = func(_ *run, x, out *vec, i int) string {
			out.data = appendText(out.data, from, x, i)
			return ""
		}
	case date:
		o.f = func(_ *run, x, out *vec, i int) string {
			moment, ok := midnight(x.ints[i&x.index])
			if out.ints[i] = moment; !ok {
				return "a day past all timestamps in " + what
			}
			return ""
		}
	case to.IsInteger():
		o.f = toInt(from, "not a whole number in "+what, "integer overflow in "+what)
	case to.IsFloat():
		o.f = toFloat(from, "not a number in "+what, "out of range of a double in "+what)
	case wide(to):
		o.f = func(r *run, x, out *vec, i int) string {
			m := &r.dec.wide
			if rank, ok := load(&m.z, from, x, i); !ok || rank != rankFinite {
				return "not a decimal number in " + what
			}
			out.data = appendWide(out.data, &m.z)
			return ""
		}
	default:
		o.f = toDecimal(from, to, "more than "+to.String()+" holds in "+what)
	}
	return o
}

func toInt(from schema.Type, unread, overflow string) func(r *run, x, out *vec, i int) string {
	return func(r *run, x, out *vec, i int) string {
		k := i & x.index
		var ok bool
		switch {
		case from.IsInteger():
			out.ints[i], ok = x.ints[k], true
		case from.IsFloat():
			out.ints[i], ok = wholeFloat(x.floats[k])
		case from.Kind == schema.Text:
			v, err := strconv.ParseInt(str(x.text(i)), 10, 64)
			if err != nil {
				if e, is := err.(*strconv.NumError); is && e.Err == strconv.ErrRange {
					return overflow
				}
				return unread
			}
			out.ints[i], ok = v, true
		case wide(from):
			m := &r.dec.wide
			rank, read := load(&m.x, from, x, i)
			if !read || rank != rankFinite {
				return unread
			}
			m.x.Modf(&m.y, &m.z)
			v, err := m.y.Int64()
			out.ints[i], ok = v, err == nil
		default:
			v := r.dec.divide(x.decs[k], fromInt(1), -from.Scale, false)
			out.ints[i] = int64(v.LowBits())
			ok = v.HighBits() == out.ints[i]>>63
		}
		if !ok {
			return overflow
		}
		return ""
	}
}

func toFloat(from schema.Type, unread, overflow string) func(r *run, x, out *vec, i int) string {
	return func(r *run, x, out *vec, i int) string {
		k := i & x.index
		switch {
		case from.IsInteger():
			out.floats[i] = float64(x.ints[k])
			return ""
		case from.IsFloat():
			out.floats[i] = x.floats[k]
			return ""
		case from.Kind == schema.Text:
			text := x.text(i)
			// ParseFloat also reads 0x1p3, 1_0, inf and nan, which no database calls a number.
			if strings.ContainsAny(str(text), "_xXiInNpP") {
				return unread
			}
			return parseFloat(&out.floats[i], text, unread, overflow)
		case wide(from):
			text := x.text(i)
			switch rankOf(text) {
			case rankNaN:
				out.floats[i] = math.NaN()
				return ""
			case rankPlus:
				out.floats[i] = math.Inf(1)
				return ""
			case rankMinus:
				out.floats[i] = math.Inf(-1)
				return ""
			}
			return parseFloat(&out.floats[i], text, unread, overflow)
		}
		out.floats[i] = decimalFloat(&r.dec.wide, x.decs[k], from.Scale)
		return ""
	}
}

func parseFloat(into *float64, text []byte, unread, overflow string) string {
	f, err := strconv.ParseFloat(str(text), 64)
	if err != nil {
		if e, is := err.(*strconv.NumError); is && e.Err == strconv.ErrRange {
			return overflow
		}
		return unread
	}
	*into = f
	return ""
}

// decimalFloat is the double nearest to v / 10^scale.
func decimalFloat(m *wideMemory, v decimal128.Num, scale int) float64 {
	if h := v.HighBits(); h == int64(v.LowBits())>>63 && scale <= 22 {
		if i := int64(v.LowBits()); i >= -1<<53 && i <= 1<<53 { // both exact, so one rounding
			return float64(i) / math.Pow10(scale)
		}
	}
	m.buf = appendDecimal(m.buf[:0], v, scale)
	f, _ := strconv.ParseFloat(str(m.buf), 64) // 38 digits are in range
	return f
}

func toDecimal(from, to schema.Type, overflow string) func(r *run, x, out *vec, i int) string {
	return func(r *run, x, out *vec, i int) string {
		k := i & x.index
		v, scale := decimal128.Num{}, 0
		switch {
		case from.IsInteger():
			v = fromInt(x.ints[k])
		default:
			v, scale = x.decs[k], from.Scale
		}
		up, ok := rescale(v, to.Scale-scale)
		if !ok || !within(up, to.Precision) {
			return overflow
		}
		out.decs[i] = up
		return ""
	}
}

// appendText writes a value as string() does: numbers in their shortest form, a
// decimal with the digits of its scale, times as 2024-01-31 10:20:30.5, an
// instant in UTC with +00:00.
func appendText(dst []byte, t schema.Type, v *vec, i int) []byte {
	k := i & v.index
	switch {
	case t.IsInteger():
		return strconv.AppendInt(dst, v.ints[k], 10)
	case t.Kind == schema.Float32:
		return strconv.AppendFloat(dst, v.floats[k], 'g', -1, 32)
	case t.Kind == schema.Float64:
		return strconv.AppendFloat(dst, v.floats[k], 'g', -1, 64)
	case t.Kind == schema.Decimal && !wide(t):
		return appendDecimal(dst, v.decs[k], t.Scale)
	case t.Kind == schema.UUID:
		return appendUUID(dst, v.text(i))
	case t.Storage() == schema.StoreInt:
		var nanos int16
		if v.nanos != nil {
			nanos = v.nanos[k]
		}
		return appendTemporal(dst, t.Kind, v.ints[k], nanos)
	}
	return append(dst, v.text(i)...)
}

// appendDecimal writes v / 10^scale with all digits of the scale.
func appendDecimal(dst []byte, v decimal128.Num, scale int) []byte {
	if v.HighBits() != int64(v.LowBits())>>63 {
		var d apd.Decimal
		setBig128(&d, v, scale)
		return d.Append(dst, 'f')
	}
	i := int64(v.LowBits())
	if i < 0 {
		dst = append(dst, '-')
	}
	var digits [24]byte
	u := uint64(i)
	if i < 0 {
		u = -u
	}
	return appendScaled(dst, str(strconv.AppendUint(digits[:0], u, 10)), scale)
}

func appendTemporal(dst []byte, k schema.Kind, v int64, nanos int16) []byte {
	switch v {
	case batch.Infinity:
		return append(dst, "infinity"...)
	case batch.MinusInfinity:
		return append(dst, "-infinity"...)
	}
	switch k {
	case schema.Date:
		return time.Unix(v*86400, 0).UTC().AppendFormat(dst, "2006-01-02")
	case schema.Time:
		return time.UnixMicro(v).UTC().Add(time.Duration(nanos)).AppendFormat(dst, "15:04:05.999999999")
	case schema.TimestampTZ:
		dst = time.UnixMicro(v).UTC().Add(time.Duration(nanos)).AppendFormat(dst, "2006-01-02 15:04:05.999999999")
		return append(dst, "+00:00"...)
	}
	return time.UnixMicro(v).UTC().Add(time.Duration(nanos)).AppendFormat(dst, "2006-01-02 15:04:05.999999999")
}

func appendUUID(dst, octets []byte) []byte {
	const hex = "0123456789abcdef"
	for i, b := range octets {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hex[b>>4], hex[b&15])
	}
	return dst
}

// appendValue writes a literal that took the type of what it met.
func appendValue(dst []byte, n *node) []byte {
	if n.typ.Kind == schema.UUID {
		return appendUUID(dst, []byte(n.lit.s))
	}
	return appendTemporal(dst, n.typ.Kind, n.lit.i, n.lit.nanos)
}

// boolTextOp is string() of a condition. NULLs of conditions lie in their
// values, so it makes its own validity.
type boolTextOp struct {
	x   op
	out vec
}

func (o *boolTextOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	v := &o.out
	v.sized(schema.StoreBytes, r.n)
	v.valid = nil
	v.data = append(v.data, "truefalse"...)
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		v.lo[i], v.hi[i] = 0, 0
		switch x.bools[i&x.index] {
		case yes:
			v.hi[i] = 4
		case no:
			v.lo[i], v.hi[i] = 4, 9
		default:
			v.setNull(i, r.n)
		}
	}
	return v
}
