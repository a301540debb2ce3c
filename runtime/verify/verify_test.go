package verify_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
	"penstock/runtime/verify"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"
)

// world is a folder with a source, a target and the plan between them.
type world struct {
	t    rapid.TB
	dir  string
	plan *plan.Plan
}

// compile plans a spec: two endpoints and what stands in the pipeline.
func (w *world) compile(source, target, tables string) {
	w.t.Helper()
	w.compileWith(nil, source, target, tables)
}

// compileWith is compile with the catalogs of servers.
func (w *world) compileWith(catalogs map[string]*schema.Catalog, source, target, tables string) {
	w.t.Helper()
	text := fmt.Sprintf("penstock { spec = 1 }\nsource %s\ntarget %s\npipeline \"p\" {\n  from = source.s\n  to = target.d\n  workers = 2\n%s\n}\n", source, target, tables)
	reg := all.Registry()
	spec, found := lang.Parse(map[string][]byte{"p.hcl": []byte(text)}, w.dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		w.t.Fatalf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	p, found := planner.Compile(context.Background(), spec, reg, planner.Options{Catalogs: catalogs})
	if p == nil {
		w.t.Fatalf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	w.plan = p
}

func (w *world) run() {
	w.t.Helper()
	res := runtime.Run(context.Background(), w.plan, runtime.Options{Registry: all.Registry(), Dir: w.dir})
	if res.Exit != 0 && res.Exit != runtime.ExitFindings {
		w.t.Fatalf("run: exit %d, %+v", res.Exit, res.Pipelines[0].Error)
	}
}

func (w *world) verify(change func(*verify.Options)) *verify.Table {
	w.t.Helper()
	o := verify.Options{Registry: all.Registry(), Dir: w.dir, Limit: 1000, Values: true}
	if change != nil {
		change(&o)
	}
	res := verify.Run(context.Background(), w.plan, o)
	if res.Err != nil || res.Pipelines[0].Error != nil {
		w.t.Fatalf("verify: %+v %+v", res.Err, res.Pipelines[0].Error)
	}
	t := res.Pipelines[0].Tables[0]
	want := 0
	if t.State != verify.Equal {
		want = runtime.ExitFindings
	}
	if res.Exit != want {
		w.t.Fatalf("exit %d for a table that is %s", res.Exit, t.State)
	}
	return t
}

func (w *world) exec(file string, statements ...string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, file))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range slices.Concat([]string{"PRAGMA synchronous = OFF", "BEGIN"}, statements, []string{"COMMIT"}) {
		if _, err := db.Exec(s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
}

// listed are the rows of a report as "kind key columns".
func listed(t *verify.Table) []string {
	var out []string
	for _, r := range t.Rows {
		s := string(r.Kind)
		for _, k := range r.Key {
			s += " " + k.Value.Text
		}
		if r.Kind == verify.DifferentRow {
			for _, c := range r.Columns {
				s += " " + c.Column
			}
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

const (
	sqliteSource = `"sqlite" "s" { path = "s.db" }`
	sqliteTarget = `"sqlite" "d" { path = "d.db" }`
)

// typed is a table with a column of each sort in which values can differ by a
// hair.
const typed = `CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT, n DECIMAL_TEXT(20,4), at TIMESTAMP, f REAL, o BLOB, c CHAR(5))`

var typedRow = `INSERT INTO t VALUES (%d, 'plain', 'other', '12.3456', '2025-03-04 05:06:07.123456', 0.1, X'00ff', 'ab   ')`

// TestEachMutationIsFoundAlone changes one value of one row by as little as can
// be, in a table that is equal before and after.
func TestEachMutationIsFoundAlone(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	statements := []string{typed}
	for i := range 3000 {
		statements = append(statements, fmt.Sprintf(typedRow, i))
	}
	w.exec("s.db", append(statements, "UPDATE t SET a = '' WHERE id = 5", "UPDATE t SET a = NULL WHERE id = 6", "UPDATE t SET a = 'caf\u00e9' WHERE id = 7")...)
	w.compile(sqliteSource, sqliteTarget, `  table "t" {}`)
	w.run()
	for _, c := range []struct{ name, set, want string }{
		{"last digit of a decimal", "n = '12.3457' WHERE id = 1700", "different 1700 n"},
		{"last digit of a float", "f = 0.10000000000000002 WHERE id = 1700", "different 1700 f"},
		{"a microsecond", "at = '2025-03-04 05:06:07.123457' WHERE id = 1700", "different 1700 at"},
		{"a nanosecond that the column does not declare", "at = '2025-03-04 05:06:07.123456001' WHERE id = 1700", "different 1700 at"},
		{"a trailing blank", "a = 'plain ' WHERE id = 1700", "different 1700 a"},
		{"a padding blank less", "c = 'ab  ' WHERE id = 1700", "different 1700 c"},
		{"an empty text for NULL", "a = '' WHERE id = 6", "different 6 a"},
		{"NULL for an empty text", "a = NULL WHERE id = 5", "different 5 a"},
		{"another normal form", "a = 'cafe\u0301' WHERE id = 7", "different 7 a"},
		{"an octet", "o = X'00fe' WHERE id = 1700", "different 1700 o"},
		{"an octet less", "o = X'00' WHERE id = 1700", "different 1700 o"},
		{"swapped columns", "a = b, b = a WHERE id = 1700", "different 1700 a b"},
		{"another key", "id = 70000 WHERE id = 1700", "extra 70000|missing 1700"},
		{"values of two rows swapped", "a = CASE id WHEN 5 THEN NULL ELSE '' END WHERE id IN (5, 6)", "different 5 a|different 6 a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := w.verify(nil); r.State != verify.Equal || r.Differing != 0 {
				t.Fatalf("before: %s, %v", r.State, listed(r))
			}
			w.exec("d.db", "UPDATE t SET "+c.set)
			r := w.verify(func(o *verify.Options) { o.FixSQL = true })
			if got := strings.Join(listed(r), "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			w.exec("d.db", r.Fix...)
		})
	}
}

// TestValuesThatAreEqualInAnotherFormAreNoDifference is the other half: no false
// alarm.
func TestValuesThatAreEqualInAnotherFormAreNoDifference(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.exec("s.db", typed, fmt.Sprintf(typedRow, 1), fmt.Sprintf(typedRow, 2))
	w.compile(sqliteSource, sqliteTarget, `  table "t" {}`)
	w.run()
	for _, set := range []string{"n = '0012.34560'", "at = '2025-03-04T05:06:07.1234560'", "f = 1e-1"} {
		w.exec("d.db", "UPDATE t SET "+set+" WHERE id = 2")
		if r := w.verify(nil); r.State != verify.Equal {
			t.Errorf("%s: %s, %v", set, r.State, listed(r))
		}
	}
}

// row is the values of a row as text, nil for NULL.
type row [3]any

// TestTheRowsListedAreTheEditsMade makes a table of random rows, loads it, edits
// the target at random, and wants exactly those edits in the report; the repairs
// then make both equal again.
func TestTheRowsListedAreTheEditsMade(t *testing.T) {
	texts := rapid.SampledFrom([]any{nil, "", " ", "a", "a ", "A", "\u00e9", "e\u0301", "NULL", "it's", `b\n"`, "\n", "a\x01"})
	numbers := rapid.SampledFrom([]any{nil, "0.00", "-0.01", "0.01", "12345678901234567.89", "1.10", "1.01"})
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		draw := func() row { return row{texts.Draw(t, "a"), numbers.Draw(t, "n"), texts.Draw(t, "b")} }
		keyed := rapid.Bool().Draw(t, "keyed")
		size := rapid.IntRange(0, 40).Draw(t, "rows")
		source := map[int]row{}
		key := "PRIMARY KEY"
		if !keyed {
			key = ""
		}
		if err := mkdir(dir); err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, dir: dir}
		insert := func(id int, r row) string {
			return fmt.Sprintf("INSERT INTO t VALUES (%d, %s, %s, %s)", id, literal(r[0]), literal(r[1]), literal(r[2]))
		}
		statements := []string{"CREATE TABLE t (id INTEGER " + key + ", a TEXT, n DECIMAL_TEXT(19,2), b VARCHAR(10))"}
		for id := range size {
			source[id] = draw()
			statements = append(statements, insert(id, source[id]))
		}
		w.exec("s.db", statements...)
		w.compile(sqliteSource, sqliteTarget, `  table "t" {}`)
		w.run()
		want := []string{}
		add := func(format string, args ...any) { want = append(want, fmt.Sprintf(format, args...)) }
		statements = nil
		for id := range size {
			switch rapid.IntRange(0, 9).Draw(t, "edit") {
			case 0:
				statements = append(statements, fmt.Sprintf("DELETE FROM t WHERE id = %d", id))
				if add("missing %d", id); !keyed {
					want[len(want)-1] = "missing"
				}
			case 1:
				r, columns := draw(), ""
				for i, name := range []string{"a", "n", "b"} {
					if r[i] != source[id][i] {
						columns += " " + name
					}
				}
				statements = append(statements, fmt.Sprintf("UPDATE t SET a = %s, n = %s, b = %s WHERE id = %d", literal(r[0]), literal(r[1]), literal(r[2]), id))
				switch {
				case columns == "":
				case keyed:
					add("different %d%s", id, columns)
				default:
					want = append(want, "missing", "extra")
				}
			case 2:
				if keyed {
					statements = append(statements, insert(1000+id, draw()))
					add("extra %d", 1000+id)
				} else { // a second copy of a row
					statements = append(statements, insert(id, source[id]))
					want = append(want, "extra")
				}
			}
		}
		w.exec("d.db", statements...)
		slices.Sort(want)
		r := w.verify(func(o *verify.Options) { o.FixSQL = true })
		if got := listed(r); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q\nedits: %q", got, want, statements)
		}
		if r.Missing+r.Extra+r.Different != int64(len(want)) {
			t.Fatalf("%d missing, %d extra, %d different, and %d rows in all", r.Missing, r.Extra, r.Different, len(want))
		}
		w.exec("d.db", r.Fix...)
		if again := w.verify(nil); again.State != verify.Equal {
			t.Fatalf("after the repairs %q: %q", r.Fix, listed(again))
		}
	})
}

func mkdir(dir string) error { return os.MkdirAll(dir, 0o755) }

func literal(v any) string {
	if v == nil {
		return "NULL"
	}
	return "'" + strings.ReplaceAll(v.(string), "'", "''") + "'"
}

func TestADuplicateAndAMissingRowOfOneKeyAreTwoFindings(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.exec("s.db", "CREATE TABLE t (id INTEGER NOT NULL, a TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
	w.compile(sqliteSource, sqliteTarget, `  table "t" {
    key = ["id"]
    to  = "u"
  }`)
	w.run()
	// A key that the database does not enforce: two rows of one, none of another.
	w.exec("d.db", "CREATE TABLE v AS SELECT * FROM u", "DROP TABLE u", "CREATE TABLE u (id INTEGER NOT NULL, a TEXT)", "INSERT INTO u SELECT * FROM v WHERE id <> 3 UNION ALL SELECT * FROM v WHERE id = 2")
	r := w.verify(func(o *verify.Options) { o.FixSQL = true })
	if got := listed(r); !slices.Equal(got, []string{"extra 2", "missing 3"}) || r.SourceSide.Rows != r.TargetSide.Rows {
		t.Fatalf("%q, %d and %d rows", got, r.SourceSide.Rows, r.TargetSide.Rows)
	}
	w.exec("d.db", r.Fix...)
	if again := w.verify(nil); again.State != verify.Equal {
		t.Fatalf("after %q: %q", r.Fix, listed(again))
	}
}

// TestRowsBeyondMemoryAreMatchedGroupByGroup holds far more rows than may be in
// memory, so that entries wait in files.
func TestRowsBeyondMemoryAreMatchedGroupByGroup(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.compile(`"synthetic" "s" {
  table "t" {
    preset = "big_table"
    rows   = 30000
    seed   = 1
  }
}`, sqliteTarget, `  table "t" {}`)
	w.run()
	w.exec("d.db", "UPDATE t SET big_number = big_number + 1", "DELETE FROM t WHERE id % 3 = 0", "INSERT INTO t SELECT id + 1000000, small_number, big_number, short_string, created_date FROM t WHERE id % 5 = 0")
	w.plan.Pipelines[0].Memory = 2 * 40 * 2000 // two thousand entries
	r := w.verify(func(o *verify.Options) { o.Limit = 30 })
	if r.Missing != 10000 || r.Extra != 4000 || r.Different != 20000 {
		t.Errorf("%d missing, %d extra, %d different; want 10000, 4000, 20000", r.Missing, r.Extra, r.Different)
	}
	if len(r.Rows) != 30 || r.LeftOut != 34000-30 {
		t.Errorf("%d listed, %d left out", len(r.Rows), r.LeftOut)
	}
	kinds := map[verify.Kind]int{}
	for _, x := range r.Rows {
		kinds[x.Kind]++
	}
	if kinds[verify.MissingRow] != 10 || kinds[verify.ExtraRow] != 10 {
		t.Errorf("listed by kind: %v, want ten of each", kinds)
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, ".penstock", "p", "verify-*")); err != nil || len(left) > 0 {
		t.Errorf("files left behind: %v %v", left, err)
	}
}

func TestTheSourceIsReadAsARunReadsIt(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.exec("s.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INTEGER)", "INSERT INTO t VALUES (1, 'x', 5), (2, 'y', 7), (3, 'z', 9), (4, 'long', 70000), (5, 'w', 8)")
	w.compile(sqliteSource, sqliteTarget, `  bad_rows { action = "discard" }
  table "t" {
    filter = "n != 7"
    column "a" { value = "upper(a)" }
    column "n" { type = "INT2" }
    column "twice" { value = "n * 2" }
  }`)
	w.run()
	r := w.verify(nil)
	if r.State != verify.Equal || r.SourceSide.Rows != 3 || r.SourceSide.Filtered != 1 || r.SourceSide.Bad != 1 || len(r.SourceSide.FirstBad) != 1 {
		t.Errorf("%s, %+v, %v", r.State, r.SourceSide, listed(r))
	}
	w.exec("d.db", "UPDATE t SET twice = 0 WHERE id = 5", "UPDATE t SET n = 70000 WHERE id = 1")
	if got := listed(w.verify(nil)); !slices.Equal(got, []string{"different 1 n", "different 5 twice"}) {
		t.Errorf("got %q", got)
	}
}

func TestWhatTheLoadWasIsSaidFirst(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.exec("s.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)", "INSERT INTO t VALUES (1, 'x')")
	says := func(r *verify.Table, part string) {
		t.Helper()
		if !strings.Contains(strings.Join(r.Notes, "\n"), part) {
			t.Errorf("notes are %q, want %q in them", r.Notes, part)
		}
	}
	w.compile(sqliteSource, sqliteTarget, `  table "t" {}`)
	r := w.verify(nil)
	if r.State != verify.Absent || r.Load.State != "never" {
		t.Errorf("%s, load %+v", r.State, r.Load)
	}
	says(r, "has not loaded it")
	w.run()
	says(w.verify(nil), "the source was read as it is now")
	w.compile(sqliteSource, sqliteTarget, `  table "t" { filter = "id > 0" }`)
	r = w.verify(nil)
	says(r, `filter was unset, is "id > 0"`)
	if r.State != verify.Equal || len(r.Load.Changed) != 1 {
		t.Errorf("%s, load %+v", r.State, r.Load)
	}
	w.exec("d.db", "UPDATE penstock_table SET state = 'loading'", "UPDATE penstock_chunk SET state = 'pending'")
	r = w.verify(nil)
	says(r, "0 of 1 chunks are there")
	if r.Load.State != "unfinished" {
		t.Errorf("load %+v", r.Load)
	}
	w.compile(sqliteSource, sqliteTarget, "  table \"t\" { existing = \"append\" }")
	says(w.verify(nil), "count as extra")
}

func TestFilesAreReadBackAsTheyWereWritten(t *testing.T) {
	for _, form := range []string{"", `compression = "zstd"`, `compression = "gzip"`, "header = false\n  delimiter = \"|\"\n  null = \"\\\\N\""} {
		t.Run(form, func(t *testing.T) {
			w := &world{t: t, dir: t.TempDir()}
			w.exec("s.db", typed)
			statements := []string{}
			for i := range 500 {
				statements = append(statements, fmt.Sprintf(typedRow, i))
			}
			w.exec("s.db", append(statements, "UPDATE t SET a = '', b = NULL WHERE id = 7", "UPDATE t SET a = 'a\"b,c|\nd' WHERE id = 8")...)
			w.compile(sqliteSource, "\"delimited\" \"d\" {\n  path = \"out\"\n  "+form+"\n}", "  table \"t\" {\n    range { count = 4 }\n  }")
			w.run()
			if r := w.verify(nil); r.State != verify.Equal || r.TargetSide.Rows != 500 {
				t.Fatalf("%s, %+v, %v", r.State, r.TargetSide, listed(r))
			}
			w.exec("s.db", "UPDATE t SET b = '' WHERE id = 7", "DELETE FROM t WHERE id = 9")
			if got := listed(w.verify(nil)); !slices.Equal(got, []string{"different 7 b", "extra 9"}) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestTheReportHoldsNoValuesUnlessAsked(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.exec("s.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)", "INSERT INTO t VALUES (1, 'secret one'), (2, 'secret two')")
	w.compile(sqliteSource, sqliteTarget, `  table "t" {}`)
	w.run()
	w.exec("d.db", "UPDATE t SET a = NULL WHERE id = 1", "DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (3, 'secret three')")
	for _, values := range []bool{false, true} {
		b, err := json.Marshal(w.verify(func(o *verify.Options) { o.Values = values }))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(b), "secret"); got != map[bool]int{false: 0, true: 3}[values] {
			t.Errorf("values %t: %d values in %s", values, got, b)
		}
		if values && !strings.Contains(string(b), `"target":null`) {
			t.Errorf("NULL is not null in %s", b)
		}
	}
}

// TestOneRowInAMillionIsFound changes one row for each sort of change, far apart
// in a million rows, and wants those and no others.
func TestOneRowInAMillionIsFound(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.exec("s.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT, n DECIMAL_TEXT(20,4), at TIMESTAMP)", `
WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 1000000)
INSERT INTO t SELECT x, CASE x % 7 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'caf`+"\u00e9"+` ' || x END, 'b' || x % 1000, x || '.2500', '2025-03-04 05:06:07.123456' FROM i`)
	w.compile(sqliteSource, sqliteTarget, `  table "t" {}`)
	w.run()
	if r := w.verify(nil); r.State != verify.Equal || r.SourceSide.Rows != 1_000_000 || r.TargetSide.Rows != 1_000_000 {
		t.Fatalf("%s, %+v, %+v, %v", r.State, r.SourceSide, r.TargetSide, listed(r))
	}
	w.exec("d.db",
		"UPDATE t SET n = '100003.2501' WHERE id = 100003",
		"UPDATE t SET at = '2025-03-04 05:06:07.123457' WHERE id = 200003",
		"UPDATE t SET b = b || ' ' WHERE id = 300003",
		"UPDATE t SET a = NULL WHERE a = '' AND id = 400002",
		"UPDATE t SET a = '' WHERE a IS NULL AND id = 500003",
		"UPDATE t SET a = replace(a, '\u00e9', 'e\u0301') WHERE id = 600004",
		"UPDATE t SET a = b, b = a WHERE id = 700004",
		// Nothing holds keys to be unique in this one.
		"CREATE TABLE u (id INTEGER, a TEXT, b TEXT, n DECIMAL_TEXT(20,4), at TIMESTAMP_TEXT)",
		"INSERT INTO u SELECT * FROM t WHERE id <> 900001 UNION ALL SELECT * FROM t WHERE id = 800004",
		"DROP TABLE t", "ALTER TABLE u RENAME TO t")
	want := []string{"different 100003 n", "different 200003 at", "different 300003 b", "different 400002 a", "different 500003 a", "different 600004 a", "different 700004 a b", "extra 800004", "missing 900001"}
	r := w.verify(nil)
	if got := listed(r); !slices.Equal(got, want) || r.SourceSide.Rows != r.TargetSide.Rows {
		t.Errorf("got %q, want %q; %d and %d rows", got, want, r.SourceSide.Rows, r.TargetSide.Rows)
	}
}
