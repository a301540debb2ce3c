package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// slot is a replication slot as the server shows it.
type slot struct {
	name      string
	there     bool
	plugin    string
	database  string
	pid       int64 // of its reader; 0 = none
	reader    string
	status    string // "reserved", "extended", "unreserved", "lost"
	why       string // it was invalidated, where the server tells
	confirmed uint64
	restart   uint64
	kept      int64  // bytes of log
	left      int64  // that may still be kept; -1 = no bound
	now       uint64 // where the log ends
	here      string // the database that asks
}

const selectSlot = `SELECT s.plugin, s.database, s.active_pid, coalesce(a.application_name, ''), s.wal_status, coalesce(to_jsonb(s) ->> 'invalidation_reason', ''), s.confirmed_flush_lsn, s.restart_lsn,
  coalesce(pg_wal_lsn_diff(e.lsn, s.restart_lsn), 0)::bigint, coalesce(s.safe_wal_size, -1), e.lsn, current_database()
FROM (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END AS lsn) e LEFT JOIN pg_replication_slots s ON s.slot_name = $1 LEFT JOIN pg_stat_activity a ON a.pid = s.active_pid`

func readSlot(ctx context.Context, c *pgconn.PgConn, name string) (s slot, err error) {
	s.name = name
	_, err = query(ctx, c, selectSlot, func(r [][]byte) (err error) {
		if s.now, err = parseLSN(string(r[10])); err != nil {
			return err
		}
		s.here = string(r[11])
		if r[0] == nil && r[1] == nil && r[4] == nil && r[6] == nil && r[7] == nil {
			return nil
		}
		s.there, s.plugin, s.database, s.reader, s.status, s.why = true, string(r[0]), string(r[1]), string(r[3]), string(r[4]), string(r[5])
		if r[2] != nil {
			s.pid = number(r[2])
		}
		s.kept, s.left = number(r[8]), number(r[9])
		for i, into := range map[int]*uint64{6: &s.confirmed, 7: &s.restart} {
			if r[i] == nil {
				continue
			}
			if *into, err = parseLSN(string(r[i])); err != nil {
				return err
			}
		}
		return nil
	}, name)
	return s, err
}

// fits refuses a slot of another use.
func (s slot) fits() error {
	switch {
	case s.plugin != "pgoutput":
		return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("slot %s is of plugin %q, not of pgoutput", s.name, s.plugin), Hint: "Name another `slot`."}
	case s.database != s.here:
		return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("slot %s is of database %s", s.name, s.database), Hint: "Name another `slot`."}
	}
	return nil
}

// trouble is why the slot can't be read any more, or soon can't be.
func (s slot) trouble() string {
	switch {
	case !s.there:
		return "there is no slot " + s.name
	case s.lost():
		why := s.why
		if why == "" {
			why = "the source has discarded log that it needs"
		}
		return fmt.Sprintf("slot %s is lost: %s", s.name, why)
	case s.status == "unreserved":
		return fmt.Sprintf("slot %s keeps more log than max_slot_wal_keep_size: the next checkpoint discards it", s.name)
	}
	return ""
}

func (s slot) lost() bool { return s.status == "lost" || s.why != "" }

// createSlot is the replication command. A slot that outlives a failover needs
// a server that knows of such.
func createSlot(name, snapshot string, version int) string {
	options := "SNAPSHOT '" + snapshot + "'"
	if version >= hasFailoverSlots {
		options += ", FAILOVER true"
	}
	return "CREATE_REPLICATION_SLOT " + quote(name) + " LOGICAL pgoutput (" + options + ")"
}

const hasFailoverSlots = 170000

func dropSlot(name string) string { return "SELECT pg_drop_replication_slot(" + literal(name) + ")" }

// slotTime bounds how long a slot may take to be made: it waits for every
// transaction that writes at that moment.
const slotTime = 10 * time.Minute

const selectWriters = `SELECT coalesce(string_agg(format('%s of %s, %s', pid, usename, to_char(clock_timestamp() - xact_start, 'HH24:MI:SS')), '; '), 'none now')
FROM (SELECT pid, usename, xact_start FROM pg_stat_activity WHERE backend_xid IS NOT NULL ORDER BY xact_start LIMIT 3) a`

// makeSlot makes a slot that stays, on a replication session, and gives its
// consistent point and the name of the snapshot that it exported, if it did: that
// lives as long as the session runs nothing else. sql is asked who is in the way.
func makeSlot(ctx context.Context, c, sql *pgconn.PgConn, command string) (lsn uint64, snapshot string, err error) {
	bounded, cancel := context.WithTimeout(ctx, slotTime)
	defer cancel()
	lsn, snapshot, err = createdSlot(bounded, c, command)
	if err == nil || ctx.Err() != nil || bounded.Err() == nil {
		return lsn, snapshot, err
	}
	writers := ""
	if _, err := query(ctx, sql, selectWriters, func(r [][]byte) error { writers = string(r[0]); return nil }); err != nil {
		return 0, "", err
	}
	return 0, "", &connectors.Error{Class: connectors.Transient, Err: fmt.Errorf("transactions that write did not end within %s: sessions %s", slotTime, writers), Hint: "End them, and run again."}
}

// createdSlot runs CREATE_REPLICATION_SLOT and reads its answer.
func createdSlot(ctx context.Context, c *pgconn.PgConn, command string) (lsn uint64, snapshot string, err error) {
	results, err := c.Exec(ctx, command).ReadAll()
	if err != nil {
		return 0, "", orCancelled(ctx, failure(err, command))
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) < 3 {
		return 0, "", failure(errors.New("the server's answer to CREATE_REPLICATION_SLOT has another form"), "")
	}
	row := results[0].Rows[0]
	lsn, err = parseLSN(string(row[1]))
	return lsn, string(row[2]), err
}

// freeTime is how long the server may take to end a session that was told to.
const freeTime = 30 * time.Second

// freeSlot ends the slot's reader, if it is a session of this pipeline: one of a
// former owner, or one of this process that was lost. Whoever calls it has the
// pipeline. Another reader is an error.
func (s *server) freeSlot(ctx context.Context, c *pgconn.PgConn, name string) (slot, error) {
	ctx, cancel := context.WithTimeout(ctx, freeTime)
	defer cancel()
	for {
		now, err := readSlot(ctx, c, name)
		if err != nil || !now.there || now.pid == 0 {
			return now, err
		}
		if !strings.HasPrefix(now.reader, s.name) {
			return now, &connectors.Error{Class: connectors.Held, Err: fmt.Errorf("slot %s is read by session %d (%s)", name, now.pid, orElse(now.reader, "without a name, or of a user whom this one can't see")),
				Hint: "End it, or name another `slot`."}
		}
		if _, err := exec(ctx, c, "SELECT pg_terminate_backend($1::int, 200) WHERE EXISTS (SELECT 1 FROM pg_replication_slots WHERE slot_name = $2 AND active_pid = $1::int)", now.pid, name); err != nil {
			return now, err
		}
		select {
		case <-ctx.Done():
			return now, orCancelled(ctx, ctx.Err())
		case <-time.After(20 * time.Millisecond): // between two looks
		}
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
