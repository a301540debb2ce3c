package delimited

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/filelock"
)

// guard runs f while no other process, and no other target of this one, changes
// what is in the folder. It is what a transaction is elsewhere: a claim comes
// before a commit or after it, never into it. It is held for a rename and a
// line, not while rows are written.
func (t *target) guard(ctx context.Context, f func() error) error {
	path := filepath.Join(t.dir, stateDir, "guard")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // which unlocks it; the file stays
	for {
		err := filelock.Try(file)
		if err == nil {
			return f()
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Claim locks the pipeline, creates the folder where it is absent, raises the
// epoch, and brings to an end what a killed owner was in the middle of.
func (t *target) Claim(ctx context.Context, o connectors.Owner) (connectors.Claim, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, err := json.Marshal(o)
	if err != nil {
		return connectors.Claim{}, err
	}
	claiming := func(err error) error { return at("claim pipeline", t.env.Pipeline, err) }
	for _, dir := range []string{t.dir, filepath.Join(t.dir, stateDir), t.state(), filepath.Join(t.dir, stateDir, tablesDir)} {
		mode := os.FileMode(0o700)
		if dir == t.dir {
			mode = 0o777 // the rows are the owner's to show
		}
		if err := os.MkdirAll(dir, mode); err != nil {
			return connectors.Claim{}, claiming(err)
		}
	}
	if t.lock == nil {
		l, held, err := filelock.Take(t.lockPath(), owner)
		if errors.Is(err, filelock.ErrLocked) {
			return connectors.Claim{}, t.held(held)
		}
		if err != nil {
			return connectors.Claim{}, claiming(err)
		}
		t.lock = l
	}
	err = t.guard(ctx, func() error {
		epoch, err := t.readEpoch()
		if err != nil {
			return err
		}
		if err := writeJSON(filepath.Join(t.state(), ownerFile), ownerState{Epoch: epoch + 1, Owner: owner}); err != nil {
			return err
		}
		t.epoch = epoch + 1
		return t.recover()
	})
	if err != nil {
		_ = t.lock.Release() // err is what matters
		t.lock, t.epoch = nil, 0
		return connectors.Claim{}, claiming(err)
	}
	failpoint.Hit("claim.after")
	return connectors.Claim{Epoch: t.epoch}, nil
}

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

// fence makes sure that this process still owns the pipeline.
func (t *target) fence() error {
	if t.epoch == 0 {
		return fmt.Errorf("pipeline %s is not claimed", t.env.Pipeline)
	}
	epoch, err := t.readEpoch()
	if err != nil {
		return err
	}
	if epoch != t.epoch {
		return t.fenced(fmt.Sprintf("this run holds epoch %d, the folder says %d", t.epoch, epoch))
	}
	return nil
}

func (t *target) fenced(why string) error {
	return &connectors.Error{Op: "pipeline", Table: t.env.Pipeline, Class: connectors.Fenced, Err: fmt.Errorf("another run has taken it over: %s", why), Hint: "Let that run finish; this one may be started again afterwards."}
}

// Release gives the claim back.
func (t *target) Release(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lock
	t.lock, t.epoch = nil, 0
	return l.Release()
}
