package delimited

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"
)

// Any units come out as the standard library decodes them, but for what is no
// utf-16: that comes out as no utf-8, never as the replacement character.
func FuzzUTF16(f *testing.F) {
	for _, s := range []string{"a\x00", "\xff\xfea\x00", "\x00\xd8", "\x3d\xd8\x00\xde", "\x00\xdca\x00b", "\xfd\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, c := range []struct {
			encoding string
			order    binary.ByteOrder
		}{{"utf-16le", binary.LittleEndian}, {"utf-16be", binary.BigEndian}} {
			got, err := io.ReadAll(newUTF16(iotest.OneByteReader(bytes.NewReader(in)), c.encoding))
			if err != nil {
				t.Fatalf("%s of %x: %v", c.encoding, in, err)
			}
			var units []uint16
			for i := 0; i+1 < len(in); i += 2 {
				units = append(units, c.order.Uint16(in[i:]))
			}
			if len(units) > 0 && units[0] == 0xfeff {
				units = units[1:]
			}
			want, broken := []byte{}, len(in)%2 == 1
			for i := 0; i < len(units); i++ {
				r, size := rune(units[i]), 1
				if utf16.IsSurrogate(r) {
					if i+1 < len(units) {
						r, size = utf16.DecodeRune(r, rune(units[i+1])), 2
					}
					if broken = broken || size == 1 || r == utf8.RuneError; broken {
						break
					}
				}
				want = utf8.AppendRune(want, r)
				i += size - 1
			}
			if broken == utf8.Valid(got) || !broken && !bytes.Equal(got, want) || broken && !bytes.HasPrefix(got, want) {
				t.Fatalf("%s of %x: got %q, want %q (broken: %v)", c.encoding, in, got, want, broken)
			}
		}
	})
}
