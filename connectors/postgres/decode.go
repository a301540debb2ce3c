package postgres

import (
	"encoding/binary"
	"fmt"
	"math"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// decoder turns rows as COPY sends them into the columns of a builder. Values
// are appended to the columns' slices directly and counted a block of rows at a
// time: a call a value would cost more than the value. It belongs to one goroutine.
type decoder struct {
	columns []decoding
	names   []string
	builder *batch.Builder
	block   int // rows since the columns were last told
	rows    int // rows in the builder
	limit   batch.Limits
	full    bool
}

// blockRows is how many rows are taken before the columns are told of them: a
// bit of a word for each, to mark NULLs.
const blockRows = 64

// decoding is a column while it is filled. Its slices are the column's own.
type decoding struct {
	form     form
	column   *batch.Column
	ints     []int64
	floats   []float64
	decimals []decimal128.Num
	offsets  []int32
	data     []byte
	bools    uint64 // of the block
	nulls    uint64 // of the block: a bit a row
	store    schema.Storage
	scale    int
	digits   int // of a decimal's type; 0 = any
	special  bool
}

// newDecoder is for columns of these native types, in the order of the rows.
// special says which may hold infinity and NaN; nil: none.
func newDecoder(columns []schema.Column, special []bool) *decoder {
	d := &decoder{}
	for i, c := range columns {
		w := wireOf(c.Native)
		if w.form == formNone { // read as text
			w.form = formBytes
		}
		d.columns = append(d.columns, decoding{form: w.form, store: c.Type.Storage(), scale: c.Type.Scale, digits: c.Type.Precision, special: special != nil && special[i]})
		d.names = append(d.names, c.Name)
	}
	return d
}

// into makes b what rows are appended to.
func (d *decoder) into(b *batch.Builder) {
	d.builder, d.block, d.rows, d.limit, d.full = b, 0, b.Rows(), b.Limits(), false
	for i := range d.columns {
		f := &d.columns[i]
		c := b.Column(i)
		f.column, f.nulls, f.bools = c, 0, 0
		f.ints, f.floats, f.decimals, f.offsets, f.data = c.Ints, c.Floats, c.Decimals, c.Offsets, c.Data
	}
}

// flush tells the columns of the rows since it last did.
func (d *decoder) flush() {
	if d.block == 0 {
		return
	}
	if len(d.columns) == 0 {
		d.builder.AddRows(d.block)
	}
	for i := range d.columns {
		f := &d.columns[i]
		c := f.column
		if f.store == schema.StoreBool {
			for k := range d.block {
				if f.nulls>>k&1 != 0 {
					c.AppendNull()
				} else {
					c.AppendBool(f.bools>>k&1 != 0)
				}
			}
			f.nulls, f.bools = 0, 0
			continue
		}
		c.Ints, c.Floats, c.Decimals, c.Offsets, c.Data = f.ints, f.floats, f.decimals, f.offsets, f.data
		if f.nulls == 0 {
			c.Grew(d.block)
			continue
		}
		var valid [8]byte
		binary.LittleEndian.PutUint64(valid[:], ^f.nulls)
		c.GrewValid(d.block, valid[:])
		f.nulls = 0
	}
	d.rows += d.block
	d.block = 0
	d.full = d.full || d.builder.Full()
}

// badValue is a value that the server has and a batch can't hold.
type badValue struct {
	column string
	reason string
	detail string // with the value
}

// row appends a row. One with a value that no batch can hold is left out, and
// the value is told. An error means that the row is not what COPY sends.
func (d *decoder) row(p []byte) (*badValue, error) {
	if len(p) < 2 || int(binary.BigEndian.Uint16(p)) != len(d.columns) {
		return nil, fmt.Errorf("the server sent a row of other fields than were asked for")
	}
	p = p[2:]
	for i := range d.columns {
		if len(p) < 4 {
			return nil, errShort
		}
		f := &d.columns[i]
		n := int(int32(binary.BigEndian.Uint32(p)))
		p = p[4:]
		if n < 0 {
			f.null(d.block)
			continue
		}
		if len(p) < n {
			return nil, errShort
		}
		v := p[:n]
		p = p[n:]
		switch f.form { // the commonest here: a call costs as much as they do
		case formInt8:
			if n != 8 {
				return nil, errWidth
			}
			f.ints = append(f.ints, int64(binary.BigEndian.Uint64(v)))
		case formInt4:
			if n != 4 {
				return nil, errWidth
			}
			f.ints = append(f.ints, int64(int32(binary.BigEndian.Uint32(v))))
		case formBytes:
			if n > math.MaxInt32-len(f.data) {
				return d.undo(i, &badValue{column: d.names[i], reason: "a batch holds 2 GiB of a column's values"}), nil
			}
			f.data = append(f.data, v...)
			f.offsets = append(f.offsets, int32(len(f.data)))
			d.full = d.full || len(f.data) >= d.limit.Bytes
		default:
			reason, detail, err := f.put(v, d.block)
			if err != nil {
				return nil, err
			}
			if reason != "" {
				return d.undo(i, &badValue{d.names[i], reason, detail}), nil
			}
			d.full = d.full || f.store == schema.StoreBytes && len(f.data) >= d.limit.Bytes
		}
	}
	if len(p) != 0 {
		return nil, errWidth
	}
	if d.block++; d.block == blockRows || d.rows+d.block >= d.limit.Rows {
		d.flush()
	}
	return nil, nil
}

// undo takes back what columns before i have of the row.
func (d *decoder) undo(i int, bad *badValue) *badValue {
	for k := range i {
		f := &d.columns[k]
		n := d.rows + d.block
		f.nulls &^= 1 << d.block
		f.bools &^= 1 << d.block
		switch f.store {
		case schema.StoreInt:
			f.ints = f.ints[:n]
		case schema.StoreFloat:
			f.floats = f.floats[:n]
		case schema.StoreDecimal:
			f.decimals = f.decimals[:n]
		case schema.StoreBytes:
			f.offsets = f.offsets[:n+1]
			f.data = f.data[:f.offsets[n]]
		}
	}
	return bad
}

var (
	errShort = fmt.Errorf("the server sent a row that ends too early")
	errWidth = fmt.Errorf("the server sent a value of another type than was planned")
)

func (f *decoding) null(row int) {
	f.nulls |= 1 << row
	switch f.store {
	case schema.StoreInt:
		f.ints = append(f.ints, 0)
	case schema.StoreFloat:
		f.floats = append(f.floats, 0)
	case schema.StoreDecimal:
		f.decimals = append(f.decimals, decimal128.Num{})
	case schema.StoreBytes:
		f.offsets = append(f.offsets, int32(len(f.data)))
	}
}

// wide are the octets of a value of a form; 0 = any number.
var wide = [...]int{formBool: 1, formInt2: 2, formOID: 4, formFloat4: 4, formFloat8: 8, formDate: 4, formTime: 8, formTimestamp: 8, formUUID: 16, formJSONB: 0, formNumeric: 0}

// put appends a value of a rarer form, or says why it can't be held.
func (f *decoding) put(v []byte, row int) (reason, detail string, err error) {
	if n := wide[f.form]; n != 0 && len(v) != n {
		return "", "", errWidth
	}
	switch f.form {
	case formTimestamp:
		return f.timestamp(int64(binary.BigEndian.Uint64(v)))
	case formNumeric:
		return f.numeric(v)
	case formFloat8:
		f.floats = append(f.floats, math.Float64frombits(binary.BigEndian.Uint64(v)))
	case formBool:
		if v[0] != 0 {
			f.bools |= 1 << row
		}
	case formInt2:
		f.ints = append(f.ints, int64(int16(binary.BigEndian.Uint16(v))))
	case formOID:
		f.ints = append(f.ints, int64(binary.BigEndian.Uint32(v)))
	case formFloat4:
		f.floats = append(f.floats, float64(math.Float32frombits(binary.BigEndian.Uint32(v))))
	case formDate:
		return f.date(int32(binary.BigEndian.Uint32(v)))
	case formTime:
		f.ints = append(f.ints, int64(binary.BigEndian.Uint64(v)))
	case formUUID:
		f.text(v)
	case formJSONB:
		if len(v) == 0 || v[0] != 1 {
			return "", "", fmt.Errorf("the server sent a jsonb of a version that this penstock does not know")
		}
		f.text(v[1:])
	default:
		return "", "", fmt.Errorf("there is no way to read form %d", f.form)
	}
	return "", "", nil
}

func (f *decoding) text(v []byte) {
	f.data = append(f.data, v...)
	f.offsets = append(f.offsets, int32(len(f.data)))
}

// timestamp takes microseconds from 2000 on. The greatest and the least number
// are the infinities.
func (f *decoding) timestamp(v int64) (reason, detail string, err error) {
	switch {
	case v == math.MaxInt64 || v == math.MinInt64:
		if !f.special {
			return infinite, "", nil
		}
		f.ints = append(f.ints, v) // batch.Infinity and batch.MinusInfinity are these
		return "", "", nil
	case v >= math.MaxInt64-epochMicros:
		return "a time after the year 294246, which no batch holds", "", nil
	}
	f.ints = append(f.ints, v+epochMicros)
	return "", "", nil
}

func (f *decoding) date(v int32) (reason, detail string, err error) {
	if v == math.MaxInt32 || v == math.MinInt32 {
		if !f.special {
			return infinite, "", nil
		}
		day := int64(batch.Infinity)
		if v < 0 {
			day = batch.MinusInfinity
		}
		f.ints = append(f.ints, day)
		return "", "", nil
	}
	f.ints = append(f.ints, int64(v)+epochDays)
	return "", "", nil
}

const infinite = "infinity, which the target has no place for"
