package rowexpr

import (
	"encoding/binary"
	"math"
	"unicode"
	"unicode/utf8"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// concatOp is + of texts.
type concatOp struct {
	l, r op
	long string
	out  vec
}

// maxText keeps the offsets of a batch's texts within 31 bits.
const maxText = 1 << 30

func (o *concatOp) eval(r *run, act batch.Selection) *vec {
	x, y := o.l.eval(r, act), o.r.eval(r, act)
	v := &o.out
	v.sized(schema.StoreBytes, r.n)
	v.strict(r.n, x, y)
	nulls := v.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		v.lo[i] = int32(len(v.data))
		if nulls == nil || nulls.Get(i) {
			a, b := x.text(i), y.text(i)
			if len(v.data)+len(a)+len(b) > maxText {
				r.fail(i, o.long)
				v.setNull(i, r.n)
			} else {
				v.data = append(append(v.data, a...), b...)
			}
		}
		v.hi[i] = int32(len(v.data))
	}
	return v
}

// caseOp is upper, lower: rune by rune, by Unicode's simple mapping.
type caseOp struct {
	x     op
	upper bool
	whole vec // offsets are x's
	out   vec
}

func (o *caseOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	// Whole buffers at once where most rows are wanted: the offsets stay.
	if x.tiled && r.n > 0 && x.lo[0] == 0 && act.Len(r.n)*4 >= r.n {
		w := &o.whole
		w.data = resize(w.data, int(x.hi[r.n-1]))
		if flipASCII(w.data, x.data[:len(w.data)], o.upper) {
			w.index, w.tiled, w.valid, w.lo, w.hi = -1, true, x.valid, x.lo, x.hi
			return w
		}
	}
	v := &o.out
	v.sized(schema.StoreBytes, r.n)
	v.valid = x.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		v.lo[i] = int32(len(v.data))
		v.data = appendCase(v.data, x.text(i), o.upper)
		v.hi[i] = int32(len(v.data))
	}
	return v
}

// flipASCII writes src in upper or lower case to dst, eight bytes at a time; it
// stops with false where it meets a byte that is not ASCII.
//
// In each byte b < 128, b + (128 - 'a') has its high bit set when b >= 'a', and
// b + (128 - 'z' - 1) when b > 'z'; no sum carries into the next byte.
func flipASCII(dst, src []byte, upper bool) bool {
	const ones = 0x0101010101010101
	first, last := uint64('A'), uint64('Z')
	if upper {
		first, last = 'a', 'z'
	}
	from, past := ones*(128-first), ones*(128-last-1)
	for len(src) >= 8 {
		w := binary.LittleEndian.Uint64(src)
		if w&(ones<<7) != 0 {
			return false
		}
		letters := (w + from) &^ (w + past) & (ones << 7)
		binary.LittleEndian.PutUint64(dst, w^letters>>2) // 0x80 >> 2 is 0x20, the bit of the case
		src, dst = src[8:], dst[8:]
	}
	for i, b := range src {
		if b >= utf8.RuneSelf {
			return false
		}
		if uint64(b) >= first && uint64(b) <= last {
			b ^= 0x20
		}
		dst[i] = b
	}
	return true
}

// appendCase appends src in upper or lower case. Bytes that are not UTF-8 stay
// as they are.
func appendCase(dst, src []byte, upper bool) []byte {
	at := len(dst)
	dst = append(dst, src...)
	if flipASCII(dst[at:], src, upper) {
		return dst
	}
	dst = dst[:at]
	for len(src) > 0 {
		c, size := utf8.DecodeRune(src)
		switch {
		case c == utf8.RuneError && size == 1:
			dst = append(dst, src[0])
		case upper:
			dst = utf8.AppendRune(dst, unicode.ToUpper(c))
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(c))
		}
		src = src[size:]
	}
	return dst
}

// viewOp finds a part of each text, in place.
type viewOp struct {
	x    op
	view func(text []byte) (from, to int)
	out  vec
}

func (o *viewOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	v := &o.out
	v.sized(schema.StoreBytes, r.n)
	v.data, v.valid = x.data, x.valid // nothing is appended to it
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		from, to := o.view(x.text(i))
		at := x.lo[i&x.index]
		v.lo[i], v.hi[i] = at+int32(from), at+int32(to)
	}
	return v
}

// trimmed cuts white space, as Unicode has it, from both ends.
func trimmed(text []byte) (from, to int) {
	to = len(text)
	for from < to {
		c, size := utf8.DecodeRune(text[from:to])
		if !unicode.IsSpace(c) {
			break
		}
		from += size
	}
	for from < to {
		c, size := utf8.DecodeLastRune(text[from:to])
		if !unicode.IsSpace(c) {
			break
		}
		to -= size
	}
	return from, to
}

// sliced cuts characters lo to hi, clamped; negative ones count from the end.
func sliced(lo, hi int64) func(text []byte) (from, to int) {
	return func(text []byte) (int, int) {
		a, b := lo, hi
		if a < 0 || b < 0 {
			n := int64(utf8.RuneCount(text))
			if a < 0 {
				a = max(0, a+n)
			}
			if b < 0 {
				b = max(0, b+n)
			}
		}
		from := skip(text, 0, a)
		if b <= a {
			return from, from
		}
		return from, skip(text, from, b-a)
	}
}

// skip is where n characters after from end.
func skip(text []byte, from int, n int64) int {
	for ; n > 0 && from < len(text); n-- {
		if text[from] < utf8.RuneSelf {
			from++
			continue
		}
		_, size := utf8.DecodeRune(text[from:])
		from += size
	}
	return from
}

// lenOp counts characters, of bytes octets.
type lenOp struct {
	x      op
	octets bool
	out    vec
}

func (o *lenOp) eval(r *run, act batch.Selection) *vec {
	x := o.x.eval(r, act)
	v := &o.out
	v.sized(schema.StoreInt, r.n)
	v.valid = x.valid
	for k, l := 0, act.Len(r.n); k < l; k++ {
		i := act.Row(k)
		if o.octets {
			v.ints[i] = int64(len(x.text(i)))
		} else {
			v.ints[i] = int64(utf8.RuneCount(x.text(i)))
		}
	}
	return v
}

// wholeFloat is f without its fraction, ok when int64 holds it.
func wholeFloat(f float64) (int64, bool) {
	f = math.Trunc(f)
	if !(f >= -1<<63 && f < 1<<63) { // NaN too
		return 0, false
	}
	return int64(f), true
}
