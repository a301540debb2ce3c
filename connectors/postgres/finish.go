package postgres

import (
	"context"
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/failpoint"

	"github.com/jackc/pgx/v5/pgconn"
)

// Finish runs the table's last statements and marks it loaded once every chunk
// is done. All of it is one transaction: after a crash nothing of it is there.
func (t *target) Finish(ctx context.Context, l connectors.Load) error {
	failpoint.Hit("finish.before")
	err := t.claimed(ctx, func(c *pgconn.PgConn) error {
		return transaction(ctx, c, func() error { return t.finish(ctx, c, l) })
	})
	if err != nil {
		return at("finish", l.Table.String(), err)
	}
	failpoint.Hit("finish.after")
	return nil
}

func (t *target) finish(ctx context.Context, c *pgconn.PgConn, l connectors.Load) error {
	if err := t.fence(ctx, c); err != nil {
		return err
	}
	state, pending := "", int64(0)
	if _, err := query(ctx, c, "SELECT state FROM penstock_table WHERE pipeline = $1 AND name = $2", func(r [][]byte) error { state = string(r[0]); return nil }, t.env.Pipeline, l.Source); err != nil {
		return err
	}
	if _, err := query(ctx, c, "SELECT count(*) FROM penstock_chunk WHERE pipeline = $1 AND name = $2 AND state <> 'done'", func(r [][]byte) error { pending = number(r[0]); return nil }, t.env.Pipeline, l.Source); err != nil {
		return err
	}
	switch {
	case state == "loaded":
		return nil
	case state == "" || pending > 0:
		return fmt.Errorf("%d chunks are pending", pending)
	}
	keyed, err := hasKey(ctx, c, l)
	if err != nil {
		return err
	}
	for _, sql := range l.Finish {
		// A table that was made by an earlier load, or by someone else, has its key.
		if keyed && makesKey(sql) {
			continue
		}
		if _, err := run(ctx, c, sql); err != nil {
			return err
		}
	}
	_, err = exec(ctx, c, "UPDATE penstock_table SET state = 'loaded', updated_at = clock_timestamp() WHERE pipeline = $1 AND name = $2", t.env.Pipeline, l.Source)
	return err
}

func hasKey(ctx context.Context, c *pgconn.PgConn, l connectors.Load) (keyed bool, err error) {
	_, err = query(ctx, c, "SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'p'", func([][]byte) error { keyed = true; return nil }, quoteName(l.Table))
	return keyed, err
}

func makesKey(sql string) bool {
	return strings.HasPrefix(sql, "CREATE UNIQUE INDEX ") || strings.HasPrefix(sql, "ALTER TABLE ")
}
