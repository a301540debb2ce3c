package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// minVersion is the oldest server that is loaded and read, as server_version_num.
const minVersion = 150000

var targetChecks = []connectors.Check[connectors.Target]{
	onTarget("version", "15 or later, and no standby", false, func(ctx context.Context, c *pgconn.PgConn, _ *target, _ connectors.Use) ([]connectors.Finding, error) {
		return version(ctx, c, true)
	}),
	onTarget("privileges", "what plan --grants lists", false, func(ctx context.Context, c *pgconn.PgConn, t *target, u connectors.Use) ([]connectors.Finding, error) {
		there, err := t.hasState(ctx, c)
		if err != nil {
			return nil, err
		}
		return missing(ctx, c, t.config.User, targetNeeds(&t.config, u, there))
	}),
	onTarget("connections", "room for those of the plan", true, func(ctx context.Context, c *pgconn.PgConn, _ *target, u connectors.Use) ([]connectors.Finding, error) {
		return room(ctx, c, u)
	}),
	onTarget("locks", "who keeps the plan's statements waiting", true, blockers),
	onTarget("rows", "whether tables that must be empty are", true, rowsThere),
	onTarget("claim", "whether another run holds the pipeline", true, claimHeld),
}

var sourceChecks = []connectors.Check[connectors.Source]{
	onSource("version", "15 or later", false, func(ctx context.Context, c *pgconn.PgConn, _ *source, _ connectors.Use) ([]connectors.Finding, error) {
		return version(ctx, c, false)
	}),
	onSource("privileges", "what plan --grants lists", false, func(ctx context.Context, c *pgconn.PgConn, s *source, u connectors.Use) ([]connectors.Finding, error) {
		return missing(ctx, c, s.config.User, sourceNeeds(&s.config, u))
	}),
	onSource("log", "what a stream takes: wal_level, a slot, a sender, replica identities, the publication", false, func(ctx context.Context, c *pgconn.PgConn, s *source, u connectors.Use) ([]connectors.Finding, error) {
		if !u.Stream {
			return nil, nil
		}
		return s.config.followable(ctx, c, u)
	}),
	onSource("row security", "whether a policy hides rows from the user", false, hiddenRows),
	onSource("connections", "room for those of the plan", true, func(ctx context.Context, c *pgconn.PgConn, _ *source, u connectors.Use) ([]connectors.Finding, error) {
		return room(ctx, c, u)
	}),
}

func onTarget(name, about string, momentary bool, f func(context.Context, *pgconn.PgConn, *target, connectors.Use) ([]connectors.Finding, error)) connectors.Check[connectors.Target] {
	return connectors.Check[connectors.Target]{Name: name, About: about, Momentary: momentary, Run: func(ctx context.Context, e connectors.Target, u connectors.Use) (out []connectors.Finding, err error) {
		t := e.(*target)
		err = t.control(ctx, func(c *pgconn.PgConn) error {
			out, err = f(ctx, c, t, u)
			return err
		})
		return out, t.server.at("check "+name+" of", err)
	}}
}

func onSource(name, about string, momentary bool, f func(context.Context, *pgconn.PgConn, *source, connectors.Use) ([]connectors.Finding, error)) connectors.Check[connectors.Source] {
	return connectors.Check[connectors.Source]{Name: name, About: about, Momentary: momentary, Run: func(ctx context.Context, e connectors.Source, u connectors.Use) ([]connectors.Finding, error) {
		s := e.(*source)
		c, err := s.server.connect(ctx, roleSource, nil)
		if err != nil {
			return nil, err
		}
		defer closeNow(c)
		out, err := f(ctx, c, s, u)
		return out, s.server.at("check "+name+" of", err)
	}}
}

// version refuses servers that are too old, and a target that takes no writes.
func version(ctx context.Context, c *pgconn.PgConn, writes bool) (out []connectors.Finding, err error) {
	_, err = query(ctx, c, "SELECT current_setting('server_version_num'), current_setting('server_version'), pg_is_in_recovery()", func(r [][]byte) error {
		if number(r[0]) < minVersion {
			out = append(out, connectors.Finding{Class: connectors.Fatal, What: fmt.Sprintf("The server is PostgreSQL %s; Penstock needs 15 or later.", r[1])})
		}
		switch {
		case isTrue(r[2]) && writes:
			out = append(out, connectors.Finding{Class: connectors.Fatal, What: "The server is a standby and takes no writes. Name the primary as `host`."})
		case isTrue(r[2]):
			out = append(out, connectors.Finding{Warning: true, What: "The server is a standby: it ends a snapshot that keeps it from replaying for longer than max_standby_streaming_delay.",
				Mend: []string{"ALTER SYSTEM SET max_standby_streaming_delay = -1", "SELECT pg_reload_conf()"}})
		}
		return nil
	})
	return out, err
}

// missing tells what the user may not do, a finding each. A schema that is not
// there is made, not granted.
func missing(ctx context.Context, c *pgconn.PgConn, user string, needs []need) ([]connectors.Finding, error) {
	lack, err := lacking(ctx, c, needs)
	var out []connectors.Finding
	for _, n := range lack {
		f := connectors.Finding{Class: connectors.Permission, What: fmt.Sprintf("The user %s may not %s.", user, n.what), Mend: []string{n.grant}}
		if n.space != "" {
			there := false
			if _, err := query(ctx, c, "SELECT 1 FROM pg_namespace WHERE nspname = $1", func([][]byte) error { there = true; return nil }, n.space); err != nil {
				return nil, err
			}
			if !there {
				f = connectors.Finding{Class: connectors.Schema, What: "There is no schema " + n.space + ".", Mend: []string{"CREATE SCHEMA " + quote(n.space) + " AUTHORIZATION " + quote(user)}}
			}
		}
		if len(out) == 0 || out[len(out)-1].What != f.What {
			out = append(out, f)
		}
	}
	return out, err
}

const freeConnections = `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - (SELECT count(*) FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender')),
  (SELECT CASE WHEN rolconnlimit < 0 THEN 1000000 ELSE rolconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user) END FROM pg_roles WHERE rolname = current_user),
  (SELECT CASE WHEN datconnlimit < 0 THEN 1000000 ELSE datconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) END FROM pg_database WHERE datname = current_database()),
  current_user, current_database(), current_setting('max_connections')`

// room compares the plan's connections with what the server, the role and the
// database have left. The session that asks is given back before a run.
func room(ctx context.Context, c *pgconn.PgConn, u connectors.Use) (out []connectors.Finding, err error) {
	_, err = query(ctx, c, freeConnections, func(r [][]byte) error {
		want := int64(u.Connections)
		for i, x := range []struct{ of, mend string }{
			{"the server (max_connections = " + string(r[5]) + ")", ""},
			{"the role " + string(r[3]), "ALTER ROLE " + quote(string(r[3])) + " CONNECTION LIMIT -1"},
			{"the database " + string(r[4]), "ALTER DATABASE " + quote(string(r[4])) + " CONNECTION LIMIT -1"},
		} {
			free := number(r[i]) + 1
			if free >= want {
				continue
			}
			f := connectors.Finding{Warning: true, What: fmt.Sprintf("The plan takes %d connections, and %s has room for %d now. Lower `workers`, or make room.", want, x.of, max(0, free))}
			if x.mend != "" {
				f.Mend = []string{x.mend}
			}
			out = append(out, f)
		}
		return nil
	})
	return out, err
}

// rowsThere tells of rows in tables whose load would be stopped by them.
func rowsThere(ctx context.Context, c *pgconn.PgConn, t *target, u connectors.Use) (out []connectors.Finding, err error) {
	// Who holds a table alone is told by the check of locks: this one does not wait.
	if _, err := run(ctx, c, "SET lock_timeout = '500ms'"); err != nil {
		return nil, err
	}
	defer func() {
		_, e := run(ctx, c, "SET lock_timeout = '30s'") // as the session was opened
		err = errors.Join(err, e)
	}()
	for _, l := range u.Loads {
		if l.Existing != connectors.ExistingError || u.State.Knows(l) {
			continue
		}
		table := full(t.config.Schema, l.Table)
		readable := false
		if _, err := query(ctx, c, "SELECT coalesce(has_table_privilege(to_regclass($1), 'SELECT'), false)", func(r [][]byte) error { readable = isTrue(r[0]); return nil }, table); err != nil {
			return nil, err
		}
		if !readable {
			continue // not there, or told by the check of privileges
		}
		found, err := run(ctx, c, "SELECT 1 FROM "+table+" LIMIT 1")
		if connectors.ClassOf(err) == connectors.Transient && !c.IsClosed() {
			continue // it is locked
		}
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, connectors.Finding{Warning: true, What: fmt.Sprintf(`Table %s has rows, and existing = "error" stops a run at them. Empty it, or write existing = "truncate" or "append".`, l.Table), Mend: []string{"TRUNCATE TABLE " + table}})
		}
	}
	return out, nil
}

const selectBlockers = `SELECT l.relation::regclass, a.pid, coalesce(a.usename, ''), coalesce(a.application_name, ''), l.mode, coalesce(to_char(now() - a.xact_start, 'HH24:MI:SS'), '')
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.granted AND l.locktype = 'relation' AND l.relation = to_regclass($1) AND l.pid <> pg_backend_pid() AND NOT starts_with(a.application_name, $2) AND ($3 OR l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))`

// blockers tells of sessions that the plan's statements would wait for.
func blockers(ctx context.Context, c *pgconn.PgConn, t *target, u connectors.Use) (out []connectors.Finding, err error) {
	for _, l := range u.Loads {
		// TRUNCATE and ALTER TABLE wait for every reader.
		alone := l.Existing == connectors.ExistingTruncate || l.Indexes == "defer"
		if _, err := query(ctx, c, selectBlockers, func(r [][]byte) error {
			out = append(out, connectors.Finding{Warning: true,
				What: fmt.Sprintf("Session %s of %s (%s) has held %s on %s for %s: a run waits for it, 30 s at most at a time.", r[1], r[2], r[3], r[4], r[0], r[5]),
				Mend: []string{"SELECT pg_terminate_backend(" + string(r[1]) + ")"}})
			return nil
		}, full(t.config.Schema, l.Table), t.server.name, alone); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// claimHeld tells of a living owner.
func claimHeld(ctx context.Context, c *pgconn.PgConn, t *target, _ connectors.Use) (out []connectors.Finding, err error) {
	if ok, err := t.hasState(ctx, c); err != nil || !ok {
		return nil, err
	}
	const living = `SELECT o.owner, o.pid FROM penstock_owner o JOIN pg_stat_activity a ON a.pid = o.pid AND (a.backend_start IS NULL OR (extract(epoch FROM a.backend_start) * 1000000)::bigint = o.backend_start) WHERE o.pipeline = $1`
	_, err = query(ctx, c, living, func(r [][]byte) error {
		who := "another process"
		var o connectors.Owner
		if json.Unmarshal(r[0], &o) == nil && o.PID != 0 {
			who = fmt.Sprintf("process %d on %s, started %s", o.PID, o.Host, o.Started)
		}
		out = append(out, connectors.Finding{Warning: true, What: fmt.Sprintf("Pipeline %s is held by %s: a run would end with exit code 5 until that one has ended.", t.env.Pipeline, who), Mend: []string{"SELECT pg_terminate_backend(" + string(r[1]) + ")"}})
		return nil
	}, t.env.Pipeline)
	return out, err
}

// hiddenRows refuses tables of which a policy would hide rows.
func hiddenRows(ctx context.Context, c *pgconn.PgConn, s *source, u connectors.Use) (out []connectors.Finding, err error) {
	for _, x := range u.Reads {
		n := x.Table.Name
		if n.Schema == "" {
			n.Schema = s.config.Schema
		}
		name := full(s.config.Schema, n)
		if _, err := query(ctx, c, "SELECT 1 FROM pg_class WHERE oid = to_regclass($1) AND row_security_active(oid)", func([][]byte) error {
			out = append(out, connectors.Finding{Class: connectors.Permission, What: fmt.Sprintf("A row security policy hides rows of %s from the user %s: they would be missing at the target.", n, s.config.User),
				Mend: []string{"ALTER ROLE " + quote(s.config.User) + " BYPASSRLS"}})
			return nil
		}, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// own are the tables in which the target remembers, for a DBA who makes them.
func own(config any) []connectors.Statement {
	c := config.(*TargetConfig)
	out := []connectors.Statement{{SQL: "SET search_path = " + quote(c.Schema), Comment: "where names without a schema are"}}
	for _, s := range stateTables {
		out = append(out, connectors.Statement{SQL: s})
	}
	return out
}
