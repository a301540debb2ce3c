package delimited

import (
	"bytes"
	"errors"
	"fmt"

	"penstock/connectors"
	"penstock/internal/batch"
)

// encoder writes rows so that a layout of the same form reads the same values.
type encoder struct {
	l       *layout
	columns []connectors.TargetColumn
	special [256]bool // first bytes of what a value can't hold unquoted
	scratch []byte
}

func newEncoder(l *layout, columns []connectors.TargetColumn) *encoder {
	e := &encoder{l: l, columns: columns}
	for _, s := range [][]byte{l.delim, l.quote, {'\n'}, {'\r'}} {
		if len(s) > 0 {
			e.special[s[0]] = true
		}
	}
	return e
}

// header appends the line of names.
func (e *encoder) header(dst []byte) (out []byte, err error) {
	for i, c := range e.columns {
		if i > 0 {
			dst = append(dst, e.l.delim...)
		}
		if dst, err = e.finish(append(dst, c.Name...), len(dst)); err != nil {
			return dst, fmt.Errorf("the header: column %s: %w", c.Name, err)
		}
	}
	return append(dst, '\n'), nil
}

// row appends a row.
func (e *encoder) row(dst []byte, b *batch.Batch, row int) (out []byte, err error) {
	if len(b.Columns) != len(e.columns) {
		panic(fmt.Sprintf("delimited: a batch of %d columns for a table of %d", len(b.Columns), len(e.columns)))
	}
	for i, c := range b.Columns {
		if i > 0 {
			dst = append(dst, e.l.delim...)
		}
		if !c.IsNull(row) {
			dst, err = e.finish(batch.AppendText(dst, c, row), len(dst))
		} else if dst = append(dst, e.l.null...); !e.columns[i].Nullable {
			err = dataError("", "NULL in a column that takes none", nil)
		}
		if err != nil {
			var r *connectors.Refusal
			if errors.As(err, &r) {
				r.Column = e.columns[i].Name
			}
			return dst, at("column", e.columns[i].Name, err)
		}
	}
	return append(dst, '\n'), nil
}

// finish quotes the value that stands in dst from byte i on, where it needs it.
func (e *encoder) finish(dst []byte, i int) ([]byte, error) {
	l, v := e.l, dst[i:]
	if string(v) == string(l.null) {
		if len(l.quote) == 0 {
			return dst, dataError("Set `null` to a text that no value has.", "it would be read as NULL, since nothing is quoted", v)
		}
		return e.quoted(dst, i)
	}
	for _, c := range v {
		if e.special[c] {
			return e.quoted(dst, i)
		}
	}
	if bytes.HasPrefix(v, mark) { // at the beginning of a file it would be taken for its mark
		return e.quoted(dst, i)
	}
	return dst, nil
}

func (e *encoder) quoted(dst []byte, i int) ([]byte, error) {
	l, v := e.l, dst[i:]
	if len(l.quote) == 0 {
		if bytes.Contains(v, l.delim) || bytes.ContainsAny(v, "\r\n") || bytes.HasPrefix(v, mark) {
			return dst, dataError("Set `quote`, or a `delimiter` that no value has.", "it holds a delimiter or an end of line, and nothing is quoted", v)
		}
		return dst, nil // only the first byte of the delimiter
	}
	if len(l.escape) == 0 && bytes.Contains(v, l.quote) {
		return dst, dataError("Set `escape`.", "it holds a quote, which nothing escapes", v)
	}
	e.scratch = append(e.scratch[:0], v...)
	dst = append(dst[:i], l.quote...)
	for rest := e.scratch; len(rest) > 0; {
		n := 1
		switch {
		case l.quote.at(rest, 0):
			n = len(l.quote)
			dst = append(dst, l.escape...)
		case l.escape.at(rest, 0):
			n = len(l.escape)
			dst = append(dst, l.escape...)
		}
		dst, rest = append(dst, rest[:n]...), rest[n:]
	}
	return append(dst, l.quote...), nil
}

// dataError refuses a value. why is free of it.
func dataError(hint, why string, value []byte) error {
	r := &connectors.Refusal{Reason: why, Hint: hint}
	if value != nil {
		r.Detail = fmt.Sprintf("%s: %.40q", why, value)
	}
	return &connectors.Error{Class: connectors.Data, Err: r, Hint: hint}
}
