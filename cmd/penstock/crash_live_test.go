package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// A table that the load made is planned as one that it makes after a kill too,
// so that its key comes.
func TestCrashOfALoadThatMadeItsTableEndsWithItsKey(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, postgresSpec(d, "public", ""))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	c.killAt("chunk.commit.after", 2)
	c.finish()
	got := d.Ask(t, "SELECT count(*) || ' ' || (SELECT count(*) FROM pg_constraint WHERE conrelid = 't'::regclass AND contype = 'p') FROM t")
	if want := fmt.Sprint(crashRows, " 1"); got != want {
		t.Errorf("rows and keys: got %s, want %s", got, want)
	}
}

// A table of the user's own, with its index and without a key, is planned as it
// is before and after a kill: it gets its rows and nothing else.
func TestCrashOfALoadIntoATableThatWasThereLeavesItsShape(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, `CREATE TABLE t (id bigint NOT NULL, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL, note text DEFAULT 'mine');
CREATE INDEX on_number ON t (small_number)`)
	const shape = `SELECT string_agg(pg_get_indexdef(indexrelid), '; ') || (SELECT count(*) FROM pg_constraint WHERE conrelid = 't'::regclass) FROM pg_index WHERE indrelid = 't'::regclass`
	want := d.Ask(t, shape)
	spec := filepath.Join(t.TempDir(), "spec.hcl")
	writeFile(t, spec, postgresSpec(d, "public", ""))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	for _, point := range []string{"claim.after", "begin.after", "chunk.commit.after", "finish.before", "finish.after"} {
		c.killAt(point, 1)
	}
	c.finish()
	if got := d.Ask(t, shape); got != want {
		t.Errorf("indexes and constraints: got %s, want %s", got, want)
	}
	if got, want := d.Ask(t, "SELECT count(*) || ' ' || count(DISTINCT id) || ' ' || min(note) FROM t"), fmt.Sprintf("%d %d mine", crashRows, crashRows); got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
}

// Files: killed at every durable step of a load, a run of the same spec goes on.
func TestCrashOfALoadIntoFilesAndEveryRowIsThereOnce(t *testing.T) {
	bin := buildWithFailpoints(t)
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.hcl")
	text := strings.Replace(crashSpec("lake", ""), `target "sqlite" "d"`, `target "delimited" "d"`, 1)
	writeFile(t, spec, text)
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	for _, point := range []string{"claim.after", "begin.before", "begin.described", "begin.stored", "chunk.rows", "chunk.commit.after", "chunk.commit.after", "finish.before", "finish.after"} {
		c.killAt(point, 1)
	}
	c.finish()
	files, err := filepath.Glob(filepath.Join(dir, "lake", "t-*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for _, l := range lines[1:] { // each file has its header
			id, _, _ := strings.Cut(l, ",")
			seen[id]++
		}
	}
	if len(seen) != crashRows {
		t.Errorf("%d different rows, want %d", len(seen), crashRows)
	}
	for id, n := range seen {
		if n != 1 {
			t.Fatalf("row %s is there %d times", id, n)
		}
	}
}
