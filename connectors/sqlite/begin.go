package sqlite

import (
	"context"
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/failpoint"
)

// Begin starts a table's generation, in one transaction.
func (t *target) Begin(ctx context.Context, l connectors.Load, s connectors.Start) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.claimed()
	if err != nil {
		return err
	}
	failpoint.Hit("begin.before")
	err = c.write(ctx, func() error {
		if err := t.fence(ctx, c); err != nil {
			return err
		}
		had, err := t.prepareTable(ctx, c, l, s)
		if err != nil {
			return err
		}
		if err := c.exec(ctx, upsertTable, t.env.Pipeline, l.Source, s.Generation, l.Digest, l.Definition, s.Point.String(), had, s.Created, now()); err != nil {
			return err
		}
		return storeChunks(ctx, c, t.env.Pipeline, l.Source, t.epoch, s)
	})
	if err != nil {
		return at("begin", l.Table.Name, err)
	}
	failpoint.Hit("begin.after")
	return nil
}

// prepareTable runs the plan's statements and checks what they leave. had is 1
// when rows stood in the table before the load's first generation.
func (t *target) prepareTable(ctx context.Context, c *conn, l connectors.Load, s connectors.Start) (had int, err error) {
	exists := false
	if _, err := c.query(ctx, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", []any{l.Table.Name}, func(*stmt) error { exists = true; return nil }); err != nil {
		return 0, err
	}
	if exists {
		if had, err = t.emptyForRestart(ctx, c, l, s); err != nil {
			return 0, err
		}
	}
	prepare := l.Prepare
	if prepare == nil {
		for _, p := range (explainer{}).Prepare(l) {
			prepare = append(prepare, p.SQL)
		}
	}
	for _, sql := range prepare {
		if err := runPrepare(ctx, c, sql, l); err != nil {
			return 0, err
		}
	}
	if err := checkColumns(ctx, c, l); err != nil {
		return 0, err
	}
	return had, checkEmpty(ctx, c, l, had)
}

// checkEmpty makes sure that a table which was to be emptied is empty: a
// trigger can keep rows from being deleted.
func checkEmpty(ctx context.Context, c *conn, l connectors.Load, had int) error {
	if had == 1 || l.Existing == connectors.ExistingAppend {
		return nil
	}
	left := false
	if _, err := c.query(ctx, "SELECT 1 FROM "+quote(l.Table.Name)+" LIMIT 1", nil, func(*stmt) error { left = true; return nil }); err != nil {
		return err
	}
	if left {
		return &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("table %s still has rows after it was emptied", l.Table.Name), Hint: "A trigger keeps them: drop it for the load."}
	}
	return nil
}

// emptyForRestart takes the rows of an unfinished generation away. Rows that
// an append found in the table can't be told from those it brought, so such a
// table is left alone unless nothing was brought.
func (t *target) emptyForRestart(ctx context.Context, c *conn, l connectors.Load, s connectors.Start) (had int, err error) {
	name := quote(l.Table.Name)
	if !s.Restart {
		_, err = c.query(ctx, "SELECT 1 FROM "+name+" LIMIT 1", nil, func(*stmt) error { had = 1; return nil })
		if l.Existing != connectors.ExistingAppend {
			had = 0 // they are refused or emptied
		}
		return had, err
	}
	brought := 0
	if _, err := c.query(ctx, "SELECT had_rows FROM penstock_table WHERE pipeline = ? AND name = ?", []any{t.env.Pipeline, l.Source}, func(r *stmt) error { had = int(r.int(0)); return nil }); err != nil {
		return 0, err
	}
	if had == 0 || l.Existing == connectors.ExistingTruncate {
		return 0, c.exec(ctx, "DELETE FROM "+name)
	}
	if _, err := c.query(ctx, "SELECT 1 FROM penstock_chunk WHERE pipeline = ? AND name = ? AND state = 'done' AND rows > 0 LIMIT 1", []any{t.env.Pipeline, l.Source}, func(*stmt) error { brought = 1; return nil }); err != nil {
		return 0, err
	}
	if brought == 1 {
		return 0, &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("an unfinished append can't be begun anew: its rows stand among rows that were there before"),
			Hint: "Take its rows out by hand, delete the pipeline's rows of this table from penstock_table and penstock_chunk, and run again."}
	}
	return had, nil
}

// runPrepare runs one statement of the plan. A read among them is a check that
// must give no row.
func runPrepare(ctx context.Context, c *conn, sql string, l connectors.Load) error {
	p, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer p.close()
	found := false
	if _, err := p.run(ctx, nil, func(*stmt) error { found = true; return nil }); err != nil {
		return err
	}
	if found && p.readOnly() {
		return &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("table %s has rows already", l.Table.Name),
			Hint: `Write existing = "truncate" to empty it first, or existing = "append" to add to it.`}
	}
	return nil
}

// checkColumns makes sure that the table has the plan's columns and that they
// keep the values as they are.
func checkColumns(ctx context.Context, c *conn, l connectors.Load) error {
	there := map[string]string{}
	if _, err := c.query(ctx, "SELECT name, type FROM pragma_table_xinfo(?)", []any{l.Table.Name}, func(s *stmt) error {
		there[strings.ToLower(s.text(0))] = s.text(1)
		return nil
	}); err != nil {
		return err
	}
	for _, col := range l.Columns {
		native, ok := there[strings.ToLower(col.Name)]
		if !ok {
			return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("table %s has no column %s", l.Table.Name, col.Name), Hint: "The table is not what the plan loads: change it, or drop it and load it anew with --reload " + l.Source + "."}
		}
		if err := storable(native, col.Type); err != nil {
			return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("column %s.%s: %w", l.Table.Name, col.Name, err), Hint: "Change the column, or its `type` in the spec."}
		}
	}
	return nil
}
