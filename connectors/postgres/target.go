package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"penstock/connectors"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// target is an open target. Its control session serves the catalog, the claim
// and the state, and is what others know the owner by; every writer has a
// session of its own.
type target struct {
	server *server
	config TargetConfig
	env    connectors.Env

	epoch   atomic.Int64 // 0 = not claimed
	writers atomic.Int64 // made so far: each has a name of its own

	mu      sync.Mutex // guards the control session and its use
	session *pgconn.PgConn
	owns    bool // the owner's row names this session
	pulse   *pulse

	many   sync.Mutex     // guards across and its use
	across *pgconn.PgConn // of what concerns several lanes of a stream; nil until there is any, and when it was lost
}

var _ connectors.Target = (*target)(nil)

// openTarget connects once, so that what is wrong with the connection is told
// before anything else happens.
func (p patience) openTarget(ctx context.Context, config any, env connectors.Env) (connectors.Target, error) {
	c := *config.(*TargetConfig)
	if c.Schema == "" {
		c.Schema = "public"
	}
	s, err := newServer(c.Connection, p, env)
	if err != nil {
		return nil, err
	}
	// Names without a schema mean this one, and nothing else beside pg_catalog.
	s.settings["search_path"] = quote(c.Schema)
	if c.Triggers == "skip" {
		s.settings["session_replication_role"] = "replica"
	}
	t := &target{server: s, config: c, env: env}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.connect(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// connect opens the control session. t.mu is held.
func (t *target) connect(ctx context.Context) error {
	if t.session != nil && !t.session.IsClosed() {
		return nil
	}
	t.owns = false
	c, err := t.server.reconnect(ctx, t.session, roleControl, nil)
	if err == nil {
		t.session = c
	}
	return err
}

// renew makes a session that replaced a lost one the owner's, unless another
// has claimed the pipeline meanwhile. t.mu is held.
func (t *target) renew(ctx context.Context) error {
	if t.owns {
		return nil
	}
	n, err := exec(ctx, t.session, renewOwner, t.env.Pipeline, t.epoch.Load())
	switch {
	case err != nil:
		return err
	case n == 0:
		return t.fenced("its claim has another owner")
	}
	return t.own(ctx)
}

// own has the server end the session when it falls silent: a stopped owner must
// count as gone, and one that lives speaks. t.mu is held.
func (t *target) own(ctx context.Context) error {
	_, err := run(ctx, t.session, "SET idle_session_timeout = '30s'")
	t.owns = err == nil
	return err
}

// control runs f on the control session, once more on a new one where the
// session was lost: all that runs here does nothing a second time.
func (t *target) control(ctx context.Context, f func(c *pgconn.PgConn) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for again := false; ; again = true {
		if err := t.connect(ctx); err != nil {
			return err
		}
		err := f(t.session)
		if err == nil {
			return nil
		}
		rollback(t.session)
		if again || !isLost(t.session, err) {
			return err
		}
	}
}

// claimed is control for what only the owner may do.
func (t *target) claimed(ctx context.Context, f func(c *pgconn.PgConn) error) error {
	if t.epoch.Load() == 0 {
		return fmt.Errorf("pipeline %s is not claimed", t.env.Pipeline)
	}
	return t.control(ctx, func(c *pgconn.PgConn) error {
		if err := t.renew(ctx); err != nil {
			return err
		}
		return f(c)
	})
}

// Catalog reads the tables of the database.
func (t *target) Catalog(ctx context.Context) (cat *schema.Catalog, err error) {
	err = t.control(ctx, func(c *pgconn.PgConn) error {
		cat, err = readCatalog(ctx, c, t.config.Schema, targetTables)
		return err
	})
	return cat, t.server.at("read the catalog of", err)
}

// OpenLoad returns a writer with a session of its own.
func (t *target) OpenLoad(ctx context.Context, l connectors.Load) (connectors.BulkWriter, error) {
	if t.epoch.Load() == 0 {
		return nil, fmt.Errorf("pipeline %s is not claimed", t.env.Pipeline)
	}
	w, err := newWriter(t, l)
	if err == nil {
		err = w.connect(ctx)
	}
	if err != nil {
		return nil, at("open a writer for", l.Table.String(), err)
	}
	return w, nil
}

// Close ends the control session, and with it the claim if there is one.
func (t *target) Close() error {
	t.pulse.stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	closeNow(t.session)
	closeNow(t.across)
	t.session, t.across, t.pulse = nil, nil, nil
	t.epoch.Store(0)
	return nil
}

// pulse is the goroutine by which an idle session speaks.
type pulse struct {
	stopped context.CancelFunc
	done    chan struct{}
}

// pulseEvery is a sixth of the time after which the server ends a silent session.
const pulseEvery = 5 * time.Second

func beat(speak func(context.Context)) *pulse { return beatEvery(pulseEvery, speak) }

func beatEvery(every time.Duration, speak func(context.Context)) *pulse {
	ctx, stop := context.WithCancel(context.Background())
	p := &pulse{stopped: stop, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				speak(ctx)
			}
		}
	}()
	return p
}

// speak says something on the control session, unless it is in use. A session
// that was lost is opened anew at the next beat; what is wrong with it then is
// found by whoever uses it next.
func (t *target) speak(ctx context.Context) {
	if !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, pulseEvery)
	defer cancel()
	if t.session == nil || t.session.IsClosed() {
		if t.connect(ctx) == nil {
			_ = t.renew(ctx)
		}
		return
	}
	_, _ = run(ctx, t.session, "SELECT 1")
}

func (p *pulse) stop() {
	if p == nil {
		return
	}
	p.stopped()
	<-p.done
}
