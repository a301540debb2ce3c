// Package conformance holds the tests that every connector passes. A new one
// writes about 25 lines: how to open it, and which tables it has.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// Null stands for NULL in rows read back as text: no value is written so.
const Null = "\x00NULL"

// ReadAll reads whole columns of a table from a source: what a target's
// harness uses where the connector is a source as well. Values are in the
// canonical text of package batch, rows in no order that may be relied on.
func ReadAll(t testing.TB, src connectors.Source, table schema.Name, columns []string) [][]string {
	t.Helper()
	ctx := context.Background()
	cat, err := src.Catalog(ctx)
	if err != nil {
		t.Fatalf("catalog: %v", err)
	}
	tab := cat.Find(table)
	if tab == nil {
		t.Fatalf("table %s is not in the catalog", table)
	}
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	defer snap.Close()
	split := connectors.Split{Kind: connectors.SplitNone, Count: 1, ChunkRows: 1 << 40}
	chunks, err := snap.Split(ctx, tab, split)
	if err != nil {
		t.Fatalf("split: %v", err)
	}
	var rows [][]string
	for _, k := range chunks {
		got, err := readChunk(ctx, snap, connectors.Extract{Table: tab, Columns: columns, Split: split}, k, batch.Limits{})
		if err != nil {
			t.Fatalf("read %s: %v", k, err)
		}
		rows = append(rows, got...)
	}
	return rows
}

// readChunk reads a chunk to its end, checking the manners of the reader.
func readChunk(ctx context.Context, snap connectors.Snapshot, x connectors.Extract, k ranges.Chunk, l batch.Limits) (rows [][]string, err error) {
	r, err := snap.OpenChunk(ctx, x, k)
	if err != nil {
		return nil, err
	}
	defer func() {
		for range 2 { // closing twice is harmless
			if e := r.Close(); e != nil && err == nil {
				err = fmt.Errorf("close: %w", e)
			}
		}
	}()
	pool := batch.NewPool(typesOf(x), l)
	for last := false; ; {
		b := pool.Builder()
		err := r.Read(ctx, b)
		if err == io.EOF { // alone: an error that holds it is a connection's end
			if n := b.Rows(); n != 0 {
				return nil, fmt.Errorf("%d rows came together with io.EOF: Read gives the last rows alone, and io.EOF when asked again", n)
			}
			b.Discard()
			if b := pool.Builder(); r.Read(ctx, b) != io.EOF {
				return nil, errors.New("after io.EOF the next Read did not return io.EOF")
			}
			return rows, nil
		}
		if err != nil {
			b.Discard()
			return nil, err
		}
		if l.Rows > 0 && b.Rows() > l.Rows {
			return nil, fmt.Errorf("a batch of %d rows from a builder that is full at %d", b.Rows(), l.Rows)
		}
		if b.Rows() == 0 {
			return nil, errors.New("no rows and no io.EOF")
		}
		if last {
			return nil, errors.New("a batch before the last one was not full: Read fills until b.Full() or the chunk's end")
		}
		last = !b.Full()
		sealed := b.Seal()
		rows = append(rows, textRows(sealed)...)
		sealed.Release()
	}
}

func typesOf(x connectors.Extract) []schema.Type {
	out := make([]schema.Type, len(x.Columns))
	for i, c := range x.Columns {
		out[i] = x.Table.Column(c).Type
	}
	return out
}

// textRows copies a batch out as canonical texts.
func textRows(b *batch.Batch) [][]string {
	rows := make([][]string, b.Rows)
	for i := range rows {
		rows[i] = make([]string, len(b.Columns))
		for j, c := range b.Columns {
			if c.IsNull(i) {
				rows[i][j] = Null
				continue
			}
			rows[i][j] = string(batch.AppendText(nil, c, i))
		}
	}
	return rows
}

// lines makes rows comparable, whatever their order.
func lines(rows [][]string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = strings.Join(r, "\x1f")
	}
	slices.Sort(out)
	return out
}

// sameRows fails the test with the first few rows that differ.
func sameRows(t testing.TB, what string, got, want [][]string) {
	t.Helper()
	g, w := lines(got), lines(want)
	if slices.Equal(g, w) {
		return
	}
	counts := map[string]int{}
	for _, l := range w {
		counts[l]++
	}
	for _, l := range g {
		counts[l]--
	}
	var diff []string
	for l, n := range counts {
		switch {
		case n > 0:
			diff = append(diff, fmt.Sprintf("missing %d times: %q", n, l))
		case n < 0:
			diff = append(diff, fmt.Sprintf("too many by %d: %q", -n, l))
		}
	}
	slices.Sort(diff)
	t.Errorf("%s: got %d rows, want %d\n%s", what, len(g), len(w), strings.Join(diff[:min(len(diff), 10)], "\n"))
}

// wantClass fails the test when err is not of the class.
func wantClass(t testing.TB, what string, err error, want connectors.Class) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one of class %s", what, want)
		return
	}
	if got := connectors.ClassOf(err); got != want {
		t.Errorf("%s: got class %s (%v), want %s", what, got, err, want)
	}
}
