package delimited

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader gives the text of a utf-16 file in utf-8. What is no utf-16, half
// of a surrogate pair or of a unit, comes out as bytes that are no utf-8, so
// that the value which holds it is found as one whose text is broken.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	begun bool
	left  []byte // not yet given
	text  [4096]byte
}

// newUTF16 reads in the order that the name or, for "utf-16", the byte order
// mark says. A mark in a file whose order is named is left out too.
func newUTF16(r io.Reader, encoding string) *utf16Reader {
	u := &utf16Reader{r: bufio.NewReaderSize(r, windowSize)}
	switch encoding {
	case "utf-16le":
		u.order = binary.LittleEndian
	case "utf-16be":
		u.order = binary.BigEndian
	}
	return u
}

func (u *utf16Reader) begin() error {
	u.begun = true
	mark, err := u.r.Peek(2)
	if len(mark) < 2 {
		if errors.Is(err, io.EOF) {
			err = nil // an empty file, or half a unit that next finds
		}
		if u.order == nil {
			u.order = binary.LittleEndian
		}
		return err
	}
	if u.order == nil {
		switch {
		case mark[0] == 0xff && mark[1] == 0xfe:
			u.order = binary.LittleEndian
		case mark[0] == 0xfe && mark[1] == 0xff:
			u.order = binary.BigEndian
		default:
			return fmt.Errorf(`no byte order mark says which utf-16 it is: write encoding = "utf-16le" or "utf-16be"`)
		}
	}
	if u.order.Uint16(mark) == 0xfeff {
		_, err = u.r.Discard(2)
	}
	return err
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	if !u.begun {
		if err := u.begin(); err != nil {
			return 0, err
		}
	}
	if len(u.left) == 0 {
		out := u.text[:0]
		for len(out) <= len(u.text)-2*utf8.UTFMax {
			var err error
			if out, err = u.next(out); err != nil {
				if len(out) == 0 {
					return 0, err
				}
				break // it comes again
			}
		}
		u.left = out
	}
	n := copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}

// next appends a character.
func (u *utf16Reader) next(out []byte) ([]byte, error) {
	b, err := u.r.Peek(2)
	if len(b) == 1 && errors.Is(err, io.EOF) {
		_, err = u.r.Discard(1)
		return append(out, 0xff), err
	}
	if len(b) < 2 {
		return out, err
	}
	r := rune(u.order.Uint16(b))
	size := 2
	if utf16.IsSurrogate(r) {
		if b, err := u.r.Peek(4); len(b) == 4 {
			if pair := utf16.DecodeRune(r, rune(u.order.Uint16(b[2:]))); pair != utf8.RuneError {
				r, size = pair, 4
			}
		} else if err != nil && !errors.Is(err, io.EOF) {
			return out, err
		}
	}
	if _, err := u.r.Discard(size); err != nil {
		return out, err
	}
	if size == 2 && utf16.IsSurrogate(r) { // as utf-8 would have it, if it were a character
		return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f|0x80, 0x80|byte(r)&0x3f), nil
	}
	return utf8.AppendRune(out, r), nil
}
