package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// reloadAt runs the spec with --reload t, killed at a failpoint; "" = to its end.
func (c *crasher) reloadAt(point string) {
	c.t.Helper()
	cmd := exec.Command(c.bin, "run", c.spec, "--reload", "t")
	cmd.Env = append(os.Environ(), append(c.env, "PENSTOCK_FAILPOINT="+point)...)
	out, err := cmd.CombinedOutput()
	if point == "" && err != nil || point != "" && !killed(cmd) {
		c.t.Fatalf("--reload, killed at %q: %s\n%s", point, cmd.ProcessState, out)
	}
}

// A table that the run made has got an index and a constraint since. It is
// loaded again, killed at every durable step; nothing of it is lost.
func TestCrashOfAReloadLeavesKeyAndIndexesAsTheyWere(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, postgresSpec(d, "public", ""))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	c.finish()
	d.Exec(t, "CREATE INDEX by_text ON t (lower(short_string) DESC) WITH (fillfactor = 80); ALTER TABLE t ADD CONSTRAINT both_of UNIQUE (small_number, id)")
	want := defined(t, d)
	const indexes = "SELECT count(*) FROM pg_index WHERE indrelid = 't'::regclass"
	for _, point := range []string{"begin.before", "begin.dropped"} { // rolled back: the old load stands
		c.reloadAt(point + ":1")
		if got := defined(t, d); got != want {
			t.Fatalf("after a kill at %s: got\n%s\nwant\n%s", point, got, want)
		}
	}
	c.reloadAt("begin.after:1")
	if got := d.Ask(t, indexes); got != "0" {
		t.Errorf("%s indexes are in the table while it is loaded again, want none", got)
	}
	for _, point := range []string{"chunk.commit.after", "finish.before", "ddl.commit.before", "ddl.commit.after", "ddl.commit.after"} {
		c.killAt(point, 1)
	}
	c.reloadAt("chunk.commit.after:2") // anew, when some of it is made again
	if got := d.Ask(t, indexes); got != "0" {
		t.Errorf("%s indexes are in the table while it is loaded once more, want none", got)
	}
	c.finish()
	if got := defined(t, d); got != want {
		t.Errorf("indexes and constraints: got\n%s\nwant\n%s", got, want)
	}
	if got := d.Ask(t, "SELECT count(*) FROM penstock_ddl"); got != "0" {
		t.Errorf("%s lines are left in the journal", got)
	}
	whole(t, bin, d, "")
	if n := unequal(t, d, "public.t", "whole.t"); n != "0" {
		t.Errorf("%s rows are there another number of times than in one load", n)
	}

	// The control: drops outside of the journal's transaction, and a kill between.
	c.env = []string{"PENSTOCK_GUARD_OFF=journal"}
	c.reloadAt("begin.dropped:1")
	c.env = nil
	c.finish()
	if defined(t, d) == want {
		t.Error("nothing is lost: the control shows nothing")
	}
}
