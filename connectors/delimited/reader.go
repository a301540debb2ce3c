package delimited

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// reader reads the records from one place to another.
type reader struct {
	l       *layout
	files   []file
	table   *schema.Table
	renamed bool // the spec names the columns, not the header
	columns []column
	bad     func(connectors.BadRow) error

	at      place // of the next record; bytes are counted by w, lines here
	end     place
	open    *input // nil: at.file is to be opened, or everything is read
	w       window
	rec     record
	scratch []byte
}

// column is a column that is asked for.
type column struct {
	value    int // of a record
	name     string
	nullable bool
	misfit   string // what to say of a value that is none of the column's type, without the value
	special  bool   // infinity and NaN may be given
}

// OpenChunk reads the records of a chunk; an open end is that of the files.
func (n *snapshot) OpenChunk(_ context.Context, x connectors.Extract, c ranges.Chunk) (connectors.RowReader, error) {
	f, err := n.find("read", x.Table)
	if err != nil {
		return nil, err
	}
	r := &reader{l: n.layout, files: f.files, table: x.Table, renamed: len(f.Columns) > 0, bad: x.Bad, at: place{line: 1}, end: place{file: len(f.files)}}
	r.rec.values = make([]value, 0, max(len(x.Table.Columns), 1))
	for _, p := range []struct {
		edge ranges.Edge
		to   *place
	}{{c.Lo, &r.at}, {c.Hi, &r.end}} {
		if p.edge == nil {
			continue
		}
		if *p.to, err = placeOf(p.edge, f.files); err != nil {
			return nil, at("read", x.Table.Name.Name, err)
		}
	}
	for k, name := range x.Columns {
		i := slices.IndexFunc(x.Table.Columns, func(c schema.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, at("read", x.Table.Name.Name, schemaError("Plan the spec again.", "there is no column %q", name))
		}
		c := &x.Table.Columns[i]
		r.columns = append(r.columns, column{i, name, c.Nullable, "the value is none of " + c.Native, x.TakesSpecial(k)})
	}
	return r, nil
}

// Read fills b.
func (r *reader) Read(ctx context.Context, b *batch.Builder) error {
	for n := 0; !b.Full(); n++ {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		ok, err := r.next()
		if err != nil {
			return r.failure(err)
		}
		if !ok {
			break
		}
		if err := r.row(b); err != nil {
			return r.failure(err)
		}
	}
	if b.Rows() == 0 {
		return io.EOF
	}
	return nil
}

func (r *reader) failure(err error) error {
	if r.at.file < len(r.files) {
		var bad *badRowError
		if !errors.As(err, &bad) {
			err = fmt.Errorf("%s:%d: %w", r.files[r.at.file].name, r.at.line, err)
		} else if err = bad.error; bad.given {
			return err // the engine's own
		}
	}
	return at("read", r.table.Name.Name, err)
}

// next cuts the next record; false: there is none.
func (r *reader) next() (bool, error) {
	for {
		if r.open == nil {
			if r.at.file > r.end.file || r.at.file == r.end.file && r.end.off == 0 || r.at.file == len(r.files) {
				return false, nil
			}
			if err := r.begin(); err != nil {
				return false, err
			}
		}
		data := r.w.data()
		if len(data) > 0 && r.l.cut(data, r.w.eof, &r.rec) {
			return true, nil
		}
		if r.w.eof {
			if err := r.leave(); err != nil {
				return false, err
			}
			continue
		}
		if err := r.w.more(); err != nil {
			return false, err
		}
	}
}

// begin opens the file of the next record.
func (r *reader) begin() error {
	end := int64(-1)
	if r.at.file == r.end.file {
		end = r.end.off
	}
	in, err := r.l.open(r.files[r.at.file], r.at.off, end, &r.w)
	if err != nil {
		return err
	}
	r.open = in
	if r.at.off == 0 && r.l.Header {
		return r.header()
	}
	return nil
}

// leave ends a file, after a look at whether it is still what it was.
func (r *reader) leave() error {
	err := r.open.unchanged()
	if err != nil {
		return err
	}
	r.open.close()
	r.open = nil
	r.at = place{file: r.at.file + 1, line: 1}
	return nil
}

// header reads past the names of the columns and makes sure that they stand in
// the order of the table: in a file of another order values would be taken for
// those of other columns.
func (r *reader) header() error {
	names, err := r.l.names(&r.w, &r.rec)
	if errors.Is(err, errEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	r.at.line += int64(r.rec.lines)
	if len(names) != len(r.table.Columns) {
		return schemaError("Files of one table have the same columns.", "the header names %d columns, the table has %d", len(names), len(r.table.Columns))
	}
	for i, name := range names {
		is := func(c schema.Column) bool { return strings.EqualFold(c.Name, name) }
		if k := slices.IndexFunc(r.table.Columns, is); k != i && (k >= 0 || !r.renamed) {
			return schemaError("Files of one table have the same columns in the same order.", "the header names %q where the table has column %q", name, r.table.Columns[i].Name)
		}
	}
	return nil
}

// row appends the record that was cut, or sets it aside, and goes past it.
func (r *reader) row(b *batch.Builder) error {
	data, rec := r.w.data(), &r.rec
	want := len(r.table.Columns)
	switch {
	case rec.fault != "":
		name := ""
		if rec.column < want {
			name = r.table.Columns[rec.column].Name
		}
		if err := r.aside(rec.at, name, rec.fault, ""); err != nil {
			return err
		}
	case rec.count != want:
		if rec.blank() {
			break // a line between the others, or the last one
		}
		if err := r.aside(r.miscounted(), "", fmt.Sprintf("%s where the table has %s", counted(rec.count, "value"), counted(want, "column")), ""); err != nil {
			return err
		}
	default:
		if k, reason, detail := r.values(b, data); reason != "" {
			c := &r.columns[k]
			if err := r.aside(rec.values[c.value].from, c.name, reason, detail); err != nil {
				return err
			}
			break
		}
		if len(r.columns) == 0 {
			b.AddRows(1)
		}
		b.Origin().Row(r.open.name, r.at.line)
	}
	r.at.line += int64(rec.lines)
	r.w.from += rec.end
	return nil
}

// values appends the values of the record. Where one can't be, it takes back
// what it appended and says which column it was and why, without the value and
// with it.
func (r *reader) values(b *batch.Builder, data []byte) (column int, reason, detail string) {
	columns := b.Columns()
	for k := range r.columns {
		c, v := &r.columns[k], &r.rec.values[r.columns[k].value]
		text := data[v.from:v.to]
		if !v.quoted && len(text) == len(r.l.null) && string(text) == string(r.l.null) {
			if c.nullable {
				columns[k].AppendNull()
				continue
			}
			reason = "it is NULL and the column takes none"
		} else {
			if v.escaped || r.l.decode != nil {
				text, r.scratch = r.l.plain(r.scratch, text, v.escaped)
			}
			err := batch.ParseText(columns[k], text)
			if err == nil || c.special && batch.AppendSpecial(columns[k], text) {
				continue
			}
			reason, detail = c.misfit, err.Error()
		}
		for _, c := range columns[:k] {
			c.Truncate(c.Len() - 1)
		}
		return k, reason, detail
	}
	return 0, "", ""
}

// miscounted is where a record has a value too many, or ends too early.
func (r *reader) miscounted() int {
	rec := &r.rec
	last := rec.values[len(rec.values)-1]
	if rec.count > len(r.table.Columns) {
		return min(last.to+len(r.l.delim), rec.end)
	}
	return last.to
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// badRowError is a bad row that ends the reading.
type badRowError struct {
	error
	given bool // Extract.Bad returned it
}

// aside reports the record as a bad row: what is wrong stands at byte i of it.
func (r *reader) aside(i int, column, reason, detail string) error {
	before := r.w.data()[:i]
	line := r.at.line + int64(bytes.Count(before, newline))
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	col := utf8.RuneCount(before) + 1
	if r.l.decode != nil {
		col = len(before) + 1
	}
	bad := connectors.BadRow{Place: fmt.Sprintf("%s:%d:%d", r.open.name, line, col), Column: column, Reason: reason, Detail: detail}
	if r.bad != nil {
		if err := r.bad(bad); err != nil {
			return &badRowError{err, true}
		}
		return nil
	}
	return &badRowError{&connectors.Error{Class: connectors.Data, Err: errors.New(bad.String()), Hint: "Mend the file."}, false}
}

// Close closes the file that is open. It may be called twice.
func (r *reader) Close() error {
	if r.open != nil {
		r.open.close()
		r.open = nil
	}
	r.at.file = len(r.files)
	return nil
}
