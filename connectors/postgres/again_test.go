package postgres

import (
	"context"
	"fmt"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
)

// A table that the run made is loaded again as it was loaded first: its key, and
// indexes that it got since, are away meanwhile, and there to the letter at the end.
func TestReloadOfACreatedTablePutsItsKeyOffAgain(t *testing.T) {
	ctx := context.Background()
	d := postgrestest.Shared(t).Database(t)
	tests := []struct {
		name, since string // what others did to the table since its first load
		left        string // names of the indexes that stay in the table while it is loaded
	}{
		{name: "as it was made"},
		{name: "with indexes", since: `CREATE INDEX by_v ON %[1]s (lower(v) DESC) WHERE id > 1; COMMENT ON INDEX %[2]s.by_v IS 'mine'; ALTER TABLE %[1]s ADD CONSTRAINT u UNIQUE (v) INCLUDE (id)`},
		{name: "its key renamed", since: `ALTER TABLE %[1]s RENAME CONSTRAINT "t_pkey" TO "the key"`},
		{name: "with another key", since: `ALTER TABLE %[1]s DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id, v)`},
		{name: "its key dropped", since: `ALTER TABLE %[1]s DROP CONSTRAINT t_pkey`},
		{name: "referred to", since: `CREATE TABLE %[2]s.child (up integer REFERENCES %[1]s); CREATE INDEX by_v ON %[1]s (v)`, left: "t_pkey"},
		{name: "referring to itself", since: `ALTER TABLE %[1]s ADD FOREIGN KEY (id) REFERENCES %[1]s; CREATE INDEX by_v ON %[1]s (v)`, left: "t_pkey"},
		{name: "a deferrable key", since: `ALTER TABLE %[1]s DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id) DEFERRABLE`, left: "t_pkey"},
	}
	for i, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			config := configOf(d)
			config.Schema = fmt.Sprintf("s%d", i)
			d.Exec(t, "CREATE SCHEMA "+config.Schema)
			tg := openTest(t, config)
			l := loadOf(t, "t", "copy", connectors.TargetColumn{Name: "id", Native: "integer"}, connectors.TargetColumn{Name: "v", Native: "text"})
			l.Key, l.Indexes = []string{"id"}, "defer"
			l = explained(l)
			w := beginTest(t, tg, l, 1)
			if _, err := loadChunk(w, marker(l, 1), rowsOf(t, l, []string{"1", "a"}, []string{"2", "b"})); err != nil {
				t.Fatal(err)
			}
			if err := tg.Finish(ctx, l); err != nil {
				t.Fatal(err)
			}
			if c.since != "" {
				d.Exec(t, fmt.Sprintf(c.since, config.Schema+".t", config.Schema))
			}
			before := madeIn(t, d, config.Schema)
			restart := true
			if c.name == "referred to" { // which TRUNCATE refuses: the user has emptied it
				d.Exec(t, "DELETE FROM "+config.Schema+".t")
				restart = false
			}
			if err := tg.Begin(ctx, l, connectors.Start{Generation: 2, Chunks: pending(1), Restart: restart, Created: true}); err != nil {
				t.Fatal(err)
			}
			left := d.Ask(t, fmt.Sprintf("SELECT coalesce(string_agg(c.relname, ' '), '') FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = '%s.t'::regclass", config.Schema))
			if left != c.left {
				t.Errorf("indexes while it is loaded: %q, want %q", left, c.left)
			}
			if _, err := loadChunk(w, connectors.Marker{Table: l.Source, Generation: 2, Chunk: 1}, rowsOf(t, l, []string{"1", "a"}, []string{"3", "c"})); err != nil {
				t.Fatal(err)
			}
			if err := tg.Finish(ctx, l); err != nil {
				t.Fatal(err)
			}
			want := before
			if c.name == "its key dropped" { // the load makes the key that its plan has
				want = "constraint s4.t t_pkey PRIMARY KEY (id) true \nindex CREATE UNIQUE INDEX t_pkey ON s4.t USING btree (id) in 0 falsefalsetruetrue "
			}
			if after := madeIn(t, d, config.Schema); after != want {
				t.Errorf("after the load:\ngot\n%s\nwant\n%s", after, want)
			}
			if got := d.Ask(t, fmt.Sprintf("SELECT string_agg(id || v, ' ' ORDER BY id) FROM %s.t", config.Schema)); got != "1a 3c" {
				t.Errorf("rows %q, want \"1a 3c\"", got)
			}
			if got := d.Ask(t, fmt.Sprintf("SELECT count(*) FROM %s.penstock_ddl", config.Schema)); got != "0" {
				t.Errorf("%s lines are left in the journal", got)
			}
		})
	}
}

// A finish that was cut short leaves an index without its key. Begun anew, the
// load drops that index, and makes it again when its rows are in.
func TestReloadTakesBackWhatAFinishHadHalfMade(t *testing.T) {
	ctx := context.Background()
	d := postgrestest.Shared(t).Database(t)
	tg := openTest(t, configOf(d))
	d.Exec(t, "CREATE TABLE other (id integer PRIMARY KEY); INSERT INTO other VALUES (1); CREATE TABLE there (id integer PRIMARY KEY, o integer DEFAULT 1 CONSTRAINT o REFERENCES other)")
	created := loadOf(t, "t", "copy", connectors.TargetColumn{Name: "id", Native: "integer"})
	created.Key, created.Indexes = []string{"id"}, "defer"
	there := existingLoad(t, tg, "there")
	there.Existing = connectors.ExistingTruncate
	for _, l := range []connectors.Load{explained(created), explained(there)} {
		w := beginTest(t, tg, l, 1)
		if _, err := loadChunk(w, marker(l, 1), rowsOf(t, l, []string{"1"})); err != nil {
			t.Fatal(err)
		}
		table := l.Table.Name
		// As the first step of a finish leaves it, and where a foreign key is added.
		d.Exec(t, fmt.Sprintf("CREATE UNIQUE INDEX %[1]s_pkey ON %[1]s (id); UPDATE penstock_ddl SET made = true WHERE name = '%[1]s'", table))
		if table == "there" {
			d.Exec(t, "ALTER TABLE there ADD CONSTRAINT o FOREIGN KEY (o) REFERENCES other NOT VALID")
		}
		if err := tg.Begin(ctx, l, connectors.Start{Generation: 2, Chunks: pending(1), Restart: true, Created: l.Create}); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		left := "SELECT count(*) FROM pg_index WHERE indrelid = '" + table + "'::regclass"
		if got := d.Ask(t, left); got != "0" {
			t.Errorf("%s: %s indexes while it is loaded, want none", table, got)
		}
		if _, err := loadChunk(w, connectors.Marker{Table: l.Source, Generation: 2, Chunk: 1}, rowsOf(t, l, []string{"2"})); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		if err := tg.Finish(ctx, l); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		got := d.Ask(t, "SELECT string_agg(contype::text || convalidated, ' ' ORDER BY contype::text) FROM pg_constraint WHERE conrelid = '"+table+"'::regclass")
		if want := map[string]string{"t": "ptrue", "there": "ftrue ptrue"}[table]; got != want {
			t.Errorf("%s: constraints %q, want %q", table, got, want)
		}
	}
	if got := d.Ask(t, "SELECT count(*) FROM penstock_ddl"); got != "0" {
		t.Errorf("%s lines are left in the journal", got)
	}
}
