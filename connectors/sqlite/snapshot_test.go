package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// makeFile writes a database through database/sql.
func makeFile(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "source.db")
	alter(t, path, statements...)
	return path
}

func alter(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(20000)")
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

func count(n int) string {
	return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", n)
}

// sourceTables has a table for each way in which tables are cut.
var sourceTables = []string{
	`CREATE TABLE dense (id INTEGER PRIMARY KEY, v VARCHAR(20) NOT NULL, w REAL)`,
	`INSERT INTO dense ` + count(300) + `SELECT i, 'v' || i, CASE WHEN i % 7 THEN i / 4.0 END FROM n`,
	// Keys over all of 64 bits, the smallest and the greatest among them.
	`CREATE TABLE sparse (id INTEGER PRIMARY KEY, v TEXT)`,
	`INSERT INTO sparse ` + count(298) + `SELECT i * 30000000000000000, 'v' || i FROM n`,
	`INSERT INTO sparse VALUES (-9223372036854775808, 'least'), (9223372036854775807, 'most')`,
	// Two-column key with text, in no order of insertion.
	`CREATE TABLE "with""out" (a TEXT, "group" INT, v BLOB, PRIMARY KEY (a, "group")) WITHOUT ROWID`,
	`INSERT INTO "with""out" ` + count(300) + `SELECT 'k' || (i * 37 % 300 / 7), i, randomblob(4) FROM n`,
	// A unique key that is NULL in places and mixes types, and no primary key.
	`CREATE TABLE nullkey (k NUMERIC UNIQUE, v INT2)`,
	`INSERT INTO nullkey ` + count(200) + `SELECT CASE WHEN i % 10 = 0 THEN NULL ELSE i * 1.5 END, i FROM n`,
	`CREATE TABLE nokey (rowid TEXT, _rowid_ TEXT, oid TEXT)`, // no name is left for the rowid
	`INSERT INTO nokey ` + count(20) + `SELECT i, i, i FROM n`,
	`CREATE TABLE "Ünï cödé; drop" ("select" TIMESTAMP_TEXT, "a b" DECIMAL_TEXT(38,4), "ключ" INTEGER PRIMARY KEY AUTOINCREMENT)`,
	`INSERT INTO "Ünï cödé; drop" ("select", "a b") ` + count(30) + `SELECT '2026-01-02 03:04:05.' || printf('%06d', i), i || '.2500' FROM n`,
	`CREATE TABLE empty (id INTEGER PRIMARY KEY)`,
	`CREATE VIEW some AS SELECT id, v FROM dense WHERE id % 2 = 0`,
}

var sourceRows = map[string]int64{"dense": 300, "sparse": 300, `with"out`: 300, "nullkey": 200, "nokey": 20, "Ünï cödé; drop": 30, "empty": 0, "some": 150}

func TestSourceConforms(t *testing.T) {
	for _, mode := range []string{"delete", "wal"} {
		t.Run(mode, func(t *testing.T) {
			path := makeFile(t, append([]string{"PRAGMA journal_mode = " + mode}, sourceTables...)...)
			conformance.Source(t, conformance.SourceHarness{
				Definition: Definition(), Config: &SourceConfig{Path: path}, Tables: sourceRows,
				Insert: func(t testing.TB, table string) func() {
					column := map[string]string{"dense": "v", "nokey": "oid", "nullkey": "v"}[table]
					values := "'1'"
					if table == `with"out` {
						column, values = `a, "group"`, "'new', 1"
					}
					insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quote(table), column, values)
					if column == "" {
						insert = "INSERT INTO " + quote(table) + " DEFAULT VALUES"
					}
					if table == "sparse" {
						insert = "INSERT INTO sparse VALUES (1, '')"
					}
					if mode == "wal" {
						alter(t, path, insert)
						return func() {}
					}
					// With a rollback journal the writer waits for the readers.
					done := make(chan struct{})
					go func() { defer close(done); alter(t, path, insert) }()
					return func() { <-done }
				},
			})
		})
	}
}

func openTestSource(t testing.TB, path string) connectors.Source {
	t.Helper()
	src, err := openSource(context.Background(), &SourceConfig{Path: path}, connectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// readTable reads a table in one chunk.
func readTableRows(t testing.TB, src connectors.Source, table string, k ranges.Chunk, s connectors.Split) error {
	t.Helper()
	ctx := context.Background()
	cat, err := src.Catalog(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tab := cat.Find(schema.Name{Name: table})
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	x := connectors.Extract{Table: tab, Split: s}
	var ts []schema.Type
	for _, c := range tab.Columns {
		x.Columns, ts = append(x.Columns, c.Name), append(ts, c.Type)
	}
	r, err := snap.OpenChunk(ctx, x, k)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Read(ctx, batch.NewPool(ts, batch.Limits{}).Builder())
}

func TestValueThatIsNotOfItsColumnsTypeNamesTheRow(t *testing.T) {
	for _, c := range []struct{ declared, value, want string }{
		{"INTEGER", "'abc'", `a text, "abc"`},
		{"INTEGER", "1.5", "the floating-point number 1.5"},
		{"INT2", "40000", "the integer 40000"},
		{"REAL", "'x'", `a text, "x"`},
		{"BOOLEAN", "2", "neither 0 nor 1"},
		{"TEXT", "x'0102'", "a blob of 2 octets"},
		{"BLOB", "'text'", `a text, "text"`},
		{"DATE", "20260101", "the integer 20260101"},
		{"DATETIME", "'yesterday'", `"yesterday" is not a timestamp`},
		{"NUMERIC(5,2)", "1.005", "a floating-point number"},
		{"NUMERIC(5,2)", "'many'", `"many" is not a decimal number`},
		{"UUID", "'no'", `"no" is not a UUID`},
		{"JSON", "'{'", `"{" is not JSON`},
		{"FLOAT4", "0.1", "32 bits"},
	} {
		t.Run(c.declared+" "+c.value, func(t *testing.T) {
			path := makeFile(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, v "+c.declared+")", "INSERT INTO t VALUES (10, NULL), (20, "+c.value+")",
				"CREATE TABLE w (id TEXT PRIMARY KEY, v "+c.declared+") WITHOUT ROWID", "INSERT INTO w VALUES ('a', NULL), ('b', "+c.value+")")
			src := openTestSource(t, path)
			err := readTableRows(t, src, "t", ranges.Chunk{ID: 1, Lo: ranges.IntEdge(5)}, connectors.Split{Kind: connectors.SplitBlocks})
			wantClass(t, err, connectors.Data)
			for _, want := range []string{"t: column v is declared " + c.declared, "row rowid = 20 holds ", c.want} {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want it to say %q", err, want)
				}
			}
			err = readTableRows(t, src, "w", ranges.Chunk{ID: 1}, connectors.Split{Kind: connectors.SplitKey})
			if wantClass(t, err, connectors.Data); err != nil && !strings.Contains(err.Error(), `row "id" = b`) {
				t.Errorf("got %v, want it to name the key", err)
			}
		})
	}
}

func TestUsualDeclarationsAreReadFromWhatIsStored(t *testing.T) {
	path := makeFile(t, `CREATE TABLE t (a NUMERIC(10,2), b DATETIME, c DATE, d BOOL, e UUID, f JSON, g DOUBLE PRECISION, h NUMERIC)`,
		`INSERT INTO t VALUES (12.5, '2026-01-02T03:04:05.678', '2026-01-02', 1, x'000102030405060708090a0b0c0d0e0f', '{"a":1}', 3, 12345678901234), (7, '2026-01-02', NULL, 0, '00010203-0405-0607-0809-0A0B0C0D0E0F', 17, 0.1, 0.1)`)
	got := conformance.ReadAll(t, openTestSource(t, path), schema.Name{Name: "t"}, []string{"a", "b", "c", "d", "e", "f", "g", "h"})
	want := [][]string{
		{"12.50", "2026-01-02 03:04:05.678", "2026-01-02", "true", "00010203-0405-0607-0809-0a0b0c0d0e0f", `{"a":1}`, "3", "12345678901234"},
		{"7.00", "2026-01-02 00:00:00", conformance.Null, "false", "00010203-0405-0607-0809-0a0b0c0d0e0f", "17", "0.1", "0.1"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestReadersOfAFileThatCantBeWrittenSeeOneState(t *testing.T) {
	path := makeFile(t, sourceTables...)
	src := &source{path: path, busy: timeout(0)}
	var all []*conn
	for range 3 {
		c, err := openConn(path, readOnly, src.busy)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		all = append(all, c)
	}
	// The way of a file without write access, on a file that has it: root may
	// write everywhere.
	watch, err := openConn(path, readOnly, src.busy)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.close()
	ctx := context.Background()
	before, _ := version(ctx, watch)
	alter(t, path, "INSERT INTO empty VALUES (1)")
	if after, _ := version(ctx, watch); after == before {
		t.Error("a commit between two looks at the version went unseen")
	}
	if err := beginWatched(ctx, path, src.busy, all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		n := int64(-1)
		if _, err := c.query(ctx, "SELECT count(*) FROM empty", nil, func(s *stmt) error { n = s.int(0); return nil }); err != nil || n != 1 {
			t.Errorf("a reader sees %d rows, %v; want 1", n, err)
		}
	}
}

func TestMissingSourceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none.db")
	if _, err := Definition().Source.Local(context.Background(), &SourceConfig{Path: "none.db"}, connectors.Env{Dir: dir}); err == nil || !strings.Contains(err.Error(), "no file none.db") {
		t.Errorf("offline: got %v, want an error that says there is no file", err)
	}
	cat, err := Definition().Target.Local(context.Background(), &TargetConfig{Path: "none.db"}, connectors.Env{Dir: dir})
	if err != nil || len(cat.Tables) != 0 {
		t.Errorf("as a target: got %v, %v; want an empty catalog", cat, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("looking at a missing file created it")
	}
	if _, err := openSource(context.Background(), &SourceConfig{Path: path}, connectors.Env{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("open: got %v, want an error that says there is no such file", err)
	}
}

func BenchmarkRead(b *testing.B) {
	path := makeFile(b, createTable(bigTable), "INSERT INTO big_table "+count(1_000_000)+"SELECT i, i % 4 + 1, i % 9900 + 100, substr('abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx', 1, 10 + i % 41), '2026-09-22 14:13:20' FROM n")
	src := openTestSource(b, path)
	ctx := context.Background()
	cat, err := src.Catalog(ctx)
	if err != nil {
		b.Fatal(err)
	}
	tab := cat.Find(schema.Name{Name: "big_table"})
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	x := connectors.Extract{Table: tab, Split: connectors.Split{Kind: connectors.SplitBlocks}}
	for _, c := range tab.Columns {
		x.Columns = append(x.Columns, c.Name)
	}
	pool := poolOf(bigTable)
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for n < b.N {
		r, err := snap.OpenChunk(ctx, x, ranges.Chunk{ID: 1, Range: 1})
		if err != nil {
			b.Fatal(err)
		}
		for n < b.N {
			bl := pool.Builder()
			err := r.Read(ctx, bl)
			n += bl.Rows()
			bl.Discard()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}
