package postgres

import (
	"context"
	"slices"
	"strings"

	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// objects reads indexes and constraints, and shows what the journal holds as if
// it were there: what a load has dropped for a while is no change of the table.
func (r *reading) objects(ctx context.Context, c *pgconn.PgConn, which string) error {
	by, err := readObjects(ctx, c, r.own, which)
	if err != nil {
		return err
	}
	var j shown
	if r.target = which == targetTables; r.target {
		if j, err = r.journal(ctx, c); err != nil {
			return err
		}
	}
	for oid, i := range r.at {
		t, list := &r.tables[i], by[oid]
		full := t.Name
		if full.Schema == "" {
			full.Schema = r.own
		}
		for _, l := range j.lines {
			list = j.into(list, l, full, t.Storage == storagePartitioned)
		}
		inOrder(list)
		for _, l := range j.lines {
			l.keepKey(list, full)
		}
		keepTogether(list)
		for _, o := range list {
			r.show(t, full, o)
		}
	}
	return nil
}

// shown is the journal with what it takes to show it.
type shown struct {
	lines   []record
	parents map[schema.Name]schema.Name // of partitions
}

// Looking a table up by its name is an error where its schema may not be used.
const findJournal = `SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = 'penstock_ddl' AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')`

const selectParents = `SELECT n.nspname, c.relname, pn.nspname, p.relname FROM pg_inherits AS h JOIN pg_class AS c ON c.oid = h.inhrelid AND c.relispartition AND c.relkind IN ('r', 'p', 'f') JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_class AS p ON p.oid = h.inhparent JOIN pg_namespace AS pn ON pn.oid = p.relnamespace`

// journal reads the journal, where the database has one and the user may see it.
func (r *reading) journal(ctx context.Context, c *pgconn.PgConn) (j shown, err error) {
	there := false
	if _, err := query(ctx, c, findJournal, func([][]byte) error { there = true; return nil }, r.own); err != nil || !there {
		return j, err
	}
	if j.lines, err = readJournal(ctx, c, "true"); err != nil || len(j.lines) == 0 {
		return j, err
	}
	j.parents = map[schema.Name]schema.Name{}
	_, err = query(ctx, c, selectParents, func(v [][]byte) error {
		j.parents[schema.Name{Schema: string(v[0]), Name: string(v[1])}] = schema.Name{Schema: string(v[2]), Name: string(v[3])}
		return nil
	})
	return j, err
}

// below is how many levels of partitions table lies below top; -1: it does not.
func (j shown) below(table, top schema.Name) int {
	for n := 0; ; n++ {
		if table == top {
			return n
		}
		up, ok := j.parents[table]
		if !ok {
			return -1
		}
		table = up
	}
}

// into puts a line among what a table has, in place of what is there of it: an
// index whose key is not made yet, a foreign key whose rows are not checked yet.
func (j shown) into(list []object, l record, table schema.Name, partitioned bool) []object {
	o := l.object
	switch n := j.below(l.Table, table); {
	case n >= 0:
		o.Level, o.On = n, schema.Name{}
		if n > 0 {
			o.On = l.Table
		} else if l.PartOf.Name != "" {
			o.Keep = partOf + l.PartOf.Name + partOfWhat
		}
	case l.Kind == schema.ObjectForeign && l.Parent && j.below(table, l.Table) > 0:
		// Each partition has a like one, which comes and goes with it.
		o.Level, o.On, o.Table, o.Parent, o.Settings, o.Keep = 0, schema.Name{}, table, partitioned, nil, partOfForeign
	default:
		return list
	}
	list = slices.DeleteFunc(list, func(x object) bool { return x.Table == o.Table && alike(x, l.Object) })
	return append(list, o)
}

// keepKey leaves the key in place that a foreign key of another table will refer
// to again.
func (l record) keepKey(list []object, table schema.Name) {
	if l.Kind != schema.ObjectForeign || l.Refers != table || l.Of == table {
		return
	}
	for i, o := range list {
		if o.Table != table || o.Name != l.By || o.Kind == schema.ObjectForeign {
			continue
		}
		other, ok := strings.CutPrefix(o.Keep, refersFrom)
		if other, ok2 := strings.CutSuffix(other, refersTo); o.Keep == "" || ok && ok2 && l.Name < other {
			list[i].Keep = refersFrom + l.Name + refersTo
		}
	}
}

// toCarry is an object of a source, to be made elsewhere: what keeps a target's
// from being dropped is nothing to it, unless it is what the object is.
func toCarry(o schema.Object) schema.Object {
	o.Parent, o.PartOf, o.Tablespace, o.Needs = false, schema.Name{}, "", nil
	if o.Keep != notValid && o.Keep != isExclusion && o.Keep != notEnforced {
		o.Keep = ""
	}
	return o
}

// show adds an index or a constraint to its table.
func (r *reading) show(t *schema.Table, full schema.Name, o object) {
	for i := range o.Needs {
		o.Needs[i] = short(o.Needs[i], r.own)
	}
	if r.target {
		t.Objects = append(t.Objects, o.Object)
	}
	if o.Table != full {
		return // of a partition
	}
	if !r.target {
		t.Objects = append(t.Objects, toCarry(o.Object))
	}
	switch {
	case o.Kind == schema.ObjectForeign:
		t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{Name: o.Name, Columns: o.Columns, References: short(o.Refers, r.own), ToColumns: o.ToColumns})
		return
	case o.Kind == schema.ObjectPrimary:
		t.PrimaryKey = &schema.Key{Name: o.Name, Columns: o.Columns}
		return
	case o.Unique && o.Whole:
		t.Unique = append(t.Unique, schema.Key{Name: o.Name, Columns: o.Columns})
	}
	t.Indexes = append(t.Indexes, schema.Index{Name: o.Name, Unique: o.Unique, Columns: o.Columns, Definition: o.Definition})
}
