package rows

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"penstock/internal/batch"
)

// mend is what to do with text that a target could not hold.
type mend string

const (
	mendReject  mend = "reject"  // the row is bad
	mendStrip   mend = "strip"   // the bytes go
	mendReplace mend = "replace" // U+FFFD stands for them
)

// textRules looks at text columns before they leave for a target.
type textRules struct {
	columns      []int // of the source batch
	nul, invalid mend
}

const (
	reasonNUL     = `the text has a NUL byte; on_nul = "strip" or "replace" lets it through`
	reasonInvalid = `the text is not valid UTF-8; on_invalid_text = "strip" or "replace" lets it through`
)

// check mends c in place where the rules say so and reports the rows that stay
// bad. Sources give clean text nearly always, so the whole buffer is looked at
// first and rows only when something is in it.
func (r textRules) check(c *batch.Column, sel batch.Selection, bad func(row int32, reason string)) {
	nul, high := bytes.IndexByte(c.Data, 0) >= 0, !isASCII(c.Data)
	if !nul && !high {
		return
	}
	if nul && r.nul != mendReject || high && r.invalid != mendReject {
		r.mendAll(c)
		nul, high = nul && r.nul == mendReject, high && r.invalid == mendReject
	}
	if !nul && !high {
		return
	}
	for i := range sel.Len(c.Len()) {
		row := sel.Row(i)
		if c.IsNull(row) {
			continue
		}
		v := c.Bytes(row)
		switch {
		case nul && bytes.IndexByte(v, 0) >= 0:
			bad(int32(row), reasonNUL)
		case high && !utf8.Valid(v):
			bad(int32(row), reasonInvalid)
		}
	}
}

// mendAll rewrites the column's values by the rules that do not reject.
func (r textRules) mendAll(c *batch.Column) {
	data := make([]byte, 0, len(c.Data)+16)
	start := int32(0)
	for i := range c.Len() {
		v := c.Data[start:c.Offsets[i+1]]
		start = c.Offsets[i+1]
		for len(v) > 0 {
			ch, n := utf8.DecodeRune(v)
			rule := mendReject
			switch {
			case ch == 0:
				rule = r.nul
			case ch == utf8.RuneError && n == 1:
				rule = r.invalid
			}
			switch rule {
			case mendReject:
				data = append(data, v[:n]...)
			case mendReplace:
				data = utf8.AppendRune(data, utf8.RuneError)
			}
			v = v[n:]
		}
		c.Offsets[i+1] = int32(len(data))
	}
	c.Data = data
}

func isASCII(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
