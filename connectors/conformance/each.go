package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// keyed are rows of the default columns by their ids, in this order; -1 is NULL,
// which no target takes for a key.
func keyed(ids ...int) *batch.Batch {
	b := batch.NewPool([]schema.Type{schema.Of(schema.Int64), {Kind: schema.Text, Length: 40}}, batch.Limits{}).Builder()
	for i, id := range ids {
		if id < 0 {
			b.Column(0).AppendNull()
		} else {
			b.Column(0).AppendInt(int64(id))
		}
		b.Column(1).AppendString(fmt.Sprintf("%d, number %d", id, i+1))
	}
	return b.Seal()
}

// eachRow: a chunk that holds rows which the target refuses goes in without
// them, and they are told by their row and a reason that holds no value.
func eachRow(t *testing.T, h TargetHarness, mode string) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	l.Mode, l.Indexes = mode, "keep"
	l = h.explained(l)
	p.begin(l, 2)
	w := p.writer(p.Target, l)
	none := func(row int32, why *connectors.Refusal) error {
		t.Errorf("row %d of a batch without bad rows: %v", row, why)
		return nil
	}
	m := mark(l, 1)
	if _, err := w.Begin(ctx, m); err != nil {
		t.Fatal(err)
	}
	first := rows(1000, 50)
	if err := w.WriteEach(ctx, first, nil, none); err != nil {
		t.Fatal(err)
	}
	// Of the rows of one key the first goes in; one that Write has brought counts.
	second := keyed(7, -1, 8, 9, 8, -1, 10, 1007, 7, 11, -1)
	var sel batch.Selection
	for i := range second.Rows - 1 { // the last bad row is not selected
		sel = append(sel, int32(i))
	}
	want, good := []int32{1, 5}, batch.Selection{0, 2, 3, 4, 6, 7, 8, 9}
	if h.Keys {
		want, good = []int32{1, 4, 5, 7, 8}, batch.Selection{0, 2, 3, 6, 9}
	}
	var got []int32
	err := w.WriteEach(ctx, second, sel, func(row int32, why *connectors.Refusal) error {
		got = append(got, row)
		if why == nil || why.Reason == "" {
			t.Errorf("row %d is refused without a reason", row)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("a batch with bad rows: %v", err)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("refused rows %v, want %v", got, want)
	}
	// The batch is the caller's again, and a transaction in which rows were
	// refused commits the others.
	if err := w.WriteEach(ctx, rows(2000, 5), batch.Selection{}, none); err != nil {
		t.Fatal(err)
	}
	m.BadRows = int64(len(got))
	n, err := w.Commit(ctx, m)
	if err != nil || n != int64(first.Rows+len(good)) {
		t.Fatalf("commit: %d rows, %v; want %d", n, err, first.Rows+len(good))
	}
	var left [][]string
	for i, r := range textRows(second) {
		if slices.Contains(good, int32(i)) {
			left = append(left, r)
		}
	}
	sameRows(t, "after a chunk with refused rows", p.Read(t, p.config, l), append(textRows(first), left...))
	if k := p.state("t").Chunks[0]; !k.Done || k.Rows != n || k.BadRows != m.BadRows {
		t.Errorf("the marker says done %v, %d rows, %d bad", k.Done, k.Rows, k.BadRows)
	}

	// Thrown away, nothing of it stays; the error that bad returns ends it.
	if _, err := w.Begin(ctx, mark(l, 2)); err != nil {
		t.Fatal(err)
	}
	enough := fmt.Errorf("enough")
	if err := w.WriteEach(ctx, keyed(3001, -1, -1), nil, func(int32, *connectors.Refusal) error { return enough }); err == nil {
		t.Error("an error of bad does not end WriteEach")
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	p.chunk(w, mark(l, 2), rows(3000, 5))
	sameRows(t, "after a chunk that was thrown away", p.Read(t, p.config, l), append(append(textRows(first), left...), textRows(rows(3000, 5))...))
}

// everyRowBad: a chunk of which nothing is left is a chunk.
func everyRowBad(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 1)
	w := p.writer(p.Target, l)
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	bad := 0
	if err := w.WriteEach(ctx, keyed(-1, -1, -1), nil, func(int32, *connectors.Refusal) error { bad++; return nil }); err != nil || bad != 3 {
		t.Fatalf("%d refused, %v", bad, err)
	}
	if n, err := w.Commit(ctx, mark(l, 1)); err != nil || n != 0 {
		t.Fatalf("%d rows, %v", n, err)
	}
	p.wantRows("after it", l)
}
