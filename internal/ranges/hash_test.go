package ranges

import (
	"math"
	"reflect"
	"testing"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// keys is a batch of (id bigint, code text) with a NULL here and there.
func keys(rows int) *batch.Batch {
	b := batch.NewPool([]schema.Type{schema.Of(schema.Int64), schema.Of(schema.Text)}, batch.Limits{}).Builder()
	for i := range rows {
		if i%10 == 3 {
			b.Column(0).AppendNull()
		} else {
			b.Column(0).AppendInt(int64(i))
		}
		if i%10 == 7 {
			b.Column(1).AppendNull()
		} else {
			b.Column(1).AppendString(string(rune('a' + i%26)))
		}
	}
	return b.Seal()
}

func TestRangesAreThoseOfSingleRows(t *testing.T) {
	b := keys(500)
	for _, columns := range [][]int{{0}, {1}, {0, 1}, {1, 0}} {
		h := NewHasher(columns)
		for _, sel := range []batch.Selection{nil, {}, {0}, {3, 4, 7, 8, 499}} {
			got := h.Ranges(b, sel, 8, []int32{9, 9, 9})
			if len(got) != sel.Len(b.Rows) {
				t.Fatalf("key %v: got %d ranges for %d rows", columns, len(got), sel.Len(b.Rows))
			}
			for k, r := range got {
				if want := h.Range(b, sel.Row(k), 8); r != want {
					t.Errorf("key %v, row %d: got range %d, want %d", columns, sel.Row(k), r, want)
				}
			}
		}
	}
}

func TestKeysWithANullBelongToRangeOne(t *testing.T) {
	b := keys(500)
	for _, columns := range [][]int{{0}, {1}, {0, 1}} {
		for i, r := range NewHasher(columns).Ranges(b, nil, 64, nil) {
			null := false
			for _, c := range columns {
				null = null || b.Columns[c].IsNull(i)
			}
			if null && r != 1 {
				t.Errorf("key %v, row %d has a NULL: got range %d, want 1", columns, i, r)
			}
		}
	}
}

func TestColumnsKeepTheirPlaces(t *testing.T) {
	b := batch.NewPool([]schema.Type{schema.Of(schema.Text), schema.Of(schema.Text)}, batch.Limits{}).Builder()
	for _, pair := range [][2]string{{"ab", "c"}, {"a", "bc"}, {"c", "ab"}} {
		b.Column(0).AppendString(pair[0])
		b.Column(1).AppendString(pair[1])
	}
	sealed := b.Seal()
	h := NewHasher([]int{0, 1})
	seen := map[uint64]int{}
	for i := range 3 {
		hash, _ := h.Hash(sealed, i)
		if j, ok := seen[hash]; ok {
			t.Errorf("rows %d and %d have the same hash", j, i)
		}
		seen[hash] = i
	}
	if swapped, _ := NewHasher([]int{1, 0}).Hash(sealed, 2); seen[swapped] != 0 {
		t.Errorf("(ab, c) by columns 1, 0 hashes unlike (ab, c) by columns 0, 1")
	}
}

// TestRangesAreEven: the numbers that keys are made of fill ranges evenly,
// within six standard deviations.
func TestRangesAreEven(t *testing.T) {
	const rows = 1 << 17
	for name, key := range map[string]func(i int) int64{
		"counted":       func(i int) int64 { return int64(i) },
		"by thousands":  func(i int) int64 { return int64(i) * 1000 },
		"by 2^32":       func(i int) int64 { return int64(i) << 32 },
		"from below":    func(i int) int64 { return math.MinInt64 + int64(i) },
		"both sides":    func(i int) int64 { return int64(i) - rows/2 },
		"microseconds":  func(i int) int64 { return 1_735_689_600_000_000 + int64(i)*86_400_000_000 },
		"odd and far":   func(i int) int64 { return int64(i)*2_000_003 + 1 },
		"powers of two": func(i int) int64 { return int64(1)<<(i%63) + int64(i) },
	} {
		b := batch.NewPool([]schema.Type{schema.Of(schema.Int64)}, batch.Limits{}).Builder()
		for i := range rows {
			b.Column(0).AppendInt(key(i))
		}
		sealed := b.Seal()
		for _, n := range []int{2, 3, 8, 64} {
			count := make([]int, n+1)
			for _, r := range NewHasher([]int{0}).Ranges(sealed, nil, n, nil) {
				count[r]++
			}
			mean := float64(rows) / float64(n)
			for r := 1; r <= n; r++ {
				if off := math.Abs(float64(count[r]) - mean); off > 6*math.Sqrt(mean) {
					t.Errorf("%s: range %d of %d has %d of %d keys, want about %.0f", name, r, n, count[r], rows, mean)
				}
			}
			if count[0] != 0 {
				t.Errorf("%s: %d keys in range 0", name, count[0])
			}
		}
	}
}

func TestImpossibleKeysPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"no column": func() { NewHasher(nil) },
		"no range":  func() { NewHasher([]int{0}).Ranges(keys(1), nil, 0, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: want a panic", name)
				}
			}()
			f()
		}()
	}
}

func TestHasherKeepsItsOwnColumns(t *testing.T) {
	columns := []int{0}
	h := NewHasher(columns)
	b := keys(100)
	before := h.Ranges(b, nil, 8, nil)
	columns[0] = 1
	if after := h.Ranges(b, nil, 8, nil); !reflect.DeepEqual(before, after) {
		t.Error("a change of the caller's slice changed the ranges")
	}
}

// hashed are the kinds of keys that matter for speed.
func hashed() map[string]*batch.Batch {
	out := map[string]*batch.Batch{}
	make := func(name string, f func(c *batch.Column, i int), types ...schema.Type) {
		b := batch.NewPool(types, batch.Limits{}).Builder()
		for i := range batch.DefaultRows {
			for k := range types {
				f(b.Column(k), i)
			}
		}
		out[name] = b.Seal()
	}
	number := func(c *batch.Column, i int) { c.AppendInt(int64(i) * 1001) }
	make("bigint", number, schema.Of(schema.Int64))
	make("bigint,date", number, schema.Of(schema.Int64), schema.Of(schema.Date))
	make("text", func(c *batch.Column, i int) { c.AppendString("customer 0123456789"[:10+i%10]) }, schema.Of(schema.Text))
	make("numeric(38)", func(c *batch.Column, i int) { c.AppendDecimal(decimal128.FromI64(int64(i))) }, schema.Type{Kind: schema.Decimal, Precision: 38})
	make("numeric(38) past 64 bits", func(c *batch.Column, i int) { c.AppendDecimal(decimal128.New(int64(i)+1, 5)) }, schema.Type{Kind: schema.Decimal, Precision: 38})
	make("number as text", func(c *batch.Column, i int) { c.AppendString("1234567890") }, schema.Of(schema.Decimal))
	return out
}

func TestHashingAllocatesNothing(t *testing.T) {
	for name, b := range hashed() {
		h := NewHasher(columnsOf(b))
		out := h.Ranges(b, nil, 8, nil)
		if n := testing.AllocsPerRun(5, func() { out = h.Ranges(b, nil, 8, out) }); n != 0 {
			t.Errorf("%s: %.0f allocations for %d rows, want none", name, n, b.Rows)
		}
	}
}

func columnsOf(b *batch.Batch) []int {
	var out []int
	for i := range b.Columns {
		out = append(out, i)
	}
	return out
}

func BenchmarkRanges(b *testing.B) {
	for name, keys := range hashed() {
		b.Run(name, func(b *testing.B) {
			h := NewHasher(columnsOf(keys))
			var out []int32
			b.ReportAllocs()
			for b.Loop() {
				out = h.Ranges(keys, nil, 8, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*keys.Rows), "ns/row")
		})
	}
}
