package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/failpoint"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// snapshot is one state of the database that many sessions read. A session of
// its own holds it, from before the first row is read until Close: a reader's
// session joins it, and one that was lost is replaced by another that joins it
// too, for as long as the holder lives.
type snapshot struct {
	server *server
	point  change.Position // nil: not known
	name   string          // by which sessions join
	old    bool            // a server that can't seek to blocks

	free    chan struct{} // a token for each reader that may be open
	readers atomic.Int64  // sessions made so far: each has a name of its own

	mu     sync.Mutex // guards the holder's session and what is below
	holder *pgconn.PgConn
	lost   error
	locked map[string]bool // relations that can't change their form any more
	leaves map[string][]leaf
	idle   []*feed
	closed bool
	pulse  *pulse
}

var _ connectors.Snapshot = (*snapshot)(nil)

const (
	serverFacts = `SELECT current_setting('server_version_num'), current_setting('wal_level'), (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user), pg_is_in_recovery()`
	beginShared = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	exportNow   = "SELECT pg_export_snapshot(), txid_snapshot_xmin(txid_current_snapshot())"

	// Tid range scans came with this version: before it, each chunk would read
	// the whole table.
	seeksBlocks = 140000
	// Slots that end with their session came with this one.
	hasTemporarySlots = 100000
)

// Snapshot takes the tables' locks, then a state of the database, and lets
// sessions join it. What is locked first has the form in which it is read: a
// TRUNCATE or a rewrite in between would show as an empty table.
func (s *source) Snapshot(ctx context.Context, o connectors.SnapshotOptions) (connectors.Snapshot, error) {
	if o.At != nil && !failpoint.Off("point") {
		return nil, &connectors.Error{Op: "begin a snapshot", Position: o.At, Class: connectors.LostPosition,
			Err: errors.New("PostgreSQL keeps no old state for a later run"), Hint: "Load the unfinished tables again."}
	}
	c, err := s.server.connect(ctx, roleSource, nil)
	if err != nil {
		return nil, err
	}
	n := &snapshot{server: s.server, holder: c, free: make(chan struct{}, max(o.Readers, 1)), locked: map[string]bool{}, leaves: map[string][]leaf{}}
	for range cap(n.free) {
		n.free <- struct{}{}
	}
	var exact func(context.Context) error
	if o.Follow != nil {
		exact, err = s.followed(ctx, n, *o.Follow)
	}
	var xmin, why string
	if err == nil {
		xmin, why, err = n.begin(ctx, o.Tables, exact)
	}
	if err != nil {
		closeNow(c)
		return nil, at("begin a snapshot of", s.config.Database, err)
	}
	n.pulse = beat(n.speak)
	if o.Told != nil {
		o.Told(n.held(xmin, why))
	}
	return n, nil
}

// begin makes the snapshot. why says why its point is not known. Where a stream
// begins at it, follow joins the snapshot of what keeps the log, and must not fail.
func (n *snapshot) begin(ctx context.Context, tables []*schema.Table, follow func(context.Context) error) (xmin, why string, err error) {
	version, level, replicates, standby := 0, "", false, false
	if _, err := query(ctx, n.holder, serverFacts, func(r [][]byte) error {
		version, level, replicates, standby = int(number(r[0])), string(r[1]), isTrue(r[2]), isTrue(r[3])
		return nil
	}); err != nil {
		return "", "", err
	}
	n.old = version < seeksBlocks
	if _, err := run(ctx, n.holder, beginShared); err != nil {
		return "", "", err
	}
	// LOCK takes no snapshot, so that the one taken next is after it.
	if err := n.lockTables(ctx, tables); err != nil {
		return "", "", err
	}
	switch {
	case follow != nil:
		if err := follow(ctx); err != nil {
			return "", "", err
		}
	case level != "logical":
		why = "wal_level is " + level + ", not logical"
	case !replicates:
		why = "the user has no REPLICATION"
	case version < hasTemporarySlots:
		why = "the server has no temporary slots"
	case standby:
		why = "it is a standby"
	default:
		if err := n.exact(ctx); err != nil {
			if ctx.Err() != nil {
				return "", "", ctx.Err()
			}
			why = err.Error()
		}
	}
	_, err = query(ctx, n.holder, exportNow, func(r [][]byte) error { n.name, xmin = string(r[0]), string(r[1]); return nil })
	return xmin, why, err
}

// pointTime bounds how long the server may look for a point: it waits for every
// transaction that writes at that moment.
const pointTime = 20 * time.Second

// exact joins the snapshot that a logical replication slot begins with: the
// only one whose place in the log is known to the byte. The slot is temporary
// and goes with its session. Where it can't be had, the holder's transaction
// has not looked at anything yet and takes a snapshot of its own.
func (n *snapshot) exact(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pointTime)
	defer cancel()
	c, err := n.server.connect(ctx, roleSource, map[string]string{"replication": "database"})
	if err != nil {
		return fmt.Errorf("no replication session: %w", err)
	}
	defer closeNow(c)
	name := fmt.Sprintf("penstock_point_%d", c.PID())
	lsn, exported, err := createdSlot(ctx, c, "CREATE_REPLICATION_SLOT "+name+" TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT")
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("transactions that write did not end within %s", pointTime)
	}
	if err != nil {
		return err
	}
	return n.joinPoint(ctx, lsn, exported)
}

// joinPoint makes the holder's transaction see what a slot's exported snapshot does.
func (n *snapshot) joinPoint(ctx context.Context, lsn uint64, exported string) error {
	if _, err := run(ctx, n.holder, "SET TRANSACTION SNAPSHOT "+literal(exported)); err != nil {
		return err
	}
	// A commit record that begins at the point is not in the snapshot: the point
	// is a prefix of that change's position, and sorts before it.
	n.point = lsnPosition(lsn)
	return nil
}

// parseLSN reads 16/B374D848.
func parseLSN(s string) (uint64, error) {
	hi, lo, ok := strings.Cut(s, "/")
	h, err1 := strconv.ParseUint(hi, 16, 32)
	l, err2 := strconv.ParseUint(lo, 16, 32)
	if !ok || err1 != nil || err2 != nil {
		return 0, fmt.Errorf("%q is no place in the log", s)
	}
	return h<<32 | l, nil
}

// held says for people what the snapshot keeps at the source.
func (n *snapshot) held(xmin, why string) string {
	s := fmt.Sprintf("snapshot %s, xmin %s: rows deleted since stay until it ends", n.name, xmin)
	if n.point == nil {
		return s + "; its place in the log is not known (" + why + ")"
	}
	lsn := binary.BigEndian.Uint64(n.point)
	return s + fmt.Sprintf("; point %X/%X", lsn>>32, uint32(lsn))
}

// Position is the place in the log up to which commits are in the snapshot; nil
// where the server would not tell.
func (n *snapshot) Position(*schema.Table) (change.Position, error) { return n.point, nil }

// Durable is false: the snapshot ends with the session that holds it.
func (n *snapshot) Durable() bool { return failpoint.Off("point") }

// hold runs f on the holder's session, one at a time.
func (n *snapshot) hold(f func(c *pgconn.PgConn) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost != nil {
		return n.lost
	}
	err := f(n.holder)
	if err != nil && (n.holder.IsClosed() || n.holder.TxStatus() != txOpen) {
		n.lose(err)
	}
	return err
}

// lose remembers that nobody can join any more. n.mu is held.
func (n *snapshot) lose(err error) {
	if n.lost == nil && !errors.Is(err, context.Canceled) {
		n.lost = &connectors.Error{Op: "hold the snapshot", Class: connectors.Fatal, Err: fmt.Errorf("the session that held it is gone: %w", err),
			Hint: "Run again: tables that were not finished are read anew, at a new point."}
	}
}

// speak keeps the holder's session from being taken for dead on its way. A server
// that takes long to answer is waited for, as everywhere: with this session the
// whole load would begin anew.
func (n *snapshot) speak(ctx context.Context) {
	if !n.mu.TryLock() {
		return
	}
	defer n.mu.Unlock()
	if n.lost != nil || n.closed {
		return
	}
	if _, err := run(ctx, n.holder, "SELECT 1"); err != nil {
		n.lose(err)
	}
}

// lease is a reader's hold on a session.
type lease struct {
	n    *snapshot
	feed *feed
}

// borrow waits for a reader's place and joins the snapshot where no idle
// session has.
func (n *snapshot) borrow(ctx context.Context) (*lease, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.free:
	}
	l := &lease{n: n}
	n.mu.Lock()
	lost := n.lost
	if k := len(n.idle); k > 0 && lost == nil {
		l.feed, n.idle = n.idle[k-1], n.idle[:k-1]
	}
	n.mu.Unlock()
	if lost == nil && l.feed == nil {
		l.feed, lost = n.join(ctx)
	}
	if lost != nil {
		n.free <- struct{}{}
		return nil, lost
	}
	return l, nil
}

// join opens a session that sees what the holder sees.
func (n *snapshot) join(ctx context.Context) (*feed, error) {
	c, err := n.server.connect(ctx, fmt.Sprintf("%s/%d", roleRead, n.readers.Add(1)), nil)
	if err != nil {
		return nil, err
	}
	if _, err = run(ctx, c, beginShared+"; SET TRANSACTION SNAPSHOT "+literal(n.name)); err == nil {
		var f *feed
		if f, err = newFeed(ctx, c); err == nil {
			return f, nil
		}
	}
	closeNow(c)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "22023" || pg.Code == "42704" || pg.Code == "55000") { // no such snapshot, or no longer
		n.mu.Lock()
		n.lose(err)
		err = n.lost
		n.mu.Unlock()
	}
	return nil, err
}

// giveBack returns a session for the next chunk, and ends one that is in the
// midst of something.
func (l *lease) giveBack() {
	if l.feed.broken {
		l.feed.close()
	} else {
		l.n.mu.Lock()
		l.n.idle = append(l.n.idle, l.feed)
		l.n.mu.Unlock()
	}
	l.n.free <- struct{}{}
}

// OpenChunk waits for one of the snapshot's readers.
func (n *snapshot) OpenChunk(ctx context.Context, x connectors.Extract, k ranges.Chunk) (connectors.RowReader, error) {
	statements, err := n.statements(ctx, x, k)
	if err != nil {
		return nil, at("read "+k.String()+" of", x.Table.Name.String(), err)
	}
	l, err := n.borrow(ctx)
	if err != nil {
		return nil, at("read "+k.String()+" of", x.Table.Name.String(), err)
	}
	return newReader(x, k, statements, l), nil
}

// Close ends the sessions, and with them what they hold. It may be called twice.
func (n *snapshot) Close() error {
	n.pulse.stop()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.idle {
		f.close()
	}
	closeNow(n.holder)
	n.idle, n.closed = nil, true
	return nil
}
