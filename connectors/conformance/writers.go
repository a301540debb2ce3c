package conformance

import (
	"context"
	"sync"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// twoWriters: after a broken connection the chunk is tried again while the
// first try may still live. The second Begin may wait, or see the marker
// pending as well; the rows come once.
func twoWriters(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 1)
	a, b := p.writer(p.Target, l), p.writer(p.Target, l)
	if _, err := a.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(ctx, rows(1, 10), nil); err != nil {
		t.Fatal(err)
	}
	var done bool
	var err error
	begun := soon(func() { done, err = b.Begin(ctx, mark(l, 1)) })
	if _, err := a.Commit(ctx, mark(l, 1)); err != nil {
		t.Fatalf("the first writer commits: %v", err)
	}
	begun.wait()
	if err == nil && !done {
		if err = b.Write(ctx, rows(1, 10), nil); err == nil {
			_, err = b.Commit(ctx, mark(l, 1))
		}
		if err == nil {
			t.Error("two writers committed one chunk: Commit must find its marker pending, in its own transaction")
		}
	}
	if err != nil {
		if c := connectors.ClassOf(err); c != connectors.Fenced && c != connectors.Transient {
			t.Errorf("the second writer of a chunk: class %s (%v), want fenced or transient", c, err)
		}
	}
	if err := b.Abort(); err != nil {
		t.Error(err)
	}
	p.wantRows("a chunk of two writers", l, rows(1, 10))
}

// sideBySide loads with as many writers as the capabilities allow, 4 at most.
func sideBySide(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	n := h.Definition.Target.Capabilities.Writers
	if n == 0 || n > 4 {
		n = 4
	}
	const each = 5
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, n*each)
	errs := make([]error, n)
	var want []*batch.Batch
	var wg sync.WaitGroup
	for i := range n {
		w := p.writer(p.Target, l)
		for k := range each {
			want = append(want, rows(100*(i*each+k)+1, 50))
		}
		wg.Go(func() {
			for k := range each {
				id := i*each + k + 1
				done, err := w.Begin(ctx, mark(l, id))
				if err == nil && !done {
					err = w.Write(ctx, rows(100*(id-1)+1, 50), nil)
				}
				if err == nil {
					_, err = w.Commit(ctx, mark(l, id))
				}
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("writer %d of %d: %v", i+1, n, err)
		}
	}
	p.wantRows("all writers' rows", l, want...)
	if err := p.Finish(ctx, l); err != nil {
		t.Errorf("Finish, after each Commit returned: %v", err)
	}
}

// batchReused: the engine fills a batch's memory anew as soon as Write returns.
func batchReused(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 1)
	w := p.writer(p.Target, l)
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	var want []*batch.Batch
	b, sel := rows(1, 40), batch.Selection{}
	for i := range 40 {
		sel = append(sel, int32(i))
	}
	for first := 1; first <= 81; first += 40 {
		want = append(want, rows(first, 40))
		next := rows(first, 40)
		for i, c := range b.Columns {
			overwrite(c, next.Columns[i])
		}
		if err := w.Write(ctx, b, sel); err != nil {
			t.Fatal(err)
		}
	}
	clear(sel)
	for i, c := range b.Columns {
		overwrite(c, rows(9001, 40).Columns[i])
	}
	if _, err := w.Commit(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	p.wantRows("rows of batches that the caller filled anew after Write (copy what you keep)", l, want...)
}

// overwrite puts other values into the memory of a column.
func overwrite(dst, src *batch.Column) {
	dst.Reset()
	for i := range src.Len() {
		switch {
		case src.IsNull(i):
			dst.AppendNull()
		case src.Type.Kind == schema.Int64:
			dst.AppendInt(src.Ints[i])
		default:
			dst.AppendBytes(src.Bytes(i))
		}
	}
}
