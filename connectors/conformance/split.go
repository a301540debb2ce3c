package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
)

func (h SourceHarness) split(t *testing.T, name string, rows int64) {
	ctx := context.Background()
	src := h.open(t)
	tab := h.table(t, src, name)
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var want [][]string
	for _, kind := range h.Definition.Source.Splits(tab) {
		for _, c := range []struct {
			count int
			rows  int64
		}{{1, rows + 1}, {1, 7}, {3, rows + 1}, {3, 10}, {8, 100}, {int(rows) + 5, 10}, {2, 1}} {
			s := connectors.Split{Kind: kind, Count: c.count, ChunkRows: c.rows}
			if kind == connectors.SplitKey && tab.DefaultKey() == nil {
				s.By = []string{tab.Columns[0].Name} // which may be NULL, and not unique
			}
			what := fmt.Sprintf("split %s into %d ranges, chunks of %d", kind, c.count, c.rows)
			chunks, err := snap.Split(ctx, tab, s)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			again, err := snap.Split(ctx, tab, s)
			if err != nil || !reflect.DeepEqual(chunks, again) {
				t.Errorf("%s: cut twice gives two answers (%v)", what, err)
			}
			checkChunks(t, what, chunks, c.count, kind)
			var got [][]string
			for _, k := range chunks {
				part, err := readChunk(ctx, snap, h.extract(tab, s), throughJSON(t, k), batch.Limits{Rows: 64})
				if err != nil {
					t.Fatalf("%s: %s: %v", what, k, err)
				}
				got = append(got, part...)
			}
			if want == nil {
				want = append([][]string{}, got...)
				if int64(len(got)) != rows {
					t.Fatalf("%s: %d rows, the table has %d", what, len(got), rows)
				}
			}
			sameRows(t, what, got, want)
		}
	}
}

// throughJSON gives the chunk as it is after a restart: from the target's state.
func throughJSON(t testing.TB, k ranges.Chunk) (out ranges.Chunk) {
	t.Helper()
	b, err := json.Marshal(k)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatalf("%s does not survive JSON: %v", k, err)
	}
	return out
}

func checkChunks(t testing.TB, what string, chunks []ranges.Chunk, count int, kind connectors.SplitKind) {
	t.Helper()
	if len(chunks) == 0 {
		t.Fatalf("%s: no chunk; an empty table has one", what)
	}
	if kind == connectors.SplitNone && len(chunks) != 1 {
		t.Errorf("%s: %d chunks, want 1", what, len(chunks))
	}
	last := 1
	for i, k := range chunks {
		if k.ID != i+1 {
			t.Errorf("%s: chunk %d is numbered %d", what, i+1, k.ID)
		}
		if k.Range < last || k.Range > last+1 || k.Range > count || i == 0 && k.Range != 1 {
			t.Errorf("%s: chunk %d is of range %d after %d, of %d", what, k.ID, k.Range, last, count)
		}
		last = k.Range
		if k.Part != 0 || k.Parts != 0 {
			t.Errorf("%s: %s has a part: that is the engine's", what, k)
		}
		if i > 0 && (k.Lo == nil || !reflect.DeepEqual(k.Lo, chunks[i-1].Hi)) {
			t.Errorf("%s: %s does not begin where the one before ends (%s)", what, k, chunks[i-1].Hi)
		}
	}
	if chunks[0].Lo != nil || chunks[len(chunks)-1].Hi != nil {
		t.Errorf("%s: the ends are not open: from %s to %s", what, chunks[0].Lo, chunks[len(chunks)-1].Hi)
	}
}
