package postgres

import (
	"context"
	"errors"
	"fmt"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	selectScript = "SELECT 1 FROM penstock_script WHERE pipeline = $1 AND name = $2 AND generation >= $3"
	upsertScript = `INSERT INTO penstock_script (pipeline, name, generation, updated_at) VALUES ($1, $2, $3, clock_timestamp())
ON CONFLICT (pipeline, name) DO UPDATE SET generation = excluded.generation, updated_at = excluded.updated_at`
)

// Script runs a spec's own statements with the record that they ran, in one
// transaction. A statement that ends it is an error.
func (t *target) Script(ctx context.Context, s connectors.Script) error {
	err := t.claimed(ctx, func(c *pgconn.PgConn) error {
		return transaction(ctx, c, func() error {
			if err := t.fence(ctx, c); err != nil {
				return err
			}
			ran := false
			if _, err := query(ctx, c, selectScript, func([][]byte) error { ran = true; return nil }, t.env.Pipeline, s.Name, s.Generation); err != nil || ran {
				return err
			}
			for i, text := range s.Statements {
				if _, err := run(ctx, c, text); err != nil {
					return ofScript(i, err)
				}
				if c.TxStatus() != txOpen {
					return fmt.Errorf("statement %d, %q, ended the transaction; leave BEGIN, COMMIT and ROLLBACK out", i+1, text)
				}
			}
			_, err := exec(ctx, c, upsertScript, t.env.Pipeline, s.Name, s.Generation)
			return err
		})
	})
	return at("run "+s.Name+" of", t.env.Pipeline, err)
}

// ofScript is the error of a spec's own statement. A missing table there says
// nothing of the plan.
func ofScript(i int, err error) error {
	var e *connectors.Error
	if !errors.As(err, &e) || e.Class == connectors.Transient {
		return err
	}
	class := e.Class
	if class == connectors.Schema {
		class = connectors.Fatal
	}
	return &connectors.Error{Op: fmt.Sprintf("statement %d", i+1), Class: class, Err: e.Err, Hint: "Mend the statement in the spec and run again."}
}
