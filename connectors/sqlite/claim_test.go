package sqlite

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"penstock/connectors"
)

func TestPipelinesOfOneFileWaitForEachOthersChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	ctx := context.Background()
	const pipelines, chunks, rows = 4, 10, 500
	var wg sync.WaitGroup
	for i := range pipelines {
		name := string(rune('a' + i))
		tg := openTestTarget(t, path, name)
		claim(t, tg)
		l := bigTable
		l.Source, l.Table.Name = name, "t_"+name
		if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: pending(chunks)}); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			w, err := tg.OpenLoad(ctx, l)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			p := poolOf(l)
			for k := 1; k <= chunks; k++ {
				m := connectors.Marker{Table: l.Source, Generation: 1, Chunk: k}
				if _, err := w.Begin(ctx, m); err != nil {
					t.Error(err)
					return
				}
				if err := w.Write(ctx, bigBatch(p, int64(k*rows), rows), nil); err != nil {
					t.Error(err)
				}
				if _, err := w.Commit(ctx, m); err != nil {
					t.Error(err)
				}
			}
			if err := tg.Finish(ctx, l); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := ask(t, path, "SELECT sum(rows) || ' ' || (SELECT count(*) FROM t_a) || ' ' || (SELECT count(*) FROM penstock_table WHERE state = 'loaded') FROM penstock_chunk"); got != "20000 5000 4" {
		t.Errorf("rows by markers, rows of the first, tables loaded: got %s, want 20000 5000 4", got)
	}
}
