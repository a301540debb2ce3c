package postgres

import (
	"context"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Undo makes what the journal has for one source table.
func (t *target) Undo(ctx context.Context, source string, builders int) ([]connectors.Dropped, error) {
	var lines []record
	err := t.claimed(ctx, func(c *pgconn.PgConn) (err error) {
		if lines, err = ownLines(ctx, c, t.env.Pipeline, source); err != nil {
			return err
		}
		// Foreign keys that are carried come when their tables are loaded; without
		// this one's rows only those that wait for nothing more.
		ready, err := t.waiting(ctx, c, "")
		for _, l := range ready {
			if l.name == source {
				lines = append(lines, l)
			}
		}
		return err
	})
	if err != nil || len(lines) == 0 {
		return nil, at("read the journal of", source, err)
	}
	w, err := t.hire(ctx, min(max(builders, 1), len(lines)))
	if err != nil {
		return nil, at("put back the indexes of", source, err)
	}
	defer w.close()
	made, err := w.make(ctx, lines)
	var out []connectors.Dropped
	for _, l := range made {
		out = append(out, t.dropped(l))
	}
	return out, at("put back the indexes of", source, err)
}
