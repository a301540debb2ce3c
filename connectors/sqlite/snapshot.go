package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// source is an open source.
type source struct {
	path string
	busy time.Duration
}

var (
	_ connectors.Source   = (*source)(nil)
	_ connectors.Snapshot = (*snapshot)(nil)
)

func openSource(_ context.Context, config any, env connectors.Env) (connectors.Source, error) {
	c := config.(*SourceConfig)
	if p := checkPath(c.Path); p != nil {
		return nil, openError(c.Path, p[0].Detail, "")
	}
	s := &source{path: resolve(env, c.Path), busy: timeout(c.BusyTimeout)}
	return s, checkFile(s.path, readOnly)
}

func (s *source) Catalog(ctx context.Context) (*schema.Catalog, error) {
	c, err := openReader(ctx, s.path, s.busy)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return readCatalog(ctx, c)
}

func (s *source) Close() error { return nil }

// snapshot is one read transaction a reader, all begun at one moment. While it
// is open, other processes can write to a file in WAL mode; with a rollback
// journal they wait.
type snapshot struct {
	idle chan *conn // readers' connections that no chunk is read on
	all  []*conn

	mu   sync.Mutex // one Split at a time
	meta *conn      // what Split looks through the tables with
}

// snapshotTries bounds how often a moment without a commit is looked for in a
// file that can't be locked.
const snapshotTries = 20

// Snapshot begins the readers' transactions.
func (s *source) Snapshot(ctx context.Context, o connectors.SnapshotOptions) (connectors.Snapshot, error) {
	n := &snapshot{idle: make(chan *conn, max(o.Readers, 1))}
	for range cap(n.idle) + 1 {
		c, err := openConn(s.path, readOnly, s.busy)
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
		n.all = append(n.all, c)
	}
	if err := s.beginTogether(ctx, n.all); err != nil {
		return nil, errors.Join(at("begin a snapshot", "", err), n.Close())
	}
	n.meta = n.all[0]
	for _, c := range n.all[1:] {
		n.idle <- c
	}
	return n, nil
}

// beginTogether begins a read on every connection so that all see one state.
// The write lock, held meanwhile, keeps others from committing in between. A
// file that this user can't write is watched instead: when a commit fell in
// between, all begin again.
func (s *source) beginTogether(ctx context.Context, all []*conn) error {
	guard, err := openConn(s.path, readWrite, s.busy)
	if err == nil {
		defer guard.close()
		if err = guard.exec(ctx, "BEGIN IMMEDIATE"); err == nil {
			defer func() { _ = guard.rollback() }()
			return beginReads(ctx, all)
		}
	}
	if connectors.ClassOf(err) != connectors.Denied {
		return err
	}
	return beginWatched(ctx, s.path, s.busy, all)
}

func beginWatched(ctx context.Context, path string, busy time.Duration, all []*conn) error {
	watch, err := openConn(path, readOnly, busy)
	if err != nil {
		return err
	}
	defer watch.close()
	for range snapshotTries {
		before, err := version(ctx, watch)
		if err != nil {
			return err
		}
		if err := beginReads(ctx, all); err != nil {
			return err
		}
		after, err := version(ctx, watch)
		if err != nil || before == after {
			return err
		}
		for _, c := range all {
			if err := c.rollback(); err != nil {
				return err
			}
		}
	}
	return &connectors.Error{Class: connectors.Transient, Err: fmt.Errorf("another process commits to %s all the time, and the file can't be locked by this user", path), Hint: "Make the file writable for this user, or read a copy."}
}

// beginReads begins a transaction on each and reads one page, which is when
// SQLite fixes what it sees.
func beginReads(ctx context.Context, all []*conn) error {
	for _, c := range all {
		if err := c.exec(ctx, "BEGIN"); err != nil {
			return err
		}
		if err := c.exec(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1"); err != nil {
			return err
		}
	}
	return nil
}

// version changes with every commit of another connection.
func version(ctx context.Context, c *conn) (v int64, err error) {
	_, err = c.query(ctx, "PRAGMA data_version", nil, func(s *stmt) error { v = s.int(0); return nil })
	return v, err
}

// Position is before every change: SQLite has no log to go on from.
func (n *snapshot) Position(*schema.Table) (change.Position, error) { return nil, nil }

// Durable is false: SQLite keeps no old state for a later run.
func (n *snapshot) Durable() bool { return false }

// Split cuts a table.
func (n *snapshot) Split(ctx context.Context, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	cut, err := cutTable(ctx, n.meta, t, s)
	return cut, at("split", t.Name.Name, err)
}

// OpenChunk waits for one of the snapshot's connections.
func (n *snapshot) OpenChunk(ctx context.Context, x connectors.Extract, k ranges.Chunk) (connectors.RowReader, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case c := <-n.idle:
		r, err := newReader(c, x, k, func() { n.idle <- c })
		if err != nil {
			n.idle <- c
			return nil, at("read "+k.String()+" of", x.Table.Name.Name, err)
		}
		return r, nil
	}
}

// Close ends the transactions. It may be called twice.
func (n *snapshot) Close() error {
	for _, c := range n.all {
		c.close()
	}
	n.all = nil
	return nil
}
