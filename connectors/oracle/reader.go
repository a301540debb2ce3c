package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// reader reads the rows of one chunk: one statement, or one for each segment
// that the chunk lies in. It belongs to one goroutine.
type reader struct {
	snapshot  *snapshot
	x         connectors.Extract
	chunk     ranges.Chunk
	query     read
	sql       string
	stretches [][]driver.Value // binds of the statements that are still to run, without the SCN
	width     int              // expressions of a row
	columns   []decoder
	fetch     int

	session *session
	cursor  *cursor
	row     int64 // rows read, for the message about the next one
	closed  bool
}

func newReader(n *snapshot, x connectors.Extract, k ranges.Chunk) (*reader, error) {
	q, err := newRead(x)
	if err != nil {
		return nil, err
	}
	// The ends that are open are left out; apart from that the plan's text is
	// what runs, so a text of another version is refused.
	if whole, _ := q.statement(true, true); x.Statement != "" && x.Statement != whole {
		return nil, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("the plan reads by %q, this version by %q", x.Statement, whole), Hint: "Plan again with this version of penstock."}
	}
	r := &reader{snapshot: n, x: x, chunk: k, query: q, width: len(q.items), fetch: fetchRows(x)}
	for i, at := 0, 0; i < len(x.Columns); i++ {
		c := x.Table.Column(x.Columns[i])
		r.columns = append(r.columns, newDecoder(c, at))
		at += len(itemsOf(c))
	}
	var places []place
	r.sql, places = q.statement(k.Lo != nil, k.Hi != nil)
	if x.Split.Kind == connectors.SplitBlocks {
		return r, nil // its stretches are found in the extents
	}
	binds, err := stretch(k, places)
	if err != nil {
		return nil, err
	}
	r.stretches = [][]driver.Value{binds}
	return r, nil
}

// whole makes it read the table without a condition.
func (r *reader) whole() {
	r.query.kind = connectors.SplitNone
	r.sql, _ = r.query.statement(false, false)
	r.stretches = [][]driver.Value{nil}
}

const (
	// answerBytes is about how much an answer carries: enough that waiting for
	// the next one is little beside reading it, little enough to hold for each
	// reader.
	answerBytes = 2 << 20
	leastRows   = 64
	mostRows    = 8192
	// lobRows is for rows whose size no statistics tell: their LOBs come whole.
	lobRows = 32
)

// fetchRows is how many rows an answer carries: a power of two, so that tables
// share sessions, and never 25, by which the driver means another number.
func fetchRows(x connectors.Extract) int {
	width := 0
	for _, n := range x.Columns {
		c := x.Table.Column(n)
		switch wordOf(c.Native) {
		case "CLOB", "NCLOB", "BLOB", "LONG", "LONG RAW", "XMLTYPE", "JSON", "VECTOR":
			return lobRows
		}
		width += c.Type.EstimatedBytes()
	}
	n := min(max(answerBytes/max(width, 1), leastRows), mostRows)
	return 1 << (bits.Len(uint(n)) - 1)
}

// Read appends rows until the builder is full.
func (r *reader) Read(ctx context.Context, b *batch.Builder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	got := false
	for !(got && b.Full()) {
		if r.cursor == nil {
			if len(r.stretches) == 0 || r.closed {
				break
			}
			if err := r.begin(ctx); err != nil {
				return r.fail(err)
			}
		}
		err := r.cursor.next(ctx, func(row []driver.Value) (bool, error) {
			r.row++
			took, err := r.take(b, row)
			got = got || took
			return !b.Full(), err
		})
		switch {
		case errors.Is(err, io.EOF):
			r.cursor.close(ctx)
			r.cursor = nil
		case err != nil:
			return r.fail(err)
		}
	}
	if !got {
		return io.EOF
	}
	return nil
}

// begin runs the statement for the next stretch.
func (r *reader) begin(ctx context.Context) (err error) {
	if r.session == nil {
		if r.session, err = r.snapshot.take(ctx, r.fetch); err != nil {
			return err
		}
	}
	binds := append([]driver.Value{int64(r.snapshot.at)}, r.stretches[0]...)
	r.stretches = r.stretches[1:]
	r.cursor, err = r.session.query(ctx, r.sql, r.width, binds...)
	return err
}

func (r *reader) fail(err error) error {
	r.stretches = nil
	if r.cursor != nil {
		r.cursor.close(context.Background())
		r.cursor = nil
	}
	return at("read "+r.chunk.String()+" of", r.x.Table.Name.String(), failure(err))
}

// take appends a row. One that can't be is told of and left out.
func (r *reader) take(b *batch.Builder, row []driver.Value) (bool, error) {
	if len(r.columns) == 0 {
		b.AddRows(1)
		return true, nil
	}
	cols := b.Columns()
	for i := range r.columns {
		why := r.columns[i].append(cols[i], row)
		if why == "" {
			continue
		}
		n := cols[len(cols)-1].Len()
		for j := range i {
			cols[j].Truncate(n)
		}
		return false, r.bad(i, why)
	}
	return true, nil
}

func (r *reader) bad(i int, why string) error {
	c := r.x.Table.Column(r.x.Columns[i])
	bad := connectors.BadRow{Place: rowNumber(r.chunk, r.row), Column: c.Name, Reason: "the value is none of " + c.Type.String(), Detail: why}
	if r.x.Bad != nil {
		return r.x.Bad(bad)
	}
	return &connectors.Error{Class: connectors.Data, Err: fmt.Errorf("%s, column %s: %s", bad.Place, c.Name, why), Hint: "Mend the row, read through a view, or leave the column out with `drop = true`."}
}

// Close hands the session back to the snapshot. It may be called twice.
func (r *reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.cursor != nil {
		r.cursor.close(context.Background())
		r.cursor = nil
	}
	if r.session != nil {
		r.snapshot.give(r.session)
		r.session = nil
	}
	<-r.snapshot.seats
	return nil
}

var _ connectors.RowReader = (*reader)(nil)

// decoder makes a column's values of what the driver gives for its expressions.
type decoder struct {
	kind schema.Kind
	at   int  // its first expression
	lob  bool // the second one is the length
}

func newDecoder(c *schema.Column, at int) decoder {
	return decoder{kind: c.Type.Kind, at: at, lob: len(itemsOf(c)) == 2}
}
