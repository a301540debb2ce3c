package postgres

import (
	"strconv"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// appendText writes rows as COPY takes them in text format: fields between
// tabs, \N for NULL, a backslash before what would be taken for something else.
func (e *encoder) appendText(dst []byte, b *batch.Batch, sel batch.Selection) []byte {
	for k := range sel.Len(b.Rows) {
		row := sel.Row(k)
		for i := range e.fields {
			if i > 0 {
				dst = append(dst, '\t')
			}
			c := e.fields[i].col
			if c.IsNull(row) {
				dst = append(dst, `\N`...)
				continue
			}
			dst = appendField(dst, c, row)
		}
		dst = append(dst, '\n')
	}
	return dst
}

func appendField(dst []byte, c *batch.Column, row int) []byte {
	switch c.Type.Kind {
	case schema.Text, schema.JSON:
		return appendEscaped(dst, c.Bytes(row))
	case schema.Bytes:
		dst = append(dst, '\\') // the canonical text begins with one, which is doubled
	case schema.Date, schema.Timestamp, schema.TimestampTZ:
		if batch.IsSpecial(c, row) {
			return batch.AppendText(dst, c, row)
		}
		at := len(dst)
		return beforeChrist(batch.AppendText(dst, c, row), at)
	}
	return batch.AppendText(dst, c, row)
}

func appendEscaped(dst, v []byte) []byte {
	from := 0
	for i, b := range v {
		var esc byte
		switch b {
		case '\\':
			esc = '\\'
		case '\t':
			esc = 't'
		case '\n':
			esc = 'n'
		case '\r':
			esc = 'r'
		default:
			continue
		}
		dst = append(append(dst, v[from:i]...), '\\', esc)
		from = i + 1
	}
	return append(dst, v[from:]...)
}

// beforeChrist rewrites a date from at on whose year is zero or below, which
// PostgreSQL counts as 1 BC and up.
func beforeChrist(dst []byte, at int) []byte {
	v := dst[at:]
	end, neg := 0, v[0] == '-'
	if neg {
		end++
	}
	year := 0
	for ; v[end] != '-'; end++ {
		year = year*10 + int(v[end]-'0')
	}
	if year > 0 && !neg {
		return dst
	}
	rest := string(v[end:])
	dst = dst[:at]
	for y := year + 1; y < 1000 && len(dst) < at+3; y *= 10 {
		dst = append(dst, '0')
	}
	return append(append(strconv.AppendInt(dst, int64(year+1), 10), rest...), " BC"...)
}
