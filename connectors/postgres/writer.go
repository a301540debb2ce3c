package postgres

import (
	"context"
	"errors"
	"fmt"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/failpoint"

	"github.com/jackc/pgx/v5/pgconn"
)

// writer loads chunks of one table on a session of its own. It belongs to one
// goroutine.
type writer struct {
	t     *target
	load  connectors.Load
	epoch int64
	role  string
	conn  *pgconn.PgConn
	enter entry
	open  bool
	// pieces is set when the open transaction goes by savepoints: WriteEach.
	pieces bool
	single *singles // rows one by one, for pieces; nil until they are asked for
	rows   int64    // sent or kept back in the open transaction
}

// entry is a way in for rows: one of the modes.
type entry interface {
	// prepare makes a new session ready.
	prepare(ctx context.Context, c *pgconn.PgConn) error
	// write takes the selected rows; it may keep encoded ones back until flush.
	write(ctx context.Context, c *pgconn.PgConn, b *batch.Batch, sel batch.Selection) error
	// flush sends what was kept back.
	flush(ctx context.Context, c *pgconn.PgConn) error
	// reset forgets it.
	reset()
}

func newWriter(t *target, l connectors.Load) (*writer, error) {
	w := &writer{t: t, load: l, epoch: t.epoch.Load(), role: fmt.Sprintf("%s/%d", roleLoad, t.writers.Add(1))}
	insert := l.Insert
	if insert == "" {
		insert = insertRows(l).SQL
	}
	if want := insertRows(l).SQL; insert != want {
		return nil, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("the plan's statement %q is not %q", insert, want), Hint: "Plan again with this version of penstock."}
	}
	switch e := newEncoder(l.Columns); l.Mode {
	case "array":
		w.enter = &arrays{encoder: e, sql: insert}
	case "row":
		w.enter = &singles{encoder: e, sql: insert, name: insertName}
	default:
		w.enter = newCopier(e, insert, l.Encoded)
	}
	return w, nil
}

// connect opens the session, in place of one that was lost. A chunk's commit
// does not wait for the disk: its marker is in the same transaction, so that a
// server that crashes forgets both, and the table's last transaction waits for
// all before it.
func (w *writer) connect(ctx context.Context) error {
	c, err := w.t.server.reconnect(ctx, w.conn, w.role, map[string]string{"synchronous_commit": "off"})
	if err != nil {
		return err
	}
	if err := w.enter.prepare(ctx, c); err != nil {
		closeNow(c)
		return err
	}
	w.conn, w.single = c, nil // what was prepared is not there
	return nil
}

// Begin opens a transaction and locks the chunk's pending marker. An idle
// session may have been ended since the last chunk; nothing was lost with it.
func (w *writer) Begin(ctx context.Context, m connectors.Marker) (bool, error) {
	if w.open {
		return false, errors.New("a chunk is open already")
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	for again := false; ; again = true {
		if w.conn == nil || w.conn.IsClosed() {
			if err := w.connect(ctx); err != nil {
				return false, w.at(m, err)
			}
		}
		done, err := w.lock(ctx, m)
		if err == nil {
			if !done {
				failpoint.Hit("chunk.begin")
			}
			return done, nil
		}
		_ = w.Abort()
		if again || !isLost(w.conn, err) {
			return false, w.at(m, err)
		}
	}
}

func (w *writer) lock(ctx context.Context, m connectors.Marker) (done bool, err error) {
	if err := begin(ctx, w.conn); err != nil {
		return false, err
	}
	w.open, w.pieces, w.rows = true, false, 0
	w.enter.reset()
	state, epoch, err := w.marker(ctx, m)
	switch {
	case err != nil:
		return false, err
	case state == "done":
		return true, w.Abort()
	case state == "":
		return false, w.t.fenced("the marker of the chunk is gone")
	case epoch != w.epoch:
		return false, w.t.fenced(fmt.Sprintf("the marker has epoch %d, this run holds %d", epoch, w.epoch))
	}
	return false, nil
}

func (w *writer) marker(ctx context.Context, m connectors.Marker) (state string, epoch int64, err error) {
	_, err = query(ctx, w.conn, selectMarker, func(r [][]byte) error { state, epoch = string(r[0]), number(r[1]); return nil },
		w.t.env.Pipeline, m.Table, m.Generation, m.Chunk)
	return state, epoch, err
}

func (w *writer) at(m connectors.Marker, err error) error {
	return at(fmt.Sprintf("load chunk %d of", m.Chunk), w.load.Table.String(), err)
}

// Write adds the selected rows.
func (w *writer) Write(ctx context.Context, b *batch.Batch, sel batch.Selection) error {
	if !w.open {
		return errors.New("no chunk is open")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	n := sel.Len(b.Rows)
	if n == 0 {
		return nil
	}
	if err := w.enter.write(ctx, w.conn, b, sel); err != nil {
		return at("load", w.load.Table.String(), err)
	}
	w.rows += int64(n)
	return nil
}

// Commit marks the chunk done and commits.
func (w *writer) Commit(ctx context.Context, m connectors.Marker) (int64, error) {
	if !w.open {
		return 0, errors.New("no chunk is open")
	}
	err := w.commit(ctx, m)
	if err == nil {
		w.open = false
		return w.rows, nil
	}
	rows := w.rows
	_ = w.Abort()
	if isLost(w.conn, err) {
		committed, why := w.decide(ctx, m, err)
		if committed {
			return rows, nil
		}
		err = why
	}
	return 0, w.at(m, err)
}

func (w *writer) commit(ctx context.Context, m connectors.Marker) error {
	if err := w.enter.flush(ctx, w.conn); err != nil {
		return err
	}
	failpoint.Hit("chunk.rows")
	if failpoint.Off("marker") {
		if err := commit(ctx, w.conn); err != nil {
			return err
		}
		failpoint.Hit("chunk.marker")
	}
	n, err := exec(ctx, w.conn, markDone, w.rows, m.BadRows, w.t.env.Pipeline, m.Table, m.Generation, m.Chunk, w.epoch)
	switch {
	case err != nil:
		return err
	case n != 1:
		return w.t.fenced("the marker of the chunk is gone")
	case failpoint.Off("marker"):
		return nil
	}
	failpoint.Hit("chunk.marker")
	failpoint.Hit("chunk.commit.before")
	if err := commit(ctx, w.conn); err != nil {
		var pg *pgconn.PgError // a constraint that is looked at now refuses a row
		if errors.As(err, &pg) && isRefusal(pg) {
			return rowFailure(pg, "COMMIT")
		}
		return err
	}
	failpoint.Hit("chunk.commit.after")
	return nil
}

// decide finds out, on a new session, what became of a chunk whose session was
// lost before the answer to its COMMIT came. It waits for the owner's row, which
// a claim holds until its epoch is there to be seen, and for the marker, which
// the old transaction holds until it is decided. A chunk that did not go in is
// the lost session's error, or Fenced where the claim is lost.
func (w *writer) decide(ctx context.Context, m connectors.Marker, lost error) (committed bool, why error) {
	if err := w.connect(ctx); err != nil {
		return false, lost // the next try finds the marker as it is
	}
	defer rollback(w.conn)
	if err := begin(ctx, w.conn); err != nil {
		return false, lost
	}
	fence := w.t.fence(ctx, w.conn)
	if fence != nil && connectors.ClassOf(fence) != connectors.Fenced {
		return false, lost
	}
	state, epoch, err := w.marker(ctx, m)
	switch {
	case err != nil:
		return false, lost
	case state == "done" && epoch == w.epoch:
		return true, nil
	case fence != nil:
		return false, fence
	}
	return false, lost
}

// Abort throws the open transaction away.
func (w *writer) Abort() error {
	w.open, w.rows = false, 0
	w.enter.reset()
	rollback(w.conn)
	return nil
}

// Close aborts what is open and ends the session. It may be called twice.
func (w *writer) Close() error {
	_ = w.Abort()
	closeNow(w.conn)
	w.conn = nil
	return nil
}
