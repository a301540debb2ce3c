package postgres

import (
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// objectsOf is what `indexes = "defer"` puts off of a table that is there: what
// the catalog tells, or what can be told from its keys and indexes where a
// hand-written catalog has no definitions. Then the database is asked for them
// when they are dropped.
func objectsOf(t *schema.Table) []schema.Object {
	if t.Objects != nil {
		return t.Objects
	}
	var out []schema.Object
	keys := map[string]bool{}
	if k := t.PrimaryKey; k != nil && k.Name != "" {
		out = append(out, schema.Object{Kind: schema.ObjectPrimary, Name: k.Name, Constraint: "PRIMARY KEY (" + quoteList(k.Columns) + ")"})
		keys[k.Name] = true
	}
	for _, x := range t.Indexes {
		if !keys[x.Name] {
			out = append(out, schema.Object{Kind: schema.ObjectIndex, Name: x.Name})
		}
	}
	for _, f := range t.ForeignKeys {
		if f.Name != "" {
			out = append(out, schema.Object{Kind: schema.ObjectForeign, Name: f.Name, Needs: needs(t.Name, f.References)})
		}
	}
	return out
}

func needs(table, other schema.Name) []schema.Name {
	if other == table {
		return nil
	}
	return []schema.Name{other}
}

// put is what a load puts off: of a table that it creates, its key and what is
// carried.
func put(l connectors.Load) []schema.Object {
	var out []schema.Object
	switch {
	case l.Create && deferred(l):
		return append([]schema.Object{keyObject(l)}, carriedObjects(l)...)
	case l.Create:
		return carriedObjects(l)
	case l.Indexes != "defer":
		return nil
	}
	for _, o := range l.Objects {
		if o.Keep == "" {
			out = append(out, o)
		}
	}
	return out
}

// carriedObjects are those of a table that the run creates, but for its key.
func carriedObjects(l connectors.Load) (out []schema.Object) {
	for _, o := range l.Objects {
		if o.Kind != schema.ObjectPrimary {
			out = append(out, o)
		}
	}
	return out
}

// keyObject is the key of a table that the run creates: as its source has it,
// where indexes are carried.
func keyObject(l connectors.Load) schema.Object {
	for _, o := range l.Objects {
		if o.Kind == schema.ObjectPrimary {
			return o
		}
	}
	return schema.Object{Kind: schema.ObjectPrimary, Name: keyName(l),
		Definition: fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)", quote(keyName(l)), quoteName(l.Table), quoteList(l.Key)),
		Constraint: "PRIMARY KEY (" + quoteList(l.Key) + ")"}
}

// on is the table that has an object of the load.
func on(l connectors.Load, o schema.Object) schema.Name {
	if o.On.Name != "" {
		return o.On
	}
	return l.Table
}

// drop is the statement that drops an object; "" for what goes with another
// one: parts with what they are parts of.
func drop(table schema.Name, o schema.Object) connectors.Statement {
	const note = "its definition goes into penstock_ddl in this transaction"
	switch {
	case o.PartOf.Name != "":
		return connectors.Statement{}
	case o.Kind == schema.ObjectIndex:
		return connectors.Statement{SQL: "DROP INDEX " + quoteName(schema.Name{Schema: table.Schema, Name: o.Name}), Comment: note, Locks: "ACCESS EXCLUSIVE"}
	}
	locks := "ACCESS EXCLUSIVE"
	for _, n := range o.Needs {
		locks += ", also on " + n.String()
	}
	return connectors.Statement{SQL: fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", quoteName(table), quote(o.Name)), Comment: note, Locks: locks}
}

// dropCarried takes a foreign key that an earlier load has made out of the way of
// another one: a table that is referred to can't be emptied.
func dropCarried(l connectors.Load, o schema.Object) connectors.Statement {
	return connectors.Statement{SQL: fmt.Sprintf("ALTER TABLE IF EXISTS %s DROP CONSTRAINT IF EXISTS %s", quoteName(on(l, o)), quote(o.Name)),
		Comment: connectors.OnlyAgain + ": it comes again after the rows", Locks: "ACCESS EXCLUSIVE"}
}

// carriedForeign are the foreign keys that a load of a table which it creates has
// to take away: its own, and those of other tables to it.
func carriedForeign(l connectors.Load) (out []schema.Object) {
	if !l.Create {
		return nil
	}
	for _, o := range append(slices.Clone(l.Objects), l.Incoming...) {
		if o.Kind == schema.ObjectForeign {
			out = append(out, o)
		}
	}
	return out
}

// drops lists what is dropped, foreign keys first: keys can't go before them.
func drops(l connectors.Load) (objects []schema.Object, statements []connectors.Statement) {
	if l.Create {
		return nil, nil
	}
	for _, foreign := range []bool{true, false} {
		for _, o := range put(l) {
			if s := drop(on(l, o), o); s.SQL != "" && foreign == (o.Kind == schema.ObjectForeign) {
				objects, statements = append(objects, o), append(statements, s)
			}
		}
	}
	return objects, statements
}

// build is the statement that takes long and runs beside others of its table;
// nil where there is none.
func build(o schema.Object) *connectors.Statement {
	if o.Kind == schema.ObjectForeign || o.Parent {
		return nil
	}
	s := connectors.Statement{SQL: o.Definition, Locks: "SHARE", Beside: true}
	if o.Definition == "" {
		s.SQL, s.Comment = "CREATE INDEX "+quote(o.Name), "as the database defines it, which the catalog does not tell"
		if o.Kind != schema.ObjectIndex {
			s.SQL = "CREATE UNIQUE INDEX " + quote(o.Name)
		}
	}
	if o.Tablespace != "" {
		s.Comment = strings.TrimPrefix(s.Comment+"; in tablespace "+o.Tablespace, "; ")
	}
	return &s
}

// settle are the statements after build. They lock the table out of any other
// statement, though for a moment, and so wait until its last index is built.
func settle(table schema.Name, o schema.Object) []connectors.Statement {
	var out []connectors.Statement
	add := func(locks, format string, args ...any) {
		out = append(out, connectors.Statement{SQL: fmt.Sprintf(format, args...), Locks: locks})
	}
	name := quoteName(table)
	switch {
	case o.Kind == schema.ObjectForeign:
		return nil
	case o.Parent && o.Kind == schema.ObjectIndex:
		add("SHARE", "%s", o.Definition)
	case o.Parent:
		add("ACCESS EXCLUSIVE", "ALTER TABLE ONLY %s ADD CONSTRAINT %s %s", name, quote(o.Name), o.Constraint)
	case o.Kind != schema.ObjectIndex:
		kind := "PRIMARY KEY"
		if o.Kind == schema.ObjectUnique {
			kind = "UNIQUE"
		}
		add("ACCESS EXCLUSIVE", "ALTER TABLE %s ADD CONSTRAINT %s %s USING INDEX %s%s", name, quote(o.Name), kind, quote(o.Name), deferrable(o.Constraint))
	}
	if o.PartOf.Name != "" {
		add("ACCESS EXCLUSIVE on both indexes", "ALTER INDEX %s ATTACH PARTITION %s", quoteName(o.PartOf), quoteName(schema.Name{Schema: table.Schema, Name: o.Name}))
	}
	for _, s := range o.Settings {
		add("", "%s", s)
	}
	return out
}

// foreign are the steps that make a foreign key: it is there for new rows at
// once, and the rows that are there are then checked under a weak lock. A
// partitioned table can have it only whole.
func foreign(table schema.Name, o schema.Object) (make, check []connectors.Statement) {
	name, definition := quoteName(table), strings.TrimSuffix(o.Definition, " NOT VALID")
	if definition == "" {
		definition = "FOREIGN KEY"
	}
	locks := "SHARE ROW EXCLUSIVE"
	for _, n := range o.Needs {
		locks += ", also on " + n.String()
	}
	add := connectors.Statement{SQL: fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s", name, quote(o.Name), definition), Locks: locks}
	if o.Definition == "" {
		add.Comment = "as the database defines it, which the catalog does not tell"
	}
	var settings []connectors.Statement
	for _, s := range o.Settings {
		settings = append(settings, connectors.Statement{SQL: s})
	}
	if o.Parent {
		return append([]connectors.Statement{add}, settings...), nil
	}
	add.SQL += " NOT VALID"
	make = append([]connectors.Statement{add}, settings...)
	if !o.Unvalidated {
		check = []connectors.Statement{{SQL: fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", name, quote(o.Name)), Comment: "the rows that are there", Locks: "SHARE UPDATE EXCLUSIVE"}}
	}
	return make, check
}

// makes are all statements that make what a load puts off, in the order of a
// run with one connection.
func makes(l connectors.Load) (out []connectors.Statement) {
	for _, o := range put(l) {
		if s := build(o); s != nil {
			if l.Create && o.Kind == schema.ObjectPrimary {
				s.Comment = "left out where the table has its key"
			}
			out = append(out, *s)
		}
	}
	for _, o := range put(l) {
		out = append(out, settle(on(l, o), o)...)
	}
	for _, o := range put(l) {
		if o.Kind == schema.ObjectForeign {
			add, check := foreign(on(l, o), o)
			if len(o.Waits) > 1 {
				add[0].Comment = "when " + o.Waits[1] + " is loaded too: with the later of the two"
			}
			out = append(append(out, add...), check...)
		}
	}
	return out
}

// script is how an object is made, for a person who has nothing but the journal.
func script(table schema.Name, o schema.Object) string {
	var out []string
	if s := build(o); s != nil {
		if o.Tablespace != "" {
			out = append(out, "SET default_tablespace = "+quote(o.Tablespace))
		}
		out = append(out, s.SQL)
	}
	statements := settle(table, o)
	if o.Kind == schema.ObjectForeign {
		add, check := foreign(table, o)
		statements = append(add, check...)
	}
	for _, s := range statements {
		out = append(out, s.SQL)
	}
	return strings.Join(out, ";\n") + ";"
}
