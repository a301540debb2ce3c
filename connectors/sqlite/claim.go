package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"syscall"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/filelock"
)

const claimOwner = `INSERT INTO penstock_owner (pipeline, epoch, owner, claimed_at) VALUES (?, 1, ?, ?)
ON CONFLICT (pipeline) DO UPDATE SET epoch = epoch + 1, owner = excluded.owner, claimed_at = excluded.claimed_at
RETURNING epoch`

// lockPath is one file a pipeline, so that several can load into one database.
func lockPath(db, pipeline string) string {
	return db + "." + url.PathEscape(strings.ReplaceAll(pipeline, string(os.PathSeparator), "_")) + ".lock"
}

// Claim locks the pipeline, creates the file and its state tables where they
// are absent, and raises the epoch of everything pending.
func (t *target) Claim(ctx context.Context, o connectors.Owner) (connectors.Claim, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, err := json.Marshal(o)
	if err != nil {
		return connectors.Claim{}, err
	}
	if err := checkFile(t.path, create); err != nil {
		return connectors.Claim{}, t.claiming(err)
	}
	if t.lock == nil {
		l, held, err := filelock.Take(lockPath(t.path, t.env.Pipeline), owner)
		switch {
		case errors.Is(err, filelock.ErrLocked):
			return connectors.Claim{}, t.held(held)
		case err != nil:
			return connectors.Claim{}, t.claiming(lockFailed(err))
		}
		t.lock = l
	}
	if err := t.raise(ctx, string(owner)); err != nil {
		_ = t.lock.Release() // err is what matters
		t.lock = nil
		return connectors.Claim{}, t.claiming(err)
	}
	failpoint.Hit("claim.after")
	return connectors.Claim{Epoch: t.epoch}, nil
}

// lockFailed classes an error of the lock file.
func lockFailed(err error) error {
	e := &connectors.Error{Class: connectors.Fatal, Err: err, Hint: "The claim is a file beside the database file."}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Class, e.Hint = connectors.Denied, "The folder of the database file must be writable: the claim is a file beside it."
	case errors.Is(err, syscall.ENOSPC):
		e.Class, e.Hint = connectors.Full, "Free space on the disk that holds the file, then run again."
	}
	return e
}

func (t *target) raise(ctx context.Context, owner string) error {
	c, err := t.connectTo(create)
	if err != nil {
		return err
	}
	return c.write(ctx, func() error {
		for _, s := range stateTables {
			if err := c.exec(ctx, s); err != nil {
				return err
			}
		}
		if _, err := c.query(ctx, claimOwner, []any{t.env.Pipeline, owner, now()}, func(s *stmt) error { t.epoch = s.int(0); return nil }); err != nil {
			return err
		}
		return c.exec(ctx, "UPDATE penstock_chunk SET epoch = ? WHERE pipeline = ? AND state = 'pending'", t.epoch, t.env.Pipeline)
	})
}

func (t *target) claiming(err error) error { return at("claim pipeline", t.env.Pipeline, err) }

func (t *target) held(text string) error {
	who := "another process"
	var o connectors.Owner
	if json.Unmarshal([]byte(text), &o) == nil && o.PID != 0 {
		who = fmt.Sprintf("process %d on %s, started %s (run %s)", o.PID, o.Host, o.Started, o.Run)
	}
	return &connectors.Error{Op: "claim pipeline", Table: t.env.Pipeline, Class: connectors.Held,
		Err:  fmt.Errorf("it is held by %s", who),
		Hint: "Wait for that run, or end it; its claim ends with its process."}
}

// Release gives the claim back.
func (t *target) Release(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lock
	t.lock, t.epoch = nil, 0
	return l.Release()
}
