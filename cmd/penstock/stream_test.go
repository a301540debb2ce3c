package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// replica is two databases and a spec that keeps one in step with the other.
type replica struct {
	from, to *postgrestest.Database
	spec     string
}

const replicaTables = `CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint, status text NOT NULL, amount numeric(12,2), note text);
CREATE TABLE lines (order_id bigint, line integer, qty integer NOT NULL, PRIMARY KEY (order_id, line))`

// replicate writes a spec of mode over tables, the bodies of table blocks.
func replicate(t *testing.T, mode, more, tables string) *replica {
	t.Helper()
	from, to := postgrestest.Logical(t).Database(t), postgrestest.Shared(t).Database(t)
	r := &replica{from: from, to: to, spec: filepath.Join(t.TempDir(), "replica.hcl")}
	from.Exec(t, replicaTables)
	r.write(t, mode, more, tables)
	return r
}

func (r *replica) write(t *testing.T, mode, more, tables string) {
	t.Helper()
	end := func(d *postgrestest.Database) string {
		return fmt.Sprintf("host = %q\n  database = %q\n  user = %q", d.Socket, d.Name, postgrestest.User)
	}
	writeFile(t, r.spec, fmt.Sprintf(`penstock { spec = 1 }
source "postgres" "s" {
  %s
}
target "postgres" "d" {
  %s
}
pipeline "p" {
  from    = source.s
  to      = target.d
  mode    = %q
  workers = 3
  %s
  %s
}
`, end(r.from), end(r.to), mode, more, tables))
}

// run runs the spec until now.
func (r *replica) run(t *testing.T, exit int, flags ...string) (stdout, stderr string) {
	t.Helper()
	got, stdout, stderr := command(t, append([]string{"run", r.spec, "--until", "now"}, flags...)...)
	if got != exit {
		t.Fatalf("run %s: exit %d, want %d\n%s", strings.Join(flags, " "), got, exit, stderr)
	}
	return stdout, stderr
}

// same compares a query at both ends.
func (r *replica) same(t *testing.T, source, target string) {
	t.Helper()
	const all = "SELECT coalesce(string_agg(x::text, ' ' ORDER BY x), '') FROM (%s) AS x"
	if want, got := r.from.Ask(t, fmt.Sprintf(all, source)), r.to.Ask(t, fmt.Sprintf(all, target)); got != want {
		t.Errorf("the target has\n%s\nwant\n%s", got, want)
	}
}

const bothTables = "table \"orders\" {}\n  table \"lines\" {}"

func TestLoadAndStreamLeaveWhatTheSourceHas(t *testing.T) {
	r := replicate(t, "snapshot+cdc", "", bothTables)
	r.from.Exec(t, `INSERT INTO orders SELECT i, i % 7, 'open', i / 4.0, repeat('x', 5000) FROM generate_series(1, 500) AS i;
INSERT INTO lines SELECT i, j, j FROM generate_series(1, 200) AS i, generate_series(1, 3) AS j`)
	r.run(t, 0)
	r.same(t, "SELECT * FROM orders", "SELECT * FROM orders")
	// Everything that can happen to a row, and to keys that are taken.
	for _, sql := range []string{
		"INSERT INTO orders VALUES (1000, 1, 'new', 1, NULL)",
		"UPDATE orders SET status = 'paid' WHERE id % 3 = 0", // notes are in TOAST and stay
		"UPDATE orders SET note = repeat('y', 6000) WHERE id % 50 = 0",
		"DELETE FROM orders WHERE id % 10 = 1",
		"UPDATE lines SET line = line + 10",
		"UPDATE orders SET id = id + 100000 WHERE id BETWEEN 20 AND 40",
		"BEGIN; INSERT INTO lines VALUES (900, 1, 1), (900, 2, 2); UPDATE lines SET qty = 9 WHERE order_id = 900; DELETE FROM lines WHERE order_id = 900 AND line = 2; COMMIT",
	} {
		r.from.Exec(t, sql)
	}
	_, report := r.run(t, 0)
	r.same(t, "SELECT * FROM orders", "SELECT * FROM orders")
	r.same(t, "SELECT * FROM lines", "SELECT * FROM lines")
	if !strings.Contains(report, "already loaded") && !strings.Contains(report, "operations") {
		t.Errorf("the report does not tell of changes:\n%s", report)
	}
	r.from.Exec(t, "TRUNCATE lines; INSERT INTO lines VALUES (1, 1, 1)")
	r.run(t, 0)
	r.same(t, "SELECT * FROM lines", "SELECT * FROM lines")
}

func TestAFilterMovesRowsInAndOutOfTheTarget(t *testing.T) {
	const status = `table "orders" {
    filter = "status == 'open'"
    column "note" { drop = true }
    column "cents" { value = "amount * 100" }
  }`
	for name, identity := range map[string]string{"old images are whole": "FULL", "old images are keys": "DEFAULT"} {
		t.Run(name, func(t *testing.T) {
			r := replicate(t, "snapshot+cdc", "", status)
			r.from.Exec(t, "ALTER TABLE orders DROP COLUMN note; ALTER TABLE orders ALTER COLUMN status SET STORAGE PLAIN; ALTER TABLE orders ALTER COLUMN amount SET STORAGE MAIN; ALTER TABLE orders REPLICA IDENTITY "+identity)
			r.write(t, "snapshot+cdc", "", strings.Replace(status, `column "note" { drop = true }`, "", 1))
			r.from.Exec(t, "INSERT INTO orders SELECT i, i, CASE WHEN i % 2 = 0 THEN 'open' ELSE 'paid' END, i FROM generate_series(1, 100) AS i")
			r.run(t, 0)
			for _, sql := range []string{
				"UPDATE orders SET status = 'paid' WHERE id <= 20",             // out, and some were
				"UPDATE orders SET status = 'open' WHERE id BETWEEN 10 AND 60", // in, and some are
				"UPDATE orders SET amount = amount + 1",
				"DELETE FROM orders WHERE id % 9 = 0",
				"INSERT INTO orders VALUES (1000, 1, 'open', 1), (1001, 1, 'paid', 1)",
			} {
				r.from.Exec(t, sql)
			}
			r.run(t, 0)
			r.same(t, "SELECT id, customer, status, amount, (amount * 100)::text FROM orders WHERE status = 'open'", "SELECT id, customer, status, amount, cents::text FROM orders")
		})
	}
}

// Keys change their lanes with the number of workers, which goes only where all
// lanes have done the same: as they have after --until.
func TestWorkersOfAStreamChangeAtADrainedPosition(t *testing.T) {
	r := replicate(t, "cdc", "", bothTables)
	r.run(t, 0)
	r.from.Exec(t, "INSERT INTO lines SELECT i, 1, i FROM generate_series(1, 300) AS i")
	r.run(t, 0)
	whole, err := os.ReadFile(r.spec)
	if err != nil {
		t.Fatal(err)
	}
	b := strings.Replace(string(whole), "workers = 3", "workers = 2", 1)
	writeFile(t, r.spec, b)
	r.from.Exec(t, "UPDATE lines SET qty = qty + 1")
	r.run(t, 0)
	r.same(t, "SELECT * FROM lines", "SELECT * FROM lines")
	if n := r.to.Ask(t, "SELECT count(*) FROM penstock_checkpoint"); n != "2" {
		t.Errorf("%s lanes, want 2", n)
	}
	r.to.Exec(t, "UPDATE penstock_checkpoint SET position = position || '\\x00' WHERE lane = 1")
	writeFile(t, r.spec, strings.Replace(b, "workers = 2", "workers = 4", 1))
	if _, text := r.run(t, 4); !strings.Contains(text, "different positions") {
		t.Errorf("the report does not say why:\n%s", text)
	}
}

func TestUntilIsForStreams(t *testing.T) {
	r := replicate(t, "snapshot", "", bothTables)
	if exit, _, text := command(t, "run", r.spec, "--until", "now"); exit != 2 || !strings.Contains(text, "no stream") {
		t.Errorf("exit %d, want 2: %s", exit, text)
	}
}

func TestStatusTellsHowFarAStreamIs(t *testing.T) {
	r := replicate(t, "snapshot+cdc", "", bothTables)
	r.from.Exec(t, "INSERT INTO lines VALUES (1, 1, 1)")
	if exit, out, text := command(t, "status", r.spec); exit != 0 || !strings.Contains(out, "nobody runs it") {
		t.Errorf("before a run: exit %d, %s%s", exit, out, text)
	}
	r.run(t, 0)
	r.from.Exec(t, "UPDATE lines SET qty = 2")
	r.run(t, 0)
	exit, out, text := command(t, "status", r.spec)
	for _, want := range []string{"lines   loaded, 1 row", "1 applied by 3 lanes", "not applied; the source keeps"} {
		if exit != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in\n%s%s", exit, want, out, text)
		}
	}
	if exit, out, _ := command(t, "status", r.spec, "--json"); exit != 0 || !strings.Contains(out, `"behind_bytes"`) {
		t.Errorf("exit %d, JSON %s", exit, out)
	}
}
