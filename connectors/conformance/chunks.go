package conformance

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
)

func emptyCatalog(t *testing.T, h TargetHarness) {
	p := h.place(t)
	if local := h.Definition.Target.Local; local != nil {
		cat, err := local(context.Background(), p.config, p.Env)
		if err != nil || len(cat.Tables) != 0 {
			t.Errorf("offline catalog of nothing: %+v, %v", cat, err)
		}
	}
	if st, err := p.State(context.Background()); err != nil || len(st.Tables) != 0 {
		t.Errorf("state of nothing: %+v, %v", st, err)
	}
	if cat, err := p.Catalog(context.Background()); err != nil || len(cat.Tables) != 0 {
		t.Errorf("catalog of nothing: %+v, %v", cat, err)
	}
}

func pendingChunks(t *testing.T, h TargetHarness) {
	p := h.place(t)
	l := h.load(t, "src.T", "t")
	p.begin(l, 5)
	st := p.state("src.T")
	if st == nil {
		t.Fatal("the table is not in the state under its source name")
	}
	want := &connectors.TableState{Generation: 1, Digest: l.Digest, Definition: l.Definition, Point: start(0).Point, Created: true, UpdatedAt: st.UpdatedAt}
	for _, k := range chunks(5) {
		want.Chunks = append(want.Chunks, connectors.ChunkState{Chunk: k})
	}
	if !reflect.DeepEqual(st, want) {
		t.Errorf("state after Begin:\n got %s\nwant %s", shown(st), shown(want))
	}
	cat, err := p.Catalog(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tab := cat.Find(l.Table)
	if tab == nil {
		t.Fatalf("the created table is not in the catalog: %+v", cat.Tables)
	}
	if len(cat.Tables) != 1 {
		t.Errorf("the catalog shows more than the table: %+v", cat.Tables)
	}
	for _, c := range l.Columns {
		if got := tab.Column(c.Name); got == nil || got.Type != c.Type || got.Nullable != c.Nullable {
			t.Errorf("column %s: got %+v, want %s, nullable %v", c.Name, got, c.Type, c.Nullable)
		}
	}
	if tab.PrimaryKey == nil || !slices.Equal(tab.PrimaryKey.Columns, l.Key) {
		t.Errorf("key: got %+v, want %v", tab.PrimaryKey, l.Key)
	}
}

func aborted(t *testing.T, h TargetHarness) {
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 2)
	w := p.writer(p.Target, l)
	ctx := context.Background()
	if err := w.Abort(); err != nil {
		t.Errorf("Abort with nothing open: %v", err)
	}
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, rows(1, 500), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	p.wantRows("after Abort", l)
	if k := p.state("t").Chunks[0]; k.Done || k.Rows != 0 {
		t.Errorf("after Abort the marker says done %v, %d rows", k.Done, k.Rows)
	}
	// The writer goes on after it; an open chunk that Close finds is thrown away.
	p.chunk(w, mark(l, 1), rows(1, 500))
	if _, err := w.Begin(ctx, mark(l, 2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, rows(1000, 5), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p.wantRows("after Close with a chunk open", l, rows(1, 500))
}

func doneOnce(t *testing.T, h TargetHarness) {
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 2)
	w := p.writer(p.Target, l)
	p.chunk(w, mark(l, 1), rows(1, 10))
	if st := p.state("t"); !st.Chunks[0].Done {
		t.Fatalf("Commit returned and the marker of chunk 1 is pending: Commit marks it done in the transaction of its rows. The state is %s", shown(st))
	}
	if done, err := w.Begin(context.Background(), mark(l, 1)); err != nil || !done {
		t.Errorf("beginning a done chunk: done %v, %v; want true", done, err)
	}
	p.chunk(w, mark(l, 2), rows(11, 10)) // nothing was left open
	p.wantRows("after both", l, rows(1, 20))
	_, err := w.Begin(context.Background(), mark(l, 3))
	wantClass(t, "beginning a chunk that was never stored", err, connectors.Fenced)
	_, err = w.Begin(context.Background(), connectors.Marker{Table: l.Source, Generation: 2, Chunk: 1})
	wantClass(t, "beginning a chunk of another generation", err, connectors.Fenced)
}

func counted(t *testing.T, h TargetHarness) {
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 3)
	w := p.writer(p.Target, l)
	ctx := context.Background()
	m := mark(l, 1)
	if _, err := w.Begin(ctx, m); err != nil {
		t.Fatal(err)
	}
	b := rows(1, 1000)
	var sel batch.Selection
	var want [][]string
	for i, r := range textRows(b) {
		if i%3 == 1 {
			sel, want = append(sel, int32(i)), append(want, r)
		}
	}
	for _, s := range []batch.Selection{sel[:100], {}, sel[100:]} {
		if err := w.Write(ctx, b, s); err != nil {
			t.Fatal(err)
		}
	}
	m.BadRows = 7
	n, err := w.Commit(ctx, m)
	if err != nil || n != int64(len(sel)) {
		t.Errorf("Commit = %d, %v; want %d rows", n, err, len(sel))
	}
	if n := p.chunk(w, mark(l, 2)); n != 0 {
		t.Errorf("a chunk without rows: Commit = %d", n)
	}
	sameRows(t, "selected rows", p.Read(t, p.config, l), want)
	st := p.state("t").Chunks
	if !st[0].Done || st[0].Rows != int64(len(sel)) || st[0].BadRows != 7 || !st[1].Done || st[1].Rows != 0 || st[2].Done {
		t.Errorf("markers: want chunk 1 done with %d rows and 7 bad ones, 2 done with none, 3 pending; got %s", len(sel), shown(p.state("t")))
	}
}

func cancelledWrite(t *testing.T, h TargetHarness) {
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 1)
	w := p.writer(p.Target, l)
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := w.Write(ctx, rows(1, 100), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Write with a cancelled context: %v, want context.Canceled", err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort: %v", err)
	}
	p.wantRows("after it", l)
	if _, err := w.Begin(ctx, mark(l, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin with a cancelled context: %v, want context.Canceled", err)
	}
	// A Commit that is cancelled may come too late; rows and marker agree.
	ctx, cancel = context.WithCancel(context.Background())
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, rows(1, 3), nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err := w.Commit(ctx, mark(l, 1))
	if done := p.state("t").Chunks[0].Done; done != (err == nil) {
		t.Errorf("Commit with a cancelled context: %v, and the marker says done = %v", err, done)
	}
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Commit with a cancelled context: %v, want context.Canceled", err)
		}
		p.wantRows("after the cancelled Commit", l)
		p.chunk(w, mark(l, 1), rows(1, 3))
	}
	p.wantRows("at the end", l, rows(1, 3))
}

func everyMode(t *testing.T, h TargetHarness, mode string) {
	p := h.place(t)
	l := h.load(t, "t", "t")
	l.Mode = mode
	if e := h.Definition.Target.Explain; e != nil {
		if !slices.ContainsFunc(e.Insert(l), func(s connectors.Statement) bool { return s.Rows > 0 }) {
			t.Errorf("no statement of Insert has Rows > 0, so the plan can't tell which one takes rows: %+v", e.Insert(l))
		}
	}
	p.begin(l, 2)
	w := p.writer(p.Target, l)
	p.chunk(w, mark(l, 1), rows(1, 1000), rows(1001, 1), rows(1002, 99))
	p.chunk(w, mark(l, 2), rows(5000, 3))
	p.wantRows("all rows", l, rows(1, 1100), rows(5000, 3))
}
