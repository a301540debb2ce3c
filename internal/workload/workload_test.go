package workload

import (
	"bytes"
	"fmt"
	"testing"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"pgregory.net/rapid"
)

// made fills rows of a table in steps of at most step rows.
func made(t Table, columns []int, from int64, n, step int) *batch.Batch {
	var types []schema.Type
	for _, i := range columns {
		types = append(types, t.Preset.Columns[i].Type)
	}
	b := batch.NewPool(types, batch.Limits{}).Builder()
	for n > 0 {
		k := min(n, step)
		t.Fill(b, columns, from, k)
		from += int64(k)
		n -= k
	}
	return b.Seal()
}

func every(p *Preset) []int {
	var out []int
	for i := range p.Columns {
		out = append(out, i)
	}
	return out
}

func value(c *batch.Column, i int) string { return string(batch.AppendText(nil, c, i)) }

func TestARowIsTheSameHoweverItIsReached(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				table := Table{Preset: p, Seed: rapid.Uint64().Draw(t, "seed"), Number: rapid.IntRange(1, 9).Draw(t, "table")}
				from := rapid.Int64Range(1, 1<<50).Draw(t, "from")
				n := rapid.IntRange(1, 300).Draw(t, "rows")
				whole := made(table, every(p), from, n, n)
				pieces := made(table, every(p), from, n, rapid.IntRange(1, 70).Draw(t, "step"))
				column := rapid.IntRange(0, len(p.Columns)-1).Draw(t, "column")
				row := rapid.IntRange(0, n-1).Draw(t, "row")
				alone := made(table, []int{column}, from+int64(row), 1, 1)

				want := value(whole.Columns[column], row)
				if got := value(alone.Columns[0], 0); got != want {
					t.Fatalf("%s of row %d: alone %s, among others %s", p.Columns[column].Name, from+int64(row), got, want)
				}
				if got := value(pieces.Columns[column], row); got != want {
					t.Fatalf("%s of row %d: in pieces %s, at once %s", p.Columns[column].Name, from+int64(row), got, want)
				}
			})
		})
	}
}

func TestValuesFitTheirTypes(t *testing.T) {
	const rows = 20_000
	for _, p := range Presets() {
		b := made(Table{Preset: p, Seed: 7, Number: 1}, every(p), 1, rows, 1000)
		for i, c := range b.Columns {
			name := p.Name + "." + p.Columns[i].Name
			for row := range rows {
				switch typ := c.Type; typ.Kind {
				case schema.Int32:
					if lo, hi := typ.Kind.IntRange(); c.Ints[row] < lo || c.Ints[row] > hi {
						t.Fatalf("%s: %d is outside of %s", name, c.Ints[row], typ)
					}
				case schema.Text:
					v := c.Bytes(row)
					if len(v) > typ.Length || len(v) == 0 {
						t.Fatalf("%s: %q has %d characters, the type takes %d", name, v, len(v), typ.Length)
					}
					if len(bytes.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789")) > 0 {
						t.Fatalf("%s: %q has other characters than letters and digits", name, v)
					}
				case schema.Float64:
					if v := c.Floats[row]; v < 0 || v >= 1 {
						t.Fatalf("%s: %v is outside of [0, 1)", name, v)
					}
				}
			}
		}
	}
}

// TestBoundsAreReached: each end of each narrow formula occurs, and nothing past it.
func TestBoundsAreReached(t *testing.T) {
	const rows = 200_000
	bigTable, cdc := Find("big_table"), Find("firenibble_cdc")
	for _, tc := range []struct {
		preset *Preset
		column int
		lo, hi int64 // of the value, or of a text's length
	}{
		{bigTable, 0, 1, rows}, {bigTable, 1, 1, 4}, {bigTable, 2, 100, 9999}, {bigTable, 3, 10, 50},
		{bigTable, 4, day2025 * day, (day2025 + 365) * day}, {cdc, 5, 10, 100}, {cdc, 9, day2000, day2000 + 9999},
	} {
		name := tc.preset.Name + "." + tc.preset.Columns[tc.column].Name
		lo, hi := int64(1<<63-1), int64(-1<<63)
		for from := int64(1); from <= rows; from += 2000 {
			c := made(Table{Preset: tc.preset, Seed: 1, Number: 1}, []int{tc.column}, from, 2000, 2000).Columns[0]
			for i := range 2000 {
				v := int64(0)
				if c.Storage() == schema.StoreInt {
					v = c.Ints[i]
				} else {
					v = int64(len(c.Bytes(i)))
				}
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		if lo != tc.lo || hi != tc.hi {
			t.Errorf("%s: values from %d to %d, want %d to %d", name, lo, hi, tc.lo, tc.hi)
		}
	}
}

func TestSeedsTablesAndColumnsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(20) {
		for table := 1; table <= 20; table++ {
			for column := range 20 {
				k, name := columnKey(seed, table, column), fmt.Sprintf("seed %d, table %d, column %d", seed, table, column)
				if other, ok := seen[k]; ok {
					t.Fatalf("%s and %s share a key", name, other)
				}
				seen[k] = name
			}
		}
	}
}

func TestPresetsAreWhole(t *testing.T) {
	for _, p := range Presets() {
		if Find(p.Name) == nil || Find(p.Name).Name != p.Name {
			t.Errorf("%s is not found by its name", p.Name)
		}
		if len(p.fills) != len(p.Columns) {
			t.Errorf("%s: %d formulas for %d columns", p.Name, len(p.fills), len(p.Columns))
		}
		table := schema.Table{Columns: p.Columns}
		for _, k := range p.Key {
			if table.Column(k) == nil {
				t.Errorf("%s: no column %s of its key", p.Name, k)
			}
		}
		for _, c := range p.Columns {
			if c.Type.Kind == schema.Text && c.Type.Length > maxText && p.Name != "firenibble" {
				t.Errorf("%s.%s: %d letters, words give %d", p.Name, c.Name, c.Type.Length, maxText)
			}
		}
	}
	if Find("no such preset") != nil {
		t.Error("a preset that is not there is found")
	}
}

func TestFillWithoutColumnsCountsRows(t *testing.T) {
	if b := made(Table{Preset: Find("big_table"), Seed: 1, Number: 1}, nil, 1, 500, 100); b.Rows != 500 {
		t.Errorf("got %d rows, want 500", b.Rows)
	}
}

// TestSixteenAtOnce holds the arithmetic on whole words to the arithmetic on
// single bytes that docs/synthetic.md describes.
func TestSixteenAtOnce(t *testing.T) {
	const digitsOf = "0123456789abcdefghijklmnopqrstuv"
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Uint64().Draw(t, "word")
		lower, upper := fives(word)
		for half, s := range []uint64{lower, upper} {
			l, d := letters(s), digits(s)
			for i := range 8 {
				b := byte(word >> (8 * i))
				k := b % 32
				if half == 1 {
					k = b / 8
				}
				if got, want := byte(l>>(8*i)), 'a'+k%26; got != want {
					t.Fatalf("word %x, byte %d of half %d: letter %q, want %q", word, i, half, got, want)
				}
				if got, want := byte(d>>(8*i)), digitsOf[k]; got != want {
					t.Fatalf("word %x, byte %d of half %d: digit %q, want %q", word, i, half, got, want)
				}
			}
		}
	})
}
