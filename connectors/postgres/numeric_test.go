package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/big"
	"testing"

	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"pgregory.net/rapid"
)

// decimalOf is a decimal of up to 38 digits, often with zeros at either end.
func decimalOf(t *rapid.T) (decimal128.Num, schema.Type) {
	typ := schema.Type{Kind: schema.Decimal, Precision: 38, Scale: rapid.IntRange(0, 38).Draw(t, "scale")}
	digits := rapid.StringMatching(`[1-9]?[0-9]{0,30}0{0,7}`).Draw(t, "digits")
	v := new(big.Int)
	if digits != "" {
		v.SetString(digits, 10)
	}
	if rapid.Bool().Draw(t, "negative") {
		v.Neg(v)
	}
	return decimal128.FromBigInt(v), typ
}

func TestNumericOfDigitsAndOfTextAreTheSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, typ := decimalOf(t)
		c := batch.NewColumn(typ)
		c.AppendDecimal(v)
		text := batch.AppendText(nil, c, 0)
		b := make([]byte, 4+numericRoom)
		got := b[:putNumeric(b, v, typ.Scale)]
		want, ok := appendNumericText(nil, text)
		if !ok || !bytes.Equal(got, want) {
			t.Fatalf("%s: of its digits %x, of its text %x (%v)", text, got, want, ok)
		}
	})
}

// The server reads what we write as the number that it is.
func TestServerReadsNumericsAsTheyAre(t *testing.T) {
	conn := postgrestest.Shared(t).Database(t).Conn(t)
	defer closeNow(conn)
	read := func(t interface{ Fatal(...any) }, encoded []byte) string {
		r := conn.ExecParams(context.Background(), "SELECT $1::numeric", [][]byte{encoded[4:]}, []uint32{1700}, binaryFormat, nil).Read()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return string(r.Rows[0][0])
	}
	rapid.Check(t, func(t *rapid.T) {
		v, typ := decimalOf(t)
		c := batch.NewColumn(typ)
		c.AppendDecimal(v)
		b := make([]byte, 4+numericRoom)
		if got, want := read(t, b[:putNumeric(b, v, typ.Scale)]), string(batch.AppendText(nil, c, 0)); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,60})(\.[0-9]{1,60})?`).Draw(t, "text")
		encoded, ok := appendNumericText(nil, []byte(text))
		if !ok {
			t.Fatalf("%s is refused", text)
		}
		want, _ := new(big.Rat).SetString(text)
		got := read(t, encoded)
		if r, ok := new(big.Rat).SetString(got); !ok || r.Cmp(want) != 0 || len(got) > len(text) {
			t.Fatalf("got %s, want %s", got, text)
		}
	})
}

// Any text is a number of PostgreSQL's or refused, and takes the room that the
// encoder sets aside for it.
func FuzzNumericText(f *testing.F) {
	for _, s := range []string{"0", "-0.00", "NaN", "-Infinity", "1234567890.00010", ".5", "5.", "-", "", "1e5", "00012"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		out, ok := appendNumericText(nil, s)
		if !ok {
			return
		}
		if n := int(binary.BigEndian.Uint32(out)); n != len(out)-4 || n != numericHeader+2*int(binary.BigEndian.Uint16(out[4:])) {
			t.Errorf("%q: a length of %d before %d octets of %d digits", s, n, len(out)-4, binary.BigEndian.Uint16(out[4:]))
		}
		if len(out) > 4+numericRoom+4+2*len(s) {
			t.Errorf("%q takes %d octets, more than its room", s, len(out))
		}
	})
}
