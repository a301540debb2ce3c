package postgres

import (
	"context"
	"fmt"
	"slices"

	"penstock/connectors"
	"penstock/internal/failpoint"

	"github.com/jackc/pgx/v5/pgconn"
)

// Finish makes what was put off, each object in transactions of its own, and
// then, in one more, runs the table's other statements and marks it loaded. The
// journal tells what is left, so that it goes on after a crash at any point.
func (t *target) Finish(ctx context.Context, l connectors.Load) error {
	failpoint.Hit("finish.before")
	rest, err := otherStatements(l)
	if err != nil {
		return at("finish", l.Table.String(), err)
	}
	for again := false; ; again = true {
		lost := false
		if lost, err = t.finish(ctx, l, rest); again || !lost {
			break
		}
	}
	if err != nil {
		return at("finish", l.Table.String(), err)
	}
	failpoint.Hit("finish.after")
	return nil
}

// finish does what is left of it. lost reports an error that comes of a lost
// session: all of it can be tried again on new ones.
func (t *target) finish(ctx context.Context, l connectors.Load, rest []string) (lost bool, err error) {
	loaded, lines, late := false, []record(nil), []record(nil)
	err = t.claimed(ctx, func(c *pgconn.PgConn) error {
		return transaction(ctx, c, func() (err error) {
			if err := t.fence(ctx, c); err != nil {
				return err
			}
			if loaded, err = t.ready(ctx, c, l); err != nil || loaded {
				return err
			}
			if lines, err = ownLines(ctx, c, t.env.Pipeline, l.Source); err != nil {
				return err
			}
			// A foreign key is made with the last of its tables, before that one counts
			// as loaded: a kill in between finds it unfinished.
			ready, err := t.waiting(ctx, c, l.Source)
			if failpoint.Off("foreign") {
				late = ready
			} else {
				lines = append(lines, ready...)
			}
			return err
		})
	})
	if err != nil || loaded {
		return false, err
	}
	crew, err := t.hire(ctx, min(max(l.Builders, 1), max(len(lines), 1)))
	if err != nil {
		return false, err
	}
	defer crew.close()
	if _, err = crew.make(ctx, lines); err == nil {
		err = t.markLoaded(ctx, crew.sessions[0], l, rest)
	}
	if err == nil {
		failpoint.Hit("finish.marked")
		_, err = crew.make(ctx, late)
	}
	return crew.lost(err), err
}

// markLoaded runs the table's other statements and marks it loaded.
func (t *target) markLoaded(ctx context.Context, c *pgconn.PgConn, l connectors.Load, rest []string) error {
	return transaction(ctx, c, func() error {
		for _, sql := range rest {
			if _, err := run(ctx, c, sql); err != nil {
				return err
			}
		}
		if err := t.fence(ctx, c); err != nil {
			return err
		}
		if _, err := t.ready(ctx, c, l); err != nil {
			return err
		}
		left, err := ownLines(ctx, c, t.env.Pipeline, l.Source)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("%s is still to be made", left[0].describe(t.config.Schema))
		}
		_, err = exec(ctx, c, "UPDATE penstock_table SET state = 'loaded', updated_at = clock_timestamp() WHERE pipeline = $1 AND name = $2", t.env.Pipeline, l.Source)
		return err
	})
}

// otherStatements are those of the plan's that make nothing which was put off.
// The journal has the definitions that run; the plan must show the like.
func otherStatements(l connectors.Load) ([]string, error) {
	shown := makes(l)
	for i, s := range shown {
		if i >= len(l.Finish) || l.Finish[i] != s.SQL {
			return nil, &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("the plan does not have %q where this penstock runs it", s.SQL), Hint: "Plan again with this version of penstock."}
		}
	}
	return slices.Clone(l.Finish[len(shown):]), nil
}

// ready fails while chunks are pending, and tells whether the table is loaded.
func (t *target) ready(ctx context.Context, c *pgconn.PgConn, l connectors.Load) (loaded bool, err error) {
	state, pending := "", int64(0)
	if _, err := query(ctx, c, "SELECT state FROM penstock_table WHERE pipeline = $1 AND name = $2", func(r [][]byte) error { state = string(r[0]); return nil }, t.env.Pipeline, l.Source); err != nil {
		return false, err
	}
	if _, err := query(ctx, c, "SELECT count(*) FROM penstock_chunk WHERE pipeline = $1 AND name = $2 AND state <> 'done'", func(r [][]byte) error { pending = number(r[0]); return nil }, t.env.Pipeline, l.Source); err != nil {
		return false, err
	}
	switch {
	case state == "loaded":
		return true, nil
	case state == "" || pending > 0:
		return false, fmt.Errorf("%d chunks are pending", pending)
	}
	return false, nil
}
