package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"penstock/connectors"
	"penstock/internal/change"

	"github.com/jackc/pgx/v5/pgconn"
)

var _ connectors.ChangeSource = (*source)(nil)

// roleChanges is the session that reads the log.
const roleChanges = "changes"

// writable are the settings of a session that makes things at the source.
var writable = map[string]string{"default_transaction_read_only": "off"}

// system is what IDENTIFY_SYSTEM tells.
type system struct {
	id      string        // system identifier, timeline, database: what positions are of
	timeout time.Duration // after which the server ends a session that it has not heard of; 0 = never
}

// replication opens a session of the replication protocol, and asks who is there.
func (s *server) replication(ctx context.Context) (*pgconn.PgConn, system, error) {
	c, err := s.connect(ctx, roleChanges, map[string]string{"replication": "database", "default_transaction_read_only": "off"})
	if err != nil {
		return nil, system{}, err
	}
	results, err := c.Exec(ctx, "IDENTIFY_SYSTEM").ReadAll()
	if err != nil {
		closeNow(c)
		return nil, system{}, orCancelled(ctx, failure(err, "IDENTIFY_SYSTEM"))
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) < 4 {
		closeNow(c)
		return nil, system{}, failure(errors.New("the server's answer to IDENTIFY_SYSTEM has another form"), "")
	}
	r := results[0].Rows[0]
	// The protocol of replication takes simple queries alone. The database by its
	// number: another one may come to have its name.
	results, err = c.Exec(ctx, "SELECT oid, (SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout') FROM pg_database WHERE datname = current_database()").ReadAll()
	if err != nil || len(results) != 1 || len(results[0].Rows) != 1 {
		closeNow(c)
		return nil, system{}, orCancelled(ctx, failure(err, "SELECT oid FROM pg_database"))
	}
	v := results[0].Rows[0]
	return c, system{id: fmt.Sprintf("%s/%s/%s", r[0], r[1], v[0]), timeout: time.Duration(number(v[1])) * time.Millisecond}, nil
}

// PrepareChanges makes the publication and the slot, in this order: the log is
// decoded by what the catalog was at each place, and a publication that was made
// later is not there yet.
func (s *source) PrepareChanges(ctx context.Context, st connectors.ChangeStream) (start connectors.Checkpoint, err error) {
	c, err := s.server.connect(ctx, roleSource, writable)
	if err != nil {
		return start, err
	}
	defer closeNow(c)
	start, err = s.prepare(ctx, c, st)
	return start, s.server.at("prepare the log of", err)
}

func (s *source) prepare(ctx context.Context, c *pgconn.PgConn, st connectors.ChangeStream) (start connectors.Checkpoint, err error) {
	have, err := s.ready(ctx, c, st)
	if err != nil {
		return start, err
	}
	r, sys, err := s.server.replication(ctx)
	if err != nil {
		return start, err
	}
	defer closeNow(r)
	begin := have.confirmed
	if have.there {
		if t := have.trouble(); have.lost() {
			return start, &connectors.Error{Class: connectors.LostPosition, Err: errors.New(t), Hint: lostHint}
		}
	} else {
		version, err := versionOf(ctx, c)
		if err != nil {
			return start, err
		}
		if begin, _, err = makeSlot(ctx, r, c, createSlot(have.name, "nothing", version)); err != nil {
			return start, err
		}
	}
	start = connectors.Checkpoint{Source: sys.id, Position: lsnPosition(begin), Resume: lsnResume(begin)}
	if st.Start == nil {
		return start, nil
	}
	want, err := positionLSN(st.Start)
	if err != nil {
		return start, &connectors.Error{Class: connectors.Schema, Err: err}
	}
	if want < begin {
		return start, &connectors.Error{Class: connectors.LostPosition, Position: st.Start,
			Err:  fmt.Errorf("slot %s begins at %s, after %s", have.name, formatLSN(begin), formatLSN(want)),
			Hint: "PostgreSQL keeps its log for a slot from where it was made: make the slot first, or start = \"now\"."}
	}
	start.Position, start.Resume = st.Start, lsnResume(want)
	return start, nil
}

// followed prepares a stream that begins at a snapshot, and returns what makes the
// snapshot. The slot is made anew, at it, unless tables were loaded at the point
// of the one that is there; a slot that the spec names by itself may be there for
// a reason and stays. With one that stays, the snapshot is that of a slot which
// ends with its session, at a later point.
func (s *source) followed(ctx context.Context, n *snapshot, st connectors.ChangeStream) (func(context.Context) error, error) {
	c, err := s.server.connect(ctx, roleSource, writable)
	if err != nil {
		return nil, err
	}
	defer closeNow(c)
	name := s.config.slotOf(st.Pipeline)
	have, err := readSlot(ctx, c, name)
	if err != nil {
		return nil, err
	}
	if have.there && !st.Keep && s.config.Slot == "" {
		if have, err = s.server.freeSlot(ctx, c, name); err != nil {
			return nil, err
		}
		if _, err := run(ctx, c, dropSlot(name)); err != nil {
			return nil, err
		}
	}
	if have, err = s.ready(ctx, c, st); err != nil {
		return nil, err
	}
	switch {
	case have.there && have.lost():
		return nil, &connectors.Error{Class: connectors.LostPosition, Err: errors.New(have.trouble()), Hint: lostHint}
	case have.there:
		return n.exact, nil
	case st.Keep:
		return nil, &connectors.Error{Class: connectors.LostPosition, Err: fmt.Errorf("there is no slot %s any more, and tables were loaded where it began", name), Hint: lostHint}
	}
	version, err := versionOf(ctx, c)
	return func(ctx context.Context) error {
		r, _, err := s.server.replication(ctx)
		if err != nil {
			return err
		}
		defer closeNow(r)
		sql, err := s.server.connect(ctx, roleSource, nil)
		if err != nil {
			return err
		}
		defer closeNow(sql)
		lsn, exported, err := makeSlot(ctx, r, sql, createSlot(name, "export", version))
		if err != nil {
			return err
		}
		return n.joinPoint(ctx, lsn, exported)
	}, err
}

// ready checks the server and the tables, and makes the publication. It gives
// the slot as it is.
func (s *source) ready(ctx context.Context, c *pgconn.PgConn, st connectors.ChangeStream) (have slot, err error) {
	found, err := s.config.logFindings(ctx, c, st.Pipeline)
	if err != nil {
		return have, err
	}
	more, err := s.config.identities(ctx, c, st)
	if err != nil {
		return have, err
	}
	if err := refuse(append(found, more...)); err != nil {
		return have, err
	}
	have, err = readSlot(ctx, c, s.config.slotOf(st.Pipeline))
	if err != nil {
		return have, err
	}
	if have.there {
		if err := have.fits(); err != nil {
			return have, err
		}
	}
	return have, s.config.ensurePublication(ctx, c, st, !have.there)
}

func versionOf(ctx context.Context, c *pgconn.PgConn) (n int, err error) {
	_, err = query(ctx, c, "SELECT current_setting('server_version_num')", func(r [][]byte) error { n = int(number(r[0])); return nil })
	return n, err
}

// StartAt begins at a place in the log: that of a snapshot.
func (s *source) StartAt(ctx context.Context, p change.Position) (connectors.Checkpoint, error) {
	lsn, err := positionLSN(p)
	if err != nil {
		return connectors.Checkpoint{}, &connectors.Error{Op: "start a stream", Class: connectors.Fatal, Err: err}
	}
	c, sys, err := s.server.replication(ctx)
	if err != nil {
		return connectors.Checkpoint{}, s.server.at("identify", err)
	}
	defer closeNow(c)
	return connectors.Checkpoint{Source: sys.id, Position: p, Resume: lsnResume(lsn)}, nil
}

// Now commits a transaction that holds nothing but a message, which nobody
// reads: its place in the log lies behind all commits before, and is flushed.
func (s *source) Now(ctx context.Context) (change.Position, error) {
	c, err := s.server.connect(ctx, roleSource, writable)
	if err != nil {
		return nil, err
	}
	defer closeNow(c)
	var p change.Position
	_, err = query(ctx, c, "SELECT pg_logical_emit_message(true, 'penstock', '')", func(r [][]byte) error {
		lsn, err := parseLSN(string(r[0]))
		p = lsnPosition(lsn)
		return err
	})
	return p, s.server.at("find the end of the log of", err)
}

// OpenChanges reads the slot from a checkpoint on.
func (s *source) OpenChanges(ctx context.Context, st connectors.ChangeStream, at connectors.Checkpoint) (connectors.ChangeReader, error) {
	c, err := s.server.connect(ctx, roleSource, nil)
	if err != nil {
		return nil, err
	}
	defer closeNow(c)
	r, err := s.open(ctx, c, st, at)
	if err != nil {
		return nil, s.server.at("read the log of", err)
	}
	return r, nil
}

func (s *source) open(ctx context.Context, c *pgconn.PgConn, st connectors.ChangeStream, at connectors.Checkpoint) (*changeReader, error) {
	name := s.config.slotOf(st.Pipeline)
	have, err := s.server.freeSlot(ctx, c, name)
	if err != nil {
		return nil, err
	}
	from, err := have.from(at)
	if err != nil {
		return nil, err
	}
	f, err := s.follow(ctx, c, st)
	if err != nil {
		return nil, err
	}
	if err := s.config.ensurePublication(ctx, c, st, false); err != nil {
		return nil, err
	}
	session, sys, err := s.server.replication(ctx)
	if err != nil {
		return nil, err
	}
	if at.Source != "" && at.Source != sys.id {
		closeNow(session)
		return nil, &connectors.Error{Class: connectors.LostPosition, Position: at.Position,
			Err:  fmt.Errorf("the checkpoint is of %s, and the server is %s (system, timeline, database)", at.Source, sys.id),
			Hint: "It was restored, promoted or replaced, and may lack commits that were applied. Begin anew: " + anew + "."}
	}
	r, err := startReplication(ctx, session, sys, name, s.config.publicationOf(st.Pipeline), from, f.binary)
	if err != nil {
		closeNow(session)
		return nil, err
	}
	r.decode.relation = f.relation
	return r, nil
}

// from is where to begin so that all behind at is read. The server goes to the
// confirmed place by itself where that is later, without a word.
func (s slot) from(at connectors.Checkpoint) (uint64, error) {
	resume, err := resumeLSN(at.Resume)
	if err != nil {
		return 0, &connectors.Error{Class: connectors.LostPosition, Position: at.Position, Err: err}
	}
	lost := func(format string, args ...any) error {
		return &connectors.Error{Class: connectors.LostPosition, Position: at.Position, Err: fmt.Errorf(format, args...), Hint: lostHint}
	}
	switch {
	case !s.there:
		return 0, lost("there is no slot %s any more", s.name)
	case s.fits() != nil:
		return 0, s.fits()
	case s.lost():
		return 0, lost("%s", s.trouble())
	case resume > s.now:
		return 0, lost("the checkpoint stands at %s, and the log of the source ends at %s: the source was set back", formatLSN(resume), formatLSN(s.now))
	case s.confirmed > resume && lsnPosition(s.confirmed).Compare(at.Position) > 0:
		return 0, lost("the target stands at %s, and the source has discarded its log up to %s: the target was set back, or another reader used slot %s", formatLSN(resume), formatLSN(s.confirmed), s.name)
	}
	return max(resume, s.confirmed), nil
}

// ChangesStatus looks at the slot.
func (s *source) ChangesStatus(ctx context.Context, st connectors.ChangeStream, at change.Position) (out connectors.ChangesStatus, err error) {
	c, err := s.server.connect(ctx, roleSource, nil)
	if err != nil {
		return out, err
	}
	defer closeNow(c)
	have, err := readSlot(ctx, c, s.config.slotOf(st.Pipeline))
	if err != nil {
		return out, s.server.at("look at the slot of", err)
	}
	out = connectors.ChangesStatus{End: lsnPosition(have.now), Kept: have.kept, Trouble: have.trouble()}
	if len(at) >= 8 {
		out.Behind = max(0, int64(have.now-min(have.now, binary.BigEndian.Uint64(at))))
	}
	if have.pid != 0 {
		out.Reader = fmt.Sprintf("session %d (%s)", have.pid, orElse(have.reader, "another user's"))
	}
	return out, nil
}

// DropChanges drops the slot and the publication, whatever still reads.
func (s *source) DropChanges(ctx context.Context, st connectors.ChangeStream) error {
	c, err := s.server.connect(ctx, roleSource, writable)
	if err != nil {
		return err
	}
	defer closeNow(c)
	return s.server.at("drop the slot and the publication in", s.drop(ctx, c, st))
}

func (s *source) drop(ctx context.Context, c *pgconn.PgConn, st connectors.ChangeStream) error {
	have, err := s.server.freeSlot(ctx, c, s.config.slotOf(st.Pipeline))
	if err != nil {
		return err
	}
	if have.there {
		if err := have.fits(); err != nil {
			return err
		}
		if _, err := run(ctx, c, dropSlot(have.name)); err != nil {
			return err
		}
	}
	p, err := s.config.readPublication(ctx, c, st.Pipeline)
	if err != nil || !p.ours {
		return err
	}
	_, err = run(ctx, c, dropPublication(&s.config, st))
	return err
}

func dropPublication(c *SourceConfig, st connectors.ChangeStream) string {
	return "DROP PUBLICATION IF EXISTS " + quote(c.publicationOf(st.Pipeline))
}
