package delimited

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/filelock"
)

// target is a folder of files, opened for one pipeline.
type target struct {
	dir    string
	config TargetConfig
	layout *layout
	env    connectors.Env

	mu     sync.Mutex
	lock   *filelock.Lock
	epoch  int64                  // 0 = not claimed
	tables map[string]*tableState // by source name; true while the epoch is ours
}

var _ connectors.Target = (*target)(nil)

// openTarget touches no file yet: the folder is made by the claim, so that a
// refused run leaves none behind.
func openTarget(_ context.Context, config any, env connectors.Env) (connectors.Target, error) {
	c := *config.(*TargetConfig)
	if p := checkTarget(&c); len(p) > 0 {
		return nil, at("open", p[0].Path, fmt.Errorf("%s", p[0].Detail))
	}
	l, err := newLayout(c.Form)
	if err != nil {
		return nil, at("open", "", err)
	}
	return &target{dir: resolve(env, c.Path), config: c, layout: l, env: env}, nil
}

func resolve(env connectors.Env, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(env.Dir, path)
}

// Finish makes the files of ranges that have none yet, and marks the table loaded
// once every chunk is done.
func (t *target) Finish(ctx context.Context, l connectors.Load) error {
	failpoint.Hit("finish.before")
	if err := t.assembleRest(ctx, l); err != nil {
		return at("finish", l.Table.Name, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.owned(ctx, func() error {
		s := t.tables[l.Source]
		if s == nil {
			return fmt.Errorf("its load was never begun")
		}
		if s.Loaded {
			return nil
		}
		if n := len(s.Chunks) - len(s.done); n > 0 {
			return fmt.Errorf("%d chunks are pending", n)
		}
		next := *s
		next.Loaded, next.UpdatedAt = true, now()
		if err := writeJSON(t.statePath(s.Name), &next); err != nil {
			return err
		}
		t.tables[l.Source] = &next
		return nil
	})
	if err != nil {
		return at("finish", l.Table.Name, err)
	}
	failpoint.Hit("finish.after")
	return nil
}

// owned runs f under the guard if this process still owns the pipeline. t.mu is
// held.
func (t *target) owned(ctx context.Context, f func() error) error {
	if t.epoch == 0 {
		return t.fence() // says that it is not claimed; the folder may not be there
	}
	return t.guard(ctx, func() error {
		if err := t.fence(); err != nil {
			return err
		}
		return f()
	})
}

// OpenLoad returns a writer of files.
func (t *target) OpenLoad(_ context.Context, l connectors.Load) (connectors.BulkWriter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.fence(); err != nil {
		return nil, at("open a writer for", l.Table.Name, err)
	}
	head, err := t.header(l.Columns)
	if err != nil {
		return nil, at("open a writer for", l.Table.Name, err)
	}
	return &writer{t: t, load: l, epoch: t.epoch, enc: newEncoder(t.layout, l.Columns), head: head}, nil
}

// Close ends the claim, if there is one.
func (t *target) Close() error { return t.Release(context.Background()) }

// Undo has nothing to put back: no load drops anything here.
func (t *target) Undo(context.Context, string, int) ([]connectors.Dropped, error) { return nil, nil }
