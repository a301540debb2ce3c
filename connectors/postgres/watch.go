package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// process is the server's end of a session.
type process struct {
	pid, started int64 // started as in backend_start, microseconds
	role         string
}

// What the server shows of a session.
const (
	ownProcess  = "SELECT pid, (extract(epoch FROM backend_start) * 1000000)::bigint FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_start IS NOT NULL"
	ofProcess   = " FROM pg_stat_activity WHERE pid = $1 AND (extract(epoch FROM backend_start) * 1000000)::bigint = $2"
	askProcess  = "SELECT coalesce(state, ''), coalesce(wait_event_type, ''), coalesce(wait_event, '')" + ofProcess
	endProcess  = "SELECT pg_terminate_backend(pid)" + ofProcess
	askBlockers = "SELECT pid, coalesce(usename::text, '?'), coalesce(nullif(application_name, ''), 'no name'), coalesce(state, 'state unknown') FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1)) ORDER BY xact_start LIMIT 1"
)

const (
	// seldom is how many silences are between two looks at a statement that goes on.
	seldom = 6
	// unanswered is how many new sessions in turn can't be had before the server
	// counts as gone.
	unanswered = 3
)

// watch begins to watch a new session: it looks, while the session's user waits
// and nothing arrives, whether the process at the server still works for it. No
// time-out of TCP sees a line whose other end is alive and has lost what was
// sent, as proxies and address translation have them.
func (s *server) watch(ctx context.Context, c *pgconn.PgConn, role string) error {
	p := process{role: s.name + role}
	ctx, cancel := context.WithTimeout(ctx, s.patience.connect)
	defer cancel()
	results, err := c.Exec(ctx, ownProcess).ReadAll()
	if err != nil {
		return err
	}
	// Whoever is not shown its own session waits without a watch.
	if len(results) == 0 || len(results[0].Rows) == 0 {
		return nil
	}
	row := results[0].Rows[0]
	p.pid, p.started = number(row[0]), number(row[1])

	conn := c.Conn()
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	w := conn.(*watched)
	watching, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	l := lineTo(c)
	go func() {
		defer close(done)
		if found := s.stall(watching, l, p); found != nil {
			l.broken.Store(found)
			_ = w.Conn.Close() // ends the wait
		}
	}()
	w.stop = func() { stop(); <-done }
	return nil
}

// stall returns what is wrong with a line when it finds that waiting is of no
// use, and nil when the watch ends.
func (s *server) stall(ctx context.Context, l *line, p process) *stallError {
	tick := time.NewTicker(s.patience.silence / 2)
	defer tick.Stop()
	var (
		last      int64     // waits that had ended at the last tick
		since     time.Time // of the silence
		quiet     int       // ticks that found nothing new
		next      int       // the tick of the next look
		failed    int       // looks in turn that got no answer
		toldBlock string
	)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if n := l.ended.Load(); n != last || l.waiting.Load() == 0 {
			last, since, quiet, next, failed, toldBlock = n, time.Now(), 0, 2, 0, ""
			l.blocker.Store(nil)
			continue
		}
		if quiet++; quiet < next {
			continue
		}
		still := func() bool { return l.ended.Load() == last && l.waiting.Load() > 0 && ctx.Err() == nil }
		found, err := s.ask(ctx, p, still)
		silent := time.Since(since).Round(time.Second)
		switch {
		case !still():
		case err != nil:
			var answered *pgconn.PgError
			if next = quiet + 1; errors.As(err, &answered) {
				break // a server that lives and has no room for the question
			}
			if failed++; failed == unanswered {
				return &stallError{fmt.Sprintf("nothing came from the server for %s, and it answers no new connection: %v", silent, err)}
			}
		case found.why != "":
			return &stallError{fmt.Sprintf("nothing came from the server for %s: %s", silent, found.why)}
		default:
			failed, next = 0, quiet+min(2*quiet, 2*seldom)
			if found.blocker == "" {
				break
			}
			l.blocker.Store(&found.blocker)
			if found.blocker != toldBlock {
				toldBlock = found.blocker
				s.say(fmt.Sprintf("session %s has waited for a lock for %s: %s holds it", p.role, silent, found.blocker))
			}
		}
	}
}

// found is what a look at a process has shown.
type found struct {
	why     string // waiting is of no use; "" = it works
	blocker string // who holds the lock that it waits for
}

// ask looks at the process on a session of its own. What speaks against it must
// be there twice: its answer may just have been on its way. One that waits for
// us is ended, so that it holds nothing.
func (s *server) ask(ctx context.Context, p process, still func() bool) (f found, err error) {
	c, err := s.open(ctx, roleWatch, nil)
	if err != nil {
		return f, err
	}
	defer closeNow(c)
	ctx, cancel := context.WithTimeout(ctx, s.patience.connect)
	defer cancel()
	for second := false; ; second = true {
		f, err = s.lookAt(ctx, c, p)
		if err != nil || f.why == "" || !still() {
			return f, err
		}
		if second {
			_, err = exec(ctx, c, endProcess, p.pid, p.started)
			return f, err
		}
		select {
		case <-ctx.Done():
			return f, ctx.Err()
		case <-time.After(s.patience.silence / 10):
		}
	}
}

// lookAt asks once.
func (s *server) lookAt(ctx context.Context, c *pgconn.PgConn, p process) (f found, err error) {
	f.why = fmt.Sprintf("its process %d for this session has ended, and the connection did not tell", p.pid)
	locked := false
	_, err = query(ctx, c, askProcess, func(r [][]byte) error {
		state, kind, event := string(r[0]), string(r[1]), string(r[2])
		switch {
		case state != "active" && state != "", kind == "Client" && (event == "ClientRead" || event == "ClientWrite"):
			f.why = fmt.Sprintf("its process %d waits for this program (%s, %s), which waits for it: something between them has lost what was sent", p.pid, state, event)
		default:
			f.why, locked = "", kind == "Lock"
		}
		return nil
	}, p.pid, p.started)
	if err != nil || !locked {
		return f, err
	}
	_, err = query(ctx, c, askBlockers, func(r [][]byte) error {
		f.blocker = fmt.Sprintf("process %s of %s (%s, %s)", r[0], r[1], r[2], r[3])
		return nil
	}, p.pid)
	return f, err
}
