package sqlite

import (
	"context"
	"errors"

	"penstock/connectors"
	"penstock/internal/batch"

	lite "modernc.org/sqlite/lib"
)

// WriteEach adds the selected rows in pieces, each under a savepoint, and leaves
// out those that SQLite refuses.
func (w *writer) WriteEach(ctx context.Context, b *batch.Batch, sel batch.Selection, bad func(int32, *connectors.Refusal) error) error {
	if !w.open {
		return openError(w.t.path, "no chunk is open", "")
	}
	if err := w.take(b); err != nil {
		return at("load", w.load.Table.Name, err)
	}
	try := func(piece batch.Selection) error { return w.piece(ctx, b, piece) }
	return at("load", w.load.Table.Name, connectors.Isolate(ctx, b.Rows, sel, try, nil, bad))
}

// piece adds rows, or none of them where one is refused.
func (w *writer) piece(ctx context.Context, b *batch.Batch, piece batch.Selection) error {
	if _, err := w.save.run(ctx, nil, nil); err != nil {
		return err
	}
	err := w.insertAll(ctx, b, piece)
	if err == nil {
		_, err = w.release.run(ctx, nil, nil)
		return err
	}
	if connectors.ClassOf(err) != connectors.Data {
		return err
	}
	if !w.c.inTransaction() {
		return &connectors.Error{Class: connectors.Fatal, Err: errors.New("a row that was refused has rolled the whole transaction back: " + err.Error()),
			Hint: "A trigger's RAISE(ROLLBACK, ...) or a constraint's ON CONFLICT ROLLBACK does that: write ABORT there, so that bad rows can be told from good ones."}
	}
	if _, e := w.undo.run(ctx, nil, nil); e != nil {
		return e
	}
	if _, e := w.release.run(ctx, nil, nil); e != nil {
		return e
	}
	return err
}

// refusals are result codes by which SQLite refuses a row, with its own names
// for them and what they mean where its message could hold a value.
var refusals = map[int32]struct{ name, reason string }{
	lite.SQLITE_CONSTRAINT_UNIQUE:     {"SQLITE_CONSTRAINT_UNIQUE", ""},
	lite.SQLITE_CONSTRAINT_PRIMARYKEY: {"SQLITE_CONSTRAINT_PRIMARYKEY", ""},
	lite.SQLITE_CONSTRAINT_ROWID:      {"SQLITE_CONSTRAINT_ROWID", ""},
	lite.SQLITE_CONSTRAINT_NOTNULL:    {"SQLITE_CONSTRAINT_NOTNULL", ""},
	lite.SQLITE_CONSTRAINT_CHECK:      {"SQLITE_CONSTRAINT_CHECK", ""},
	lite.SQLITE_CONSTRAINT_DATATYPE:   {"SQLITE_CONSTRAINT_DATATYPE", ""},
	lite.SQLITE_CONSTRAINT_TRIGGER:    {"SQLITE_CONSTRAINT_TRIGGER", "a trigger of the table refused it"},
	lite.SQLITE_MISMATCH:              {"SQLITE_MISMATCH", ""},
	lite.SQLITE_TOOBIG:                {"SQLITE_TOOBIG", ""},
}

// refusal explains an error of class Data.
func refusal(e *resultError) *connectors.Refusal {
	r := &connectors.Refusal{Code: "SQLITE_CONSTRAINT", Reason: e.text, Err: e}
	if known, ok := refusals[e.code]; ok {
		r.Code = known.name
		if known.reason != "" {
			r.Reason, r.Detail = known.reason, e.text
		}
	}
	return r
}
