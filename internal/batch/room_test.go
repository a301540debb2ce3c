package batch

import (
	"strings"
	"testing"

	"penstock/internal/schema"
)

// A batch that is made after others needs not grow: it has their room.
func TestNewBatchHasTheRoomOfThoseBefore(t *testing.T) {
	p := NewPool([]schema.Type{schema.Of(schema.Int64), schema.Of(schema.Text)}, Limits{})
	fill := func(b *Builder) *Batch {
		for i := range 5000 {
			b.Column(0).AppendInt(int64(i))
			b.Column(1).AppendString("text")
		}
		return b.Seal()
	}
	first := fill(p.Builder())
	b := p.Builder()
	ints, data := cap(b.Column(0).Ints), cap(b.Column(1).Data)
	second := fill(b)
	if got := cap(second.Columns[0].Ints); ints < 5000 || got != ints {
		t.Errorf("room for %d integers, and %d when it was full; want 5000 and no growth", ints, got)
	}
	if got := cap(second.Columns[1].Data); data < 20_000 || got != data {
		t.Errorf("room for %d octets of text, and %d when it was full; want 20000 and no growth", data, got)
	}
	first.Release()
	second.Release()
}

// One huge value makes neither its batch nor the ones after it huge for good.
func TestHugeValueLeavesNoHugeBatchBehind(t *testing.T) {
	p := NewPool([]schema.Type{schema.Of(schema.Text)}, Limits{})
	b := p.Builder()
	b.Column(0).AppendString(strings.Repeat("x", 50<<20))
	b.Seal().Release()
	for i := range 2 { // the recycled one, and a new one
		b := p.Builder()
		if got := cap(b.Column(0).Data); got > 2*DefaultBytes {
			t.Errorf("batch %d has room for %d octets after a value of 50 MiB, want %d at most", i+1, got, 2*DefaultBytes)
		}
	}
}
