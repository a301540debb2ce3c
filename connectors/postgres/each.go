package postgres

import (
	"context"
	"errors"
	"slices"

	"penstock/connectors"
	"penstock/internal/batch"

	"github.com/jackc/pgx/v5/pgconn"
)

// Statements of a chunk that is loaded once more, to find the rows in it that
// the server refuses. Constraints that wait for the commit could not be told
// apart there: they are looked at with each piece.
const (
	openPieces = "SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT penstock_piece"
	keepPiece  = "RELEASE SAVEPOINT penstock_piece; SAVEPOINT penstock_piece"
	undoPiece  = "ROLLBACK TO SAVEPOINT penstock_piece"
)

// WriteEach adds the selected rows in pieces, each under a savepoint, and leaves
// out those that the server refuses.
func (w *writer) WriteEach(ctx context.Context, b *batch.Batch, sel batch.Selection, bad func(int32, *connectors.Refusal) error) error {
	if !w.open {
		return errors.New("no chunk is open")
	}
	if sel.Len(b.Rows) == 0 {
		return nil
	}
	if !w.pieces {
		// What Write has kept back is before the first savepoint.
		err := w.enter.flush(ctx, w.conn)
		if err == nil {
			_, err = run(ctx, w.conn, openPieces)
		}
		if err != nil {
			return at("load", w.load.Table.String(), err)
		}
		w.pieces = true
	}
	try := func(piece batch.Selection) error { return w.piece(ctx, b, piece) }
	each := func(piece batch.Selection, bad func(int32, *connectors.Refusal) error) error {
		return w.each(ctx, b, piece, bad)
	}
	return at("load", w.load.Table.String(), connectors.Isolate(ctx, b.Rows, sel, try, each, bad))
}

// piece adds rows, or none of them where one is refused.
func (w *writer) piece(ctx context.Context, b *batch.Batch, piece batch.Selection) error {
	err := w.enter.write(ctx, w.conn, b, piece)
	if err == nil {
		err = w.enter.flush(ctx, w.conn)
	}
	if err == nil {
		w.rows += int64(len(piece))
		_, err = run(ctx, w.conn, keepPiece)
		return err
	}
	if connectors.ClassOf(err) != connectors.Data {
		return err
	}
	w.enter.reset()
	var cell *badCell
	if errors.As(err, &cell) {
		i, _ := slices.BinarySearch(piece, int32(cell.row))
		cell.why.At = i + 1
	}
	if _, e := run(ctx, w.conn, undoPiece); e != nil {
		return e
	}
	return err
}

// Names of prepared statements that take rows one by one.
const (
	singleName  = "penstock_single"
	releaseName = "penstock_release"
	saveName    = "penstock_save"
	undoName    = "penstock_undo"
)

// singles prepares them.
func (w *writer) singles(ctx context.Context) (*singles, error) {
	if w.single != nil {
		return w.single, nil
	}
	l := w.load
	l.Mode = "row"
	s := &singles{encoder: newEncoder(l.Columns), sql: insertRows(l).SQL, name: singleName}
	if err := s.prepare(ctx, w.conn); err != nil {
		return nil, err
	}
	for name, sql := range map[string]string{releaseName: "RELEASE SAVEPOINT penstock_piece", saveName: "SAVEPOINT penstock_piece", undoName: undoPiece} {
		if _, err := w.conn.Prepare(ctx, name, sql, nil); err != nil {
			return nil, orCancelled(ctx, failure(err, sql))
		}
	}
	w.single = s
	return s, nil
}

// eachRows is how many rows go their ways before the answers are read.
const eachRows = 64

// each adds rows one by one without waiting for what becomes of any: INSERT,
// RELEASE and SAVEPOINT stand and fall together, and the ROLLBACK TO behind them
// goes to the savepoint after the row where it went in, and to the one before
// it where it did not.
func (w *writer) each(ctx context.Context, b *batch.Batch, sel batch.Selection, bad func(int32, *connectors.Refusal) error) error {
	s, err := w.singles(ctx)
	if err != nil {
		return err
	}
	for len(sel) > 0 && err == nil {
		n := min(eachRows, len(sel))
		err = w.some(ctx, s, b, sel[:n], bad)
		sel = sel[n:]
	}
	return err
}

func (w *writer) some(ctx context.Context, s *singles, b *batch.Batch, sel batch.Selection, bad func(int32, *connectors.Refusal) error) (err error) {
	p := w.conn.StartPipeline(ctx)
	defer func() {
		if e := p.Close(); err == nil && e != nil {
			err = orCancelled(ctx, failure(e, s.sql))
		}
	}()
	why := make([]error, len(sel)) // what is wrong with a row that was not sent
	for i, row := range sel {
		if why[i] = s.take(b, sel[i:i+1]); why[i] == nil {
			why[i] = s.row(int(row))
		}
		if why[i] != nil {
			continue
		}
		p.SendQueryPrepared(s.name, s.params, s.formats, nil)
		for _, name := range []string{releaseName, saveName} {
			p.SendQueryPrepared(name, nil, nil, nil)
		}
		p.SendPipelineSync()
		p.SendQueryPrepared(undoName, nil, nil, nil)
		p.SendPipelineSync()
	}
	if err := p.Flush(); err != nil {
		return orCancelled(ctx, failure(err, s.sql))
	}
	for i, row := range sel {
		if why[i] == nil {
			var n int64
			n, why[i] = answered(p)
			if _, err := answered(p); err != nil { // of ROLLBACK TO
				return orCancelled(ctx, failure(err, undoPiece))
			}
			if why[i] != nil {
				why[i] = orCancelled(ctx, rowFailure(why[i], s.sql))
			} else if err := counted(n, 1); err != nil {
				return err
			}
		}
		var r *connectors.Refusal
		switch {
		case why[i] == nil:
			w.rows++
		case !errors.As(why[i], &r):
			return why[i]
		default:
			if err := bad(row, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// answered reads what became of the statements up to a Sync: the rows that the
// first one touched, or the error of the first that failed.
func answered(p *pgconn.Pipeline) (rows int64, failed error) {
	for first := true; ; {
		r, err := p.GetResults()
		switch r := r.(type) {
		case *pgconn.ResultReader:
			var tag pgconn.CommandTag
			if tag, err = r.Close(); first {
				rows, first = tag.RowsAffected(), false
			}
		case *pgconn.PipelineSync:
			return rows, failed
		}
		var pg *pgconn.PgError
		if failed == nil {
			failed = err
		}
		// The answers go on behind an error that the server has sent.
		if err != nil && !errors.As(err, &pg) || r == nil && err == nil {
			return rows, errors.Join(failed, errEnded)
		}
	}
}

var errEnded = errors.New("the server's answers ended before their time")
