package delimited

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// readBack reads the files of a loaded table by the source, and what chunks have
// left of ranges that are not whole yet.
func readBack(t testing.TB, config any, l connectors.Load) [][]string {
	t.Helper()
	c := config.(*TargetConfig)
	rows := readFiles(t, c.Form, filepath.Join(literal(c.Path), literal(l.Table.Name)+"-*-*.csv*"), l)
	form := c.Form
	form.Header = false
	parts := readFiles(t, form, filepath.Join(literal(c.Path), stateDir, "p-*", "*"+rowsExt), l)
	return append(rows, parts...)
}

func readFiles(t testing.TB, form Form, pattern string, l connectors.Load) [][]string {
	t.Helper()
	table := Table{Name: "t", Path: pattern}
	var names []string
	for _, col := range l.Columns {
		table.Columns = append(table.Columns, Column{Name: col.Name, Type: col.Native, Nullable: col.Nullable})
		names = append(names, col.Name)
	}
	if files, err := find(table, ""); err != nil || len(files) == 0 {
		if err != nil {
			t.Fatal(err)
		}
		return nil
	}
	src, err := openSource(context.Background(), &SourceConfig{Form: form, Tables: []Table{table}}, connectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return conformance.ReadAll(t, src, schema.Name{Name: "t"}, names)
}

func TestTargetConforms(t *testing.T) {
	forms := map[string]Form{
		"csv":     csv(),
		"zstd":    {Delimiter: "\t", Header: true, Quote: `"`, Escape: `"`, Null: `\N`, Encoding: "utf-8", Compression: "zstd"},
		"gzip":    {Delimiter: "|", Quote: `'`, Escape: `\`, Null: "NULL", Encoding: "utf-8", Compression: "gzip"},
		"strange": {Delimiter: "é", Header: true, Quote: "1", Escape: "1", Encoding: "utf-8", Compression: "none"},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			conformance.Target(t, conformance.TargetHarness{
				Definition: Definition(),
				Config:     func(t testing.TB) any { return &TargetConfig{Form: form, Path: filepath.Join(t.TempDir(), "out")} },
				Read:       readBack,
				Lose: func(t testing.TB, config any, pipeline string) {
					tg := &target{dir: config.(*TargetConfig).Path, env: connectors.Env{Pipeline: pipeline}}
					if err := os.Remove(tg.lockPath()); err != nil {
						t.Fatal(err)
					}
				},
			})
		})
	}
}

// crashTable is a table without a key: nothing but its markers keeps rows from
// being there twice.
func crashTable() connectors.Load {
	return connectors.Load{Source: "S.T", Table: schema.Name{Name: "t"}, Create: true, Existing: connectors.ExistingTruncate, Mode: "copy",
		Columns: []connectors.TargetColumn{{Name: "id", Native: "bigint", Type: schema.Of(schema.Int64)}}}
}

// numbers is a batch of these ids.
func numbers(from, n int) *batch.Batch {
	b := batch.NewPool([]schema.Type{schema.Of(schema.Int64)}, batch.Limits{Rows: n}).Builder()
	for i := range n {
		b.Column(0).AppendInt(int64(from + i))
	}
	return b.Seal()
}

// loadInto claims the target and loads a generation of one chunk.
func loadInto(t *testing.T, tg connectors.Target, l connectors.Load, rows int) {
	t.Helper()
	ctx := context.Background()
	if _, err := tg.Claim(ctx, connectors.Owner{}); err != nil {
		t.Fatal(err)
	}
	if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: []ranges.Chunk{{ID: 1, Range: 1}}}); err != nil {
		t.Fatal(err)
	}
	w, err := tg.OpenLoad(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	m := connectors.Marker{Table: l.Source, Generation: 1, Chunk: 1}
	if _, err := w.Begin(ctx, m); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, numbers(1, rows), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(ctx, m); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), tg.Finish(ctx, l), tg.Close()); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestEmptyTableIsAFileWithTheHeaderAlone(t *testing.T) {
	dir := t.TempDir()
	loadInto(t, &target{dir: dir, config: TargetConfig{Form: csv()}, layout: layoutOf(t, csv())}, crashTable(), 0)
	got, err := os.ReadFile(filepath.Join(dir, "t-1-0001.csv"))
	if err != nil || string(got) != "id\n" {
		t.Errorf("got %q, %v; the folder has %q", got, err, names(t, dir))
	}
}

// What a killed owner left: a file without its note, and half a note.
func TestFileWithoutAWholeNoteIsRemovedByTheNextClaim(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	open := func() *target {
		return &target{dir: dir, config: TargetConfig{Form: csv()}, layout: layoutOf(t, csv())}
	}
	l, tg := crashTable(), open()
	if _, err := tg.Claim(ctx, connectors.Owner{}); err != nil {
		t.Fatal(err)
	}
	chunks := []ranges.Chunk{{ID: 1, Range: 1}, {ID: 2, Range: 1}, {ID: 3, Range: 1}, {ID: 4, Range: 2}}
	if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: chunks}); err != nil {
		t.Fatal(err)
	}
	commit := func(tg *target, chunk int) {
		t.Helper()
		w, err := tg.OpenLoad(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		m := connectors.Marker{Table: l.Source, Generation: 1, Chunk: chunk}
		if done, err := w.Begin(ctx, m); err != nil || done {
			t.Fatalf("chunk %d: done %v, %v", chunk, done, err)
		}
		if err := w.Write(ctx, numbers(chunk*10, 2), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(ctx, m); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	commit(tg, 1)
	commit(tg, 2)
	path := tg.donePath(tg.tables[l.Source])
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
	notes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, notes[:len(notes)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "t-9-0001.csv") // of another load, and not ours to remove
	if err := os.WriteFile(other, []byte("id\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tg = open()
	defer tg.Close()
	if _, err := tg.Claim(ctx, connectors.Owner{}); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), []string{"t-9-0001.csv"}; !slices.Equal(got, want) {
		t.Errorf("after the claim the folder has %q, want %q", got, want)
	}
	rows, err := filepath.Glob(filepath.Join(literal(tg.state()), "*"+rowsExt))
	if want := []string{tg.rowsPath(tg.tables[l.Source], 1)}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("after the claim there are the rows %q (%v), want %q", rows, err, want)
	}
	commit(tg, 2)
	commit(tg, 3)
	commit(tg, 4)
	if err := tg.Finish(ctx, l); err != nil {
		t.Errorf("finish: %v", err)
	}
	st, err := tg.State(ctx)
	if err != nil || len(st.Tables[l.Source].Chunks) != 4 || !st.Tables[l.Source].Chunks[1].Done || !st.Tables[l.Source].Loaded {
		t.Errorf("state %+v, %v", st.Tables[l.Source], err)
	}
}

// A range is one file, of its chunks in their order, whoever was done first; a
// range without rows has none. The header stands there once.
func TestRangeIsOneFileOfItsChunksInOrder(t *testing.T) {
	ctx := context.Background()
	for _, compression := range []string{"none", "gzip", "zstd"} {
		dir := t.TempDir()
		form := csv()
		form.Compression = compression
		tg := &target{dir: dir, config: TargetConfig{Form: form}, layout: layoutOf(t, form)}
		l := crashTable()
		if _, err := tg.Claim(ctx, connectors.Owner{}); err != nil {
			t.Fatal(err)
		}
		chunks := []ranges.Chunk{{ID: 1, Range: 1}, {ID: 2, Range: 1}, {ID: 3, Range: 1}, {ID: 4, Range: 2}, {ID: 5, Range: 3}}
		if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: chunks}); err != nil {
			t.Fatal(err)
		}
		w, err := tg.OpenLoad(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []int{3, 5, 1, 4, 2} {
			m := connectors.Marker{Table: l.Source, Generation: 1, Chunk: id}
			if _, err := w.Begin(ctx, m); err != nil {
				t.Fatal(err)
			}
			if id != 4 { // range 2 has no rows
				if err := w.Write(ctx, numbers(10*id, 2), nil); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Commit(ctx, m); err != nil {
				t.Fatal(err)
			}
			if id == 1 { // chunk 2 is missing yet
				if got := names(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], "t-1-0003.") {
					t.Errorf("%s: before range 1 is whole the folder has %q", compression, got)
				}
			}
		}
		if err := errors.Join(w.Close(), tg.Finish(ctx, l), tg.Close()); err != nil {
			t.Fatal(err)
		}
		if got, want := names(t, dir), []string{"t-1-0001" + tg.ext(), "t-1-0003" + tg.ext()}; !slices.Equal(got, want) {
			t.Errorf("%s: the folder has %q, want %q", compression, got, want)
		}
		var ids []string
		for _, r := range readFiles(t, form, filepath.Join(literal(dir), "t-1-*"), l) {
			ids = append(ids, r[0])
		}
		if want := []string{"10", "11", "20", "21", "30", "31", "50", "51"}; !slices.Equal(ids, want) {
			t.Errorf("%s: the files hold %q, want %q", compression, ids, want)
		}
		if compression == "none" {
			if got, err := os.ReadFile(filepath.Join(dir, "t-1-0001.csv")); err != nil || string(got) != "id\n10\n11\n20\n21\n30\n31\n" {
				t.Errorf("the first file: %q, %v", got, err)
			}
		}
		left, err := filepath.Glob(filepath.Join(literal(dir), stateDir, "p-*", "*"+rowsExt))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: rows are left beside the files: %q, %v", compression, left, err)
		}
	}
}
