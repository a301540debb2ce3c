package sqlite

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	lite "modernc.org/sqlite/lib"
)

// reader reads the rows of one chunk. It belongs to one goroutine.
type reader struct {
	c       *conn
	x       connectors.Extract
	chunk   ranges.Chunk
	query   read
	args    []any
	s       *stmt
	started bool
	pending bool // the statement stands on a row that was not taken yet
	ended   bool
	row     int64 // rows taken, for the message about the next one
	scratch []byte
	looked  int    // bad rows that were looked up
	give    func() // hands the connection back
}

func newReader(c *conn, x connectors.Extract, k ranges.Chunk, give func()) (*reader, error) {
	for _, n := range x.Columns {
		if x.Table.Column(n) == nil {
			return nil, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("there is no column %s", n), Hint: "Plan again: the table changed since."}
		}
	}
	r := &reader{c: c, x: x, chunk: k, query: newRead(x), give: give}
	// The ends that are open are left out; apart from that the plan's text is
	// what runs, so a text of another version is refused.
	if whole := r.query.statement(true, true); x.Statement != "" && x.Statement != whole {
		return nil, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("the plan reads by %q, this version by %q", x.Statement, whole), Hint: "Plan again with this version of penstock."}
	}
	lo, err := edgeArgs(k.Lo)
	if err != nil {
		return nil, err
	}
	hi, err := edgeArgs(k.Hi)
	if err != nil {
		return nil, err
	}
	for _, e := range [][]any{lo, hi} {
		if n := len(e); n != 0 && n != len(r.query.by) {
			return nil, fmt.Errorf("an edge of %d values for a split by %d", n, len(r.query.by))
		}
	}
	// Parameters are numbered by their first appearance, which is column by
	// column within an edge for :lo and, by the form of the conditions, for :hi.
	r.args = append(lo, hi...)
	r.s, err = c.prepare(r.query.statement(k.Lo != nil, k.Hi != nil))
	return r, err
}

// Read appends rows until the builder is full.
func (r *reader) Read(ctx context.Context, b *batch.Builder) error {
	if r.ended || r.s == nil {
		return io.EOF
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	defer r.c.watch(ctx)()
	if !r.started {
		r.started = true
		if err := r.s.bindAll(r.args); err != nil {
			return r.fail(ctx, err)
		}
		if err := r.next(r.s.first(ctx)); err != nil {
			return r.fail(ctx, err)
		}
	}
	got := false
	for r.pending && !(got && b.Full()) {
		n := b.Rows()
		if err := r.take(b); err != nil {
			return err
		}
		got = got || b.Rows() > n // a row that Bad was told of is left out
		r.row++
		if err := r.next(r.s.step()); err != nil {
			return r.fail(ctx, err)
		}
	}
	if !got {
		return io.EOF
	}
	return nil
}

func (r *reader) next(more bool, err error) error {
	r.pending = more && err == nil
	r.ended = !more
	return err
}

func (r *reader) fail(ctx context.Context, err error) error {
	r.ended = true
	return at("read "+r.chunk.String()+" of", r.x.Table.Name.Name, orCancelled(ctx, err))
}

// take appends the current row.
func (r *reader) take(b *batch.Builder) error {
	if len(r.x.Columns) == 0 {
		b.AddRows(1)
		return nil
	}
	n := b.Rows()
	for i, c := range b.Columns() {
		why := r.value(i, c)
		if why == "" {
			continue
		}
		if r.x.Bad == nil {
			return r.wrongValue(i, c.Type, why)
		}
		for _, c := range b.Columns() {
			c.Truncate(min(c.Len(), n))
		}
		reason := fmt.Sprintf("what is stored is no %s", c.Type)
		return r.x.Bad(connectors.BadRow{Place: r.place(), Column: r.x.Columns[i], Reason: reason, Detail: reason + ": " + why})
	}
	return nil
}

// maxLookups bounds how many bad rows of a chunk are looked up again.
const maxLookups = 100

// place names the current row by its key where that is read, else by looking it
// up, else by its number.
func (r *reader) place() string {
	if k := r.x.Table.PrimaryKey; k != nil {
		key := ""
		for _, name := range k.Columns {
			i := slices.Index(r.x.Columns, name)
			if i < 0 {
				key = ""
				break
			}
			if key != "" {
				key += " "
			}
			key += name + "=" + r.s.text(i)
		}
		if key != "" {
			return key
		}
	}
	if r.looked++; r.looked > maxLookups {
		return fmt.Sprintf("row %d of %s", r.row+1, r.chunk)
	}
	return r.where()
}

// value appends column i of the current row. What is stored need not be what
// the column was declared for: SQLite converts where it can and keeps the rest.
// It returns why a value is not of the column's type.
func (r *reader) value(i int, c *batch.Column) string {
	switch storage := r.s.storage(i); storage {
	case lite.SQLITE_NULL:
		c.AppendNull()
		return ""
	case lite.SQLITE_INTEGER:
		return r.integer(r.s.int(i), c)
	case lite.SQLITE_FLOAT:
		return r.float(r.s.float(i), c)
	case lite.SQLITE_BLOB:
		v := r.s.bytes(i)
		switch {
		case c.Type.Kind == schema.Bytes, c.Type.Kind == schema.UUID && len(v) == 16:
			c.AppendBytes(v)
			return ""
		}
		return fmt.Sprintf("a blob of %d octets", len(v))
	}
	v := r.s.bytes(i)
	switch c.Type.Kind {
	case schema.Text:
		if !c.Type.Fixed {
			// A declared length binds nobody in SQLite: it is the target's to check.
			c.AppendBytes(v)
			return ""
		}
	case schema.Bool, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64, schema.Bytes:
		return "a text, " + quoteShort(v)
	}
	if err := batch.ParseText(c, v); err != nil {
		if r.x.TakesSpecial(i) && batch.AppendSpecial(c, v) {
			return ""
		}
		return "a text: " + err.Error()
	}
	return ""
}

func (r *reader) integer(v int64, c *batch.Column) string {
	switch c.Type.Kind {
	case schema.Int16, schema.Int32, schema.Int64:
		if lo, hi := c.Type.Kind.IntRange(); v < lo || v > hi {
			return fmt.Sprintf("the integer %d", v)
		}
		c.AppendInt(v)
		return ""
	case schema.Bool:
		if v != 0 && v != 1 {
			return fmt.Sprintf("the integer %d, neither 0 nor 1", v)
		}
		c.AppendBool(v == 1)
		return ""
	case schema.Float32, schema.Float64:
		return r.float(float64(v), c)
	case schema.Decimal, schema.JSON:
		r.scratch = strconv.AppendInt(r.scratch[:0], v, 10)
		if err := batch.ParseText(c, r.scratch); err != nil {
			return "an integer: " + err.Error()
		}
		return ""
	}
	return fmt.Sprintf("the integer %d", v)
}

func (r *reader) float(v float64, c *batch.Column) string {
	switch c.Type.Kind {
	case schema.Float64:
		c.AppendFloat(v)
		return ""
	case schema.Float32:
		if float64(float32(v)) != v {
			return fmt.Sprintf("the number %v, which 32 bits can't hold", v)
		}
		c.AppendFloat(v)
		return ""
	case schema.Decimal, schema.JSON:
		// Numeric affinity has made a double of a decimal; its shortest digits
		// are the ones that were written, up to 15 of them.
		if math.IsInf(v, 0) {
			break
		}
		r.scratch = strconv.AppendFloat(r.scratch[:0], v, 'g', -1, 64)
		if err := batch.ParseText(c, r.scratch); err != nil {
			return "a floating-point number: " + err.Error()
		}
		return ""
	}
	return fmt.Sprintf("the floating-point number %v", v)
}

func quoteShort(v []byte) string {
	if len(v) > 40 {
		return strconv.Quote(string(v[:40])) + "..."
	}
	return strconv.Quote(string(v))
}

// where names the current row by looking it up again, in the same transaction:
// reading a row's identity along with every row would cost all of them.
func (r *reader) where() string {
	where := fmt.Sprintf("row %d of %s", r.row+1, r.chunk)
	if id := identity(r.x.Table); len(id) > 0 {
		list := ""
		for k, name := range id {
			if k > 0 {
				list += ", "
			}
			list += name
		}
		sql := "SELECT " + list + r.query.from(r.chunk.Lo != nil, r.chunk.Hi != nil) + " LIMIT 1 OFFSET " + strconv.FormatInt(r.row, 10)
		_, _ = r.c.query(context.Background(), sql, r.args, func(s *stmt) error {
			where = "row"
			for k := range id {
				where += fmt.Sprintf(" %s = %s", id[k], s.text(k))
			}
			return nil
		}) // without it the message still says which row of the chunk it is
	}
	return where
}

// wrongValue ends the reading at a row where nobody is told of bad ones.
func (r *reader) wrongValue(i int, t schema.Type, why string) error {
	r.ended = true
	where := r.where()
	name := r.x.Columns[i]
	return &connectors.Error{Op: "read", Table: r.x.Table.Name.Name, Class: connectors.Data,
		Err:  fmt.Errorf("column %s is declared %s (%s), but %s holds %s", name, r.x.Table.Column(name).Native, t, where, why),
		Hint: "Mend the row, read through a view with CAST, or leave the column out with `drop = true`."}
}

// identity is what a row can be found by: its rowid, else its key.
func identity(t *schema.Table) []string {
	if t.Storage == storageRowid {
		if rowid := rowidOf(t); rowid != "" {
			return []string{rowid}
		}
	}
	var out []string
	if t.PrimaryKey != nil {
		for _, c := range t.PrimaryKey.Columns {
			out = append(out, quote(c))
		}
	}
	return out
}

// Close hands the connection back to the snapshot. It may be called twice.
func (r *reader) Close() error {
	if r.s == nil {
		return nil
	}
	r.s.close()
	r.s = nil
	r.give()
	return nil
}
