package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/failpoint"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// source is an open source. It holds no session: a snapshot does.
type source struct {
	server *server
}

var (
	_ connectors.Source   = (*source)(nil)
	_ connectors.Snapshot = (*snapshot)(nil)
)

func openSource(ctx context.Context, config any, env connectors.Env) (connectors.Source, error) {
	c := config.(*SourceConfig)
	if p := check(c); len(p) > 0 {
		return nil, &connectors.Error{Op: "open", Class: connectors.Fatal, Err: errors.New(p[0].Detail)}
	}
	s, err := newServer(*c, env)
	if err != nil {
		return nil, err
	}
	return &source{server: s}, nil
}

func (s *source) Close() error { return nil }

// dictionaryFetch is the rows of an answer that a statement of the dictionary
// gives at once.
const dictionaryFetch = 500

func (s *source) Catalog(ctx context.Context) (*schema.Catalog, error) {
	c, err := s.server.connect(ctx, dictionaryFetch)
	if err != nil {
		return nil, err
	}
	defer c.close()
	cat, err := readCatalog(ctx, c)
	return cat, s.server.at("read the catalog of", err)
}

// snapshot reads every table as of one SCN. It needs no transaction: a session
// that is lost is replaced, and a restarted run goes on at the same SCN.
type snapshot struct {
	server *server
	point  point
	at     uint64        // the SCN that rows are read at, the point's
	seats  chan struct{} // readers that may be open at once

	mu      sync.Mutex
	idle    []*session
	meta    *conn // what Split looks through the tables with
	extents map[schema.Name][]extent
	closed  bool
}

// session is a connection for rows. How many an answer carries is settled when
// it is opened.
type session struct {
	*conn
	fetch int
}

// Snapshot takes the SCN. What is listed of tables afterwards covers every row
// that was there by then.
func (s *source) Snapshot(ctx context.Context, o connectors.SnapshotOptions) (connectors.Snapshot, error) {
	c, err := s.server.connect(ctx, dictionaryFetch)
	if err != nil {
		return nil, err
	}
	n := &snapshot{server: s.server, meta: c, seats: make(chan struct{}, max(o.Readers, 1)), extents: map[schema.Name][]extent{}}
	n.point, err = readPoint(ctx, c)
	if n.at = n.point.scn; err == nil && o.At != nil {
		now := n.point
		if n.point, err = parsePoint(o.At); err == nil {
			err = n.point.again(now)
		}
		n.at = n.point.scn
		if failpoint.Off("scn") { // reads at a later one, and calls it the first
			n.at = now.scn
		}
	}
	if err != nil {
		c.close()
		return nil, s.server.at("begin a snapshot of", err)
	}
	return n, nil
}

func (n *snapshot) Position(*schema.Table) (change.Position, error) { return n.point.position(), nil }

// Durable: an SCN can be read again while the undo of that time is kept.
func (n *snapshot) Durable() bool { return true }

// Split cuts a table.
func (n *snapshot) Split(ctx context.Context, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, err := n.dictionary(ctx)
	if err != nil {
		return nil, err
	}
	cut, err := n.cut(ctx, c, t, s)
	return cut, at("split", t.Name.String(), err)
}

// dictionary is the session for everything but rows. The caller holds mu.
func (n *snapshot) dictionary(ctx context.Context) (*conn, error) {
	if n.closed {
		return nil, errors.New("oracle: the snapshot is closed")
	}
	if n.meta != nil && !n.meta.bad {
		return n.meta, nil
	}
	c, err := n.server.connect(ctx, dictionaryFetch)
	n.meta = c
	return c, err
}

const sqlExtents = `SELECT o.data_object_id, e.relative_fno, e.block_id, e.blocks
FROM dba_extents e LEFT JOIN all_objects o
  ON o.owner = e.owner AND o.object_name = e.segment_name AND o.object_type = e.segment_type
  AND NVL(o.subobject_name, '-') = NVL(e.partition_name, '-')
WHERE e.owner = :owner AND e.segment_name = :name
  AND e.segment_type IN ('TABLE', 'TABLE PARTITION', 'TABLE SUBPARTITION')
ORDER BY o.data_object_id, e.relative_fno, e.block_id`

// extentsOf lists a table's extents, once. The caller holds mu.
func (n *snapshot) extentsOf(ctx context.Context, c *conn, t *schema.Table) ([]extent, error) {
	if all, ok := n.extents[t.Name]; ok {
		return all, nil
	}
	var all []extent
	err := c.all(ctx, sqlExtents, 4, func(row []driver.Value) error {
		if row[0] == nil {
			return &connectors.Error{Class: connectors.Permission, Err: errors.New("a segment of it is in DBA_EXTENTS, and its object not in ALL_OBJECTS"), Hint: "GRANT SELECT on the table to the user, or split by key."}
		}
		var v [4]uint64
		for i := range v {
			var err error
			if v[i], err = unsigned(row[i]); err != nil {
				return err
			}
		}
		address, err := addressOf(int64(v[1]), int64(v[2]))
		if err != nil {
			return err
		}
		all = append(all, extent{block{uint32(v[0]), address}, uint32(v[3])})
		return nil
	}, t.Name.Schema, t.Name.Name)
	if err != nil {
		if connectors.ClassOf(err) == connectors.Schema {
			err = &connectors.Error{Class: connectors.Permission, Err: err, Hint: "Blocks are found in DBA_EXTENTS: GRANT SELECT ON SYS.DBA_EXTENTS to the user, or write range { split = \"key\" }."}
		}
		return nil, err
	}
	sortExtents(all)
	n.extents[t.Name] = all
	return all, nil
}

// OpenChunk takes a session for the chunk's rows.
func (n *snapshot) OpenChunk(ctx context.Context, x connectors.Extract, k ranges.Chunk) (connectors.RowReader, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case n.seats <- struct{}{}:
	}
	r, err := n.open(ctx, x, k)
	if err != nil {
		<-n.seats
		return nil, at("read "+k.String()+" of", x.Table.Name.String(), err)
	}
	return r, nil
}

func (n *snapshot) open(ctx context.Context, x connectors.Extract, k ranges.Chunk) (*reader, error) {
	r, err := newReader(n, x, k)
	if err != nil {
		return nil, err
	}
	if x.Split.Kind == connectors.SplitBlocks {
		if err := n.locate(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// locate finds the pieces of a chunk of blocks.
func (n *snapshot) locate(ctx context.Context, r *reader) error {
	lo, err := edgeBlock(r.chunk.Lo)
	if err != nil {
		return err
	}
	hi, err := edgeBlock(r.chunk.Hi)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c, err := n.dictionary(ctx)
	if err != nil {
		return err
	}
	all, err := n.extentsOf(ctx, c, r.x.Table)
	if err != nil {
		return err
	}
	// Edges of an earlier run stand in extents that must still be there.
	for _, b := range []*block{lo, hi} {
		if b != nil && !inside(all, *b) {
			return &connectors.Error{Class: connectors.LostPosition, Err: fmt.Errorf("block %s of an earlier cut is no block of the table any more", b.rowid(0)), Hint: hintMoved}
		}
	}
	if len(all) == 0 {
		// A segment comes with the table's first row. Where the list shows none, the
		// one chunk is read without it, so that no row can be missed.
		r.whole()
		return nil
	}
	for _, p := range pieces(all, lo, hi) {
		r.stretches = append(r.stretches, []driver.Value{p.lo, p.hi})
	}
	return nil
}

func inside(all []extent, b block) bool {
	for _, e := range all {
		if e.first.compare(b) <= 0 && b.compare(e.end()) < 0 {
			return true
		}
	}
	return false
}

// take is an idle session whose answers carry fetch rows, or a new one.
func (n *snapshot) take(ctx context.Context, fetch int) (*session, error) {
	n.mu.Lock()
	for i, s := range n.idle {
		if s.fetch == fetch {
			n.idle = append(n.idle[:i], n.idle[i+1:]...)
			n.mu.Unlock()
			return s, nil
		}
	}
	var other *session // of another table, in whose place the new one comes
	if len(n.idle) > 0 {
		other = n.idle[0]
		n.idle = n.idle[1:]
	}
	n.mu.Unlock()
	if other != nil {
		other.close()
	}
	c, err := n.server.connect(ctx, fetch)
	if err != nil {
		return nil, err
	}
	return &session{c, fetch}, nil
}

// give takes a session back.
func (n *snapshot) give(s *session) {
	n.mu.Lock()
	keep := !n.closed && !s.bad
	if keep {
		n.idle = append(n.idle, s)
	}
	n.mu.Unlock()
	if !keep {
		s.close()
	}
}

// Close ends the sessions. It may be called twice.
func (n *snapshot) Close() error {
	n.mu.Lock()
	idle, meta := n.idle, n.meta
	n.idle, n.meta, n.closed = nil, nil, true
	n.mu.Unlock()
	for _, s := range idle {
		s.close()
	}
	meta.close()
	return nil
}
