package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// crashRows is enough for some forty chunks at crashSpec's memory.
const crashRows = 200_000

// crashSpec loads many small chunks. drop is the column block of the keyless
// table: without its key nothing at the target would notice a doubled row.
func crashSpec(db, drop string) string {
	return fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  throttle = "20MiB/s" # so that a kill from outside finds it running
  table "t" {
    preset = "big_table"
    rows   = %d
    seed   = 7
  }
}
target "sqlite" "d" { path = %q }
pipeline "crash" {
  from    = source.s
  to      = target.d
  workers = 2
  memory  = "2MiB"
  table "t" {
    %s
    range { count = 4 }
  }
}
`, crashRows, db, drop)
}

// buildWithFailpoints builds the program that can be told where to die.
func buildWithFailpoints(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "penstock")
	cmd := exec.Command("go", "build", "-tags", "failpoints", "-o", bin, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build -tags failpoints: %v\n%s", err, out)
	}
	return bin
}

// crasher runs a program over one spec and kills it.
type crasher struct {
	t         *testing.T
	bin, spec string
	env       []string
	histogram map[string]int
}

// killAt runs until the n-th hit of a failpoint and fails the test when the
// process ended in any other way.
func (c *crasher) killAt(point string, n int) {
	c.t.Helper()
	cmd := exec.Command(c.bin, "run", c.spec)
	cmd.Env = append(os.Environ(), append(c.env, fmt.Sprintf("PENSTOCK_FAILPOINT=%s:%d", point, n))...)
	out, _ := cmd.CombinedOutput()
	if !killed(cmd) {
		c.t.Fatalf("%s was not hit %d times: %s\n%s", point, n, cmd.ProcessState, out)
	}
	c.histogram[point]++
}

// killLater kills at a random moment after a few more chunks are durable, so
// that the load gets on.
func (c *crasher) killLater(r *rand.Rand) {
	c.t.Helper()
	cmd := exec.Command(c.bin, "run", c.spec, "--json")
	cmd.Env = append(os.Environ(), c.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	chunks := 1 + r.IntN(3)
	after := time.Duration(r.IntN(4000)) * time.Microsecond
	lines := bufio.NewScanner(out)
	for n := 0; n < chunks && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), `{"event":"chunk_committed"`) {
			n++
		}
	}
	time.Sleep(after) // the random moment itself
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !killed(cmd) {
		c.t.Fatalf("the process ended by itself before %d chunks: %s\n%s", chunks, cmd.ProcessState, stderr.String())
	}
	c.histogram["random"]++
}

func killed(cmd *exec.Cmd) bool {
	s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && s.Signaled() && s.Signal() == syscall.SIGKILL
}

// finish is the last run: it must go on by itself and end well.
func (c *crasher) finish() {
	c.t.Helper()
	cmd := exec.Command(c.bin, "run", c.spec)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("the run after the kills: %v\n%s", err, out)
	}
}

// differences counts the distinct rows whose number differs between two
// tables, by content alone.
func differences(t *testing.T, a, b string) int {
	t.Helper()
	db, err := sql.Open("sqlite", a)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`ATTACH ? AS other`, b); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`SELECT name FROM pragma_table_info('t')`)
	if err != nil {
		t.Fatal(err)
	}
	var cols []string
	for rows.Next() {
		var c string
		if err := rows.Scan(&c); err != nil {
			t.Fatal(err)
		}
		cols = append(cols, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	list := strings.Join(cols, ", ")
	counted := func(schema string) string {
		return fmt.Sprintf("SELECT %s, count(*) FROM %s.t GROUP BY %s", list, schema, list)
	}
	n := 0
	for _, pair := range [][2]string{{"main", "other"}, {"other", "main"}} {
		var d int
		q := fmt.Sprintf("SELECT count(*) FROM (%s EXCEPT %s)", counted(pair[0]), counted(pair[1]))
		if err := db.QueryRow(q).Scan(&d); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		n += d
	}
	return n
}

// uninterrupted loads the same rows without a kill.
func uninterrupted(t *testing.T, bin, drop string) string {
	t.Helper()
	dir := t.TempDir()
	spec, db := filepath.Join(dir, "spec.hcl"), filepath.Join(dir, "whole.db")
	writeFile(t, spec, crashSpec(db, drop))
	if out, err := exec.Command(bin, "run", spec).CombinedOutput(); err != nil {
		t.Fatalf("uninterrupted run: %v\n%s", err, out)
	}
	return db
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const keyless = `column "id" { drop = true }`

// One load, killed twenty times while a chunk is open, at every other durable
// step, and at random moments; each run goes on by itself where the last one died.
func TestCrashTwentyTimesAndEveryRowIsThereOnce(t *testing.T) {
	bin := buildWithFailpoints(t)
	for name, drop := range map[string]string{"with a key": "", "without a key": keyless} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			spec, db := filepath.Join(dir, "spec.hcl"), filepath.Join(dir, "crash.db")
			writeFile(t, spec, crashSpec(db, drop))
			c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
			c.killAt("claim.after", 1)
			c.killAt("begin.before", 1)
			c.killAt("begin.after", 1)
			open := 0
			for range 5 {
				for _, point := range []string{"chunk.begin", "chunk.rows", "chunk.marker", "chunk.commit.before"} {
					c.killAt(point, 1+r.IntN(2))
					open++
				}
			}
			c.killAt("chunk.commit.after", 1)
			c.killAt("chunk.commit.after", 2)
			for range 5 {
				c.killLater(r)
			}
			c.killAt("finish.before", 1)
			c.killAt("finish.after", 1)
			for _, k := range slices.Sorted(maps.Keys(c.histogram)) {
				t.Logf("killed at %-20s %d", k, c.histogram[k])
			}
			if open != 20 {
				t.Fatalf("%d kills at a chunk that is certainly open, want 20", open)
			}
			c.finish()
			if got, err := query(db, "SELECT count(*) FROM t"); err != nil || got != strconv.Itoa(crashRows) {
				t.Errorf("rows: got %s (%v), want %d", got, err, crashRows)
			}
			if n := differences(t, db, uninterrupted(t, bin, drop)); n != 0 {
				t.Errorf("%d rows are there another number of times than in a load without kills", n)
			}
		})
	}
}

// The negative control: with the marker written after the rows' transaction, a
// kill between the two doubles rows, and the test above would see it.
func TestCrashWithMarkerOutsideTheTransactionDoublesRows(t *testing.T) {
	bin := buildWithFailpoints(t)
	dir := t.TempDir()
	spec, db := filepath.Join(dir, "spec.hcl"), filepath.Join(dir, "crash.db")
	writeFile(t, spec, crashSpec(db, keyless))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}, env: []string{"PENSTOCK_GUARD_OFF=marker"}}
	c.killAt("chunk.marker", 3)
	c.finish()
	got, err := query(db, "SELECT count(*) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(got); err != nil || n <= crashRows {
		t.Errorf("%s rows, want more than %d: the control shows nothing", got, crashRows)
	}
	if n := differences(t, db, uninterrupted(t, bin, keyless)); n == 0 {
		t.Error("the comparison by content does not see doubled rows")
	}
}

// copySpec copies an SQLite table, whose snapshot dies with its process.
func copySpec(from, to, existing string) string {
	return fmt.Sprintf(`penstock { spec = 1 }
source "sqlite" "s" { path = %q }
target "sqlite" "d" { path = %q }
pipeline "copy" {
  from    = source.s
  to      = target.d
  workers = 2
  memory  = "2MiB"
  table "t" { existing = %q }
}
`, from, to, existing)
}

func execSQL(t *testing.T, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// A row that moves from a chunk that is still to be read into one that is done
// would be lost if the rest were read at a later point.
func TestCrashOfAPointThatIsGoneReadsTheTableAnew(t *testing.T) {
	bin := buildWithFailpoints(t)
	source := uninterrupted(t, bin, "")
	dir := t.TempDir()
	spec, db := filepath.Join(dir, "copy.hcl"), filepath.Join(dir, "copy.db")
	writeFile(t, spec, copySpec(source, db, "error"))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	c.killAt("chunk.commit.after", 4)
	execSQL(t, source,
		"UPDATE t SET id = -id WHERE id % 1000 = 7", // from everywhere to before the first chunk
		"DELETE FROM t WHERE id % 1000 = 8",
		"UPDATE t SET big_number = big_number + 1 WHERE id < 100")
	c.killAt("chunk.commit.after", 2)
	c.killAt("begin.after", 1)
	c.finish()
	if n := differences(t, db, source); n != 0 {
		t.Errorf("%d rows differ from the source", n)
	}
	if got, err := query(db, "SELECT generation > 1, state FROM penstock_table"); err != nil || got != "1|loaded" {
		t.Errorf("generation > 1 and state: got %s (%v), want 1|loaded", got, err)
	}
}

// Rows of the user's own stand in the table: the load goes in at once or not at
// all, so that there is never a part of it to take out.
func TestCrashOfAppendFromAPointThatDiesIsAllOrNothing(t *testing.T) {
	bin := buildWithFailpoints(t)
	source := uninterrupted(t, bin, "")
	dir := t.TempDir()
	spec, db := filepath.Join(dir, "copy.hcl"), filepath.Join(dir, "copy.db")
	execSQL(t, db,
		"CREATE TABLE t (id INTEGER PRIMARY KEY, small_number INT4, big_number INTEGER, short_string VARCHAR(50), created_date TIMESTAMP_TEXT)",
		"INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT -i, 1, 1, 'mine', '2025-01-01 00:00:00' FROM n")
	writeFile(t, spec, copySpec(source, db, "append"))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	for _, point := range []string{"begin.after", "chunk.rows", "chunk.marker", "chunk.commit.before"} {
		c.killAt(point, 1)
		if got, err := query(db, "SELECT count(*) FROM t"); err != nil || got != "1000" {
			t.Fatalf("after a kill at %s: %s rows (%v), want the user's 1000", point, got, err)
		}
	}
	c.killAt("chunk.commit.after", 1)
	c.finish()
	want := fmt.Sprintf("%d|1000", crashRows+1000)
	if got, err := query(db, "SELECT count(*), sum(short_string = 'mine') FROM t"); err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
