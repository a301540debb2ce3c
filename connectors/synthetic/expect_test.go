package synthetic

import (
	"bufio"
	"fmt"
	"math"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// expected reads what testdata/expect.py printed.
func expected(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("testdata/expect.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		k, v, ok := strings.Cut(s.Text(), "=")
		if !ok {
			t.Fatalf("expect.txt: line without =: %q", s.Text())
		}
		out[k] = v
	}
	return out
}

// text prints value i of c as expect.py does.
func text(c *batch.Column, i int) string {
	switch c.Storage() {
	case schema.StoreInt:
		return strconv.FormatInt(c.Ints[i], 10)
	case schema.StoreFloat:
		return strconv.FormatFloat(c.Floats[i], 'f', -1, 64)
	case schema.StoreDecimal:
		return c.Decimals[i].ToString(0)
	}
	return string(c.Bytes(i))
}

func TestRowsAreThoseOfTheIndependentScript(t *testing.T) {
	want := expected(t)
	for _, tc := range []struct {
		key    string
		preset string
		seed   int64
		tables int
		table  string
		row    int64
	}{
		{"big_table.row1", "big_table", 1, 0, "t", 1},
		{"big_table.row2", "big_table", 1, 0, "t", 2},
		{"big_table.row3", "big_table", 1, 0, "t", 3},
		{"firenibble.row1", "firenibble", 1, 0, "t", 1},
		{"firenibble.row2", "firenibble", 1, 0, "t", 2},
		{"firenibble.row3", "firenibble", 1, 1, "t1", 3},
		{"firenibble_cdc.row1", "firenibble_cdc", 1, 0, "t", 1},
		{"firenibble_cdc.row2", "firenibble_cdc", 1, 0, "t", 2},
		{"firenibble_cdc.row3", "firenibble_cdc", 1, 0, "t", 3},
		{"big_table.seed2", "big_table", 2, 0, "t", 7},
		{"big_table.seed_minus1", "big_table", -1, 0, "t", 7},
		{"big_table.table3", "big_table", 1, 3, "t3", 7},
		{"big_table.row200000000", "big_table", 1, 0, "t", 200_000_000},
	} {
		config := &Config{Tables: []Table{{Name: "t", Preset: tc.preset, Rows: math.MaxInt32, Seed: tc.seed, Tables: tc.tables}}}
		src, err := open(t.Context(), config, connectors.Env{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := src.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		table := c.Find(schema.Name{Name: tc.table})
		if table == nil {
			t.Fatalf("%s: no table %s", tc.key, tc.table)
		}
		chunk := ranges.Chunk{Lo: ranges.IntEdge(tc.row), Hi: ranges.IntEdge(tc.row + 1)}
		var got []string
		read(t, snapshotOf(t, src), table, names(table), chunk, batch.Limits{}, func(b *batch.Batch) {
			for _, c := range b.Columns {
				for i := range b.Rows {
					got = append(got, text(c, i))
				}
			}
		})
		if row := strings.Join(got, "|"); row != want[tc.key] {
			t.Errorf("%s:\n got %s\nwant %s", tc.key, row, want[tc.key])
		}
	}
}

func TestQuickstartSumsAreThoseOfTheIndependentScript(t *testing.T) {
	const day = 86_400_000_000
	src, table := one(t, "big_table", 1_000_000, 1)
	s := snapshotOf(t, src)
	chunks, err := s.Split(t.Context(), table, connectors.Split{Kind: connectors.SplitBlocks, Count: 8, ChunkRows: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	var rows, ids, small, big, length, letters, weighted, days uint64
	minDay, maxDay := int64(math.MaxInt64), int64(math.MinInt64)
	for _, c := range chunks {
		read(t, s, table, names(table), c, batch.Limits{}, func(b *batch.Batch) {
			for i := range b.Rows {
				if b.Columns[1].Ints[i] == 4 {
					continue
				}
				id, created := uint64(b.Columns[0].Ints[i]), b.Columns[4].Ints[i]
				var sum uint64
				for _, ch := range b.Columns[3].Bytes(i) {
					sum += uint64(ch) - 'a' + 'A'
				}
				if created%day != 0 {
					t.Fatalf("row %d: created_date %d is no whole day", id, created)
				}
				rows++
				ids += id
				small += uint64(b.Columns[1].Ints[i])
				big += uint64(b.Columns[2].Ints[i])
				length += uint64(len(b.Columns[3].Bytes(i)))
				letters += sum
				hi, lo := bits.Mul64(id, sum)
				_, m := bits.Div64(hi, lo, 1<<61-1)
				weighted = (weighted + m) % (1<<61 - 1)
				minDay, maxDay = min(minDay, created/day), max(maxDay, created/day)
				days += uint64(created / day)
			}
		})
	}
	want := expected(t)
	for key, got := range map[string]any{
		"rows": rows, "sum_id": ids, "sum_small_number": small, "sum_big_number": big,
		"sum_length_short_string": length, "sum_bytes_short_string": letters,
		"sum_id_times_bytes_mod_2_61_1": weighted,
		"min_created_day":               minDay, "max_created_day": maxDay, "sum_created_day": days,
	} {
		if g, w := fmt.Sprint(got), want["quickstart."+key]; g != w {
			t.Errorf("%s: got %s, want %s", key, g, w)
		}
	}
}
