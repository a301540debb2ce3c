package conformance

import (
	"context"
	"errors"
	"io"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/schema"
)

// point: what a durable source calls a point, another process reads again.
func (h SourceHarness) point(t *testing.T, name string, rows int64) {
	ctx := context.Background()
	src := h.open(t)
	tab := h.table(t, src, name)
	count := func(snap connectors.Snapshot) (n int64) {
		s, chunks := h.first(t, snap, tab)
		for _, k := range chunks {
			got, err := readChunk(ctx, snap, h.extract(tab, s), k, batch.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			n += int64(len(got))
		}
		return n
	}
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := snap.Position(tab)
	if err != nil {
		t.Fatal(err)
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	again := func(when string) {
		snap, err := h.open(t).Snapshot(ctx, connectors.SnapshotOptions{Readers: 1, At: p})
		if err != nil {
			wantClass(t, "a point that can't be read again "+when, err, connectors.LostPosition)
			if when == "" {
				t.Errorf("nothing changed, and the point %s is lost: %v", p, err)
			}
			return
		}
		defer snap.Close()
		if q, err := snap.Position(tab); err != nil || q.Compare(p) != 0 {
			t.Errorf("a snapshot at %s %s is at %s, %v", p, when, q, err)
		}
		if n := count(snap); n != rows {
			t.Errorf("a snapshot at an earlier point %s: %d rows, want the %d of that point", when, n, rows)
		}
	}
	again("")
	if h.Insert != nil {
		h.Insert(t, name)()
		again("after an insert")
	}
	if _, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1, At: change.Position("no point of any source")}); err == nil {
		t.Error("Snapshot ignores o.At: an unknown point gave a snapshot, want an error of class lost position")
	} else {
		wantClass(t, "a snapshot at an unknown point", err, connectors.LostPosition)
	}
}

// missingColumn: the table changed after the plan was made.
func (h SourceHarness) missingColumn(t *testing.T, name string) {
	ctx := context.Background()
	src := h.open(t)
	tab := h.table(t, src, name)
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	s, chunks := h.first(t, snap, tab)
	planned := *tab
	planned.Columns = append([]schema.Column{{Name: "gone since", Native: tab.Columns[0].Native, Type: tab.Columns[0].Type}}, tab.Columns...)
	_, err = readChunk(ctx, snap, h.explained(connectors.Extract{Table: &planned, Columns: []string{"gone since"}, Split: s}), chunks[0], batch.Limits{})
	if err == nil || errors.Is(err, io.EOF) {
		t.Fatalf("reading a column that is not there: %v, want an error of class schema", err)
	}
	wantClass(t, "reading a column that is not there", err, connectors.Schema)
}
