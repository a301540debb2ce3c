package conformance

import (
	"context"
	"slices"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"
)

// loaded makes a table with rows 1 to 10, finished.
func (p *place) loaded(l connectors.Load) {
	p.t.Helper()
	p.begin(l, 1)
	w := p.writer(p.Target, l)
	p.chunk(w, mark(l, 1), rows(1, 10))
	if err := w.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Finish(context.Background(), l); err != nil {
		p.t.Fatal(err)
	}
}

func existing(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.loaded(l)
	// The table is there now, and another plan says so.
	l.Create = false
	again := func(e connectors.Existing, generation int) (connectors.Load, error) {
		m := l
		m.Existing = e
		m = h.explained(m)
		return m, p.Begin(ctx, m, connectors.Start{Generation: generation, Chunks: chunks(1)})
	}
	_, err := again(connectors.ExistingError, 2)
	wantClass(t, "existing = error with rows there", err, connectors.Conflict)
	p.wantRows("after the refusal", l, rows(1, 10))
	if st := p.state("t"); st.Generation != 1 || !st.Loaded || len(st.Chunks) != 1 || !st.Chunks[0].Done {
		t.Errorf("the refusal changed the state: %s", shown(st))
	}

	m, err := again(connectors.ExistingAppend, 2)
	if err != nil {
		t.Fatalf("existing = append: %v", err)
	}
	w := p.writer(p.Target, m)
	p.chunk(w, connectors.Marker{Table: m.Source, Generation: 2, Chunk: 1}, rows(11, 5))
	p.wantRows("appended", l, rows(1, 15))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err = again(connectors.ExistingTruncate, 3); err != nil {
		t.Fatalf("existing = truncate: %v", err)
	}
	p.wantRows("truncated", l)
	st := p.state("t")
	if st.Generation != 3 || st.Loaded || len(st.Chunks) != 1 || st.Chunks[0].Done {
		t.Errorf("state of the new generation: %s", shown(st))
	}
	// An empty table is no conflict.
	if _, err = again(connectors.ExistingError, 4); err != nil {
		t.Errorf("existing = error with an empty table: %v", err)
	}
}

func restart(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 2)
	w := p.writer(p.Target, l)
	p.chunk(w, mark(l, 1), rows(1, 10))
	if err := p.Begin(ctx, l, connectors.Start{Generation: 2, Chunks: chunks(3), Restart: true}); err != nil {
		t.Fatalf("restart: %v", err)
	}
	p.wantRows("after the restart", l)
	if st := p.state("t"); st.Generation != 2 || len(st.Chunks) != 3 || st.Chunks[0].Done {
		t.Errorf("state after the restart: %s", shown(st))
	}
	_, err := w.Begin(ctx, mark(l, 2))
	wantClass(t, "a chunk of the generation before", err, connectors.Fenced)

	// Rows that an append found there are never taken with it.
	t.Run("AppendKeepsWhatWasThere", func(t *testing.T) {
		p := h.place(t)
		p.loaded(l)
		m := l
		m.Source, m.Create, m.Existing = "other", false, connectors.ExistingAppend
		m = h.explained(m)
		if err := p.Begin(ctx, m, start(2)); err != nil {
			t.Fatal(err)
		}
		// Nothing was appended yet: beginning anew is harmless.
		if err := p.Begin(ctx, m, connectors.Start{Generation: 2, Chunks: chunks(1), Restart: true}); err != nil {
			t.Fatalf("restart before the first row: %v", err)
		}
		p.wantRows("after it", l, rows(1, 10))
		p.chunk(p.writer(p.Target, m), connectors.Marker{Table: "other", Generation: 2, Chunk: 1}, rows(11, 5))
		err := p.Begin(ctx, m, connectors.Start{Generation: 3, Chunks: chunks(1), Restart: true})
		if err == nil {
			p.wantRows("an append begun anew keeps what it found", l, rows(1, 10))
			return
		}
		wantClass(t, "an append that can't be told apart", err, connectors.Conflict)
		p.wantRows("after the refusal", l, rows(1, 15))
	})

	// Nor those that an earlier generation of the same table finished.
	t.Run("AppendKeepsTheGenerationBefore", func(t *testing.T) {
		p := h.place(t)
		p.loaded(l)
		m := l
		m.Create, m.Existing = false, connectors.ExistingAppend
		m = h.explained(m)
		if err := p.Begin(ctx, m, connectors.Start{Generation: 2, Chunks: chunks(2)}); err != nil {
			t.Fatal(err)
		}
		p.chunk(p.writer(p.Target, m), connectors.Marker{Table: m.Source, Generation: 2, Chunk: 1}, rows(11, 5))
		if err := p.Begin(ctx, m, connectors.Start{Generation: 3, Chunks: chunks(1), Restart: true}); err != nil {
			wantClass(t, "an append that can't be told apart", err, connectors.Conflict)
			p.wantRows("after the refusal", l, rows(1, 15))
			return
		}
		p.wantRows("an append begun anew keeps what the generation before loaded", l, rows(1, 10))
	})
}

func finishOnce(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 1)
	if err := p.Finish(ctx, h.load(t, "u", "u")); err == nil {
		t.Error("Finish of a table that was never begun: no error")
	}
	if err := p.Finish(ctx, l); err == nil {
		t.Error("Finish with a pending chunk: no error")
	}
	if p.state("t").Loaded {
		t.Error("the table is marked loaded with a chunk pending")
	}
	p.chunk(p.writer(p.Target, l), mark(l, 1), rows(1, 10))
	for range 2 {
		if err := p.Finish(ctx, l); err != nil {
			t.Errorf("Finish: %v", err)
		}
		if !p.state("t").Loaded {
			t.Error("the table is not marked loaded")
		}
	}
	p.wantRows("after Finish", l, rows(1, 10))
}

// missingColumn: the table changed after the plan was made.
func missingColumn(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.loaded(l)
	m := h.load(t, "t", "t", append(slices.Clone(l.Columns), connectors.TargetColumn{Name: "gone", Type: schema.Of(schema.Int64), Nullable: true})...)
	m.Create, m.Existing = false, connectors.ExistingAppend
	m = h.explained(m)
	wantClass(t, "Begin of a table that lacks a column of the load", p.Begin(ctx, m, connectors.Start{Generation: 2, Chunks: chunks(1)}), connectors.Schema)
	if st := p.state("t"); st.Generation != 1 || !st.Loaded {
		t.Errorf("the refusal changed the state: %s", shown(st))
	}
}
