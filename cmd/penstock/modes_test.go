package main

import (
	"path/filepath"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// However rows enter, the same rows are there: single statements, arrays, COPY
// with the key in place, and COPY with the key behind the rows.
func TestEveryModeLoadsTheSameRows(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	const shape = "(id bigint PRIMARY KEY, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL)"
	modes := []struct{ schema, table string }{
		{"by_row", `apply { mode = "row" }`},
		{"by_array", `apply { mode = "array" }`},
		{"by_copy", ""},
		{"by_deferred", `apply { indexes = "defer" }`},
	}
	for _, m := range modes {
		d.Exec(t, "CREATE SCHEMA "+m.schema+"; CREATE TABLE "+m.schema+".t "+shape)
		spec := filepath.Join(t.TempDir(), "spec.hcl")
		writeFile(t, spec, postgresSpec(d, m.schema, m.table))
		if exit, _, problems := command(t, "run", spec); exit != 0 {
			t.Fatalf("%s: exit %d: %s", m.schema, exit, problems)
		}
		if got, want := d.Ask(t, "SELECT count(*) || ' ' || (SELECT count(*) FROM pg_constraint WHERE conrelid = '"+m.schema+".t'::regclass AND contype = 'p') FROM "+m.schema+".t"), "200000 1"; got != want {
			t.Errorf("%s: got %s rows and keys, want %s", m.schema, got, want)
		}
		if got := unequal(t, d, "by_row.t", m.schema+".t"); got != "0" {
			t.Errorf("%s: %s rows differ from those of by_row", m.schema, got)
		}
	}
}
