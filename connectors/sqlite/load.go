package sqlite

import (
	"context"
	"fmt"
	"sync"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/filelock"
)

// target is an open target. Its own connection serves the catalog, the claim
// and the state; every writer has one of its own.
type target struct {
	path   string
	config TargetConfig
	env    connectors.Env

	mu    sync.Mutex // guards what follows, and the use of conn
	conn  *conn
	lock  *filelock.Lock
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
	return &target{path: place(env, c.Path), config: c, env: env}, nil
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

// claimed returns the target's connection, or says that Claim comes first.
func (t *target) claimed() (*conn, error) {
	if t.epoch == 0 {
		return nil, openError(t.path, "pipeline "+t.env.Pipeline+" is not claimed", "")
	}
	return t.connect()
}

// Finish marks the table loaded once every chunk is done.
func (t *target) Finish(ctx context.Context, l connectors.Load) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.claimed()
	if err != nil {
		return err
	}
	failpoint.Hit("finish.before")
	err = c.write(ctx, func() error {
		if err := t.fence(ctx, c); err != nil {
			return err
		}
		if c.moved() {
			return gone(t.path)
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
	failpoint.Hit("finish.after")
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
	return l.Release()
}

// Undo has nothing to put back: no load drops anything here.
func (t *target) Undo(context.Context, string, int) ([]connectors.Dropped, error) { return nil, nil }
