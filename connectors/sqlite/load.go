package sqlite

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"penstock/connectors"
)

// target is an open target. Its own connection serves the catalog, the claim
// and the state; every writer has one of its own.
type target struct {
	path   string
	config TargetConfig
	env    connectors.Env

	mu    sync.Mutex // guards what follows, and the use of conn
	conn  *conn
	lock  *lock
	epoch int64 // 0 = not claimed
}

var _ connectors.Target = (*target)(nil)

// openTarget opens nothing yet: the file is created by the claim, so that a
// refused run leaves none behind.
func openTarget(_ context.Context, config any, env connectors.Env) (connectors.Target, error) {
	c := *config.(*TargetConfig)
	if p := checkPath(c.Path); p != nil {
		return nil, openError(c.Path, p[0].Detail, "")
	}
	return &target{path: resolve(env, c.Path), config: c, env: env}, nil
}

// connect opens the target's own connection to a file that exists. t.mu is held.
func (t *target) connect() (*conn, error) { return t.connectTo(readWrite) }

func (t *target) connectTo(a access) (*conn, error) {
	if t.conn != nil {
		return t.conn, nil
	}
	c, err := openWriter(t.path, a, t.config)
	t.conn = c
	return c, err
}

// openWriter sets what a load wants of a connection. Nothing of it outlives the
// connection.
func openWriter(path string, a access, config TargetConfig) (*conn, error) {
	c, err := openConn(path, a, timeout(config.BusyTimeout))
	if err != nil {
		return nil, err
	}
	for _, p := range []string{
		// For a file that is still empty: fewer levels in each tree to walk for
		// every row (8% less CPU a row on big_table than 4 KiB pages).
		"PRAGMA page_size = 16384",
		"PRAGMA synchronous = FULL",
		// A chunk's pages stay in memory until its commit: 64 MiB hold more than
		// any chunk that `memory` allows by default, and its index pages.
		"PRAGMA cache_size = -65536",
		"PRAGMA temp_store = MEMORY",
		// Tables load in any order; SQLite checks foreign keys only where asked to.
		"PRAGMA foreign_keys = OFF",
	} {
		if err := c.exec(context.Background(), p); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// Begin starts a table's generation, in one transaction.
func (t *target) Begin(ctx context.Context, l connectors.Load, s connectors.Start) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.claimed()
	if err != nil {
		return err
	}
	failpoint("begin.before")
	err = c.write(ctx, func() error {
		if err := t.fence(ctx, c); err != nil {
			return err
		}
		had, err := t.prepareTable(ctx, c, l, s)
		if err != nil {
			return err
		}
		if err := c.exec(ctx, upsertTable, t.env.Pipeline, l.Source, s.Generation, l.Digest, l.Definition, s.Point.String(), had, now()); err != nil {
			return err
		}
		return storeChunks(ctx, c, t.env.Pipeline, l.Source, t.epoch, s)
	})
	if err != nil {
		return at("begin", l.Table.Name, err)
	}
	failpoint("begin.after")
	return nil
}

// claimed returns the target's connection, or says that Claim comes first.
func (t *target) claimed() (*conn, error) {
	if t.epoch == 0 {
		return nil, openError(t.path, "pipeline "+t.env.Pipeline+" is not claimed", "")
	}
	return t.connect()
}

// prepareTable runs the plan's statements and checks what they leave. had is 1
// when rows stood in the table before the load's first generation.
func (t *target) prepareTable(ctx context.Context, c *conn, l connectors.Load, s connectors.Start) (had int, err error) {
	exists := false
	if _, err := c.query(ctx, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", []any{l.Table.Name}, func(*stmt) error { exists = true; return nil }); err != nil {
		return 0, err
	}
	if exists {
		if had, err = t.emptyForRestart(ctx, c, l, s); err != nil {
			return 0, err
		}
	}
	prepare := l.Prepare
	if prepare == nil {
		for _, p := range (explainer{}).Prepare(l) {
			prepare = append(prepare, p.SQL)
		}
	}
	for _, sql := range prepare {
		if err := runPrepare(ctx, c, sql, l); err != nil {
			return 0, err
		}
	}
	return had, checkColumns(ctx, c, l)
}

// emptyForRestart takes the rows of an unfinished generation away. Rows that
// an append found in the table can't be told from those it brought, so such a
// table is left alone unless nothing was brought.
func (t *target) emptyForRestart(ctx context.Context, c *conn, l connectors.Load, s connectors.Start) (had int, err error) {
	name := quote(l.Table.Name)
	if !s.Restart {
		_, err = c.query(ctx, "SELECT 1 FROM "+name+" LIMIT 1", nil, func(*stmt) error { had = 1; return nil })
		if l.Existing != connectors.ExistingAppend {
			had = 0 // they are refused or emptied
		}
		return had, err
	}
	brought := 0
	if _, err := c.query(ctx, "SELECT had_rows FROM penstock_table WHERE pipeline = ? AND name = ?", []any{t.env.Pipeline, l.Source}, func(r *stmt) error { had = int(r.int(0)); return nil }); err != nil {
		return 0, err
	}
	if had == 0 {
		return 0, c.exec(ctx, "DELETE FROM "+name)
	}
	if _, err := c.query(ctx, "SELECT 1 FROM penstock_chunk WHERE pipeline = ? AND name = ? AND state = 'done' AND rows > 0 LIMIT 1", []any{t.env.Pipeline, l.Source}, func(*stmt) error { brought = 1; return nil }); err != nil {
		return 0, err
	}
	if brought == 1 {
		return 0, &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("an unfinished append can't be begun anew: its rows stand among rows that were there before"),
			Hint: "Take its rows out by hand, then run with --reload; or load with existing = \"truncate\"."}
	}
	return had, nil
}

// runPrepare runs one statement of the plan. A read among them is a check that
// must give no row.
func runPrepare(ctx context.Context, c *conn, sql string, l connectors.Load) error {
	p, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer p.close()
	found := false
	if _, err := p.run(ctx, nil, func(*stmt) error { found = true; return nil }); err != nil {
		return err
	}
	if found && p.readOnly() {
		return &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("table %s has rows already", l.Table.Name),
			Hint: `Write existing = "truncate" to empty it first, or existing = "append" to add to it.`}
	}
	return nil
}

// checkColumns makes sure that the table has the plan's columns and that they
// keep the values as they are.
func checkColumns(ctx context.Context, c *conn, l connectors.Load) error {
	there := map[string]string{}
	if _, err := c.query(ctx, "SELECT name, type FROM pragma_table_xinfo(?)", []any{l.Table.Name}, func(s *stmt) error {
		there[strings.ToLower(s.text(0))] = s.text(1)
		return nil
	}); err != nil {
		return err
	}
	for _, col := range l.Columns {
		native, ok := there[strings.ToLower(col.Name)]
		if !ok {
			return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("table %s has no column %s", l.Table.Name, col.Name), Hint: "Plan again: the table changed since."}
		}
		if err := storable(native, col.Type); err != nil {
			return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("column %s.%s: %w", l.Table.Name, col.Name, err), Hint: "Change the column, or its `type` in the spec."}
		}
	}
	return nil
}

// Finish marks the table loaded once every chunk is done.
func (t *target) Finish(ctx context.Context, l connectors.Load) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.claimed()
	if err != nil {
		return err
	}
	failpoint("finish.before")
	err = c.write(ctx, func() error {
		if err := t.fence(ctx, c); err != nil {
			return err
		}
		state, pending := "", int64(0)
		if _, err := c.query(ctx, "SELECT state FROM penstock_table WHERE pipeline = ? AND name = ?", []any{t.env.Pipeline, l.Source}, func(s *stmt) error { state = s.text(0); return nil }); err != nil {
			return err
		}
		if _, err := c.query(ctx, "SELECT count(*) FROM penstock_chunk WHERE pipeline = ? AND name = ? AND state <> 'done'", []any{t.env.Pipeline, l.Source}, func(s *stmt) error { pending = s.int(0); return nil }); err != nil {
			return err
		}
		switch {
		case state == "loaded":
			return nil
		case state == "" || pending > 0:
			return fmt.Errorf("%d chunks are pending", pending)
		}
		for _, sql := range l.Finish {
			if err := c.exec(ctx, sql); err != nil {
				return err
			}
		}
		return c.exec(ctx, "UPDATE penstock_table SET state = 'loaded', updated_at = ? WHERE pipeline = ? AND name = ?", now(), t.env.Pipeline, l.Source)
	})
	if err != nil {
		return at("finish", l.Table.Name, err)
	}
	failpoint("finish.after")
	return nil
}

// OpenLoad returns a writer with a connection of its own.
func (t *target) OpenLoad(_ context.Context, l connectors.Load) (connectors.BulkWriter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.claimed(); err != nil {
		return nil, err
	}
	w, err := newWriter(t, l)
	if err != nil {
		return nil, at("open a writer for", l.Table.Name, err)
	}
	return w, nil
}

// Close ends the connection and the claim, if there is one.
func (t *target) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn.close()
	l := t.lock
	t.conn, t.lock, t.epoch = nil, nil, 0
	return l.release()
}
