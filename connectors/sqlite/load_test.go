package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	_ "modernc.org/sqlite" // the second client, which checks what the first wrote
)

// bigTable is the shape of the preset of that name.
var bigTable = connectors.Load{
	Source: "big_table", Table: schema.Name{Name: "big_table"},
	Columns: []connectors.TargetColumn{
		{Name: "id", Native: "INTEGER", Type: schema.Of(schema.Int64)},
		{Name: "small_number", Native: "INTEGER", Type: schema.Of(schema.Int64), Nullable: true},
		{Name: "big_number", Native: "INTEGER", Type: schema.Of(schema.Int64), Nullable: true},
		{Name: "short_string", Native: "VARCHAR(50)", Type: schema.Type{Kind: schema.Text, Length: 50}, Nullable: true},
		{Name: "created_date", Native: "TIMESTAMP_TEXT", Type: schema.Of(schema.Timestamp), Nullable: true},
	},
	Key: []string{"id"}, Create: true, Existing: connectors.ExistingError, Mode: "copy", Digest: "d1", Definition: `{"a":1}`,
}

func bigBatch(p *batch.Pool, first int64, rows int) *batch.Batch {
	b := p.Builder()
	for i := range rows {
		id := first + int64(i)
		b.Column(0).AppendInt(id)
		b.Column(1).AppendInt(id%4 + 1)
		b.Column(2).AppendInt(id%9900 + 100)
		b.Column(3).AppendString("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"[:10+id%41])
		b.Column(4).AppendInt(1_790_000_000_000_000 + id%366*86_400_000_000)
	}
	return b.Seal()
}

func poolOf(l connectors.Load) *batch.Pool {
	var ts []schema.Type
	for _, c := range l.Columns {
		ts = append(ts, c.Type)
	}
	return batch.NewPool(ts, batch.Limits{})
}

func openTestTarget(t testing.TB, path, pipeline string) connectors.Target {
	t.Helper()
	tg, err := openTarget(context.Background(), &TargetConfig{Path: path}, connectors.Env{Pipeline: pipeline})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	return tg
}

func claim(t testing.TB, tg connectors.Target) {
	t.Helper()
	if _, err := tg.Claim(context.Background(), connectors.Owner{Run: "r1", Host: "h", PID: 42, Started: "2026-01-01T00:00:00Z"}); err != nil {
		t.Fatal(err)
	}
}

func pending(n int) (out []ranges.Chunk) {
	for i := range n {
		out = append(out, ranges.Chunk{ID: i + 1, Range: 1, Lo: ranges.IntEdge(int64(i)), Hi: ranges.IntEdge(int64(i + 1))})
	}
	return out
}

// ask reads one value through database/sql.
func ask(t testing.TB, path, q string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var v sql.NullString
	if err := db.QueryRow(q).Scan(&v); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return v.String
}

func load(t testing.TB, w connectors.BulkWriter, m connectors.Marker, bs ...*batch.Batch) {
	t.Helper()
	ctx := context.Background()
	if done, err := w.Begin(ctx, m); err != nil || done {
		t.Fatalf("Begin(%+v) = %v, %v", m, done, err)
	}
	for _, b := range bs {
		if err := w.Write(ctx, b, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
}

func TestLoadedRowsAndMarkersAreSeenByASecondClient(t *testing.T) {
	for _, mode := range []string{"copy", "row"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.db")
			l := bigTable
			l.Mode = mode
			tg := openTestTarget(t, path, "p")
			claim(t, tg)
			ctx := context.Background()
			if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: pending(2)}); err != nil {
				t.Fatal(err)
			}
			w, err := tg.OpenLoad(ctx, l)
			if err != nil {
				t.Fatal(err)
			}
			p := poolOf(l)
			// 1,000 rows are full statements, smaller ones and single rows.
			load(t, w, connectors.Marker{Table: l.Source, Generation: 1, Chunk: 1}, bigBatch(p, 1, 1000), bigBatch(p, 1001, 5))
			if err := tg.Finish(ctx, l); err == nil {
				t.Error("Finish with a pending chunk: no error")
			}
			load(t, w, connectors.Marker{Table: l.Source, Generation: 1, Chunk: 2}, bigBatch(p, 1006, 7))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := tg.Finish(ctx, l); err != nil {
				t.Fatal(err)
			}
			for q, want := range map[string]string{
				"SELECT count(*) FROM big_table":                                                           "1012",
				"SELECT sum(id) FROM big_table":                                                            fmt.Sprint(1012 * 1013 / 2),
				"SELECT group_concat(rows) FROM penstock_chunk WHERE state = 'done'":                       "1005,7",
				"SELECT state FROM penstock_table":                                                         "loaded",
				"SELECT typeof(id) || typeof(short_string) || typeof(created_date) FROM big_table LIMIT 1": "integertexttext",
				"SELECT created_date || '' FROM big_table WHERE id = 1":                                    "2026-09-22 14:13:20",
				"PRAGMA journal_mode":                                                                      "delete",
			} {
				if got := ask(t, path, q); got != want {
					t.Errorf("%s\n got %s\nwant %s", q, got, want)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, mode := range []string{"copy", "row"} {
		b.Run(mode, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "t.db")
			l := bigTable
			l.Mode = mode
			tg := openTestTarget(b, path, "p")
			claim(b, tg)
			ctx := context.Background()
			const chunk = 100_000
			if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: pending(b.N/chunk + 1)}); err != nil {
				b.Fatal(err)
			}
			w, err := tg.OpenLoad(ctx, l)
			if err != nil {
				b.Fatal(err)
			}
			p := poolOf(l)
			b.ReportAllocs()
			b.ResetTimer()
			id, n := int64(1), 0
			for n < b.N {
				m := connectors.Marker{Table: l.Source, Generation: 1, Chunk: n/chunk + 1}
				if _, err := w.Begin(ctx, m); err != nil {
					b.Fatal(err)
				}
				for k := 0; k < chunk && n < b.N; k += 8000 {
					rows := min(8000, chunk-k)
					bt := bigBatch(p, id, rows)
					if err := w.Write(ctx, bt, nil); err != nil {
						b.Fatal(err)
					}
					bt.Release()
					id, n = id+int64(rows), n+rows
				}
				if _, err := w.Commit(ctx, m); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
			_ = w.Close()
		})
	}
	// The ceiling: the same values by multi-row VALUES through database/sql.
	b.Run("bare", func(b *testing.B) {
		db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "t.db"))
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("PRAGMA cache_size = -65536;" + createTable(bigTable)); err != nil {
			b.Fatal(err)
		}
		const rows = 128
		q := insertRow(bigTable) + strings.Repeat(", (?, ?, ?, ?, ?)", rows-1)
		args := make([]any, 5*rows)
		b.ReportAllocs()
		b.ResetTimer()
		id := int64(0)
		for id < int64(b.N) {
			tx, err := db.Begin()
			if err != nil {
				b.Fatal(err)
			}
			s, err := tx.Prepare(q)
			if err != nil {
				b.Fatal(err)
			}
			for range 100_000 / rows {
				for k := range rows {
					id++
					a := args[5*k:]
					a[0], a[1], a[2] = id, id%4+1, id%9900+100
					a[3], a[4] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"[:10+id%41], "2026-09-22 14:13:20"
				}
				if _, err := s.Exec(args...); err != nil {
					b.Fatal(err)
				}
			}
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(id)/b.Elapsed().Seconds(), "rows/s")
	})
}

func wantClass(t *testing.T, err error, want connectors.Class) {
	t.Helper()
	if err == nil || connectors.ClassOf(err) != want {
		t.Errorf("got %v (class %s), want class %s", err, connectors.ClassOf(err), want)
	}
	var e *connectors.Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf("%v is no connectors.Error", err)
	}
}
