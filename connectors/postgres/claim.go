package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"penstock/connectors"
	"penstock/internal/failpoint"

	"github.com/jackc/pgx/v5/pgconn"
)

// The owner of a pipeline is known by its control session, which lives as long
// as its process: the server ends it when the process dies, and when it is
// silent for half a minute. A process id alone would come again.
const (
	ownSession = "SELECT (extract(epoch FROM backend_start) * 1000000)::bigint FROM pg_stat_activity WHERE pid = pg_backend_pid()"

	insertOwner = "INSERT INTO penstock_owner (pipeline, epoch, owner, pid, backend_start, claimed_at) VALUES ($1, 0, '', 0, 0, clock_timestamp()) ON CONFLICT (pipeline) DO NOTHING"
	selectOwner = "SELECT owner, pid, backend_start FROM penstock_owner WHERE pipeline = $1 FOR UPDATE"
	// Another role's session may show no start: it counts as the owner's.
	findOwner  = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND pid <> pg_backend_pid() AND (backend_start IS NULL OR (extract(epoch FROM backend_start) * 1000000)::bigint = $2)"
	raiseOwner = "UPDATE penstock_owner SET epoch = epoch + 1, owner = $2, pid = pg_backend_pid(), backend_start = (" + ownSession + "), claimed_at = clock_timestamp() WHERE pipeline = $1 RETURNING epoch"
	renewOwner = "UPDATE penstock_owner SET pid = pg_backend_pid(), backend_start = (" + ownSession + ") WHERE pipeline = $1 AND epoch = $2"
	clearOwner = "UPDATE penstock_owner SET owner = '', pid = 0, backend_start = 0 WHERE pipeline = $1 AND epoch = $2"
	raiseChunk = "UPDATE penstock_chunk SET epoch = $2 WHERE pipeline = $1 AND state = 'pending'"

	// No time-out ends a session that waits for the rest of a COPY, and its locks
	// would make the claim wait: what a gone owner left is ended first. Control
	// sessions are of others that claim at this moment.
	endSessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid() AND starts_with(application_name, $1) AND application_name <> $1 || '" + roleControl + "'"
)

// Claim takes the pipeline: it makes the state tables where they are absent and
// raises the epoch of everything pending, in one transaction.
func (t *target) Claim(ctx context.Context, o connectors.Owner) (connectors.Claim, error) {
	owner, err := json.Marshal(o)
	if err != nil {
		return connectors.Claim{}, err
	}
	t.forget() // a claim is made anew, never renewed
	epoch, err := t.take(ctx, string(owner))
	if err == nil {
		t.epoch.Store(epoch)
		err = t.hold(ctx)
	}
	if err != nil {
		return connectors.Claim{}, at("claim pipeline", t.env.Pipeline, err)
	}
	failpoint.Hit("claim.after")
	return connectors.Claim{Epoch: epoch}, nil
}

// The server takes a moment to see that a process has died: a run that is
// started at once after it must not be told that the dead one holds the pipeline.
const (
	deathSeen  = 2 * time.Second
	deathCheck = 50 * time.Millisecond
)

// take raises the epoch, and waits for an owner that is just ending.
func (t *target) take(ctx context.Context, owner string) (epoch int64, err error) {
	for until := time.Now().Add(deathSeen); ; {
		err = t.control(ctx, func(c *pgconn.PgConn) error {
			return transaction(ctx, c, func() (err error) {
				epoch, err = t.raise(ctx, c, owner)
				return err
			})
		})
		if connectors.ClassOf(err) != connectors.Held || time.Now().After(until) {
			return epoch, err
		}
		select {
		case <-time.After(deathCheck):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// hold keeps the claim for as long as this process lives.
func (t *target) hold(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.own(ctx); err != nil {
		return err
	}
	t.pulse = beat(t.speak)
	return nil
}

// forget stops speaking for a claim.
func (t *target) forget() {
	t.mu.Lock()
	p := t.pulse
	t.pulse, t.owns = nil, false
	t.mu.Unlock()
	p.stop()
	t.epoch.Store(0)
}

func (t *target) raise(ctx context.Context, c *pgconn.PgConn, owner string) (int64, error) {
	if err := t.makeState(ctx, c); err != nil {
		return 0, err
	}
	if _, err := exec(ctx, c, insertOwner, t.env.Pipeline); err != nil {
		return 0, err
	}
	var former string
	var pid, started int64
	if _, err := query(ctx, c, selectOwner, func(r [][]byte) error {
		former, pid, started = string(r[0]), number(r[1]), number(r[2])
		return nil
	}, t.env.Pipeline); err != nil {
		return 0, err
	}
	if pid != 0 {
		living := false
		if _, err := query(ctx, c, findOwner, func([][]byte) error { living = true; return nil }, pid, started); err != nil {
			return 0, err
		}
		if living {
			return 0, t.held(former, pid)
		}
		if _, err := exec(ctx, c, endSessions, t.server.name); err != nil {
			return 0, err
		}
	}
	epoch := int64(0)
	if _, err := query(ctx, c, raiseOwner, func(r [][]byte) error { epoch = number(r[0]); return nil }, t.env.Pipeline, owner); err != nil {
		return 0, err
	}
	_, err := exec(ctx, c, raiseChunk, t.env.Pipeline, epoch)
	return epoch, err
}

func (t *target) makeState(ctx context.Context, c *pgconn.PgConn) error {
	if ok, err := t.hasState(ctx, c); err != nil || ok {
		return err
	}
	if _, err := run(ctx, c, lockState); err != nil {
		return err
	}
	for _, s := range stateTables {
		if _, err := run(ctx, c, s); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) held(text string, session int64) error {
	who := "another process"
	var o connectors.Owner
	if json.Unmarshal([]byte(text), &o) == nil && o.PID != 0 {
		who = fmt.Sprintf("process %d on %s, started %s (run %s)", o.PID, o.Host, o.Started, o.Run)
	}
	return &connectors.Error{Op: "pipeline", Table: t.env.Pipeline, Class: connectors.Held,
		Err:  fmt.Errorf("it is held by %s; its control session has process id %d at the server", who, session),
		Hint: "Wait for that run, or end it; its claim ends with its control session."}
}

// Release gives the claim back. A session that is lost has given it back by itself.
func (t *target) Release(ctx context.Context) error {
	epoch := t.epoch.Load()
	if epoch == 0 {
		return nil
	}
	t.forget()
	return at("release pipeline", t.env.Pipeline, t.control(ctx, func(c *pgconn.PgConn) error {
		_, err := exec(ctx, c, clearOwner, t.env.Pipeline, epoch)
		return err
	}))
}
