package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// The state tables. They live in the target's own schema, so that a chunk's
// rows and its marker are one transaction.
var stateTables = []string{
	// pid and backend_start are of the owner's control session; 0 = nobody.
	`CREATE TABLE IF NOT EXISTS penstock_owner (
  pipeline text PRIMARY KEY,
  epoch bigint NOT NULL,
  owner text NOT NULL,
  pid integer NOT NULL,
  backend_start bigint NOT NULL,
  claimed_at timestamptz NOT NULL
)`,
	// had_rows: rows were there before the first generation, which a restart must
	// not take. created: the load made the table.
	`CREATE TABLE IF NOT EXISTS penstock_table (
  pipeline text,
  name text,
  generation integer NOT NULL,
  digest text NOT NULL,
  definition text NOT NULL,
  point text NOT NULL,
  state text NOT NULL,
  had_rows boolean NOT NULL,
  created boolean NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (pipeline, name)
)`,
	`CREATE TABLE IF NOT EXISTS penstock_chunk (
  pipeline text,
  name text,
  generation integer,
  chunk integer,
  range integer NOT NULL,
  part integer NOT NULL,
  parts integer NOT NULL,
  lo json,
  hi json,
  estimate bigint NOT NULL,
  epoch bigint NOT NULL,
  state text NOT NULL,
  rows bigint NOT NULL,
  bad_rows bigint NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (pipeline, name, generation, chunk)
)`,
	`CREATE TABLE IF NOT EXISTS penstock_script (
  pipeline text,
  name text,
  generation integer NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (pipeline, name)
)`,
	// The DDL journal: what was dropped, or not yet made, for a load. A line is
	// written in the transaction that drops, and taken out in the one that makes
	// the last of it. definition is what to run by hand; object is what Penstock
	// reads. made: an index is built and its constraint is not there yet, or a
	// foreign key is there and its rows are not checked yet.
	`CREATE TABLE IF NOT EXISTS penstock_ddl (
  pipeline text,
  name text,
  ordinal integer,
  kind text NOT NULL,
  on_table text NOT NULL,
  object_name text NOT NULL,
  definition text NOT NULL,
  object json NOT NULL,
  made boolean NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (pipeline, name, ordinal)
)`,
}

const (
	countState = "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r' AND relname IN ('penstock_owner', 'penstock_table', 'penstock_chunk', 'penstock_script', 'penstock_ddl')"
	// One makes the tables: IF NOT EXISTS does not keep two from trying at once.
	lockState    = "SELECT pg_advisory_xact_lock(hashtextextended('penstock state', 0))"
	selectMarker = "SELECT state, epoch FROM penstock_chunk WHERE pipeline = $1 AND name = $2 AND generation = $3 AND chunk = $4 FOR UPDATE"
	markDone     = "UPDATE penstock_chunk SET state = 'done', rows = $1, bad_rows = $2, updated_at = clock_timestamp() WHERE pipeline = $3 AND name = $4 AND generation = $5 AND chunk = $6 AND epoch = $7 AND state = 'pending'"
	insertChunks = `INSERT INTO penstock_chunk (pipeline, name, generation, chunk, range, part, parts, lo, hi, estimate, epoch, state, rows, bad_rows, updated_at)
SELECT $1, $2, $3, id, range, coalesce(part, 0), coalesce(parts, 0), lo, hi, coalesce(rows, 0), $4, 'pending', 0, 0, clock_timestamp()
FROM json_to_recordset($5) AS c(id integer, range integer, part integer, parts integer, lo json, hi json, rows bigint)`
	deleteChunks = "DELETE FROM penstock_chunk WHERE pipeline = $1 AND name = $2"
	upsertTable  = `INSERT INTO penstock_table (pipeline, name, generation, digest, definition, point, state, had_rows, created, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 'loading', $7, $8, clock_timestamp())
ON CONFLICT (pipeline, name) DO UPDATE SET generation = excluded.generation, digest = excluded.digest, definition = excluded.definition, point = excluded.point, state = excluded.state, had_rows = excluded.had_rows, created = excluded.created, updated_at = excluded.updated_at`
	selectTables = `SELECT name, generation, digest, definition, point, state, to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), created FROM penstock_table WHERE pipeline = $1`
	selectChunks = "SELECT name, generation, chunk, range, part, parts, lo, hi, estimate, state, rows, bad_rows FROM penstock_chunk WHERE pipeline = $1 ORDER BY name, chunk"
)

func isStateTable(name string) bool {
	switch name {
	case "penstock_owner", "penstock_table", "penstock_chunk", "penstock_script", "penstock_ddl", "penstock_checkpoint":
		return true
	}
	return false
}

// hasState reports whether the state tables are there.
func (t *target) hasState(ctx context.Context, c *pgconn.PgConn) (bool, error) {
	n := int64(0)
	_, err := query(ctx, c, countState, func(r [][]byte) error { n = number(r[0]); return nil }, quote(t.config.Schema))
	return n == int64(len(stateTables)), err
}

// State reads what earlier runs have done, in one transaction, so that tables
// and chunks are of the same moment.
func (t *target) State(ctx context.Context) (connectors.State, error) {
	var st connectors.State
	err := t.control(ctx, func(c *pgconn.PgConn) error {
		st = connectors.State{Tables: map[string]*connectors.TableState{}}
		if ok, err := t.hasState(ctx, c); err != nil || !ok {
			return err
		}
		if _, err := run(ctx, c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
			return err
		}
		defer rollback(c)
		if err := readTables(ctx, c, t.env.Pipeline, st); err != nil {
			return err
		}
		if err := readChunks(ctx, c, t.env.Pipeline, st); err != nil {
			return err
		}
		if err := t.readStream(ctx, c, &st); err != nil {
			return err
		}
		lines, err := readJournal(ctx, c, ofPipeline, t.env.Pipeline)
		for _, l := range lines {
			st.Dropped = append(st.Dropped, t.dropped(l))
		}
		return err
	})
	return st, at("read the state of", t.env.Pipeline, err)
}

const selectHolder = `SELECT o.owner, o.epoch, to_char(o.claimed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.pid = o.pid AND (a.backend_start IS NULL OR (extract(epoch FROM a.backend_start) * 1000000)::bigint = o.backend_start))
FROM penstock_owner AS o WHERE o.pipeline = $1 AND o.pid <> 0`

// readStream reads who has the pipeline, and its checkpoints where a stream has
// made their table.
func (t *target) readStream(ctx context.Context, c *pgconn.PgConn, st *connectors.State) error {
	if _, err := query(ctx, c, selectHolder, func(r [][]byte) error {
		h := &connectors.Holder{Epoch: number(r[1]), Since: string(r[2]), Living: isTrue(r[3])}
		if err := json.Unmarshal(r[0], &h.Owner); err != nil {
			return spoilt(err)
		}
		st.Holder = h
		return nil
	}, t.env.Pipeline); err != nil {
		return err
	}
	there, err := exists(ctx, c, schema.Name{Name: "penstock_checkpoint"})
	if err != nil || !there {
		return err
	}
	_, err = query(ctx, c, "SELECT "+checkpointColumns+" FROM penstock_checkpoint WHERE pipeline = $1 ORDER BY lane", func(r [][]byte) error {
		k, err := readCheckpoint(r)
		st.Lanes = append(st.Lanes, k)
		return err
	}, t.env.Pipeline)
	return err
}

func readTables(ctx context.Context, c *pgconn.PgConn, pipeline string, st connectors.State) error {
	_, err := query(ctx, c, selectTables, func(r [][]byte) error {
		ts := &connectors.TableState{Generation: int(number(r[1])), Digest: string(r[2]), Definition: string(r[3]), Loaded: string(r[5]) == "loaded", UpdatedAt: string(r[6]), Created: isTrue(r[7])}
		if len(r[4]) > 0 {
			if err := ts.Point.UnmarshalText(r[4]); err != nil {
				return spoilt(err)
			}
		}
		st.Tables[string(r[0])] = ts
		return nil
	}, pipeline)
	return err
}

func readChunks(ctx context.Context, c *pgconn.PgConn, pipeline string, st connectors.State) error {
	_, err := query(ctx, c, selectChunks, func(r [][]byte) error {
		ts := st.Tables[string(r[0])]
		if ts == nil || ts.Generation != int(number(r[1])) {
			return nil
		}
		k := connectors.ChunkState{
			Chunk: ranges.Chunk{ID: int(number(r[2])), Range: int(number(r[3])), Part: int(number(r[4])), Parts: int(number(r[5])), Rows: number(r[8])},
			Done:  string(r[9]) == "done", Rows: number(r[10]), BadRows: number(r[11]),
		}
		for i, e := range []*ranges.Edge{&k.Lo, &k.Hi} {
			if b := r[6+i]; b != nil {
				if err := json.Unmarshal(b, e); err != nil {
					return spoilt(err)
				}
			}
		}
		ts.Chunks = append(ts.Chunks, k)
		return nil
	}, pipeline)
	return err
}

func spoilt(err error) error {
	return &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("the state tables can't be read: %w", err),
		Hint: "Someone changed them: drop the rows of this pipeline from penstock_table and penstock_chunk, then load again."}
}

// storeChunks replaces the pipeline's markers of one table by pending ones.
func storeChunks(ctx context.Context, c *pgconn.PgConn, pipeline, table string, epoch int64, s connectors.Start) error {
	if _, err := exec(ctx, c, deleteChunks, pipeline, table); err != nil {
		return err
	}
	list, err := json.Marshal(s.Chunks)
	if err != nil {
		panic(err) // strings, numbers and kinds always marshal
	}
	if len(s.Chunks) == 0 {
		return nil
	}
	_, err = exec(ctx, c, insertChunks, pipeline, table, s.Generation, epoch, list)
	return err
}

// fence makes sure, inside a transaction, that this process still owns the
// pipeline, and that it stays so until the transaction ends.
func (t *target) fence(ctx context.Context, c *pgconn.PgConn) error {
	epoch := int64(-1)
	if _, err := query(ctx, c, "SELECT epoch FROM penstock_owner WHERE pipeline = $1 FOR SHARE", func(r [][]byte) error { epoch = number(r[0]); return nil }, t.env.Pipeline); err != nil {
		return err
	}
	if mine := t.epoch.Load(); epoch != mine {
		return t.fenced(fmt.Sprintf("this run holds epoch %d, the database says %d", mine, epoch))
	}
	return nil
}

func (t *target) fenced(why string) error {
	return &connectors.Error{Op: "pipeline", Table: t.env.Pipeline, Class: connectors.Fenced, Err: fmt.Errorf("another run has taken it over: %s", why), Hint: "Let that run finish; this one may be started again afterwards."}
}
