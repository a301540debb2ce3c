package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/failpoint"

	lite "modernc.org/sqlite/lib"
)

// A statement carries as many rows as give it about 1,280 parameters, at most
// 256. Measured on five columns with a key, in ns of CPU a row: 1 row 2,890,
// 10 rows 1,690, 50 rows 1,510, 100 rows 1,250, 250 rows 1,190.
const (
	statementParams  = 1280
	statementMaxRows = 256
	// tailRows is the size of the second statement, for what a batch leaves over.
	tailRows = 16
)

func statementRows(columns int) int {
	return max(1, min(statementMaxRows, statementParams/max(columns, 1)))
}

// writer loads chunks of one table. It belongs to one goroutine.
type writer struct {
	t       *target
	load    connectors.Load
	epoch   int64
	c       *conn
	cols    []columnWriter
	inserts []insert // most rows first, the last of one row
	begin   *stmt
	marker  *stmt
	done    *stmt
	commit  *stmt
	save    *stmt // of a piece: WriteEach
	undo    *stmt
	release *stmt
	open    bool
	rows    int64 // in the open transaction

	texts cMemory // texts made from other values, for one statement
	wrote int     // bytes of texts used
}

// insert is the loading statement for a number of rows.
type insert struct {
	rows int
	*stmt
}

func newWriter(t *target, l connectors.Load) (*writer, error) {
	c, err := openWriter(t.path, readWrite, t.config)
	if err != nil {
		return nil, err
	}
	w := &writer{t: t, load: l, epoch: t.epoch, c: c}
	for _, col := range l.Columns {
		w.cols = append(w.cols, columnWriter{TargetColumn: col, how: bindingOf(col.Type)})
	}
	if err := w.prepare(); err != nil {
		_ = w.Close() // err is what matters
		return nil, err
	}
	return w, nil
}

func (w *writer) prepare() error {
	one := w.load.Insert
	if one == "" {
		one = insertRow(w.load)
	}
	row := tuple(len(w.cols))
	if !strings.HasSuffix(one, "VALUES "+row) {
		return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("the plan's statement %q does not end in VALUES %s", one, row), Hint: "Plan again with this version of penstock."}
	}
	sizes := []int{1}
	if full := statementRows(len(w.cols)); w.load.Mode != "row" && full > 1 {
		sizes = []int{full, 1}
		if full > 2*tailRows {
			sizes = []int{full, tailRows, 1}
		}
	}
	for _, n := range sizes {
		s, err := w.c.prepare(one + strings.Repeat(", "+row, n-1))
		if err != nil {
			return err
		}
		w.inserts = append(w.inserts, insert{n, s})
	}
	if !w.texts.reserve(w.c.tls, sizes[0]*len(w.cols)*textRoom) {
		return w.c.failure(lite.SQLITE_NOMEM, "")
	}
	for _, p := range []struct {
		s   **stmt
		sql string
	}{{&w.begin, "BEGIN IMMEDIATE"}, {&w.marker, selectMarker}, {&w.done, markDone}, {&w.commit, "COMMIT"},
		{&w.save, "SAVEPOINT penstock_piece"}, {&w.undo, "ROLLBACK TO penstock_piece"}, {&w.release, "RELEASE penstock_piece"}} {
		s, err := w.c.prepare(p.sql)
		if err != nil {
			return err
		}
		*p.s = s
	}
	return nil
}

// Begin takes the file's write lock and looks at the chunk's marker.
func (w *writer) Begin(ctx context.Context, m connectors.Marker) (bool, error) {
	if w.open {
		return false, openError(w.t.path, "a chunk is open already", "")
	}
	if _, err := w.begin.run(ctx, nil, nil); err != nil {
		return false, w.at(m, err)
	}
	w.open, w.rows = true, 0
	// In WAL mode SQLite goes on writing to a file that has lost its name.
	if w.c.moved() {
		return false, errors.Join(w.at(m, gone(w.t.path)), w.Abort())
	}
	state, epoch := "", int64(0)
	if _, err := w.marker.run(ctx, []any{w.t.env.Pipeline, m.Table, m.Generation, m.Chunk}, func(s *stmt) error {
		state, epoch = s.text(0), s.int(1)
		return nil
	}); err != nil {
		return false, errors.Join(w.at(m, err), w.Abort())
	}
	switch {
	case state == "done":
		return true, w.Abort()
	case state == "":
		return false, errors.Join(w.at(m, w.t.fenced("the marker of the chunk is gone")), w.Abort())
	case epoch != w.epoch:
		return false, errors.Join(w.at(m, w.t.fenced(fmt.Sprintf("the marker has epoch %d, this run holds %d", epoch, w.epoch))), w.Abort())
	}
	failpoint.Hit("chunk.begin")
	return false, nil
}

func (w *writer) at(m connectors.Marker, err error) error {
	return at(fmt.Sprintf("load chunk %d of", m.Chunk), w.load.Table.Name, err)
}

// Write adds the selected rows.
func (w *writer) Write(ctx context.Context, b *batch.Batch, sel batch.Selection) error {
	if !w.open {
		return openError(w.t.path, "no chunk is open", "")
	}
	err := w.take(b)
	if err == nil {
		err = w.insertAll(ctx, b, sel)
	}
	if err != nil {
		return at("load", w.load.Table.Name, err)
	}
	failpoint.Hit("chunk.rows")
	return nil
}

// take makes the columns of a batch the ones that are bound.
func (w *writer) take(b *batch.Batch) error {
	if len(b.Columns) != len(w.cols) {
		panic(fmt.Sprintf("sqlite: a batch of %d columns for a table of %d", len(b.Columns), len(w.cols)))
	}
	for i := range w.cols {
		if err := w.cols[i].take(w.c, b.Columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// insertAll runs as few statements as the selected rows take.
func (w *writer) insertAll(ctx context.Context, b *batch.Batch, sel batch.Selection) error {
	n, k := sel.Len(b.Rows), 0
	for k < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := w.sizeFor(n - k)
		if err := w.insert(s, b, sel, k); err != nil {
			return err
		}
		k += s.rows
	}
	w.rows += int64(n)
	return nil
}

func (w *writer) sizeFor(left int) insert {
	for _, s := range w.inserts {
		if s.rows <= left {
			return s
		}
	}
	return w.inserts[len(w.inserts)-1]
}

// insert runs one statement for s.rows selected rows from the k-th on.
func (w *writer) insert(s insert, b *batch.Batch, sel batch.Selection, k int) error {
	w.wrote = 0
	p := int32(1)
	for r := k; r < k+s.rows; r++ {
		row := sel.Row(r)
		for i := range w.cols {
			if rc := w.bind(s.p, p, &w.cols[i], b.Columns[i], row); rc != lite.SQLITE_OK {
				return w.bindError(rc, &w.cols[i], s.sql)
			}
			p++
		}
	}
	rc := lite.Xsqlite3_step(w.c.tls, s.p)
	if rc != lite.SQLITE_DONE {
		err := w.c.failure(rc, s.sql)
		lite.Xsqlite3_reset(w.c.tls, s.p)
		return err
	}
	put := lite.Xsqlite3_changes64(w.c.tls, w.c.db)
	lite.Xsqlite3_reset(w.c.tls, s.p)
	if put != int64(s.rows) {
		return &connectors.Error{Class: connectors.Mismatch, Err: fmt.Errorf("%d rows were sent in one statement and %d went in", s.rows, put),
			Hint: "A trigger of the table leaves rows out: drop it for the load."}
	}
	return nil
}

// Commit marks the chunk done and commits.
func (w *writer) Commit(ctx context.Context, m connectors.Marker) (int64, error) {
	if !w.open {
		return 0, openError(w.t.path, "no chunk is open", "")
	}
	if failpoint.Off("marker") {
		if _, err := w.commit.run(ctx, nil, nil); err != nil {
			return 0, errors.Join(w.at(m, err), w.Abort())
		}
		failpoint.Hit("chunk.marker")
	}
	n, err := w.done.run(ctx, []any{w.rows, m.BadRows, now(), w.t.env.Pipeline, m.Table, m.Generation, m.Chunk, w.epoch}, nil)
	if err == nil && n != 1 {
		err = w.t.fenced("the marker of the chunk is gone")
	}
	if err != nil {
		return 0, errors.Join(w.at(m, err), w.Abort())
	}
	if failpoint.Off("marker") {
		w.open = false
		return w.rows, nil
	}
	failpoint.Hit("chunk.marker")
	failpoint.Hit("chunk.commit.before")
	if _, err := w.commit.run(ctx, nil, nil); err != nil {
		return 0, errors.Join(w.at(m, err), w.Abort())
	}
	w.open = false
	failpoint.Hit("chunk.commit.after")
	return w.rows, nil
}

// Abort throws the open transaction away.
func (w *writer) Abort() error {
	w.open = false
	return w.c.rollback()
}

// Close aborts what is open. It may be called twice.
func (w *writer) Close() error {
	if w.c.db == 0 {
		return nil
	}
	err := w.Abort()
	for _, s := range w.inserts {
		s.close()
	}
	for _, s := range []*stmt{w.begin, w.marker, w.done, w.commit, w.save, w.undo, w.release} {
		s.close()
	}
	for i := range w.cols {
		w.cols[i].data.free(w.c.tls)
	}
	w.texts.free(w.c.tls)
	w.c.close()
	return err
}
