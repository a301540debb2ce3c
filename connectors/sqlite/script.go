package sqlite

import (
	"context"
	"errors"
	"fmt"

	"penstock/connectors"
)

// scriptTable remembers which of a spec's own statements ran, and for which
// generation. It is made when a pipeline first has some.
const scriptTable = `CREATE TABLE IF NOT EXISTS penstock_script (
  pipeline TEXT NOT NULL,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (pipeline, name)
)`

const (
	selectScript = "SELECT 1 FROM penstock_script WHERE pipeline = ? AND name = ? AND generation = ?"
	upsertScript = `INSERT INTO penstock_script (pipeline, name, generation, updated_at) VALUES (?, ?, ?, ?)
ON CONFLICT (pipeline, name) DO UPDATE SET generation = excluded.generation, updated_at = excluded.updated_at`
)

// Script runs a spec's own statements with the record that they ran, in one
// transaction. A statement that ends it is an error.
func (t *target) Script(ctx context.Context, s connectors.Script) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.claimed()
	if err != nil {
		return err
	}
	err = c.write(ctx, func() error {
		if err := t.fence(ctx, c); err != nil {
			return err
		}
		if err := c.exec(ctx, scriptTable); err != nil {
			return err
		}
		ran := false
		if _, err := c.query(ctx, selectScript, []any{t.env.Pipeline, s.Name, s.Generation}, func(*stmt) error { ran = true; return nil }); err != nil || ran {
			return err
		}
		for i, text := range s.Statements {
			if err := c.exec(ctx, text); err != nil {
				return ofScript(i, err)
			}
			if !c.inTransaction() {
				return fmt.Errorf("statement %d, %q, ended the transaction; leave BEGIN, COMMIT and ROLLBACK out", i+1, text)
			}
		}
		return c.exec(ctx, upsertScript, t.env.Pipeline, s.Name, s.Generation, now())
	})
	return at("run "+s.Name+" of", t.env.Pipeline, err)
}

// ofScript is the error of a spec's own statement. A missing table there says
// nothing of the plan.
func ofScript(i int, err error) error {
	class, text := connectors.ClassOf(err), err.Error()
	if class == connectors.Schema {
		var e *connectors.Error
		if errors.As(err, &e) && e.Err != nil {
			text = e.Err.Error()
		}
		class = connectors.Fatal
	}
	return &connectors.Error{Op: fmt.Sprintf("statement %d", i+1), Class: class, Err: errors.New(text), Hint: "Mend the statement in the spec and run again."}
}
