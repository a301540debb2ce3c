package ranges

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"pgregory.net/rapid"
)

// encoded is the encoding of one value, given by its text.
func encoded(t rapid.TB, typ schema.Type, text string) []byte {
	c := batch.NewColumn(typ)
	if err := batch.ParseText(c, []byte(text)); err != nil {
		t.Fatalf("%s %q: %v", typ, text, err)
	}
	return AppendKey(nil, c, 0)
}

func TestWholeNumbersEncodeAlikeWhateverTheirType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-200, 200)).Draw(t, "n")
		text := fmt.Sprint(n)
		want := encoded(t, schema.Of(schema.Int64), text)
		scale := rapid.IntRange(0, 19).Draw(t, "scale")
		zeros := "." + strings.Repeat("0", scale)
		if scale == 0 {
			zeros = ""
		}
		for typ, text := range map[schema.Type]string{
			{Kind: schema.Decimal, Precision: 38, Scale: scale}: text + zeros,
			schema.Of(schema.Decimal):                           text + zeros,
			{Kind: schema.Decimal, Precision: 60, Scale: scale}: text + zeros,
		} {
			if got := encoded(t, typ, text); !bytes.Equal(got, want) {
				t.Fatalf("%s %s: got %x, want %x as bigint", typ, text, got, want)
			}
		}
		if lo, hi := schema.Int16.IntRange(); n >= lo && n <= hi {
			if got := encoded(t, schema.Of(schema.Int16), text); !bytes.Equal(got, want) {
				t.Fatalf("smallint %s: got %x, want %x as bigint", text, got, want)
			}
		}
	})
}

func TestDecimalsEncodeByValueNotByScale(t *testing.T) {
	drawn := rapid.Custom(func(t *rapid.T) *big.Int {
		v := new(big.Int).SetUint64(rapid.Uint64().Draw(t, "high"))
		v.Rsh(v, uint(rapid.IntRange(0, 64).Draw(t, "shift")))
		v.Mul(v, big.NewInt(rapid.Int64Range(-1_000_000_000_000_000, 1_000_000_000_000_000).Draw(t, "low")))
		for range rapid.IntRange(0, 3).Draw(t, "tens") {
			v.Mul(v, big.NewInt(10))
		}
		return v
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn.Draw(t, "a"), drawn.Draw(t, "b")
		as, bs := rapid.IntRange(0, 38).Draw(t, "scale of a"), rapid.IntRange(0, 38).Draw(t, "scale of b")
		if rapid.Bool().Draw(t, "equal") { // the same value at another scale
			b, bs = new(big.Int).Mul(a, big.NewInt(100)), min(as+2, 38)
			if bs != as+2 {
				b, bs = a, as
			}
		}
		enc := func(v *big.Int, scale int) []byte {
			c := batch.NewColumn(schema.Type{Kind: schema.Decimal, Precision: 38, Scale: scale})
			c.AppendDecimal(decimal128.FromBigInt(v))
			return AppendKey(nil, c, 0)
		}
		ten := big.NewInt(10)
		value := func(v *big.Int, scale int) *big.Rat {
			return new(big.Rat).SetFrac(v, new(big.Int).Exp(ten, big.NewInt(int64(scale)), nil))
		}
		same := value(a, as).Cmp(value(b, bs)) == 0
		if got := bytes.Equal(enc(a, as), enc(b, bs)); got != same {
			t.Fatalf("%s at scale %d and %s at scale %d: equal encodings %t, equal values %t\n%x\n%x", a, as, b, bs, got, same, enc(a, as), enc(b, bs))
		}
	})
}

// TestNoEncodingBeginsAnother is what makes keys of several columns unambiguous.
func TestNoEncodingBeginsAnother(t *testing.T) {
	kinds := []schema.Kind{schema.Int64, schema.Float64, schema.Decimal, schema.Text, schema.Date, schema.Timestamp, schema.Bool, schema.JSON}
	draw := rapid.Custom(func(t *rapid.T) []byte {
		c := batch.NewColumn(schema.Of(rapid.SampledFrom(kinds).Draw(t, "kind")))
		switch c.Storage() {
		case schema.StoreInt:
			c.AppendInt(rapid.Int64().Draw(t, "int"))
		case schema.StoreFloat:
			c.AppendFloat(rapid.Float64().Draw(t, "float"))
		case schema.StoreBool:
			c.AppendBool(rapid.Bool().Draw(t, "bool"))
		default:
			if c.Type.Kind == schema.Decimal {
				c.AppendString(rapid.StringMatching(`-?[1-9][0-9]{0,40}(\.[0-9]{0,9}[1-9])?`).Draw(t, "decimal"))
			} else {
				c.AppendString(rapid.String().Draw(t, "text"))
			}
		}
		return AppendKey(nil, c, 0)
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		if !bytes.Equal(a, b) && (bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a)) {
			t.Fatalf("%x and %x: one begins the other", a, b)
		}
	})
}

// FuzzShortest holds appendShortest to math/big.
func FuzzShortest(f *testing.F) {
	for _, s := range []string{"", "0", "-0", "00.00", "-007.50", ".5", "5.", "-.", "NaN", "1e5", "+1", "--1", "1.2.3", "100", "-0.001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(appendShortest(nil, []byte(s)))
		if again := string(appendShortest(nil, []byte(got))); again != got {
			t.Fatalf("%q gives %q, and that gives %q", s, got, again)
		}
		plain := strings.Trim(s, "-.0123456789") == "" && strings.Count(s, ".") <= 1 && strings.LastIndexByte(s, '-') <= 0 && strings.ContainsAny(s, "0123456789")
		if !plain {
			if got != s {
				t.Fatalf("%q is no plain decimal and became %q", s, got)
			}
			return
		}
		want, ok1 := new(big.Rat).SetString(s)
		value, ok2 := new(big.Rat).SetString(got)
		if !ok1 || !ok2 || want.Cmp(value) != 0 {
			t.Fatalf("%q became %q, another value", s, got)
		}
		if strings.HasPrefix(got, "-0") && !strings.HasPrefix(got, "-0.") || strings.Contains(got, ".") && strings.HasSuffix(got, "0") || got == "-0" {
			t.Fatalf("%q became %q, which is not the shortest", s, got)
		}
	})
}
