package verify_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
	"penstock/runtime/verify"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// postgresEnd is an endpoint block of a database.
func postgresEnd(name string, d *postgrestest.Database) string {
	return fmt.Sprintf("\"postgres\" %q {\n  host     = %q\n  port     = %d\n  database = %q\n  user     = %q\n}", name, d.Socket, d.Port, d.Name, postgrestest.User)
}

// compilePostgres plans from one database into another, with the catalogs that
// the server gives.
func (w *world) compilePostgres(from, to *postgrestest.Database, tables string) {
	w.t.Helper()
	at := func(d *postgrestest.Database) postgres.Connection {
		return postgres.Connection{Host: d.Socket, Port: d.Port, Database: d.Name, User: postgrestest.User}
	}
	def, ctx := postgres.Definition(), context.Background()
	source, err := def.Source.Open(ctx, &postgres.SourceConfig{Connection: at(from), Schema: "public"}, connectors.Env{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer source.Close()
	target, err := def.Target.Read(ctx, &postgres.TargetConfig{Connection: at(to), Schema: "public"}, connectors.Env{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer target.Close()
	catalogs := map[string]*schema.Catalog{}
	for id, s := range map[string]connectors.Source{"source.s": source, "target.d": target} {
		if catalogs[id], err = s.Catalog(ctx); err != nil {
			w.t.Fatal(err)
		}
	}
	w.compileWith(catalogs, postgresEnd("s", from), postgresEnd("d", to), tables)
}

const postgresTypes = `CREATE TABLE t (id bigint PRIMARY KEY, a text, b varchar(20), n numeric(20,4), at timestamp, tz timestamptz, f double precision, r real, o bytea, c char(5), u uuid, j json, jb jsonb, k boolean, d date, i interval, m numeric);
INSERT INTO t SELECT i, 'plain', 'other', 12.3456, '2025-03-04 05:06:07.123456', '2025-03-04 05:06:07.123456+02', 0.1, 0.1, '\x00ff', 'ab', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', '{"a": 1}', '{"a": 1}', true, '2025-01-01', '1 day', 1.50 FROM generate_series(1, 2000) i;
UPDATE t SET a = '' WHERE id = 5; UPDATE t SET a = NULL, m = 'NaN', f = 'Infinity', at = '0044-03-15 BC', j = NULL, i = NULL WHERE id = 6; UPDATE t SET a = E'caf\u00e9 it''s \\' WHERE id = 7;`

// TestMutationsAreFoundOnARealServer is TestEachMutationIsFoundAlone between two
// PostgreSQL databases; its repairs are then run there.
func TestMutationsAreFoundOnARealServer(t *testing.T) {
	server := postgrestest.Shared(t)
	s, d := server.Database(t), server.Database(t)
	s.Exec(t, postgresTypes)
	w := &world{t: t, dir: t.TempDir()}
	w.compilePostgres(s, d, `  table "t" {}`)
	w.run()
	equal := func() {
		t.Helper()
		if r := w.verify(nil); r.State != verify.Equal || r.TargetSide.Rows != 2000 || r.SourceSide.Bad != 0 {
			t.Fatalf("%s, %+v, %+v, %v", r.State, r.SourceSide, r.TargetSide, listed(r))
		}
	}
	equal()
	for _, c := range []struct{ name, sql, want string }{
		{"last digit of a decimal", "UPDATE t SET n = 12.3457 WHERE id = 1700", "different 1700 n"},
		{"last digit of a double", "UPDATE t SET f = 0.10000000000000002 WHERE id = 1700", "different 1700 f"},
		{"last digit of a real", "UPDATE t SET r = 0.10000001 WHERE id = 1700", "different 1700 r"},
		{"a microsecond", "UPDATE t SET at = at + interval '1 microsecond' WHERE id = 1700", "different 1700 at"},
		{"an hour of the zone", "UPDATE t SET tz = tz + interval '1 hour' WHERE id = 1700", "different 1700 tz"},
		{"a trailing blank", "UPDATE t SET b = 'other ' WHERE id = 1700", "different 1700 b"},
		{"an empty text for NULL", "UPDATE t SET a = '' WHERE id = 6", "different 6 a"},
		{"NULL for an empty text", "UPDATE t SET a = NULL WHERE id = 5", "different 5 a"},
		{"another normal form", `UPDATE t SET a = E'cafe\u0301 it''s \\' WHERE id = 7`, "different 7 a"},
		{"swapped columns", "UPDATE t SET a = b, b = a WHERE id = 1700", "different 1700 a b"},
		{"an octet", `UPDATE t SET o = '\x00fe' WHERE id = 1700`, "different 1700 o"},
		{"a blank in json", `UPDATE t SET j = '{"a":1}' WHERE id = 1700`, "different 1700 j"},
		{"values that are hard to write, of a row that is gone", "DELETE FROM t WHERE id IN (6, 7)", "missing 6|missing 7"},
		{"another key", "UPDATE t SET id = 70000 WHERE id = 1700", "extra 70000|missing 1700"},
		{"a duplicate and a missing row", "ALTER TABLE t DROP CONSTRAINT t_pkey; DELETE FROM t WHERE id = 8; INSERT INTO t SELECT * FROM t WHERE id = 9", "extra 9|missing 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.Exec(t, c.sql)
			r := w.verify(func(o *verify.Options) { o.FixSQL = true })
			if got := strings.Join(listed(r), "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			d.Exec(t, strings.Join(r.Fix, "\n"))
			if r := w.verify(nil); r.State != verify.Equal {
				t.Fatalf("after %q: %v", r.Fix, listed(r))
			}
		})
	}
}

// TestARowThatCanNotBeReadIsNoEqualRow: no batch holds years past 294246.
func TestARowThatCanNotBeReadIsNoEqualRow(t *testing.T) {
	server := postgrestest.Shared(t)
	s, d := server.Database(t), server.Database(t)
	s.Exec(t, `CREATE TABLE t (id int PRIMARY KEY, at timestamp); INSERT INTO t VALUES (2, '2025-01-01')`)
	w := &world{t: t, dir: t.TempDir()}
	w.compilePostgres(s, d, `  table "t" {}`)
	w.run()
	d.Exec(t, "INSERT INTO t VALUES (1, '294276-12-31')")
	r := w.verify(nil)
	if r.State != verify.Differs || r.TargetSide.Bad != 1 || r.TargetSide.Rows != 1 || len(r.Rows) != 0 {
		t.Errorf("%s, %+v, %+v, %v", r.State, r.SourceSide, r.TargetSide, listed(r))
	}
}

// Infinity and NaN are values like others: equal to themselves, and mended.
func TestInfinityAndNaNAreComparedAndRepaired(t *testing.T) {
	server := postgrestest.Shared(t)
	s, d := server.Database(t), server.Database(t)
	s.Exec(t, `CREATE TABLE t (id int PRIMARY KEY, at timestamptz, day date, n numeric(9,2));
INSERT INTO t VALUES (1, 'infinity', '-infinity', 'NaN'), (2, '-infinity', 'infinity', 1), (3, '2026-01-01 00:00:00+00', '2026-01-01', -0.01)`)
	w := &world{t: t, dir: t.TempDir()}
	w.compilePostgres(s, d, `  table "t" {}`)
	w.run()
	if r := w.verify(nil); r.State != verify.Equal || r.SourceSide.Rows != 3 || r.SourceSide.Bad+r.TargetSide.Bad != 0 {
		t.Fatalf("%s, %+v, %+v, %v", r.State, r.SourceSide, r.TargetSide, listed(r))
	}
	d.Exec(t, "UPDATE t SET at = '-infinity', n = 0 WHERE id = 1; UPDATE t SET day = '-infinity' WHERE id = 2; UPDATE t SET n = 'NaN' WHERE id = 3")
	r := w.verify(func(o *verify.Options) { o.FixSQL = true })
	if got, want := strings.Join(listed(r), "|"), "different 1 at n|different 2 day|different 3 n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	d.Exec(t, strings.Join(r.Fix, "\n"))
	if r := w.verify(nil); r.State != verify.Equal {
		t.Errorf("after %q: %v", r.Fix, listed(r))
	}
}

func TestRepairsGiveNumbersThatATableGivesByItself(t *testing.T) {
	server := postgrestest.Shared(t)
	s, d := server.Database(t), server.Database(t)
	s.Exec(t, "CREATE TABLE t (id int PRIMARY KEY, a text); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
	d.Exec(t, `CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text)`)
	w := &world{t: t, dir: t.TempDir()}
	w.compilePostgres(s, d, `  table "t" {}`)
	w.run()
	d.Exec(t, "DELETE FROM t WHERE id = 2")
	r := w.verify(func(o *verify.Options) { o.FixSQL = true })
	if got := listed(r); !slices.Equal(got, []string{"missing 2"}) {
		t.Fatalf("got %q", got)
	}
	d.Exec(t, strings.Join(r.Fix, "\n"))
	if r := w.verify(nil); r.State != verify.Equal {
		t.Errorf("after the repair: %v", listed(r))
	}
}
