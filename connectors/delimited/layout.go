package delimited

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// layout is a Form in the bytes of its files. Files in utf-16 are turned into
// utf-8 before they are cut; those in a one-byte encoding are cut as they stand
// and only their values are turned.
type layout struct {
	Form
	delim, quote, escape sign // escape is empty where nothing is quoted
	null                 []byte

	doubled bool         // a quote in a quoted value is escaped by another one
	decode  *[256][]byte // bytes of a one-byte encoding in utf-8; nil for the others
	stops   [3]uint64    // bytes at which a value that is not quoted may end or be wrong, each eight times
	inQuote [256]bool    // where a quoted one may end
}

// sign is a character that means something, in the bytes of a file; empty where
// there is none.
type sign []byte

// at reports whether the sign stands at byte i.
func (s sign) at(data []byte, i int) bool {
	if len(s) == 1 {
		return i < len(data) && data[i] == s[0]
	}
	return len(s) > 0 && bytes.HasPrefix(data[min(i, len(data)):], s)
}

// charmaps are the encodings of one byte a character.
var charmaps = map[string]*charmap.Charmap{"latin1": charmap.ISO8859_1, "windows-1252": charmap.Windows1252}

func newLayout(f Form) (*layout, error) {
	l := &layout{Form: f}
	for _, p := range []struct {
		to   *[]byte
		name string
		text string
	}{{(*[]byte)(&l.delim), "delimiter", f.Delimiter}, {(*[]byte)(&l.quote), "quote", f.Quote}, {(*[]byte)(&l.escape), "escape", f.Escape}, {&l.null, "null", f.Null}} {
		b, err := encode(f.Encoding, p.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		*p.to = b
	}
	if len(l.quote) == 0 {
		l.escape = nil
	}
	l.doubled = len(l.escape) > 0 && f.Escape == f.Quote
	if cm := charmaps[f.Encoding]; cm != nil {
		l.decode = new([256][]byte)
		for i := range l.decode {
			l.decode[i] = utf8.AppendRune(nil, cm.DecodeByte(byte(i)))
		}
	}
	l.stops = [3]uint64{'\n' * lows, uint64(l.delim[0]) * lows, '\n' * lows}
	if len(l.quote) > 0 {
		l.stops[2] = uint64(l.quote[0]) * lows
		l.inQuote[l.quote[0]] = true
	}
	if len(l.escape) > 0 {
		l.inQuote[l.escape[0]] = true
	}
	return l, nil
}

// encode gives text as it stands in a file that is cut.
func encode(encoding, text string) ([]byte, error) {
	cm := charmaps[encoding]
	if cm == nil {
		return []byte(text), nil
	}
	var out []byte
	for _, r := range text {
		b, ok := cm.EncodeRune(r)
		if !ok {
			return nil, fmt.Errorf("%q is no character of %s", r, encoding)
		}
		out = append(out, b)
	}
	return out, nil
}

// plain is the text of a value, without its escapes and in utf-8: raw itself
// where it is that already, else made in memory, which is returned, perhaps
// grown, for the next one.
func (l *layout) plain(memory, raw []byte, escaped bool) (text, grown []byte) {
	memory = memory[:0]
	if escaped {
		memory = l.unescape(memory, raw)
		raw = memory
	}
	if l.decode == nil || ascii(raw) {
		return raw, memory
	}
	from := len(memory) // behind what was unescaped
	for _, c := range raw {
		memory = append(memory, l.decode[c]...)
	}
	return memory[from:], memory
}

// unescape appends raw without its escapes: what stands behind one is taken as
// it is.
func (l *layout) unescape(dst, raw []byte) []byte {
	for {
		i := bytes.Index(raw, l.escape)
		if i < 0 || i+len(l.escape) >= len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		raw = raw[i+len(l.escape):]
		n := 1
		if l.quote.at(raw, 0) {
			n = len(l.quote)
		} else if l.escape.at(raw, 0) {
			n = len(l.escape)
		}
		dst, raw = append(dst, raw[:n]...), raw[n:]
	}
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
