package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// refusedRows have ids that come twice, numbers that a check refuses, and some
// that refer to nothing: all of it only the server finds.
const refusedRows = 12_000

// refusedSpec loads chunks of a few hundred rows.
func refusedSpec(d *postgrestest.Database) string {
	return fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "t" {
    preset = "big_table"
    rows   = %d
    seed   = 11
  }
}
target "postgres" "d" {
  host     = %q
  database = %q
  user     = %q
}
pipeline "crash" {
  from    = source.s
  to      = target.d
  workers = 2
  memory  = "640KiB"
  bad_rows {
    action = "discard"
    file   = "bad.ndjson"
  }
  table "t" {
    existing = "append"
    range { count = 4 }
    column "id" { value = "id %% %d" }
    column "small_number" { value = "id %% 211" }
    column "big_number" { value = "id %% 307" }
  }
}
`, refusedRows, d.Socket, d.Name, postgrestest.User, refusedRows-150)
}

// refusing makes the table and what refuses: of the 12,000 rows, 150 have an id
// that another one has, each 211th refers to nothing, each 307th fails a check.
func refusing(t *testing.T, d *postgrestest.Database) {
	t.Helper()
	d.Exec(t, `CREATE TABLE number (n integer PRIMARY KEY);
INSERT INTO number SELECT i FROM generate_series(0, 210) AS i WHERE i <> 7;
CREATE TABLE t (id bigint PRIMARY KEY, small_number integer NOT NULL REFERENCES number, big_number bigint NOT NULL CHECK (big_number <> 5), short_string varchar(50) NOT NULL, created_date timestamp NOT NULL)`)
}

// tallied is what a load with refused rows leaves.
type tallied struct {
	rows, ids, marked, bad, lines string
	codes                         map[string]int
}

func tallyOf(t *testing.T, d *postgrestest.Database, dir string) tallied {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, "bad.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	o := tallied{codes: map[string]int{}}
	lines := 0
	for l := range strings.Lines(string(file)) {
		var of struct {
			Code string `json:"code"`
		}
		if err := json.Unmarshal([]byte(l), &of); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		o.codes[of.Code]++
		lines++
	}
	o.lines = fmt.Sprint(lines)
	o.rows, o.ids = d.Ask(t, "SELECT count(*) FROM t"), d.Ask(t, "SELECT count(DISTINCT id) FROM t")
	o.marked, o.bad = d.Ask(t, "SELECT sum(rows) FROM penstock_chunk"), d.Ask(t, "SELECT sum(bad_rows) FROM penstock_chunk")
	return o
}

// exact says what is wrong with a tally: a row is in the table, or has a line
// in the file, and the markers say how many of each.
func (o tallied) exact() error {
	var sum, lines int
	_, err := fmt.Sscan(o.rows, &sum)
	_, err2 := fmt.Sscan(o.lines, &lines)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	switch {
	case sum+lines != refusedRows:
		return fmt.Errorf("%d rows and %d lines are not %d", sum, lines, refusedRows)
	case o.rows != o.ids || o.rows != o.marked || o.bad != o.lines:
		return fmt.Errorf("rows, ids, marked, bad, lines: %s %s %s %s %s", o.rows, o.ids, o.marked, o.bad, o.lines)
	case o.codes["23503"] == 0 || o.codes["23505"] == 0 || o.codes["23514"] == 0:
		return fmt.Errorf("the server did not refuse in each way: %v", o.codes)
	}
	return nil
}

// ends runs the load to its end: some rows were refused.
func (c *crasher) ends() {
	c.t.Helper()
	cmd := exec.Command(c.bin, "run", c.spec)
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 3 {
		c.t.Fatalf("the run after the kills: %s, want exit 3\n%s", cmd.ProcessState, out)
	}
}

// A load whose rows the server refuses, killed at each durable step: what was
// loaded and what was set aside are counted right.
func TestCrashOfALoadWithRefusedRowsCountsThemExactly(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	refusing(t, d)
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.hcl")
	writeFile(t, spec, refusedSpec(d))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	for _, point := range []string{"claim.after", "begin.before", "begin.after", "chunk.begin", "chunk.rows", "chunk.marker", "chunk.commit.before", "chunk.commit.after", "chunk.rows", "chunk.commit.before", "chunk.commit.after", "finish.before"} {
		c.killAt(point, 1)
	}
	c.ends()
	c.finish() // nothing is left to do, and nothing is done to the file
	o := tallyOf(t, d, dir)
	if err := o.exact(); err != nil {
		t.Error(err)
	}
	t.Logf("%s rows, %s refused: %v", o.rows, o.lines, o.codes)
}

// The negative control: with the marker outside the rows' transaction a chunk
// that is loaded again has all its rows refused, and the counts are wrong.
func TestCrashOfALoadWithRefusedRowsWithMarkerOutsideTheTransactionMiscounts(t *testing.T) {
	bin := buildWithFailpoints(t)
	d := postgrestest.Shared(t).Database(t)
	refusing(t, d)
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.hcl")
	writeFile(t, spec, refusedSpec(d))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}, env: []string{"PENSTOCK_GUARD_OFF=marker"}}
	c.killAt("chunk.marker", 1)
	c.ends()
	if err := tallyOf(t, d, dir).exact(); err == nil {
		t.Error("the counts are right: the test above could not see a wrong one")
	}
}
