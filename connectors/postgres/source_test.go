package postgres

import (
	"testing"

	"penstock/connectors/conformance"
	"penstock/connectors/postgres/postgrestest"
)

// sourceOf is a source in a database, over its unix socket.
func sourceOf(d *postgrestest.Database) *SourceConfig {
	return &SourceConfig{Connection: Connection{Host: d.Socket, Port: d.Port, Database: d.Name, User: postgrestest.User}, Schema: "public"}
}

// sourceTables have a way of being cut each.
const tablesToRead = `
CREATE TABLE keyed (id integer PRIMARY KEY, v text, d numeric(10,2), at timestamptz DEFAULT now(), b boolean);
INSERT INTO keyed SELECT i, 'row ' || i, i / 4.0, '2026-01-01'::timestamptz + i * interval '1 hour', i % 3 = 0 FROM generate_series(1, 300) i;
CREATE TABLE keyless (v text); INSERT INTO keyless SELECT 'x' FROM generate_series(1, 20);
CREATE TABLE empty (id integer PRIMARY KEY, v text);
CREATE TABLE texts (k text COLLATE "C", n integer, v text, UNIQUE (k, n)); ALTER TABLE texts ALTER k SET NOT NULL, ALTER n SET NOT NULL;
INSERT INTO texts SELECT (ARRAY['', E'it''s', 'a\b', 'Ä', 'z'])[1 + i % 5], i, NULL FROM generate_series(1, 99) i;
CREATE TABLE parted (id integer, region text, v text) PARTITION BY LIST (region);
CREATE TABLE "Parted eu" PARTITION OF parted FOR VALUES IN ('eu') PARTITION BY RANGE (id);
CREATE TABLE parted_eu1 PARTITION OF "Parted eu" FOR VALUES FROM (0) TO (100); CREATE TABLE parted_eu2 PARTITION OF "Parted eu" FOR VALUES FROM (100) TO (1000);
CREATE TABLE parted_us PARTITION OF parted FOR VALUES IN ('us'); CREATE TABLE parted_none PARTITION OF parted FOR VALUES IN ('none'); CREATE TABLE parted_z PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT i, (ARRAY['eu', 'us', 'zz'])[1 + i % 3], repeat('v', i) FROM generate_series(1, 400) i;
CREATE TABLE parent (id integer PRIMARY KEY, v text); CREATE TABLE child (extra text) INHERITS (parent);
INSERT INTO parent SELECT i, 'p' FROM generate_series(1, 30) i; INSERT INTO child SELECT i, 'c', 'e' FROM generate_series(1, 40) i;
CREATE VIEW shown AS SELECT v, id FROM keyed WHERE id <= 50;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM keyed WHERE id > 200;
CREATE SCHEMA "Other one"; CREATE TABLE "Other one"."order ""x""" ("select" integer PRIMARY KEY, "Ünïcode $1 ' """ text, gone text); ALTER TABLE "Other one"."order ""x""" DROP gone, ADD "added :lo" date;
INSERT INTO "Other one"."order ""x""" SELECT i, 'v', '2026-01-01' FROM generate_series(1, 25) i;`

func TestSourceConforms(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, tablesToRead)
	conformance.Source(t, conformance.SourceHarness{
		Definition: Definition(),
		Config:     sourceOf(d),
		Tables: map[string]int64{"keyed": 300, "keyless": 20, "empty": 0, "texts": 99, "parted": 400, "parent": 30, "child": 40, "shown": 50, "kept": 100,
			`Other one.order "x"`: 25},
		Insert: func(t testing.TB, table string) func() {
			switch table {
			case "texts":
				d.Exec(t, "INSERT INTO texts VALUES ('new', 1000)")
			case "parted":
				d.Exec(t, "INSERT INTO parted VALUES (999, 'eu')")
			case "keyless":
				d.Exec(t, "INSERT INTO keyless VALUES ('new')")
			case "kept":
				return func() { d.Exec(t, "INSERT INTO keyed VALUES (1001)") }
			case `Other one.order "x"`:
				d.Exec(t, `INSERT INTO "Other one"."order ""x""" VALUES (1000)`)
			default:
				d.Exec(t, "INSERT INTO "+quote(table)+" (id) VALUES (1000)")
			}
			return func() {}
		},
	})
}
