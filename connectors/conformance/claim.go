package conformance

import (
	"context"
	"strings"
	"testing"

	"penstock/connectors"
)

func secondOwner(t *testing.T, h TargetHarness) {
	p := h.place(t)
	p.claim(p.Target, "first")
	second := p.open(pipeline)
	_, err := second.Claim(context.Background(), owner("second"))
	wantClass(t, "claiming what is held", err, connectors.Held)
	if err != nil && (!strings.Contains(err.Error(), "host-first") || !strings.Contains(err.Error(), "4711")) {
		t.Errorf("the error does not name the owner: %v", err)
	}
	if err := p.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.claim(second, "second")
}

func otherPipeline(t *testing.T, h TargetHarness) {
	p := h.place(t)
	p.claim(p.Target, "first")
	other := p.open("another pipeline")
	p.claim(other, "second")
	// Each has its own markers, even for tables of one name.
	l, m := h.load(t, "t", "t"), h.load(t, "t", "u")
	for _, x := range []struct {
		tg connectors.Target
		l  connectors.Load
	}{{p.Target, l}, {other, m}} {
		if err := x.tg.Begin(context.Background(), x.l, start(1)); err != nil {
			t.Fatal(err)
		}
	}
	p.chunk(p.writer(p.Target, l), mark(l, 1), rows(1, 2))
	p.chunk(p.writer(other, m), mark(m, 1), rows(1, 3))
	p.wantRows("first pipeline", l, rows(1, 2))
	p.wantRows("second pipeline", m, rows(1, 3))
	if got := p.state("t").Chunks[0].Rows; got != 2 {
		t.Errorf("the first pipeline's marker says %d rows, want 2", got)
	}
}

func epochs(t *testing.T, h TargetHarness) {
	p := h.place(t)
	last := int64(0)
	for range 3 {
		e := p.claim(p.Target, "first")
		if e <= last {
			t.Errorf("epoch %d after %d", e, last)
		}
		last = e
		if err := p.Release(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Begin(context.Background(), h.load(t, "t", "t"), start(1)); err == nil {
		t.Error("Begin after Release: no error")
	}
}

// fenced: the world thinks that the first owner is gone, a second one claims,
// and the first one goes on.
func fenced(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 3)
	w := p.writer(p.Target, l)
	p.chunk(w, mark(l, 1), rows(1, 10))
	h.Lose(t, p.config, pipeline)
	second := p.open(pipeline)
	p.claim(second, "second")

	_, err := w.Begin(ctx, mark(l, 2))
	wantClass(t, "the former owner begins a chunk", err, connectors.Fenced)
	wantClass(t, "the former owner begins a table", p.Begin(ctx, h.load(t, "u", "u"), start(1)), connectors.Fenced)
	wantClass(t, "the former owner finishes a table", p.Finish(ctx, l), connectors.Fenced)

	// What was pending is the second one's now.
	v := p.writer(second, l)
	p.chunk(v, mark(l, 2), rows(11, 10))
	p.chunk(v, mark(l, 3), rows(21, 10))
	if err := second.Finish(ctx, l); err != nil {
		t.Errorf("the new owner finishes: %v", err)
	}
	p.wantRows("rows of both owners", l, rows(1, 30))
}

// fencedOpen: the claim comes while the first owner has a chunk open. A target
// may make the claim wait for that chunk, or defeat the chunk; in either case
// rows and marker agree, and nothing of the first owner comes after the claim.
func fencedOpen(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 2)
	w := p.writer(p.Target, l)
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ctx, rows(1, 10), nil); err != nil {
		t.Fatal(err)
	}
	h.Lose(t, p.config, pipeline)
	second := p.open(pipeline)
	var claimErr error
	claimed := soon(func() { _, claimErr = second.Claim(ctx, owner("second")) })
	first := claimed.over()
	_, err := w.Commit(ctx, mark(l, 1))
	claimed.wait()
	if claimErr != nil {
		t.Fatalf("the second owner's claim: %v", claimErr)
	}
	committed := err == nil
	if committed && first {
		t.Error("a chunk of the former owner was committed after the claim: Commit must look at the epoch too, in its own transaction")
	}
	if !committed {
		wantClass(t, "commit of a chunk whose claim is lost", err, connectors.Fenced)
	}
	if got := p.state("t").Chunks[0].Done; got != committed {
		t.Errorf("Commit returned %v and the marker says done = %v", err, got)
	}
	if committed {
		p.wantRows("the chunk was committed before the claim", l, rows(1, 10))
	} else {
		p.wantRows("the chunk was defeated by the claim", l)
	}
	_, err = w.Begin(ctx, mark(l, 2))
	wantClass(t, "the former owner's next chunk", err, connectors.Fenced)
}
