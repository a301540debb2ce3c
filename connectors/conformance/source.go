package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// SourceHarness is what the suite needs of a source.
type SourceHarness struct {
	Definition *connectors.Definition
	// Config and Env open a source with Tables in it. The suite only reads,
	// apart from Insert.
	Config any
	Env    connectors.Env
	Tables map[string]int64 // by name, and how many rows each has; at most some thousands
	// Insert adds a row to a table from outside; nil for a source that never
	// changes. It may start a goroutine where a writer has to wait for readers,
	// and returns what waits for it.
	Insert func(t testing.TB, table string) (wait func())
}

// Source runs the suite.
func Source(t *testing.T, h SourceHarness) {
	t.Run("CatalogIsStable", h.catalog)
	t.Run("CapabilitiesAreTrue", h.capabilities)
	for name, rows := range h.Tables {
		t.Run("SplitIsTotal/"+name, func(t *testing.T) { h.split(t, name, rows) })
		t.Run("OnlyRequestedColumns/"+name, func(t *testing.T) { h.columns(t, name) })
		t.Run("ReadersRunSideBySide/"+name, func(t *testing.T) { h.concurrent(t, name, rows) })
		t.Run("CancelledReadEnds/"+name, func(t *testing.T) { h.cancel(t, name, rows) })
		t.Run("MissingColumnIsASchemaError/"+name, func(t *testing.T) { h.missingColumn(t, name) })
	}
	if h.Definition.Source.Capabilities.Durable {
		for name, rows := range h.Tables {
			t.Run("PointIsReadAgain/"+name, func(t *testing.T) { h.point(t, name, rows) })
		}
	}
	if h.Insert != nil {
		for name, rows := range h.Tables {
			t.Run("SnapshotSeesNoLaterRow/"+name, func(t *testing.T) { h.snapshot(t, name, rows) })
		}
	}
}

func (h SourceHarness) open(t testing.TB) connectors.Source {
	t.Helper()
	src, err := h.Definition.Source.Open(context.Background(), h.Config, h.Env)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := src.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
	return src
}

func (h SourceHarness) table(t testing.TB, src connectors.Source, name string) *schema.Table {
	t.Helper()
	cat, err := src.Catalog(context.Background())
	if err != nil {
		t.Fatalf("catalog: %v", err)
	}
	for i := range cat.Tables {
		if cat.Tables[i].Name.String() == name {
			return &cat.Tables[i]
		}
	}
	t.Fatalf("the catalog has no table %q", name)
	return nil
}

func (h SourceHarness) catalog(t *testing.T) {
	ctx := context.Background()
	src := h.open(t)
	cat, err := src.Catalog(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cat.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for range 4 { // an order that comes from a map is the same now and then
		again, err := src.Catalog(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if text2, _ := again.Marshal(); !bytes.Equal(text, text2) {
			t.Fatalf("two catalogs of one source differ:\n%s\n%s", text, text2)
		}
	}
	recorded, err := schema.ParseCatalog(text, h.Definition.Kind, h.Definition.Types.Parse)
	if err != nil {
		t.Fatalf("the catalog's file form does not read back: %v", err)
	}
	for i := range cat.Tables {
		got := recorded.Find(cat.Tables[i].Name)
		if got == nil || !reflect.DeepEqual(got.Columns, cat.Tables[i].Columns) {
			t.Errorf("table %s, recorded and read back:\n got %+v\nwant %+v", cat.Tables[i].Name, got, cat.Tables[i])
		}
	}
	if local := h.Definition.Source.Local; local != nil {
		offline, err := local(ctx, h.Config, h.Env)
		if err != nil {
			t.Fatalf("Local: %v", err)
		}
		if text2, _ := offline.Marshal(); !bytes.Equal(text, text2) {
			t.Errorf("the offline catalog differs:\n%s\n%s", text, text2)
		}
	}
}

func (h SourceHarness) capabilities(t *testing.T) {
	src := h.open(t)
	snap, err := src.Snapshot(context.Background(), connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if got, want := snap.Durable(), h.Definition.Source.Capabilities.Durable; got != want {
		t.Errorf("Durable() = %v, Capabilities say %v", got, want)
	}
	for name := range h.Tables {
		tab := h.table(t, src, name)
		if len(h.Definition.Source.Splits(tab)) == 0 {
			t.Errorf("table %s can't be cut at all, not even into one", name)
		}
		p, err := snap.Position(tab)
		if err != nil {
			t.Errorf("Position(%s): %v", name, err)
		}
		if q, _ := snap.Position(tab); p.Compare(q) != 0 {
			t.Errorf("Position(%s) moved inside a snapshot from %s to %s", name, p, q)
		}
	}
}

// allColumns reads every column that has a type.
func (h SourceHarness) extract(tab *schema.Table, s connectors.Split) connectors.Extract {
	x := connectors.Extract{Table: tab, Split: s}
	for _, c := range tab.Columns {
		if c.Problem == "" {
			x.Columns = append(x.Columns, c.Name)
		}
	}
	return h.explained(x)
}

// explained puts the plan's statement in, as a run does.
func (h SourceHarness) explained(x connectors.Extract) connectors.Extract {
	x.Statement = ""
	if e := h.Definition.Source.Explain; e != nil {
		if s := e.Read(x); len(s) > 0 {
			x.Statement = s[0].SQL
		}
	}
	return x
}

// first is the table cut in the best way, into few chunks.
func (h SourceHarness) first(t testing.TB, snap connectors.Snapshot, tab *schema.Table) (connectors.Split, []ranges.Chunk) {
	t.Helper()
	s := connectors.Split{Kind: h.Definition.Source.Splits(tab)[0], Count: 4, ChunkRows: 50}
	chunks, err := snap.Split(context.Background(), tab, s)
	if err != nil {
		t.Fatalf("split: %v", err)
	}
	return s, chunks
}

func (h SourceHarness) columns(t *testing.T, name string) {
	ctx := context.Background()
	src := h.open(t)
	tab := h.table(t, src, name)
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	s, chunks := h.first(t, snap, tab)
	x := h.extract(tab, s)
	whole, err := readChunk(ctx, snap, x, chunks[0], batch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	// Each column alone, and all of them backwards.
	lists := [][]string{slices.Clone(x.Columns)}
	slices.Reverse(lists[0])
	for _, c := range x.Columns {
		lists = append(lists, []string{c})
	}
	lists = append(lists, nil) // none: rows are counted all the same
	for _, list := range lists {
		got, err := readChunk(ctx, snap, h.explained(connectors.Extract{Table: tab, Columns: list, Split: s}), chunks[0], batch.Limits{})
		if err != nil {
			t.Fatalf("columns %v: %v", list, err)
		}
		want := make([][]string, len(whole))
		for i, r := range whole {
			for _, c := range list {
				want[i] = append(want[i], r[slices.Index(x.Columns, c)])
			}
		}
		sameRows(t, fmt.Sprintf("columns %v", list), got, want)
	}
}

func (h SourceHarness) concurrent(t *testing.T, name string, rows int64) {
	ctx := context.Background()
	src := h.open(t)
	tab := h.table(t, src, name)
	const readers = 4
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: readers})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	s, chunks := h.first(t, snap, tab)
	x := h.extract(tab, s)
	// Every reader reads the whole table: more readers than connections would
	// wait for each other for ever if a reader kept its own.
	var wg sync.WaitGroup
	counts, errs := make([]int64, readers), make([]error, readers)
	for i := range readers {
		wg.Go(func() {
			for _, k := range chunks {
				got, err := readChunk(ctx, snap, x, k, batch.Limits{Rows: 100})
				if err != nil {
					errs[i] = err
					return
				}
				counts[i] += int64(len(got))
			}
		})
	}
	wg.Wait()
	for i := range readers {
		if errs[i] != nil || counts[i] != rows {
			t.Errorf("reader %d: %d rows, %v; want %d", i, counts[i], errs[i], rows)
		}
	}
}

func (h SourceHarness) cancel(t *testing.T, name string, rows int64) {
	src := h.open(t)
	tab := h.table(t, src, name)
	snap, err := src.Snapshot(context.Background(), connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	s, chunks := h.first(t, snap, tab)
	x := h.extract(tab, s)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := snap.OpenChunk(ctx, x, chunks[0])
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	b := batch.NewPool(typesOf(x), batch.Limits{}).Builder()
	if err := r.Read(ctx, b); !errors.Is(err, context.Canceled) && !(rows == 0 && errors.Is(err, io.EOF)) {
		t.Errorf("Read with a cancelled context: got %v, want context.Canceled", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close after a cancelled Read: %v", err)
	}
	// The snapshot outlives the reader.
	if got, err := readChunk(context.Background(), snap, x, chunks[0], batch.Limits{}); err != nil || rows > 0 && len(got) == 0 && len(chunks) == 1 {
		t.Errorf("the next reader of the same snapshot: %d rows, %v", len(got), err)
	}
}

func (h SourceHarness) snapshot(t *testing.T, name string, rows int64) {
	ctx := context.Background()
	src := h.open(t)
	tab := h.table(t, src, name)
	if tab.View {
		return // its rows come from another table
	}
	before := ReadAll(t, src, tab.Name, []string{tab.Columns[0].Name})
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 2})
	if err != nil {
		t.Fatal(err)
	}
	s := connectors.Split{Kind: h.Definition.Source.Splits(tab)[0], Count: 2, ChunkRows: 50}
	wait := h.Insert(t, name)
	chunks, err := snap.Split(ctx, tab, s)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, k := range chunks {
		got, err := readChunk(ctx, snap, h.explained(connectors.Extract{Table: tab, Columns: []string{tab.Columns[0].Name}, Split: s}), k, batch.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		n += len(got)
	}
	if n != len(before) {
		t.Errorf("a row that was inserted after the snapshot began changed what it reads: %d rows, want %d", n, len(before))
	}
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
	wait()
	if after := ReadAll(t, src, tab.Name, []string{tab.Columns[0].Name}); len(after) != len(before)+1 {
		t.Errorf("a new snapshot reads %d rows, want %d", len(after), len(before)+1)
	}
}
