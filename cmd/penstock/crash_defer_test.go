package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// indexed is a table that is there, with three indexes, a key and a foreign key.
const indexed = `CREATE TABLE kind (n integer PRIMARY KEY);
INSERT INTO kind SELECT generate_series(-10, 100000);
CREATE TABLE t (id bigint PRIMARY KEY, small_number integer NOT NULL REFERENCES kind, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL);
CREATE INDEX by_text ON t (lower(short_string) DESC) WITH (fillfactor = 80); CREATE INDEX by_date ON t (created_date) WHERE small_number > 5; CREATE UNIQUE INDEX by_both ON t (small_number, id) INCLUDE (big_number);
COMMENT ON INDEX by_text IS 'a comment'`

const mine = "INSERT INTO %s SELECT -i, 1, 1, 'mine', '2025-01-01' FROM generate_series(1, 1000) AS i"

// defined is what the table has, in the server's own words.
func defined(t *testing.T, d *postgrestest.Database) string {
	t.Helper()
	return d.Ask(t, `SELECT string_agg(x, E'\n' ORDER BY x) FROM (SELECT pg_get_indexdef(indexrelid) || ' ' || coalesce(obj_description(indexrelid), '') || indisvalid AS x FROM pg_index WHERE indrelid = 't'::regclass
UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) || convalidated FROM pg_constraint WHERE conrelid = 't'::regclass) AS y`)
}

func deferSpec(t *testing.T, d *postgrestest.Database, existing string) string {
	t.Helper()
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, postgresSpec(d, "public", fmt.Sprintf("existing = %q\n    apply { indexes = \"defer\" }", existing)))
	return spec
}

// A load that drops three indexes, a key and a foreign key of a table that is
// there, killed at every durable step: every row is there once, the user's own
// too, and the table has what it had, to the letter.
func TestCrashOfDeferredIndexesLeavesTheTableAsItWas(t *testing.T) {
	bin := buildWithFailpoints(t)
	server := postgrestest.Shared(t)
	for _, existing := range []string{"error", "append"} {
		t.Run(existing, func(t *testing.T) {
			d := server.Database(t)
			d.Exec(t, indexed)
			if existing == "append" {
				d.Exec(t, fmt.Sprintf(mine, "t"))
			}
			want := defined(t, d)
			c := &crasher{t: t, bin: bin, spec: deferSpec(t, d, existing), histogram: map[string]int{}}
			for _, point := range []string{"begin.before", "begin.dropped", "begin.after", "chunk.begin", "chunk.rows", "chunk.marker", "chunk.commit.before", "chunk.commit.after", "finish.before"} {
				c.killAt(point, 1)
				if existing == "append" {
					if got := d.Ask(t, "SELECT count(*) FROM t WHERE short_string = 'mine'"); got != "1000" {
						t.Fatalf("after a kill at %s: %s of the user's rows, want 1000", point, got)
					}
				}
			}
			// Each step that makes something again, before its commit and after.
			for range 3 {
				c.killAt("ddl.commit.before", 1)
				c.killAt("ddl.commit.after", 1)
			}
			c.killAt("finish.after", 1)
			c.finish()
			if got := defined(t, d); got != want {
				t.Errorf("indexes and constraints:\ngot\n%s\nwant\n%s", got, want)
			}
			if got := d.Ask(t, "SELECT count(*) FROM penstock_ddl"); got != "0" {
				t.Errorf("%s lines are left in the journal", got)
			}
			whole(t, bin, d, "")
			if existing == "append" {
				d.Exec(t, fmt.Sprintf(mine, "whole.t"))
			}
			if n := unequal(t, d, "public.t", "whole.t"); n != "0" {
				t.Errorf("%s rows are there another number of times than in a load without kills", n)
			}
		})
	}
}

// undo after a kill puts everything back, and the load goes on afterwards.
func TestUndoAfterAKillLeavesTheTableAsItWas(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, indexed)
	d.Exec(t, fmt.Sprintf(mine, "t"))
	want := defined(t, d)
	c := &crasher{t: t, bin: bin, spec: deferSpec(t, d, "append"), histogram: map[string]int{}}
	undo := func(env, says string) {
		t.Helper()
		cmd := exec.Command(bin, "undo", c.spec)
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		if env != "" {
			if !killed(cmd) {
				t.Fatalf("undo was not killed at %s: %s", env, out)
			}
			return
		}
		if err != nil || !strings.Contains(string(out), says) {
			t.Fatalf("undo: %v, want %q in\n%s", err, says, out)
		}
	}
	undo("", "nothing to put back")
	c.killAt("chunk.commit.after", 3)
	if defined(t, d) == want {
		t.Fatal("nothing was dropped: there is nothing to undo")
	}
	undo("PENSTOCK_FAILPOINT=ddl.commit.after:2", "")
	undo("", "foreign key t_small_number_fkey of t is back")
	if got := defined(t, d); got != want {
		t.Errorf("after undo:\ngot\n%s\nwant\n%s", got, want)
	}
	undo("", "nothing to put back")
	c.finish()
	if got := defined(t, d); got != want {
		t.Errorf("after the load:\ngot\n%s\nwant\n%s", got, want)
	}
	if got, want := d.Ask(t, "SELECT count(*), count(DISTINCT id) FROM t"), fmt.Sprintf("%d|%d", crashRows+1000, crashRows+1000); got != want {
		t.Errorf("rows and distinct ids: got %s, want %s", got, want)
	}
}

// The negative control: what is dropped in a transaction before the one that
// writes the journal is lost by a kill between them, and the tests above see it.
func TestCrashOfDropsOutsideTheJournalsTransactionLosesIndexes(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, indexed)
	want := defined(t, d)
	c := &crasher{t: t, bin: bin, spec: deferSpec(t, d, "error"), histogram: map[string]int{}, env: []string{"PENSTOCK_GUARD_OFF=journal"}}
	c.killAt("begin.dropped", 1)
	cmd := exec.Command(bin, "undo", c.spec)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("undo: %v\n%s", err, out)
	}
	if defined(t, d) == want {
		t.Error("nothing is lost: the control shows nothing")
	}
}
