package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	selectJournal = "SELECT pipeline, name, ordinal, made, object FROM penstock_ddl WHERE "
	ofPipeline    = "pipeline = $1"
	ofTable       = "pipeline = $1 AND name = $2"
	insertJournal = `INSERT INTO penstock_ddl (pipeline, name, ordinal, kind, on_table, object_name, definition, object, made, updated_at)
SELECT $1, $2, coalesce(max(ordinal), 0) + 1, $3, $4, $5, $6, $7, false, clock_timestamp() FROM penstock_ddl WHERE pipeline = $1 AND name = $2`
	madeJournal   = "UPDATE penstock_ddl SET made = true, updated_at = clock_timestamp() WHERE pipeline = $1 AND name = $2 AND ordinal = $3"
	unmadeJournal = "UPDATE penstock_ddl SET made = false, updated_at = clock_timestamp() WHERE pipeline = $1 AND name = $2 AND ordinal = $3"
	deleteJournal = "DELETE FROM penstock_ddl WHERE pipeline = $1 AND name = $2 AND ordinal = $3"
)

// record is a line of the journal.
type record struct {
	object
	pipeline, name string
	ordinal        int64
	made           bool
}

// readJournal gives the lines that where selects, in the order of their making.
func readJournal(ctx context.Context, c *pgconn.PgConn, where string, args ...any) (out []record, err error) {
	_, err = query(ctx, c, selectJournal+where+" ORDER BY pipeline, name, ordinal", func(v [][]byte) error {
		l := record{pipeline: string(v[0]), name: string(v[1]), ordinal: number(v[2]), made: isTrue(v[3])}
		if err := json.Unmarshal(v[4], &l.object); err != nil {
			return &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("a line of penstock_ddl can't be read: %w", err),
				Hint: "Its column definition has the statements: run them, then delete the line."}
		}
		out = append(out, l)
		return nil
	}, args...)
	return out, err
}

// journal writes lines.
func (t *target) journal(ctx context.Context, c *pgconn.PgConn, source string, list ...object) error {
	for _, e := range list {
		object, err := json.Marshal(e)
		if err != nil {
			panic(err) // strings and booleans always marshal
		}
		if _, err = exec(ctx, c, insertJournal, t.env.Pipeline, source, string(e.Kind), quoteName(e.Table), e.Name, script(e.Table, e.Object), object); err != nil {
			return err
		}
	}
	return nil
}

// aboutToDrop reads what the load is about to drop, as it is in this transaction,
// under the lock that it is dropped with. What an earlier generation has dropped
// already is gone, by table and name.
func (t *target) aboutToDrop(ctx context.Context, c *pgconn.PgConn, l connectors.Load) (list []object, gone map[schema.Name]bool, err error) {
	lines, err := readJournal(ctx, c, "true")
	if err != nil {
		return nil, nil, err
	}
	live, err := t.objectsIn(ctx, c, l.Table)
	if err != nil {
		return nil, nil, err
	}
	gone = map[schema.Name]bool{}
	for _, o := range put(l) {
		table := t.full(on(l, o))
		e := findObject(live, table, o)
		if e == nil {
			if j := findLine(lines, table, o); j != nil && j.pipeline == t.env.Pipeline {
				gone[schema.Name{Schema: on(l, o).String(), Name: o.Name}] = true
				continue
			} else if j != nil {
				return nil, nil, &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("%s of %s was dropped by pipeline %s, whose load is not finished", o, l.Table, j.pipeline),
					Hint: "Finish that load, or put it back with penstock undo; then run again."}
			}
		}
		if err := t.planned(l, o, e); err != nil {
			return nil, nil, err
		}
	}
	list = family(live, put(l))
	for i := range list {
		list[i].Of = t.full(l.Table)
	}
	return list, gone, nil
}

// planned makes sure that what is dropped is what the plan shows.
func (t *target) planned(l connectors.Load, o schema.Object, e *object) error {
	changed := func(format string, args ...any) error {
		return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf("%s of %s: %s", o, l.Table, fmt.Sprintf(format, args...)),
			Hint: "The table is not the one that was planned: record its catalog anew, then plan again."}
	}
	switch {
	case e == nil:
		return changed("the table has none")
	case e.Keep != "":
		return changed("it can't be dropped and made again: %s", e.Keep)
	case o.Definition != "" && e.Definition != o.Definition:
		return changed("it was planned as %q and is %q", o.Definition, e.Definition)
	case o.Definition != "" && e.Constraint != o.Constraint:
		return changed("it was planned as %q and is %q", o.Constraint, e.Constraint)
	}
	return nil
}

// family is what goes when the objects are dropped: they and their parts, in
// the order of making.
func family(live []object, objects []schema.Object) (out []object) {
	goes := map[schema.Name]bool{}
	for _, e := range live {
		listed := false
		for _, o := range objects {
			listed = listed || alike(e, o) && (o.On.Name == "" && e.Level == 0 || o.On == e.Table)
		}
		if listed || e.PartOf.Name != "" && goes[e.PartOf] {
			if e.Kind != schema.ObjectForeign {
				goes[e.index()] = true
			}
			out = append(out, e)
		}
	}
	return out
}

// alike compares by kind and name. Whether an index is a key's, a hand-written
// catalog may not tell.
func alike(e object, o schema.Object) bool {
	return e.Name == o.Name && (e.Kind == schema.ObjectForeign) == (o.Kind == schema.ObjectForeign)
}

func findObject(list []object, table schema.Name, o schema.Object) *object {
	for i := range list {
		if list[i].Table == table && alike(list[i], o) {
			return &list[i]
		}
	}
	return nil
}

func findLine(list []record, table schema.Name, o schema.Object) *record {
	for i := range list {
		if list[i].Table == table && alike(list[i].object, o) {
			return &list[i]
		}
	}
	return nil
}

// journalMade writes down what comes after the rows of a table that the run
// creates: its key and what is carried, unless the table was there and has it, or
// the journal has it from an earlier generation.
func (t *target) journalMade(ctx context.Context, c *pgconn.PgConn, l connectors.Load) error {
	if !l.Create || len(put(l)) == 0 {
		return nil
	}
	keyed, err := hasKey(ctx, c, t.full(l.Table))
	if err != nil {
		return err
	}
	live, err := t.objectsIn(ctx, c, l.Table)
	if err != nil {
		return err
	}
	lines, err := readJournal(ctx, c, ofTable, t.env.Pipeline, l.Source)
	if err != nil {
		return err
	}
	table := t.full(l.Table)
	keyed = keyed || slices.ContainsFunc(lines, func(line record) bool { // be it by another name
		return line.Kind == schema.ObjectPrimary && line.Table == table
	})
	for _, o := range put(l) {
		if keyed && o.Kind == schema.ObjectPrimary || findObject(live, table, o) != nil || findLine(lines, table, o) != nil {
			continue
		}
		if err := t.journal(ctx, c, l.Source, t.madeObject(l, o)); err != nil {
			return err
		}
	}
	return nil
}

// madeObject is a line for what a table that the run creates gets.
func (t *target) madeObject(l connectors.Load, o schema.Object) object {
	table := t.full(l.Table)
	e := object{Object: o, Table: table, Of: table}
	switch o.Kind {
	case schema.ObjectPrimary:
		e.Unique, e.Whole, e.Columns = true, true, l.Key
	case schema.ObjectForeign:
		e.Refers = table
		if len(o.Needs) > 0 {
			e.Refers = t.full(o.Needs[0])
		}
	}
	return e
}

// takeAway drops the foreign keys that earlier loads have carried to the table and
// from it, and writes them down again: they come when both tables are loaded.
func (t *target) takeAway(ctx context.Context, c *pgconn.PgConn, l connectors.Load) error {
	for _, o := range carriedForeign(l) {
		table := t.full(on(l, o))
		there := false
		if _, err := query(ctx, c, "SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass($1) AND conname = $2 AND contype = 'f'",
			func([][]byte) error { there = true; return nil }, quoteName(table), o.Name); err != nil {
			return err
		}
		if !there {
			continue
		}
		if _, err := run(ctx, c, dropCarried(l, o).SQL); err != nil {
			return err
		}
		lines, err := readJournal(ctx, c, ofTable, t.env.Pipeline, o.Waits[0])
		if err != nil {
			return err
		}
		e := t.madeObject(connectors.Load{Table: on(l, o)}, o)
		e.On = schema.Name{}
		if old := findLine(lines, table, o); old != nil { // it was there, and its rows not checked yet
			if _, err := exec(ctx, c, deleteJournal, old.pipeline, old.name, old.ordinal); err != nil {
				return err
			}
		}
		if err := t.journal(ctx, c, o.Waits[0], e); err != nil {
			return err
		}
	}
	return nil
}

func hasKey(ctx context.Context, c *pgconn.PgConn, table schema.Name) (keyed bool, err error) {
	_, err = query(ctx, c, "SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'p'", func([][]byte) error { keyed = true; return nil }, quoteName(table))
	return keyed, err
}

// objectsIn reads what one table has.
func (t *target) objectsIn(ctx context.Context, c *pgconn.PgConn, table schema.Name) ([]object, error) {
	by, err := readObjects(ctx, c, t.config.Schema, oneTable, quoteName(t.full(table)))
	for _, list := range by {
		return list, err
	}
	return nil, err
}

// full is a name with its schema.
func (t *target) full(n schema.Name) schema.Name {
	if n.Schema == "" {
		n.Schema = t.config.Schema
	}
	return n
}

// short is a name as the catalog has it.
func short(n schema.Name, own string) schema.Name {
	if n.Schema == own {
		n.Schema = ""
	}
	return n
}

// waiting are the lines of foreign keys between tables that are all loaded, or
// that source is about to be.
func (t *target) waiting(ctx context.Context, c *pgconn.PgConn, source string) (ready []record, err error) {
	loaded := map[string]bool{source: true}
	if _, err := query(ctx, c, "SELECT name FROM penstock_table WHERE pipeline = $1 AND state = 'loaded'", func(v [][]byte) error { loaded[string(v[0])] = true; return nil }, t.env.Pipeline); err != nil {
		return nil, err
	}
	lines, err := readJournal(ctx, c, ofPipeline, t.env.Pipeline)
	for _, l := range lines {
		if len(l.Waits) > 0 && !slices.ContainsFunc(l.Waits, func(s string) bool { return !loaded[s] }) {
			ready = append(ready, l)
		}
	}
	return ready, err
}

// ownLines are the lines of one table that wait for no other one.
func ownLines(ctx context.Context, c *pgconn.PgConn, pipeline, source string) (out []record, err error) {
	lines, err := readJournal(ctx, c, ofTable, pipeline, source)
	return slices.DeleteFunc(lines, func(l record) bool { return len(l.Waits) > 0 }), err
}

func (t *target) dropped(l record) connectors.Dropped {
	o := l.Object
	o.On = schema.Name{}
	return connectors.Dropped{Source: l.name, Table: short(l.Table, t.config.Schema).String(), Object: o}
}

// describe is an object of a table, for errors.
func (e object) describe(own string) string {
	return strings.TrimSpace(string(e.Kind) + " " + e.Name + " of " + short(e.Table, own).String())
}
