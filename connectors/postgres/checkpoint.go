package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// A lane's row moves in the transaction of its changes, so half of each page is
// left for the versions that this makes. Its owner is the epoch of the claim that
// has it: a lane that claims itself again, and does not hear that it did, finds
// by it that nobody else has.
const (
	createCheckpoints = `CREATE TABLE IF NOT EXISTS penstock_checkpoint (
  pipeline text,
  lane integer,
  epoch bigint NOT NULL,
  owner bigint NOT NULL,
  source_id text NOT NULL,
  position bytea NOT NULL,
  resume bytea NOT NULL,
  changes bigint NOT NULL,
  commit_time bigint NOT NULL,
  digest text NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (pipeline, lane)
) WITH (fillfactor = 50)`
	checkpointColumns = "lane, epoch, source_id, position, resume, changes, commit_time, digest"
	insertCheckpoints = `INSERT INTO penstock_checkpoint (pipeline, lane, epoch, owner, source_id, position, resume, changes, commit_time, digest, updated_at)
SELECT $1, n, 0, 0, $3, $4::bytea, $5::bytea, CASE n WHEN 0 THEN $6::bigint ELSE 0 END, $7, $8, clock_timestamp() FROM generate_series(0, $2::integer - 1) AS n`
	claimCheckpoints   = "UPDATE penstock_checkpoint SET epoch = epoch + 1, owner = $2 WHERE pipeline = $1"
	selectCheckpoints  = "SELECT " + checkpointColumns + " FROM penstock_checkpoint WHERE pipeline = $1 ORDER BY lane FOR UPDATE"
	deleteCheckpoints  = "DELETE FROM penstock_checkpoint WHERE pipeline = $1"
	reclaimCheckpoint  = "UPDATE penstock_checkpoint SET epoch = epoch + 1, updated_at = clock_timestamp() WHERE pipeline = $1 AND lane = $2 AND epoch >= $3 AND owner = $4 RETURNING " + checkpointColumns
	advanceCheckpoints = `WITH idle AS (
  SELECT c.lane FROM penstock_checkpoint AS c JOIN unnest($2::integer[], $3::bigint[]) AS u(lane, epoch) USING (lane, epoch)
  WHERE c.pipeline = $1 AND c.position < $4::bytea ORDER BY c.lane FOR UPDATE OF c)
UPDATE penstock_checkpoint AS c SET position = $4::bytea, resume = $5::bytea, source_id = $6, commit_time = greatest(c.commit_time, $7::bigint), updated_at = clock_timestamp()
FROM idle WHERE c.pipeline = $1 AND c.lane = idle.lane RETURNING c.lane`

	// It raises where it moves no row: division_by_zero.
	moveCheckpoint = `WITH moved AS (UPDATE penstock_checkpoint SET position = $5::bytea, resume = $6::bytea, changes = $7::bigint, commit_time = $8::bigint, source_id = $9, updated_at = clock_timestamp()
WHERE pipeline = $1 AND lane = $2::integer AND epoch = $3::bigint AND position = $4::bytea RETURNING 1) SELECT 1 / (count(*) = 1)::integer FROM moved`
	divisionByZero = "22012"

	leastCheckpoint = "SELECT " + checkpointColumns + ", pg_current_wal_insert_lsn(), pg_postmaster_start_time() FROM penstock_checkpoint WHERE pipeline = $1 ORDER BY position LIMIT 1"
	isFlushed       = "SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn, pg_postmaster_start_time()"
)

var _ connectors.ApplyTarget = (*target)(nil)

// readCheckpoint reads a row of the columns in checkpointColumns.
func readCheckpoint(r [][]byte) (c connectors.Checkpoint, err error) {
	c = connectors.Checkpoint{Lane: int(number(r[0])), Epoch: number(r[1]), Source: string(r[2]), Changes: number(r[5]), Commit: number(r[6]), Digest: string(r[7])}
	if c.Position, err = unhex(r[3]); err == nil {
		c.Resume, err = unhex(r[4])
	}
	return c, err
}

// unhex reads a bytea as the server writes it.
func unhex(b []byte) ([]byte, error) {
	s, ok := strings.CutPrefix(string(b), `\x`)
	out, err := hex.DecodeString(s)
	if !ok || err != nil {
		return nil, spoilt(fmt.Errorf("%.40q is no bytea", b))
	}
	return out, nil
}

func asHex(b []byte) string { return `\x` + hex.EncodeToString(b) }

// Checkpoints makes the lanes' rows and claims them.
func (t *target) Checkpoints(ctx context.Context, lanes int, start connectors.Checkpoint) (out []connectors.Checkpoint, err error) {
	err = t.claimed(ctx, func(c *pgconn.PgConn) error {
		return transaction(ctx, c, func() (err error) {
			out, err = t.checkpoints(ctx, c, lanes, start)
			return err
		})
	})
	return out, at("claim the lanes of", t.env.Pipeline, err)
}

func (t *target) checkpoints(ctx context.Context, c *pgconn.PgConn, lanes int, start connectors.Checkpoint) ([]connectors.Checkpoint, error) {
	if err := t.fence(ctx, c); err != nil {
		return nil, err
	}
	if _, err := run(ctx, c, lockState); err != nil {
		return nil, err
	}
	if _, err := run(ctx, c, createCheckpoints); err != nil {
		return nil, err
	}
	have, err := t.readCheckpoints(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(have) != lanes || have[0].Digest != start.Digest {
		if len(have) > 0 {
			if start, err = t.recut(ctx, c, have, lanes, start.Digest); err != nil {
				return nil, err
			}
		}
		if _, err := exec(ctx, c, insertCheckpoints, t.env.Pipeline, lanes, start.Source, asHex(start.Position), asHex(start.Resume), start.Changes, start.Commit, start.Digest); err != nil {
			return nil, err
		}
	}
	if _, err := exec(ctx, c, claimCheckpoints, t.env.Pipeline, t.epoch.Load()); err != nil {
		return nil, err
	}
	return t.readCheckpoints(ctx, c)
}

// recut takes the rows of lanes that were dealt otherwise away. Keys change their
// lanes then, which goes only where all lanes have done the same.
func (t *target) recut(ctx context.Context, c *pgconn.PgConn, have []connectors.Checkpoint, lanes int, digest string) (connectors.Checkpoint, error) {
	start := have[0]
	start.Digest = digest
	for _, h := range have[1:] {
		if h.Position.Compare(start.Position) != 0 {
			return start, &connectors.Error{Class: connectors.Schema,
				Err:  fmt.Errorf("its %d lanes stand at different positions, and %d with keys dealt otherwise are wanted", len(have), lanes),
				Hint: "Run it as it was (workers, order, keys, ranges, tables) with --until now: its lanes then stand at one position. After that it can be changed."}
		}
		start.Changes += h.Changes
		start.Commit = max(start.Commit, h.Commit)
	}
	_, err := exec(ctx, c, deleteCheckpoints, t.env.Pipeline)
	return start, err
}

func (t *target) readCheckpoints(ctx context.Context, c *pgconn.PgConn) (out []connectors.Checkpoint, err error) {
	_, err = query(ctx, c, selectCheckpoints, func(r [][]byte) error {
		k, err := readCheckpoint(r)
		out = append(out, k)
		return err
	}, t.env.Pipeline)
	return out, err
}

// alone runs f on the session of what concerns several lanes. Once it is lost
// the next use says so, and only the one after it opens another: in between the
// engine reads the rows again.
func (t *target) alone(ctx context.Context, f func(c *pgconn.PgConn) error) error {
	t.many.Lock()
	defer t.many.Unlock()
	if t.across == nil {
		c, err := t.server.connect(ctx, roleLanes, laneSettings)
		if err != nil {
			return err
		}
		t.across = c
	}
	err := f(t.across)
	if err != nil {
		rollback(t.across)
		if t.across.IsClosed() {
			t.across = nil
		}
	}
	return err
}

// Advance moves idle lanes' rows, in one statement.
func (t *target) Advance(ctx context.Context, lanes []connectors.Checkpoint, to connectors.Checkpoint) (moved []int, err error) {
	var ids, epochs []string
	for _, l := range lanes {
		ids, epochs = append(ids, strconv.Itoa(l.Lane)), append(epochs, strconv.FormatInt(l.Epoch, 10))
	}
	list := func(s []string) string { return "{" + strings.Join(s, ",") + "}" }
	err = t.alone(ctx, func(c *pgconn.PgConn) error {
		_, err := query(ctx, c, advanceCheckpoints, func(r [][]byte) error { moved = append(moved, int(number(r[0]))); return nil },
			t.env.Pipeline, list(ids), list(epochs), asHex(to.Position), asHex(to.Resume), to.Source, to.Commit)
		return err
	})
	return moved, at("move idle lanes of", t.env.Pipeline, err)
}

// moveArgs are the parameters of moveCheckpoint.
func (t *target) moveArgs(from, to connectors.Checkpoint) []any {
	return []any{t.env.Pipeline, from.Lane, from.Epoch, asHex(from.Position), asHex(to.Position), asHex(to.Resume), to.Changes, to.Commit, to.Source}
}

// notMoved says why a lane's row was not where it was taken to be.
func (t *target) notMoved(ctx context.Context, from connectors.Checkpoint) error {
	var now *connectors.Checkpoint
	err := t.control(ctx, func(c *pgconn.PgConn) error {
		_, err := query(ctx, c, "SELECT "+checkpointColumns+" FROM penstock_checkpoint WHERE pipeline = $1 AND lane = $2", func(r [][]byte) error {
			k, err := readCheckpoint(r)
			now = &k
			return err
		}, t.env.Pipeline, from.Lane)
		return err
	})
	switch {
	case err != nil:
		return err
	case now == nil:
		return t.fenced("its checkpoints are gone")
	case now.Epoch != from.Epoch:
		return t.fenced(fmt.Sprintf("this run holds epoch %d of lane %d, its row says %d", from.Epoch, from.Lane, now.Epoch))
	}
	return &connectors.Error{Op: "apply", Table: t.env.Pipeline, Class: connectors.LostPosition, Position: now.Position,
		Err:  fmt.Errorf("lane %d was taken to stand at %s, and its row does not", from.Lane, from.Position),
		Hint: "Somebody has changed penstock_checkpoint. Load the tables again."}
}

// Flushed returns the row of the lane that is furthest behind, once what the
// server has written up to now can't be lost. Places in its log come again after
// a crash, so the server must be the same one at both looks.
func (t *target) Flushed(ctx context.Context) (least connectors.Checkpoint, err error) {
	err = t.control(ctx, func(c *pgconn.PgConn) error {
		for {
			var lsn, started string
			if _, err := query(ctx, c, leastCheckpoint, func(r [][]byte) (err error) {
				lsn, started = string(r[8]), string(r[9])
				least, err = readCheckpoint(r)
				return err
			}, t.env.Pipeline); err != nil {
				return err
			}
			if lsn == "" {
				return t.fenced("its checkpoints are gone")
			}
			for flushed, same := false, true; same; {
				if _, err := query(ctx, c, isFlushed, func(r [][]byte) error { flushed, same = isTrue(r[0]), string(r[1]) == started; return nil }, lsn); err != nil {
					return err
				}
				if flushed && same {
					return nil
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(20 * time.Millisecond): // the server writes its log at least every 200 ms
				}
			}
		}
	})
	return least, at("read what is flushed of", t.env.Pipeline, err)
}

// isState reports an error with this SQLSTATE.
func isState(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}
