package sqlite

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// A value of another type than its column's makes its row a bad one, which is
// left out whole and named, and the reading goes on.
func TestRowsOfOtherTypesAreToldAndLeftOut(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a.db")
	c, err := openConn(path, create, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, n INTEGER)", "INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 'secret'), (3, 'c', 30), (4, 'd', x'00')"} {
		if err := c.exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	c.close()
	src := openTestSource(t, path)
	cat, err := src.Catalog(ctx)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	split := connectors.Split{Kind: connectors.SplitNone, Count: 1, ChunkRows: 100}
	for _, columns := range [][]string{{"id", "v", "n"}, {"v", "n"}} {
		var bad []string
		x := connectors.Extract{Table: cat.Find(schema.Name{Name: "t"}), Columns: columns, Split: split, Bad: func(b connectors.BadRow) error {
			if strings.Contains(b.Reason, "secret") {
				t.Errorf("the reason holds a value: %s", b.Reason)
			}
			bad = append(bad, b.String())
			return nil
		}}
		chunks, err := snap.Split(ctx, x.Table, split)
		if err != nil {
			t.Fatal(err)
		}
		r, err := snap.OpenChunk(ctx, x, chunks[0])
		if err != nil {
			t.Fatal(err)
		}
		var types []schema.Type
		for _, n := range columns {
			types = append(types, x.Table.Column(n).Type)
		}
		b := batch.NewPool(types, batch.Limits{}).Builder()
		if err := r.Read(ctx, b); err != nil {
			t.Fatal(err)
		}
		in := b.Seal()
		if n := in.Columns[len(columns)-1]; in.Rows != 2 || n.Ints[0] != 10 || n.Ints[1] != 30 {
			t.Errorf("%v: %d rows, n = %v; want 10 and 30", columns, in.Rows, n.Ints)
		}
		if len(bad) != 2 || !strings.Contains(bad[0], "2") || !strings.Contains(bad[0], "column n") || !strings.Contains(bad[1], "4") {
			t.Errorf("%v: bad rows %q, want those of id 2 and 4", columns, bad)
		}
		if err := r.Read(ctx, batch.NewPool(types, batch.Limits{}).Builder()); !errors.Is(err, io.EOF) {
			t.Errorf("behind the last row: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
