package postgres

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// Begin starts a table's generation, in one transaction.
func (t *target) Begin(ctx context.Context, l connectors.Load, s connectors.Start) error {
	failpoint.Hit("begin.before")
	err := t.claimed(ctx, func(c *pgconn.PgConn) error {
		return transaction(ctx, c, func() error {
			if err := t.fence(ctx, c); err != nil {
				return err
			}
			had, err := t.prepareTable(ctx, c, l, s)
			if err != nil {
				return err
			}
			if _, err := exec(ctx, c, upsertTable, t.env.Pipeline, l.Source, s.Generation, l.Digest, l.Definition, s.Point.String(), had, s.Created); err != nil {
				return err
			}
			return storeChunks(ctx, c, t.env.Pipeline, l.Source, t.epoch.Load(), s)
		})
	})
	if err != nil {
		return at("begin", l.Table.String(), err)
	}
	failpoint.Hit("begin.after")
	return nil
}

// prepareTable runs the plan's statements and checks what they leave. had is
// set when rows stood in the table before the load's first generation.
func (t *target) prepareTable(ctx context.Context, c *pgconn.PgConn, l connectors.Load, s connectors.Start) (had bool, err error) {
	there, err := exists(ctx, c, l.Table)
	if err != nil {
		return false, err
	}
	// What refers to the table goes first: it can't be emptied under it.
	if err := t.takeAway(ctx, c, l); err != nil {
		return false, err
	}
	if there {
		if had, err = t.emptyForRestart(ctx, c, l, s); err != nil {
			return false, err
		}
	}
	if err := t.unmake(ctx, c, l); err != nil {
		return false, err
	}
	skip, follows := map[string]bool{}, followed(l, s.Positions)
	for _, o := range carriedForeign(l) {
		skip[dropCarried(l, o).SQL] = true
	}
	if there {
		maps.Copy(skip, newOnly(l))
	}
	dropping, statements := drops(l)
	at := map[string]schema.Object{}
	for i, s := range statements {
		at[s.SQL] = dropping[i]
	}
	var list []object
	var gone map[schema.Name]bool // nil: what is dropped has not been read yet
	write := func(what []object) error {
		list = what
		if failpoint.Off("journal") {
			return nil
		}
		return t.journal(ctx, c, l.Source, list...)
	}
	for _, sql := range l.Prepare {
		if next, ok := follows[sql]; ok {
			if next != "" {
				if _, err := run(ctx, c, next); err != nil {
					return false, err
				}
			}
			continue
		}
		if skip[sql] {
			continue
		}
		if deferred(l) && sql == dropAgain(l).SQL {
			// A table that is there in its first generation is someone else's, made
			// since the plan: what it has stays.
			if there && s.Created && s.Generation > 1 {
				if err := t.clear(ctx, c, l, write); err != nil {
					return false, err
				}
			}
			continue
		}
		if o, ok := at[sql]; ok {
			if gone == nil {
				var what []object
				if what, gone, err = t.aboutToDrop(ctx, c, l); err != nil {
					return false, err
				}
				if err := write(what); err != nil {
					return false, err
				}
			}
			if gone[schema.Name{Schema: on(l, o).String(), Name: o.Name}] {
				continue // an earlier generation dropped it
			}
		}
		found, err := run(ctx, c, sql)
		if err != nil {
			return false, err
		}
		if found && strings.HasPrefix(sql, "SELECT") {
			return false, &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("table %s has rows already", l.Table),
				Hint: `Write existing = "truncate" to empty it first, or existing = "append" to add to it.`}
		}
	}
	if err := t.journalMade(ctx, c, l); err != nil {
		return false, err
	}
	if failpoint.Off("journal") {
		if err := commit(ctx, c); err != nil {
			return false, err
		}
	}
	failpoint.Hit("begin.dropped")
	if failpoint.Off("journal") {
		if err := begin(ctx, c); err != nil {
			return false, err
		}
		if err := t.journal(ctx, c, l.Source, list...); err != nil {
			return false, err
		}
	}
	return had, checkColumns(ctx, c, l)
}

func exists(ctx context.Context, c *pgconn.PgConn, n schema.Name) (there bool, err error) {
	_, err = query(ctx, c, "SELECT to_regclass($1) IS NOT NULL", func(r [][]byte) error { there = isTrue(r[0]); return nil }, quoteName(n))
	return there, err
}

// emptyForRestart takes the rows of an unfinished generation away. Rows that an
// append found in the table can't be told from those it brought, so such a
// table is left alone unless nothing was brought.
func (t *target) emptyForRestart(ctx context.Context, c *pgconn.PgConn, l connectors.Load, s connectors.Start) (had bool, err error) {
	name := quoteName(l.Table)
	if !s.Restart {
		if l.Existing != connectors.ExistingAppend {
			return false, nil // they are refused or emptied
		}
		return run(ctx, c, "SELECT 1 FROM "+name+" LIMIT 1")
	}
	if _, err := query(ctx, c, "SELECT had_rows FROM penstock_table WHERE pipeline = $1 AND name = $2", func(r [][]byte) error { had = isTrue(r[0]); return nil }, t.env.Pipeline, l.Source); err != nil {
		return false, err
	}
	if !had {
		_, err := run(ctx, c, "TRUNCATE TABLE "+name)
		return false, err
	}
	brought := false
	if _, err := query(ctx, c, "SELECT 1 FROM penstock_chunk WHERE pipeline = $1 AND name = $2 AND state = 'done' AND rows > 0 LIMIT 1", func([][]byte) error { brought = true; return nil }, t.env.Pipeline, l.Source); err != nil {
		return false, err
	}
	if brought {
		return false, &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("an unfinished append can't be begun anew: its rows stand among rows that were there before"),
			Hint: "Take its rows out by hand, then run with --reload; or load with existing = \"truncate\"."}
	}
	return true, nil
}

const selectColumns = `SELECT a.attname, ` + typeName + `, a.attgenerated <> ''
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`

// checkColumns makes sure that the table has the plan's columns, of the plan's
// types: binary values of another width would be refused at best.
func checkColumns(ctx context.Context, c *pgconn.PgConn, l connectors.Load) error {
	changed := func(format string, args ...any) error {
		return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf(format, args...), Hint: "The table is not the one that was planned: record its catalog and name it in the target's block, then plan again."}
	}
	there := map[string]string{}
	if _, err := query(ctx, c, selectColumns, func(r [][]byte) error {
		if isTrue(r[2]) {
			there[string(r[0])] = "computed by the database"
			return nil
		}
		there[string(r[0])] = string(r[1])
		return nil
	}, quoteName(l.Table)); err != nil {
		return err
	}
	for _, col := range l.Columns {
		native, ok := there[col.Name]
		if !ok {
			return changed("table %s has no column %s", l.Table, col.Name)
		}
		want, got := wireOf(col.Native), wireOf(native)
		typ, err := types{}.Parse(native)
		if got.name != want.name || err != nil || typ != col.Type {
			return changed("column %s of %s is %s and was planned as %s", col.Name, l.Table, native, col.Native)
		}
	}
	return nil
}
