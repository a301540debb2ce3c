package postgres

import (
	"context"
	"fmt"

	"penstock/connectors"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// dropAgain is the statement by which a table that the run made loses its key
// when it is loaded again. It stands in every plan that puts the key off; where
// the table has just been made it does not run.
func dropAgain(l connectors.Load) connectors.Statement {
	return connectors.Statement{
		SQL:     fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", quoteName(l.Table), quote(keyName(l))),
		Comment: connectors.OnlyAgain + ": the key, and indexes that it got since, go into penstock_ddl in this transaction and come again after the rows",
		Locks:   "ACCESS EXCLUSIVE",
	}
}

// clear takes the key and the indexes from a table that the run made before, so
// that rows go in as they did the first time. Foreign keys, and what they rely
// on, stay: they are nothing of the run's. write is called with what is about to
// go; the journal must have it in this transaction.
func (t *target) clear(ctx context.Context, c *pgconn.PgConn, l connectors.Load, write func([]object) error) error {
	if _, err := run(ctx, c, lockTable(l)); err != nil {
		return err
	}
	live, err := t.objectsIn(ctx, c, l.Table)
	if err != nil {
		return err
	}
	for i := range live {
		if live[i].Kind == schema.ObjectForeign && live[i].Keep == "" {
			live[i].Keep = "a foreign key of a table that the run made stays"
		}
	}
	keepTogether(live)
	lines, err := readJournal(ctx, c, ofTable, t.env.Pipeline, l.Source)
	if err != nil {
		return err
	}
	var list []object
	for _, e := range live {
		if e.Keep == "" && findLine(lines, e.Table, e.Object) == nil {
			e.Of = t.full(l.Table)
			list = append(list, e)
		}
	}
	if err := write(list); err != nil {
		return err
	}
	for _, e := range list {
		if s := drop(e.Table, e.Object); s.SQL != "" {
			if _, err := run(ctx, c, s.SQL); err != nil {
				return err
			}
		}
	}
	return nil
}

// unmake takes back what a finish that was cut short had half made: an index
// whose constraint is not there yet, a foreign key whose rows were not checked.
// A load that begins anew then finds the table as the one before it did.
func (t *target) unmake(ctx context.Context, c *pgconn.PgConn, l connectors.Load) error {
	lines, err := readJournal(ctx, c, ofTable, t.env.Pipeline, l.Source)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if !line.made {
			continue
		}
		statements := []string{fmt.Sprintf("ALTER TABLE IF EXISTS %s DROP CONSTRAINT IF EXISTS %s", quoteName(line.Table), quote(line.Name))}
		if line.Kind != schema.ObjectForeign {
			statements = append(statements, "DROP INDEX IF EXISTS "+quoteName(line.index()))
		}
		for _, sql := range statements {
			if _, err := run(ctx, c, sql); err != nil {
				return err
			}
		}
		if _, err := exec(ctx, c, unmadeJournal, line.pipeline, line.name, line.ordinal); err != nil {
			return err
		}
	}
	return nil
}
