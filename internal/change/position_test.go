package change

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestPositionsOrderAsTheirBytesAndReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Position(rapid.SliceOf(rapid.Byte()).Draw(t, "p"))
		q := Position(rapid.SliceOf(rapid.Byte()).Draw(t, "q"))
		if got, want := p.Compare(q), bytes.Compare(p, q); got != want {
			t.Fatalf("Compare(%s, %s) = %d, want %d", p, q, got, want)
		}
		text, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Position
		if err := back.UnmarshalText(text); err != nil || !bytes.Equal(back, p) {
			t.Fatalf("%s reads back as %s (%v)", p, back, err)
		}
	})
	if (Position)(nil).Compare(Position{0}) >= 0 {
		t.Error("nil does not stand before every position")
	}
	if err := new(Position).UnmarshalText([]byte("xyz")); err == nil {
		t.Error("a text that is not hexadecimal was taken")
	}
}
