package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/internal/ranges"
)

// The state tables. They live in the target's file, so that a chunk's rows and
// its marker are one transaction.
var stateTables = []string{
	`CREATE TABLE IF NOT EXISTS penstock_owner (
  pipeline TEXT NOT NULL PRIMARY KEY,
  epoch INTEGER NOT NULL,
  owner TEXT NOT NULL,
  claimed_at TEXT NOT NULL
)`,
	// had_rows: rows were there before the first generation, which a restart must
	// not take. created: the load made the table.
	`CREATE TABLE IF NOT EXISTS penstock_table (
  pipeline TEXT NOT NULL,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  digest TEXT NOT NULL,
  definition TEXT NOT NULL,
  point TEXT NOT NULL,
  state TEXT NOT NULL,
  had_rows INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (pipeline, name)
)`,
	`CREATE TABLE IF NOT EXISTS penstock_chunk (
  pipeline TEXT NOT NULL,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  "range" INTEGER NOT NULL,
  part INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  lo TEXT,
  hi TEXT,
  estimate INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  state TEXT NOT NULL,
  rows INTEGER NOT NULL,
  bad_rows INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (pipeline, name, generation, chunk)
)`,
}

const (
	selectOwner  = "SELECT epoch FROM penstock_owner WHERE pipeline = ?"
	selectMarker = "SELECT state, epoch FROM penstock_chunk WHERE pipeline = ? AND name = ? AND generation = ? AND chunk = ?"
	markDone     = "UPDATE penstock_chunk SET state = 'done', rows = ?, bad_rows = ?, updated_at = ? WHERE pipeline = ? AND name = ? AND generation = ? AND chunk = ? AND epoch = ? AND state = 'pending'"
	insertChunk  = `INSERT INTO penstock_chunk (pipeline, name, generation, chunk, "range", part, parts, lo, hi, estimate, epoch, state, rows, bad_rows, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?)`
	upsertTable  = `INSERT INTO penstock_table (pipeline, name, generation, digest, definition, point, state, had_rows, created, updated_at) VALUES (?, ?, ?, ?, ?, ?, 'loading', ?, ?, ?)
ON CONFLICT (pipeline, name) DO UPDATE SET generation = excluded.generation, digest = excluded.digest, definition = excluded.definition, point = excluded.point, state = excluded.state, had_rows = excluded.had_rows, created = excluded.created, updated_at = excluded.updated_at`
	selectTables = "SELECT name, generation, digest, definition, point, state, updated_at, created FROM penstock_table WHERE pipeline = ?"
	selectChunks = `SELECT name, generation, chunk, "range", part, parts, lo, hi, estimate, state, rows, bad_rows FROM penstock_chunk WHERE pipeline = ? ORDER BY name, chunk`
)

func isStateTable(lower string) bool {
	switch lower {
	case "penstock_owner", "penstock_table", "penstock_chunk", "penstock_script", "penstock_checkpoint":
		return true
	}
	return false
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// State reads what earlier runs have done. A file, or state tables, that are
// not there yet are an empty state.
func (t *target) State(ctx context.Context) (connectors.State, error) {
	st := connectors.State{Tables: map[string]*connectors.TableState{}}
	if _, err := os.Stat(t.path); os.IsNotExist(err) {
		return st, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.connect()
	if err != nil {
		return st, at("read the state of", t.env.Pipeline, err)
	}
	if ok, err := hasState(ctx, c); err != nil || !ok {
		return st, at("read the state of", t.env.Pipeline, err)
	}
	// One transaction, so that tables and chunks are of the same moment.
	if err := c.exec(ctx, "BEGIN"); err != nil {
		return st, err
	}
	defer func() { _ = c.rollback() }()
	if err := readTables(ctx, c, t.env.Pipeline, st); err != nil {
		return st, at("read the state of", t.env.Pipeline, err)
	}
	return st, at("read the state of", t.env.Pipeline, readChunks(ctx, c, t.env.Pipeline, st))
}

func hasState(ctx context.Context, c *conn) (bool, error) {
	n := 0
	_, err := c.query(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('penstock_owner', 'penstock_table', 'penstock_chunk')", nil, func(*stmt) error { n++; return nil })
	return n == len(stateTables), err
}

func readTables(ctx context.Context, c *conn, pipeline string, st connectors.State) error {
	_, err := c.query(ctx, selectTables, []any{pipeline}, func(s *stmt) error {
		ts := &connectors.TableState{Generation: int(s.int(1)), Digest: s.text(2), Definition: s.text(3), Loaded: s.text(5) == "loaded", UpdatedAt: s.text(6), Created: s.int(7) != 0}
		if p := s.text(4); p != "" {
			if err := ts.Point.UnmarshalText([]byte(p)); err != nil {
				return spoilt(c, err)
			}
		}
		st.Tables[s.text(0)] = ts
		return nil
	})
	return err
}

func readChunks(ctx context.Context, c *conn, pipeline string, st connectors.State) error {
	_, err := c.query(ctx, selectChunks, []any{pipeline}, func(s *stmt) error {
		ts := st.Tables[s.text(0)]
		if ts == nil || ts.Generation != int(s.int(1)) {
			return nil
		}
		k := connectors.ChunkState{
			Chunk: ranges.Chunk{ID: int(s.int(2)), Range: int(s.int(3)), Part: int(s.int(4)), Parts: int(s.int(5)), Rows: s.int(8)},
			Done:  s.text(9) == "done", Rows: s.int(10), BadRows: s.int(11),
		}
		for i, e := range []*ranges.Edge{&k.Lo, &k.Hi} {
			if b := s.bytes(6 + i); b != nil {
				if err := json.Unmarshal(b, e); err != nil {
					return spoilt(c, err)
				}
			}
		}
		ts.Chunks = append(ts.Chunks, k)
		return nil
	})
	return err
}

func spoilt(c *conn, err error) error {
	return openError(c.path, fmt.Sprintf("the state tables can't be read: %v", err), "Someone changed them: drop the rows of this pipeline from penstock_table and penstock_chunk, then load again.")
}

// edgeText is an edge as it is stored; nil for an open end.
func edgeText(e ranges.Edge) any {
	if e == nil {
		return nil
	}
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // strings and kinds always marshal
	}
	return string(b)
}

// storeChunks replaces the pipeline's markers of one table by pending ones.
func storeChunks(ctx context.Context, c *conn, pipeline, table string, epoch int64, s connectors.Start) error {
	if err := c.exec(ctx, "DELETE FROM penstock_chunk WHERE pipeline = ? AND name = ?", pipeline, table); err != nil {
		return err
	}
	ins, err := c.prepare(insertChunk)
	if err != nil {
		return err
	}
	defer ins.close()
	at := now()
	for _, k := range s.Chunks {
		if _, err := ins.run(ctx, []any{pipeline, table, s.Generation, k.ID, k.Range, k.Part, k.Parts, edgeText(k.Lo), edgeText(k.Hi), k.Rows, epoch, at}, nil); err != nil {
			return err
		}
	}
	return nil
}

// fence makes sure, inside a transaction, that this process still owns the pipeline.
func (t *target) fence(ctx context.Context, c *conn) error {
	epoch := int64(-1)
	if _, err := c.query(ctx, selectOwner, []any{t.env.Pipeline}, func(s *stmt) error { epoch = s.int(0); return nil }); err != nil {
		if strings.Contains(err.Error(), "no such table") {
			return t.fenced("its state tables are gone")
		}
		return err
	}
	if epoch != t.epoch {
		return t.fenced(fmt.Sprintf("this run holds epoch %d, the file says %d", t.epoch, epoch))
	}
	return nil
}

func (t *target) fenced(why string) error {
	return &connectors.Error{Op: "pipeline", Table: t.env.Pipeline, Class: connectors.Fenced, Err: fmt.Errorf("another run has taken it over: %s", why), Hint: "Let that run finish; this one may be started again afterwards."}
}
