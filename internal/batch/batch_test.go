package batch

import (
	"testing"

	"penstock/internal/schema"
)

func TestLargeValuesFillABatchAtOnce(t *testing.T) {
	p := NewPool([]schema.Type{schema.Of(schema.Int64), schema.Of(schema.Text)}, Limits{Bytes: 1000})
	b := p.Builder()
	big := make([]byte, 600)
	for i := range 2 {
		if b.Full() {
			t.Fatalf("full after %d rows of 600 bytes, the limit is 1000", i)
		}
		b.Column(0).AppendInt(int64(i))
		b.Column(1).AppendBytes(big)
	}
	if !b.Full() {
		t.Error("not full with 1200 bytes of text, the limit is 1000")
	}
	b.Seal().Release()
}

func TestReleasedBatchIsRecycledEmpty(t *testing.T) {
	p := NewPool([]schema.Type{schema.Of(schema.Int64), schema.Of(schema.Text)}, Limits{})
	b := p.Builder()
	b.Column(0).AppendNull()
	b.Column(1).AppendString("x")
	one := b.Seal()
	one.Release()
	b = p.Builder()
	b.Column(0).AppendInt(7)
	b.Column(1).AppendString("y")
	two := b.Seal()
	if two != one {
		t.Error("the memory was not used again")
	}
	if two.Rows != 1 || two.Columns[0].IsNull(0) || two.Columns[0].Ints[0] != 7 || string(two.Columns[1].Bytes(0)) != "y" {
		t.Errorf("the second batch has traces of the first: %+v", two.Columns[0])
	}
	defer func() {
		if recover() == nil {
			t.Error("releasing twice did not panic")
		}
	}()
	two.Release()
	two.Release()
}

func TestDerivedBatchOwnsItsParent(t *testing.T) {
	parents := NewPool([]schema.Type{schema.Of(schema.Int64)}, Limits{})
	own := NewPool([]schema.Type{schema.Of(schema.Text)}, Limits{})
	b := parents.Builder()
	b.Column(0).AppendInt(1)
	parent := b.Seal()
	d := own.Builder()
	d.Column(0).AppendString("one")
	out := d.SealOver(parent, []int{^0, 0})
	if out.Rows != 1 || string(out.Columns[0].Bytes(0)) != "one" || out.Columns[1].Ints[0] != 1 {
		t.Fatalf("got %d rows, %q, %d", out.Rows, out.Columns[0].Bytes(0), out.Columns[1].Ints[0])
	}
	if out.Size() <= parent.Size() {
		t.Errorf("size %d leaves the parent's %d out", out.Size(), parent.Size())
	}
	out.Release()
	if len(parents.free) != 1 || len(own.free) != 1 {
		t.Errorf("%d parents and %d derived batches came back, want one of each", len(parents.free), len(own.free))
	}
}

func TestColumnsOfDifferentLengthPanicAtSeal(t *testing.T) {
	p := NewPool([]schema.Type{schema.Of(schema.Int64), schema.Of(schema.Int64)}, Limits{})
	b := p.Builder()
	b.Column(0).AppendInt(1)
	defer func() {
		if recover() == nil {
			t.Error("a batch of shifted rows was sealed")
		}
	}()
	b.Seal()
}
