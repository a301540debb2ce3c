package synthetic

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// one opens a source of one table and gives it with its catalog entry.
func one(t testing.TB, preset string, rows, seed int64) (connectors.Source, *schema.Table) {
	t.Helper()
	src, err := Definition().Source.Open(t.Context(), &Config{Tables: []Table{{Name: "t", Preset: preset, Rows: rows, Seed: seed}}}, connectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := src.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return src, &c.Tables[0]
}

func names(t *schema.Table) []string {
	var out []string
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}

func poolOf(t testing.TB, table *schema.Table, columns []string, l batch.Limits) *batch.Pool {
	t.Helper()
	var kinds []schema.Type
	for _, name := range columns {
		kinds = append(kinds, table.Column(name).Type)
	}
	return batch.NewPool(kinds, l)
}

// read gives every batch of a chunk to f.
func read(t testing.TB, s connectors.Snapshot, table *schema.Table, columns []string, c ranges.Chunk, l batch.Limits, f func(*batch.Batch)) {
	t.Helper()
	r, err := s.OpenChunk(t.Context(), connectors.Extract{Table: table, Columns: columns}, c)
	if err != nil {
		t.Fatal(err)
	}
	pool := poolOf(t, table, columns, l)
	for {
		b := pool.Builder()
		err := r.Read(t.Context(), b)
		if err == io.EOF {
			if b.Rows() != 0 {
				t.Errorf("io.EOF came with %d rows", b.Rows())
			}
			b.Discard()
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sealed := b.Seal()
		f(sealed)
		sealed.Release()
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func snapshotOf(t testing.TB, src connectors.Source) connectors.Snapshot {
	t.Helper()
	s, err := src.Snapshot(t.Context(), connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChunksGiveEveryRowOnceInOrder(t *testing.T) {
	for _, tc := range []struct {
		name   string
		rows   int64
		split  connectors.Split
		chunks int
	}{
		{"none", 1000, connectors.Split{Kind: connectors.SplitNone, Count: 8, ChunkRows: 10}, 1},
		{"blocks", 1000, connectors.Split{Kind: connectors.SplitBlocks, Count: 8, ChunkRows: 50}, 24},
		{"one range", 1001, connectors.Split{Kind: connectors.SplitBlocks, Count: 1, ChunkRows: 100}, 11},
		{"more ranges than rows", 3, connectors.Split{Kind: connectors.SplitBlocks, Count: 8, ChunkRows: 50}, 3},
		{"no rows", 0, connectors.Split{Kind: connectors.SplitBlocks, Count: 8, ChunkRows: 50}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src, table := one(t, "big_table", tc.rows, 1)
			s := snapshotOf(t, src)
			chunks, err := s.Split(t.Context(), table, tc.split)
			if err != nil {
				t.Fatal(err)
			}
			if len(chunks) != tc.chunks {
				t.Errorf("got %d chunks, want %d: %v", len(chunks), tc.chunks, chunks)
			}
			next := int64(1)
			for _, c := range chunks {
				read(t, s, table, []string{"id"}, c, batch.Limits{Rows: 7}, func(b *batch.Batch) {
					for _, id := range b.Columns[0].Ints {
						if id != next {
							t.Fatalf("%s: got row %d, want %d", c, id, next)
						}
						next++
					}
				})
			}
			if next != tc.rows+1 {
				t.Errorf("got %d rows, want %d", next-1, tc.rows)
			}
		})
	}
}

func TestReaderKeepsTheBuildersLimits(t *testing.T) {
	src, table := one(t, "firenibble", 5000, 1)
	for _, l := range []batch.Limits{{Rows: 1}, {Rows: 100}, {Rows: 129}, {}, {Bytes: 1}, {Bytes: 100_000}} {
		rows := 0
		read(t, snapshotOf(t, src), table, names(table), ranges.Chunk{ID: 1, Range: 1}, l, func(b *batch.Batch) {
			if l.Rows > 0 && b.Rows > l.Rows {
				t.Errorf("limits %+v: a batch has %d rows", l, b.Rows)
			}
			if most := l.Bytes + stretch*500; l.Bytes > 0 && b.Size() > most {
				t.Errorf("limits %+v: a batch has %d bytes, want at most %d", l, b.Size(), most)
			}
			rows += b.Rows
		})
		if rows != 5000 {
			t.Errorf("limits %+v: got %d rows, want 5000", l, rows)
		}
	}
}

func TestReadWithoutColumnsCountsRows(t *testing.T) {
	src, table := one(t, "big_table", 20_000, 1)
	rows := 0
	read(t, snapshotOf(t, src), table, nil, ranges.Chunk{ID: 1, Range: 1}, batch.Limits{}, func(b *batch.Batch) { rows += b.Rows })
	if rows != 20_000 {
		t.Errorf("got %d rows, want 20000", rows)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	src, table := one(t, "big_table", 20_000, 1)
	r, err := snapshotOf(t, src).OpenChunk(t.Context(), connectors.Extract{Table: table, Columns: []string{"id"}}, ranges.Chunk{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := poolOf(t, table, []string{"id"}, batch.Limits{}).Builder()
	if err := r.Read(ctx, b); !errors.Is(err, context.Canceled) || b.Rows() != 0 {
		t.Errorf("got %v and %d rows, want context.Canceled and none", err, b.Rows())
	}
}

func TestPointsTellTablesApart(t *testing.T) {
	point := func(preset string, rows, seed int64) string {
		src, table := one(t, preset, rows, seed)
		p, err := snapshotOf(t, src).Position(table)
		if err != nil {
			t.Fatal(err)
		}
		return string(p)
	}
	base := point("big_table", 10, 1)
	if again := point("big_table", 10, 1); again != base {
		t.Errorf("the same table has points %q and %q", base, again)
	}
	for _, other := range []string{point("firenibble", 10, 1), point("big_table", 11, 1), point("big_table", 10, 2)} {
		if other == base {
			t.Errorf("another table has the same point %q", base)
		}
	}
}

func TestSnapshotAtAForgottenPointIsRefused(t *testing.T) {
	before, table := one(t, "big_table", 10, 1)
	at, err := snapshotOf(t, before).Position(table)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.Snapshot(t.Context(), connectors.SnapshotOptions{At: at}); err != nil {
		t.Errorf("the same source: %v", err)
	}
	after, _ := one(t, "big_table", 10, 2)
	if _, err := after.Snapshot(t.Context(), connectors.SnapshotOptions{At: at}); connectors.ClassOf(err) != connectors.LostPosition {
		t.Errorf("another seed: got %v, want class %s", err, connectors.LostPosition)
	}
}

func TestWhatIsNotThereIsNamed(t *testing.T) {
	src, table := one(t, "big_table", 10, 1)
	s := snapshotOf(t, src)
	stranger := &schema.Table{Name: schema.Name{Name: "stranger"}}
	text := ranges.Edge{{Kind: schema.Text, Value: "a"}}
	for _, tc := range []struct {
		name string
		do   func() error
		want string
	}{
		{"table to read", func() error {
			_, err := s.OpenChunk(t.Context(), connectors.Extract{Table: stranger}, ranges.Chunk{})
			return err
		}, "read stranger: the source has no such table"},
		{"table to split", func() error { _, err := s.Split(t.Context(), stranger, connectors.Split{}); return err }, "split stranger"},
		{"table's point", func() error { _, err := s.Position(stranger); return err }, "stranger"},
		{"column", func() error {
			_, err := s.OpenChunk(t.Context(), connectors.Extract{Table: table, Columns: []string{"nope"}}, ranges.Chunk{})
			return err
		}, `no column "nope"`},
		{"split", func() error {
			_, err := s.Split(t.Context(), table, connectors.Split{Kind: connectors.SplitKey})
			return err
		}, `not "key"`},
		{"low edge", func() error {
			_, err := s.OpenChunk(t.Context(), connectors.Extract{Table: table}, ranges.Chunk{Lo: text})
			return err
		}, "not one integer"},
		{"high edge", func() error {
			_, err := s.OpenChunk(t.Context(), connectors.Extract{Table: table}, ranges.Chunk{Hi: text})
			return err
		}, "not one integer"},
	} {
		if err := tc.do(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want an error with %q", tc.name, err, tc.want)
		}
	}
}

// BenchmarkRead makes whole rows of each preset in recycled batches.
func BenchmarkRead(b *testing.B) {
	for _, preset := range []string{"big_table", "firenibble", "firenibble_cdc"} {
		b.Run(preset, func(b *testing.B) {
			src, table := one(b, preset, int64(b.N), 1)
			pool := poolOf(b, table, names(table), batch.Limits{})
			r, err := snapshotOf(b, src).OpenChunk(b.Context(), connectors.Extract{Table: table, Columns: names(table)}, ranges.Chunk{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for {
				builder := pool.Builder()
				if err := r.Read(b.Context(), builder); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
				builder.Seal().Release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/row")
		})
	}
}
