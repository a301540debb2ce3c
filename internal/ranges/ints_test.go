package ranges

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// holds lists the chunks that x belongs to.
func holds(t interface{ Fatalf(string, ...any) }, chunks []Chunk, x int64) []int {
	var out []int
	for _, c := range chunks {
		in := true
		if c.Lo != nil {
			lo, err := c.Lo.Int()
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			in = in && x >= lo
		}
		if c.Hi != nil {
			hi, err := c.Hi.Int()
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			in = in && x < hi
		}
		if in {
			out = append(out, c.ID)
		}
	}
	return out
}

func TestEveryIntegerBelongsToExactlyOneChunk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64().Draw(t, "first")
		length := rapid.OneOf(rapid.Int64Range(-3, 300), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "length")
		// Past either end of int64 the sum would wrap into a very long split.
		last := first + length - 1
		if length > 0 && last < first {
			last = math.MaxInt64
		}
		if length < 1 && last > first {
			last = math.MinInt64
		}
		count := rapid.IntRange(-1, 40).Draw(t, "count")
		// At most some hundred chunks, whatever the length.
		chunkRows := rapid.Int64Range(max(1, length/100), max(2, length/20)).Draw(t, "chunkRows")
		chunks := SplitInts(first, last, count, chunkRows)
		checkTotal(t, chunks, count)

		xs := []int64{first, last, math.MinInt64, math.MaxInt64, rapid.Int64().Draw(t, "x")}
		for _, c := range chunks {
			if c.Lo != nil {
				lo, _ := c.Lo.Int()
				xs = append(xs, lo-1, lo, lo+1)
			}
		}
		for _, x := range xs {
			if in := holds(t, chunks, x); len(in) != 1 {
				t.Fatalf("%d belongs to chunks %v, want exactly one of %v", x, in, chunks)
			}
		}
		var sum int64
		for _, c := range chunks {
			if c.Rows > chunkRows {
				t.Fatalf("%s has %d rows, want at most %d", c, c.Rows, chunkRows)
			}
			sum += c.Rows
		}
		if want := max(0, last-first+1); last >= first && want > 0 && sum != want {
			t.Fatalf("chunks have %d rows, want %d", sum, want)
		}
	})
}

// checkTotal tests what every list of chunks keeps: ids from 1, ranges that
// ascend from 1 without a gap, no more than count of them, edges that meet.
func checkTotal(t *rapid.T, chunks []Chunk, count int) {
	if len(chunks) == 0 {
		t.Fatalf("no chunk")
	}
	if chunks[0].Lo != nil || chunks[len(chunks)-1].Hi != nil {
		t.Fatalf("outer ends are %s and %s, want both open", chunks[0].Lo, chunks[len(chunks)-1].Hi)
	}
	ranges := 0
	for i, c := range chunks {
		if c.ID != i+1 {
			t.Fatalf("chunk %d has id %d", i+1, c.ID)
		}
		if c.Range != ranges && c.Range != ranges+1 {
			t.Fatalf("%s follows range %d", c, ranges)
		}
		ranges = c.Range
		if i > 0 && (c.Lo == nil || fmt.Sprint(c.Lo) != fmt.Sprint(chunks[i-1].Hi)) {
			t.Fatalf("%s begins at %s, the chunk before ends at %s", c, c.Lo, chunks[i-1].Hi)
		}
	}
	if ranges > max(count, 1) {
		t.Fatalf("%d ranges, want at most %d", ranges, count)
	}
}

func TestSplitInts(t *testing.T) {
	for _, tc := range []struct {
		first, last int64
		count       int
		chunkRows   int64
		want        string
	}{
		{1, 10, 2, 100, "1[open 6)5 2[6 open)5"},
		{1, 10, 2, 3, "1[open 3)2 1[3 6)3 2[6 8)2 2[8 open)3"},
		{1, 10, 1, 0, "1[open open)10"},
		{1, 3, 8, 100, "1[open 2)1 2[2 3)1 3[3 open)1"},
		{1, 0, 8, 100, "1[open open)0"},
		{5, 5, 8, 100, "1[open open)1"},
		{-2, 1, 2, 100, "1[open 0)2 2[0 open)2"},
		{math.MinInt64, math.MaxInt64, 2, math.MaxInt64,
			"1[open -1)9223372036854775807 2[-1 4611686018427387903)4611686018427387904 2[4611686018427387903 open)4611686018427387904"},
	} {
		got := ""
		for i, c := range SplitInts(tc.first, tc.last, tc.count, tc.chunkRows) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%d[%s %s)%d", c.Range, c.Lo, c.Hi, c.Rows)
		}
		if got != tc.want {
			t.Errorf("SplitInts(%d, %d, %d, %d):\n got %s\nwant %s", tc.first, tc.last, tc.count, tc.chunkRows, got, tc.want)
		}
	}
}

func TestChunksOfEdgesAreTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var edges []Edge
		for i := range rapid.IntRange(0, 60).Draw(t, "edges") {
			edges = append(edges, IntEdge(int64(i)*10))
		}
		count := rapid.IntRange(-1, 80).Draw(t, "count")
		chunks := Chunks(edges, count)
		checkTotal(t, chunks, count)
		if len(chunks) != len(edges)+1 {
			t.Fatalf("%d chunks of %d edges", len(chunks), len(edges))
		}
		if got, want := chunks[len(chunks)-1].Range, max(1, min(count, len(chunks))); got != want {
			t.Fatalf("%d ranges of %d chunks, want %d", got, len(chunks), want)
		}
		if x := rapid.Int64Range(-5, 700).Draw(t, "x"); len(holds(t, chunks, x)) != 1 {
			t.Fatalf("%d belongs to chunks %v, want exactly one", x, holds(t, chunks, x))
		}
	})
}
