package sqlite

import (
	"context"
	"fmt"
	"os"

	"penstock/connectors"
)

var targetChecks = []connectors.Check[connectors.Target]{
	{Name: "folder", About: "that the file's folder is there", Run: func(_ context.Context, e connectors.Target, _ connectors.Use) ([]connectors.Finding, error) {
		return nil, checkFile(e.(*target).path, create)
	}},
	{Name: "rows", About: "whether tables that must be empty are", Momentary: true, Run: func(ctx context.Context, e connectors.Target, u connectors.Use) ([]connectors.Finding, error) {
		t := e.(*target)
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.rowsThere(ctx, u)
	}},
}

// rowsThere tells of rows in tables whose load would be stopped by them. t.mu is held.
func (t *target) rowsThere(ctx context.Context, u connectors.Use) (out []connectors.Finding, err error) {
	if _, err := os.Stat(t.path); os.IsNotExist(err) {
		return nil, nil
	}
	c, err := t.connect()
	if err != nil {
		return nil, at("check", t.path, err)
	}
	for _, l := range u.Loads {
		if l.Existing != connectors.ExistingError || u.State.Knows(l) {
			continue
		}
		there, some := false, false
		if _, err := c.query(ctx, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", []any{l.Table.Name}, func(*stmt) error { there = true; return nil }); err != nil {
			return nil, at("check", l.Table.Name, err)
		}
		if !there {
			continue
		}
		if _, err := c.query(ctx, "SELECT 1 FROM "+quote(l.Table.Name)+" LIMIT 1", nil, func(*stmt) error { some = true; return nil }); err != nil {
			return nil, at("check", l.Table.Name, err)
		}
		if some {
			out = append(out, connectors.Finding{Warning: true, What: fmt.Sprintf(`Table %s has rows, and existing = "error" stops a run at them. Empty it, or write existing = "truncate" or "append".`, l.Table),
				Mend: []string{"DELETE FROM " + quote(l.Table.Name)}})
		}
	}
	return out, nil
}

// own are the tables in which the target remembers.
func own(any) []connectors.Statement {
	var out []connectors.Statement
	for _, s := range stateTables {
		out = append(out, connectors.Statement{SQL: s})
	}
	return out
}
