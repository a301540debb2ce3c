package ranges

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"
)

// decodeRow reads an encoded row back by docs/hash.md alone: what can be read
// back into the values that were encoded can't be the encoding of others.
func decodeRow(b []byte) ([]string, error) {
	var out []string
	for len(b) > 0 {
		tag := b[0]
		b = b[1:]
		uvarint := func() uint64 {
			v, n := binary.Uvarint(b)
			b = b[max(n, 0):]
			return v
		}
		varint := func() int64 {
			v, n := binary.Varint(b)
			b = b[max(n, 0):]
			return v
		}
		text := func() string {
			n := uvarint()
			s := string(b[:n])
			b = b[n:]
			return s
		}
		switch tag {
		case 0x00:
			out = append(out, "NULL")
		case 0x01:
			out = append(out, fmt.Sprint("bool ", b[0]))
			b = b[1:]
		case 0x02:
			out = append(out, fmt.Sprint("number ", varint()))
		case 0x03:
			out = append(out, "number "+text())
		case 0x04:
			out = append(out, fmt.Sprintf("float %x", binary.BigEndian.Uint64(b)))
			b = b[8:]
		case 0x07:
			out = append(out, fmt.Sprint("7 ", varint()))
		case 0x08, 0x09, 0x0a:
			v := varint()
			out = append(out, fmt.Sprint(tag, " ", v, " ", uvarint()))
		case 0x05, 0x06, 0x0b, 0x0c:
			out = append(out, fmt.Sprintf("%d %q", tag, text()))
		case 0x0d:
			out = append(out, "absent")
		default:
			return nil, fmt.Errorf("no value begins with %x", tag)
		}
	}
	return out, nil
}

// FuzzRowsEncodeApart makes a row of the fuzzer's bytes and wants each of its
// values back from its encoding.
func FuzzRowsEncodeApart(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, []byte("abc"))
	f.Add([]byte{5, 5, 13, 5}, []byte("\x00\x01\x02\x03"))
	f.Add([]byte{5, 0, 5}, []byte{})
	f.Add([]byte{13, 2, 2, 9}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80})
	f.Fuzz(func(t *testing.T, kinds, data []byte) {
		take := func(n int) []byte {
			out := make([]byte, n)
			data = data[copy(out, data):]
			return out
		}
		number := func() int64 { return int64(binary.LittleEndian.Uint64(take(8))) }
		var columns []*batch.Column
		var want []string
		for _, k := range kinds[:min(len(kinds), 20)] {
			var c *batch.Column
			switch k % 14 {
			case 0:
				c = batch.NewColumn(schema.Of(schema.Text))
				c.AppendNull()
				want = append(want, "NULL")
			case 1:
				c = batch.NewColumn(schema.Of(schema.Bool))
				v := take(1)[0] & 1
				c.AppendBool(v == 1)
				want = append(want, fmt.Sprint("bool ", v))
			case 2:
				c = batch.NewColumn(schema.Of(schema.Int64))
				v := number()
				c.AppendInt(v)
				want = append(want, fmt.Sprint("number ", v))
			case 3:
				c = batch.NewColumn(schema.Of(schema.Decimal))
				v := fmt.Sprintf("%d.%d7", number(), take(1)[0])
				c.AppendString(v)
				want = append(want, "number "+v)
			case 4:
				c = batch.NewColumn(schema.Of(schema.Float64))
				v := math.Float64frombits(uint64(number()))
				c.AppendFloat(v)
				switch {
				case v == 0:
					v = 0
				case v != v:
					v = math.Float64frombits(0x7ff8000000000000)
				}
				want = append(want, fmt.Sprintf("float %x", math.Float64bits(v)))
			case 7:
				c = batch.NewColumn(schema.Of(schema.Date))
				v := number()
				c.AppendInt(v)
				want = append(want, fmt.Sprint("7 ", v))
			case 8, 9, 10:
				c = batch.NewColumn(schema.Type{Kind: map[byte]schema.Kind{8: schema.Time, 9: schema.Timestamp, 10: schema.TimestampTZ}[k%14], Precision: 9})
				v, nanos := number(), int16(take(1)[0])
				c.AppendNanos(v, nanos)
				want = append(want, fmt.Sprint(k%14, " ", v, " ", nanos))
			case 13:
				want = append(want, "absent")
			default:
				kind := map[byte]schema.Kind{5: schema.Text, 6: schema.Bytes, 11: schema.UUID, 12: schema.JSON}[k%14]
				c = batch.NewColumn(schema.Of(kind))
				n := int(take(1)[0]) % 40
				if kind == schema.UUID {
					n = 16
				}
				v := take(n)
				c.AppendBytes(v)
				want = append(want, fmt.Sprintf("%d %q", k%14, v))
			}
			columns = append(columns, c)
		}
		enc := AppendRow(nil, columns, 0)
		got, err := decodeRow(enc)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%x reads as %q (%v), want %q", enc, got, err, want)
		}
	})
}

func TestARowsRangeIsThatOfItsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := batch.NewColumn(schema.Of(schema.Int64))
		names := batch.NewColumn(schema.Of(schema.Text))
		b := &batch.Batch{Columns: []*batch.Column{names, ids}}
		for b.Rows = range 50 {
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				ids.AppendNull()
			} else {
				ids.AppendInt(rapid.Int64().Draw(t, "id"))
			}
			names.AppendString(rapid.String().Draw(t, "name"))
		}
		rows, keys := NewRowHasher(2, []int{1}), NewHasher([]int{1})
		for i := range b.Rows {
			got := rows.Hash(b, i)
			if want := keys.Range(b, i, 4096); got.Range(4096) != int(want) {
				t.Fatalf("row %d is in range %d, its key in %d", i, got.Range(4096), want)
			}
			enc := AppendRow(nil, []*batch.Column{ids, names}, i) // the key first
			if want := Hash128(xxh3.Hash128(enc)); got.Row != want {
				t.Fatalf("row %d hashes to %x, want %x", i, got.Row, want)
			}
			if want := Hash128(xxh3.Hash128(AppendKey(nil, ids, i))); rows.Identity() != want {
				t.Fatalf("the key of row %d hashes to %x, want %x", i, rows.Identity(), want)
			}
		}
	})
}

func TestSumsSeeTwoCopiesOfARowAndNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Hash128 {
			return Hash128{rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}
		}), 1, 20).Draw(t, "hashes")
		var forth, back, left, right Sum
		for i, h := range hashes {
			forth.Add(h)
			back.Add(hashes[len(hashes)-1-i])
			if i%2 == 0 {
				left.Add(h)
			} else {
				right.Add(h)
			}
		}
		left.Merge(right)
		if forth != back || forth != left {
			t.Fatalf("%v, %v and %v are sums of the same rows", forth, back, left)
		}
		twice := forth
		twice.Add(hashes[0])
		twice.Add(hashes[0])
		if h := hashes[0]; h.Hi|h.Lo<<1 != 0 && twice.Hash == forth.Hash {
			t.Fatalf("two copies of %v more leave the sum at %v", h, forth.Hash)
		}
	})
}

func TestRowsOfOtherColumnsDoNotRunIntoEachOther(t *testing.T) {
	row := func(texts ...string) []byte {
		var columns []*batch.Column
		for _, s := range texts {
			c := batch.NewColumn(schema.Of(schema.Text))
			switch s {
			case "NULL":
				c.AppendNull()
			case "absent":
				c = nil
			default:
				c.AppendString(s)
			}
			columns = append(columns, c)
		}
		return AppendRow(nil, columns, 0)
	}
	for _, c := range [][2][]string{
		{{"ab", "c"}, {"a", "bc"}},
		{{"", "NULL"}, {"NULL", ""}},
		{{"absent", "a"}, {"NULL", "a"}},
		{{"a "}, {"a"}},
		{{"é"}, {"e\u0301"}},
	} {
		if a, b := row(c[0]...), row(c[1]...); bytes.Equal(a, b) {
			t.Errorf("%q and %q both encode to %x", c[0], c[1], a)
		}
	}
}
