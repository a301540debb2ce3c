package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// crew makes the objects of a table's journal on sessions of its own: the
// control session must go with its process at once, which one that builds an
// index does not.
type crew struct {
	t        *target
	sessions []*pgconn.PgConn
}

// hire opens n sessions, at least one, after it has ended those that an earlier
// try of this owner may have left at work.
func (t *target) hire(ctx context.Context, n int) (*crew, error) {
	if t.epoch.Load() == 0 {
		return nil, fmt.Errorf("pipeline %s is not claimed", t.env.Pipeline)
	}
	if err := t.claimed(ctx, func(c *pgconn.PgConn) error {
		_, err := exec(ctx, c, endSessions, t.server.name+roleFinish)
		return err
	}); err != nil {
		return nil, err
	}
	w := &crew{t: t}
	for i := range max(n, 1) {
		c, err := t.server.connect(ctx, fmt.Sprintf("%s/%d", roleFinish, i+1), nil)
		if err != nil {
			w.close()
			return nil, err
		}
		w.sessions = append(w.sessions, c)
	}
	return w, nil
}

func (w *crew) close() {
	for _, c := range w.sessions {
		closeNow(c)
	}
}

// lost reports an error that comes of a session which is gone.
func (w *crew) lost(err error) bool {
	return slices.ContainsFunc(w.sessions, func(c *pgconn.PgConn) bool { return isLost(c, err) })
}

// make makes what the lines say, in steps that are a transaction each and end
// by taking the line out of the journal, or marking it: indexes side by side;
// what locks the table out, one after another; foreign keys; the check of the
// rows against them. One that can't be made does not keep the others from it:
// the first error is returned with what was made.
func (w *crew) make(ctx context.Context, lines []record) (made []record, err error) {
	var mu sync.Mutex
	var errs []error
	failed := map[lineID]bool{}
	ended := func(l record, err error, whole bool) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed[l.id()] = true
			errs = append(errs, w.explain(l, err))
		} else if whole {
			made = append(made, l)
		}
	}
	queue := make(chan record)
	var busy sync.WaitGroup
	for _, c := range w.sessions {
		busy.Go(func() {
			for l := range queue {
				whole := len(settle(l.Table, l.Object)) == 0
				ended(l, w.step(ctx, c, l, whole, func() error { return w.build(ctx, c, l) }), whole)
			}
		})
	}
	for _, l := range lines {
		if !l.made && build(l.Object) != nil {
			queue <- l
		}
	}
	close(queue)
	busy.Wait()
	c := w.sessions[0]
	for _, l := range lines {
		if l.Kind == schema.ObjectForeign || failed[l.id()] || len(settle(l.Table, l.Object)) == 0 {
			continue
		}
		ended(l, w.step(ctx, c, l, true, func() error { return w.settle(ctx, c, l) }), true)
	}
	for _, l := range lines {
		if l.Kind != schema.ObjectForeign {
			continue
		}
		add, check := foreign(l.Table, l.Object)
		if !l.made {
			whole := len(check) == 0
			ended(l, w.step(ctx, c, l, whole, func() error { return w.add(ctx, c, l, add) }), whole)
		}
		if len(check) > 0 && !failed[l.id()] {
			ended(l, w.step(ctx, c, l, true, func() error { return w.statements(ctx, c, check) }), true)
		}
	}
	if len(errs) > 0 {
		return made, first(errs)
	}
	return made, ctx.Err()
}

// lineID tells the lines of a pipeline apart.
type lineID struct {
	name    string
	ordinal int64
}

func (l record) id() lineID { return lineID{l.name, l.ordinal} }

// first is the error that decides what the engine does: one that comes of
// another one, or that goes away by itself, is the lesser.
func first(errs []error) error {
	for _, err := range errs {
		if c := connectors.ClassOf(err); c == connectors.Fenced || c == connectors.Data {
			return err
		}
	}
	return errs[0]
}

// step is one transaction: f, and what it means for the journal. The owner is
// looked for last, so that a claim need not wait for an index to be built.
func (w *crew) step(ctx context.Context, c *pgconn.PgConn, l record, whole bool, f func() error) error {
	err := transaction(ctx, c, func() error {
		gone, err := w.without(ctx, c, l)
		if err != nil {
			return err
		}
		if !gone {
			if err := f(); err != nil {
				return err
			}
		}
		if err := w.t.fence(ctx, c); err != nil {
			return err
		}
		sql := madeJournal
		if whole {
			sql = deleteJournal
		}
		n, err := exec(ctx, c, sql, l.pipeline, l.name, l.ordinal)
		if err == nil && n != 1 {
			err = w.t.fenced("a line of its journal is gone")
		}
		if err == nil {
			failpoint.Hit("ddl.commit.before")
		}
		return err
	})
	if err == nil {
		failpoint.Hit("ddl.commit.after")
	}
	return err
}

// without reports an object whose table, or whose partition, was dropped: there
// is nothing left to put it on.
func (w *crew) without(ctx context.Context, c *pgconn.PgConn, l record) (bool, error) {
	there, err := exists(ctx, c, l.Table)
	return !there, err
}

// build builds an index, unless someone has built the like by hand.
func (w *crew) build(ctx context.Context, c *pgconn.PgConn, l record) error {
	there, err := w.there(ctx, c, l, findIndex, l.Definition, l.Table.Schema, l.Name)
	if err != nil || there {
		return err
	}
	if l.Kind == schema.ObjectPrimary {
		if keyed, err := hasKey(ctx, c, l.Table); err != nil || keyed {
			return err
		}
	}
	if _, err := exec(ctx, c, "SELECT set_config('default_tablespace', $1, true)", l.Tablespace); err != nil {
		return err
	}
	_, err = run(ctx, c, l.Definition)
	return err
}

// settle makes a constraint of an index, attaches it, and gives it its settings.
func (w *crew) settle(ctx context.Context, c *pgconn.PgConn, l record) error {
	if l.Kind == schema.ObjectPrimary {
		if keyed, err := hasKey(ctx, c, l.Table); err != nil || keyed {
			return err
		}
	} else if l.Constraint != "" {
		if there, err := w.there(ctx, c, l, findConstraint, l.Constraint, quoteName(l.Table), l.Name); err != nil || there {
			return err
		}
	}
	if l.Parent {
		if _, err := exec(ctx, c, "SELECT set_config('default_tablespace', $1, true)", l.Tablespace); err != nil {
			return err
		}
	}
	return w.statements(ctx, c, settle(l.Table, l.Object))
}

// add adds a foreign key, unless someone has by hand.
func (w *crew) add(ctx context.Context, c *pgconn.PgConn, l record, statements []connectors.Statement) error {
	there, err := w.there(ctx, c, l, findConstraint, l.Definition, quoteName(l.Table), l.Name)
	if err != nil || there {
		return err
	}
	return w.statements(ctx, c, statements)
}

func (w *crew) statements(ctx context.Context, c *pgconn.PgConn, list []connectors.Statement) error {
	for _, s := range list {
		if _, err := run(ctx, c, s.SQL); err != nil {
			return err
		}
	}
	return nil
}

const (
	findIndex      = "SELECT pg_get_indexdef(c.oid) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('i', 'I')"
	findConstraint = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = to_regclass($1) AND conname = $2"
)

// there reports an object that is there as it was; another one under its name
// is an error.
func (w *crew) there(ctx context.Context, c *pgconn.PgConn, l record, find, want string, args ...any) (found bool, err error) {
	err = qualified(ctx, c, w.t.config.Schema, func() error {
		_, err := query(ctx, c, find, func(v [][]byte) error {
			found = true
			if got := string(v[0]); got != want {
				return &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("another object has its name: %s", got), Hint: "Drop or rename that one, then run again."}
			}
			return nil
		}, args...)
		return err
	})
	return found, err
}

// explain says what could not be made, and what to do.
func (w *crew) explain(l record, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := &connectors.Error{Op: "make " + string(l.Kind) + " " + l.Name + " of", Table: short(l.Table, w.t.config.Schema).String(), Class: connectors.ClassOf(err), Err: err}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return e
	}
	const then = " The rows that are loaded stay: run again, and only this is done. penstock undo does it without going on with the load."
	switch pg.Code {
	case "23505":
		e.Hint = "Take one of the rows with that key out, or change it." + lists(l.twice(), "such keys") + then
	case "23503":
		e.Hint = "Add the row that is referred to, or take out the row that refers to it." + lists(l.orphans(), "rows that refer to none") + then
	case "23502", "23514":
		e.Hint = "Mend the row." + then
	}
	return e
}

// lists says what a query shows; "" where there is none.
func lists(query, what string) string {
	if query == "" {
		return ""
	}
	return " " + query + " lists all " + what + "."
}

// twice is a query of the keys that more than one row has; "" where the index is
// of expressions or of some rows only.
func (l record) twice() string {
	if !l.Whole || len(l.Columns) == 0 {
		return ""
	}
	c := quoteList(l.Columns)
	return fmt.Sprintf("SELECT %s, count(*) FROM %s GROUP BY %s HAVING count(*) > 1", c, quoteName(l.Table), c)
}

// orphans is a query of the rows that break a foreign key.
func (l record) orphans() string {
	if len(l.Columns) == 0 || len(l.Columns) != len(l.ToColumns) {
		return ""
	}
	var same, there []string
	for i, c := range l.Columns {
		same = append(same, "p."+quote(l.ToColumns[i])+" = c."+quote(c))
		there = append(there, "c."+quote(c)+" IS NOT NULL")
	}
	return fmt.Sprintf("SELECT * FROM %s AS c WHERE %s AND NOT EXISTS (SELECT FROM %s AS p WHERE %s)", quoteName(l.Table), strings.Join(there, " AND "), quoteName(l.Refers), strings.Join(same, " AND "))
}
