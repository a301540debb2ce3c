package batch

import (
	"fmt"
	"unicode/utf8"

	"penstock/internal/schema"
)

// BadValue is a value that has no place in the target type.
type BadValue struct {
	Row    int32
	Reason string // a clause that names the value and the limit
}

// Converter turns columns of one type into columns of another, value by value,
// by the rules that schema.Fit tells. What Fit calls checked is tested here;
// what it calls lossy is done: times are rounded half up, a zone is dropped or
// taken as UTC, fixed text is padded with blanks and fixed bytes with zeros. It
// keeps scratch memory and belongs to one goroutine.
type Converter struct {
	src, dst schema.Type
	how      way
	special  bool
	scratch  []byte
}

// way is how a pair of types is converted.
type way uint8

const (
	waySame       way = iota // the memory is right as it is
	wayLimit                 // the memory is right where a value passes a test
	wayCopy                  // the values are right, and their text is that of another kind
	wayCopyBytes             // octets or text, tested and padded where the type says so
	wayTime                  // microseconds, rounded to the target's precision
	wayDateToTime            // days to microseconds
	wayTimeToDate            // microseconds at midnight to days
	wayIntToFloat
	wayIntToDecimal
	wayFloatToFloat
	wayFloatToInt
	wayDecimalToInt
	wayRescale    // decimal128 to decimal128 of another scale or fewer digits
	wayNumToFloat // a decimal's text to a float, tested by the float's shortest text
	wayBytesToUUID
	wayText // by the canonical text: all the rest
)

// NewConverter returns a converter, or an error where schema.Fit says that
// there is no conversion.
func NewConverter(src, dst schema.Type) (*Converter, error) {
	if class, why := schema.Fit(src, dst); class == schema.FitNone {
		return nil, fmt.Errorf("%s", why)
	}
	return &Converter{src: src, dst: dst, how: wayOf(src, dst)}, nil
}

// TakeSpecial makes texts that name infinity or NaN values of the target type:
// the target has them.
func (c *Converter) TakeSpecial() { c.special = true }

func wayOf(src, dst schema.Type) way {
	class, _ := schema.Fit(src, dst)
	from, to := src.Storage(), dst.Storage()
	clock := func(t schema.Type) bool { return t.Kind >= schema.Time && t.Kind <= schema.TimestampTZ }
	octetsOf := func(t schema.Type) bool { return t.Kind == schema.Bytes || t.Kind == schema.UUID }
	switch {
	case src == dst:
		return waySame
	case src.IsInteger() && dst.IsInteger():
		return limited(class)
	case src.IsInteger() && dst.IsFloat():
		return wayIntToFloat
	case src.IsInteger() && to == schema.StoreDecimal:
		return wayIntToDecimal
	case src.IsFloat() && dst.IsFloat():
		if src.Kind == schema.Float32 {
			return wayCopy
		}
		return wayFloatToFloat
	case src.IsFloat() && dst.IsInteger():
		return wayFloatToInt
	case src.Kind == schema.Decimal && dst.IsFloat():
		return wayNumToFloat
	case from == schema.StoreDecimal && dst.IsInteger():
		return wayDecimalToInt
	case from == schema.StoreDecimal && to == schema.StoreDecimal:
		if src.Scale == dst.Scale {
			return limited(class)
		}
		return wayRescale
	case src.Kind == schema.Decimal && dst.Kind == schema.Decimal && from == to:
		return limited(class)
	case src.Kind == schema.Date && clock(dst):
		return wayDateToTime
	case clock(src) && dst.Kind == schema.Date:
		return wayTimeToDate
	case clock(src) && clock(dst):
		if src.Kind == dst.Kind && src.Precision <= dst.Precision && (src.Precision > 6) == (dst.Precision > 6) {
			return waySame
		}
		return wayTime
	case src.Kind == schema.Bytes && dst.Kind == schema.UUID:
		return wayBytesToUUID
	case dst.Kind == schema.Text && from == schema.StoreBytes && !octetsOf(src), octetsOf(src) && dst.Kind == schema.Bytes:
		if class == schema.FitLossy || octetsOf(src) && src.Kind != dst.Kind {
			return wayCopyBytes
		}
		return limited(class)
	}
	return wayText
}

func limited(class schema.FitClass) way {
	if class == schema.FitExact {
		return waySame
	}
	return wayLimit
}

// Same reports whether a source column can be passed on as it is: its memory and
// its text are those of the target type, and every value fits.
func (c *Converter) Same() bool { return c.how == waySame }

// InPlace reports whether a source column can be passed on as it is once Check
// finds no bad value in it. Same is InPlace without the check.
func (c *Converter) InPlace() bool { return c.how == waySame || c.how == wayLimit }

// Check appends the selected values that do not fit the target type to bad, in
// the order of rows. It is for a converter that is InPlace.
func (c *Converter) Check(src *Column, sel Selection, bad []BadValue) []BadValue {
	if c.how != wayLimit {
		return bad
	}
	return c.check(src, sel, bad)
}

// Fits appends the selected values of c that have no place in t to bad. It is
// Check for a caller that keeps no converter; the pair must be InPlace.
func Fits(c *Column, t schema.Type, sel Selection, bad []BadValue) []BadValue {
	k := Converter{src: c.Type, dst: t, how: wayOf(c.Type, t)}
	if !k.InPlace() {
		panic(fmt.Sprintf("batch: %s does not lie in memory as %s does", c.Type, t))
	}
	return k.Check(c, sel, bad)
}

// Convert appends src.Len() values to dst, a column of the target type: the
// selected rows converted, NULL for all others and for a value that has no
// place there. Such values are appended to bad in the order of rows.
func (c *Converter) Convert(src *Column, sel Selection, dst *Column, bad []BadValue) []BadValue {
	if len(src.Offsets) > 0 {
		dst.reserve(src)
	}
	first := len(bad)
	if c.whole(src, dst) {
		base := dst.rows
		dst.Grew(src.rows)
		if c.how == wayLimit {
			bad = c.check(src, sel, bad)
		}
		dst.nullify(base, src, sel, bad[first:])
		return bad
	}
	next := 0
	for i := range src.rows {
		if sel != nil {
			if next == len(sel) || int(sel[next]) != i {
				dst.AppendNull()
				continue
			}
			next++
		}
		if src.IsNull(i) {
			dst.AppendNull()
			continue
		}
		if why := c.one(src, i, dst); why != "" {
			dst.AppendNull()
			bad = append(bad, BadValue{Row: int32(i), Reason: why})
		}
	}
	return bad
}

// one appends the value of row i, or says why not and appends nothing.
func (c *Converter) one(src *Column, i int, dst *Column) (why string) {
	switch c.how {
	case wayCopyBytes:
		if c.dst.Kind == schema.Text {
			return dst.appendLimited(src.Bytes(i), utf8.RuneCount, "characters", ' ')
		}
		return dst.appendLimited(src.Bytes(i), octets, "octets", 0)
	case wayDateToTime:
		return c.dateToTime(src, i, dst)
	case wayTimeToDate:
		return c.timeToDate(src, i, dst)
	case wayIntToFloat:
		return c.intToFloat(src.Ints[i], dst)
	case wayIntToDecimal:
		return c.intToDecimal(src.Ints[i], dst)
	case wayFloatToFloat:
		return c.floatToFloat(src.Floats[i], dst)
	case wayFloatToInt:
		return c.floatToInt(src.Floats[i], dst)
	case wayDecimalToInt, wayRescale:
		return c.fromDecimal(src, i, dst)
	case wayNumToFloat:
		return c.numToFloat(src, i, dst)
	case wayBytesToUUID:
		if v := src.Bytes(i); len(v) != 16 {
			return fmt.Sprintf("a value has %d octets and a UUID has 16", len(v))
		}
		dst.AppendBytes(src.Bytes(i))
		return ""
	}
	text := c.text(src, i)
	if c.special && AppendSpecial(dst, text) {
		return ""
	}
	return parseText(dst, text)
}

// text is the canonical text of a value; it lives until the next call.
func (c *Converter) text(src *Column, i int) []byte {
	if k := src.Type.Kind; src.store == schema.StoreBytes && k != schema.Bytes && k != schema.UUID {
		return src.Bytes(i)
	}
	if src.store == schema.StoreBool && c.dst.IsNumber() {
		c.scratch = append(c.scratch[:0], '0')
		if src.Bools.Get(i) {
			c.scratch[0] = '1'
		}
		return c.scratch
	}
	c.scratch = AppendText(c.scratch[:0], src, i)
	return c.scratch
}

// reserve makes room for the bytes of src, so that appending does not grow by halves.
func (c *Column) reserve(src *Column) {
	if need := len(c.Data) + len(src.Data); c.store == schema.StoreBytes && cap(c.Data) < need {
		c.Data = append(make([]byte, 0, need), c.Data...)
	}
}

// nullify makes NULL, from row base on, what is NULL in src, not selected, or bad.
func (c *Column) nullify(base int, src *Column, sel Selection, bad []BadValue) {
	if src.Valid != nil {
		for i := range src.rows {
			if !src.Valid.Get(i) {
				c.setNull(base + i)
			}
		}
	}
	for _, b := range bad {
		c.setNull(base + int(b.Row))
	}
	if sel == nil {
		return
	}
	i := 0
	for _, row := range sel {
		for ; i < int(row); i++ {
			c.setNull(base + i)
		}
		i++
	}
	for ; i < src.rows; i++ {
		c.setNull(base + i)
	}
}

func (c *Column) setNull(i int) {
	if c.Valid == nil {
		c.Valid = c.spare.ones(c.rows)
	}
	c.Valid.Clear(i)
}
