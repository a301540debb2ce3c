package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/connectors/oracle/oracletest"
	"penstock/connectors/postgres/postgrestest"
)

// oracleRows is enough for some twenty chunks at oracleSpec's memory.
const oracleRows = 24_000

// oracleDouble serves SCOTT.BIG_TABLE over three partitions.
func oracleDouble(t *testing.T) (*oracletest.Server, *oracletest.Table) {
	t.Helper()
	db := oracletest.NewDatabase()
	tab := db.Create(&oracletest.Table{Owner: "SCOTT", Name: "BIG_TABLE", PrimaryKey: []string{"ID"}, RowsPerBlock: 50, Analyzed: oracleRows,
		Parts:   []oracletest.Part{{Partition: "P1", Files: []uint32{7, 5}}, {Partition: "P2", Bigfile: true}, {Partition: "P3"}},
		Columns: []oracletest.Column{{Name: "ID", Type: "NUMBER", NotNull: true}, {Name: "SMALL_NUMBER", Type: "NUMBER(5)"}, {Name: "BIG_NUMBER", Type: "NUMBER"}, {Name: "SHORT_STRING", Type: "VARCHAR2(50)"}, {Name: "CREATED_DATE", Type: "DATE"}}})
	for p := range 3 {
		var rows [][]any
		for i := p * oracleRows / 3; i < (p+1)*oracleRows/3; i++ {
			rows = append(rows, []any{i + 1, i%4 + 1, 100 + i%9900, fmt.Sprintf("string of row %d", i+1), "2026-01-02 03:04:05"})
		}
		db.Insert(tab, p, rows...)
	}
	s, err := oracletest.NewServer(db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, tab
}

func oracleSpec(s *oracletest.Server, target, table string) string {
	return fmt.Sprintf(`penstock { spec = 1 }
source "oracle" "erp" {
  host     = %q
  port     = %d
  service  = %q
  user     = %q
  password = file("erp.secret")
  tls      = "off"
}
%s
pipeline "big" {
  from    = source.erp
  to      = target.d
  workers = 2
  memory  = "1MiB"
  table "SCOTT.BIG_TABLE" {
    to = "big_table"
    column "ID" { type = "bigint" }
    column "BIG_NUMBER" { type = "bigint" }
    range { count = 4 }
    %s
  }
}
`, s.Host, s.Port, s.Service, s.User, target, table)
}

// oracleProject writes the spec and its secret.
func oracleProject(t *testing.T, s *oracletest.Server, spec string) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "erp.secret"), s.Password+"\n")
	if err := os.Chmod(filepath.Join(dir, "erp.secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "spec.hcl")
	writeFile(t, path, spec)
	return path
}

func postgresTarget(d *postgrestest.Database) string {
	return fmt.Sprintf("target \"postgres\" \"d\" {\n  host = %q\n  port = %d\n  database = %q\n  user = %q\n}", d.Server.Socket, d.Server.Port, d.Name, postgrestest.User)
}

const oracleSum = `SELECT count(*) || ' ' || count(DISTINCT id) || ' ' || sum(id) || ' ' || count(*) FILTER (WHERE short_string = 'string of row ' || id AND small_number = (id - 1) % 4 + 1) FROM big_table`

func oracleWant(n int) string { return fmt.Sprintf("%d %d %d %d", n, n, n*(n+1)/2, n) }

// Oracle into PostgreSQL in each way in, from a database that is planned live.
func TestOracleLoadsIntoPostgreSQL(t *testing.T) {
	s, _ := oracleDouble(t)
	for _, mode := range []string{"copy", "array", "row"} {
		t.Run(mode, func(t *testing.T) {
			d := postgrestest.Shared(t).Database(t)
			spec := oracleProject(t, s, oracleSpec(s, postgresTarget(d), fmt.Sprintf("apply { mode = %q }", mode)))
			var stdout, stderr bytes.Buffer
			a := &app{registry: all.Registry(), stdout: &stdout, stderr: &stderr, lookupEnv: func(string) (string, bool) { return "", false }}
			if code := a.execute(context.Background(), []string{"run", spec}); code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			if got, want := d.Ask(t, oracleSum), oracleWant(oracleRows); got != want {
				t.Errorf("rows: got %s, want %s", got, want)
			}
			if got := d.Ask(t, "SELECT count(*) FROM pg_constraint WHERE conrelid = 'big_table'::regclass AND contype = 'p'"); got != "1" {
				t.Errorf("%s primary keys, want 1", got)
			}
			if strings.Contains(stdout.String()+stderr.String(), s.Password) {
				t.Error("the password was printed")
			}
		})
	}
}

// Killed at any step, a load goes on at the SCN that it began with, whatever
// comes and goes at the source meanwhile. The negative control reads the missing
// chunks at a later one.
func TestCrashOfALoadFromOracleKeepsItsSCN(t *testing.T) {
	bin := buildWithFailpoints(t)
	load := func(points []string, env ...string) string {
		s, tab := oracleDouble(t)
		d := postgrestest.Shared(t).Database(t)
		c := &crasher{t: t, bin: bin, spec: oracleProject(t, s, oracleSpec(s, postgresTarget(d), "")), env: env, histogram: map[string]int{}}
		for i, point := range points {
			c.killAt(point, 1)
			s.DB.Insert(tab, i%3, []any{oracleRows + i + 1, 1, 1, "later", nil})
			s.DB.Delete(tab, func(v [][]byte) bool {
				return string(v[0]) == string(oracletest.Int(int64(oracleRows-i*17))) || string(v[0]) == string(oracletest.Int(int64(i*17+5)))
			})
		}
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			t.Setenv(name, value)
		}
		c.finish()
		return d.Ask(t, oracleSum)
	}
	want := oracleWant(oracleRows)
	if got := load([]string{"begin.after", "chunk.commit.after", "chunk.rows", "finish.before", "finish.after"}); got != want {
		t.Errorf("got %s, want the state of the first SCN, %s", got, want)
	}
	if got := load([]string{"begin.after"}, "PENSTOCK_GUARD_OFF=scn"); got == want {
		t.Errorf("with the guard off the rows are the same, %s: the control shows nothing", got)
	}
}

// The undo is gone between two runs: exit 6, and nothing of another time.
func TestOracleUndoThatIsGoneIsExit6(t *testing.T) {
	bin := buildWithFailpoints(t)
	s, tab := oracleDouble(t)
	d := postgrestest.Shared(t).Database(t)
	spec := oracleProject(t, s, oracleSpec(s, postgresTarget(d), ""))
	c := &crasher{t: t, bin: bin, spec: spec, histogram: map[string]int{}}
	c.killAt("chunk.commit.after", 2)
	s.DB.Insert(tab, 0, []any{oracleRows + 1, 1, 1, fmt.Sprint("string of row ", oracleRows+1), nil})
	s.DB.Forget()
	var stdout, stderr bytes.Buffer
	a := &app{registry: all.Registry(), stdout: &stdout, stderr: &stderr, lookupEnv: func(string) (string, bool) { return "", false }}
	if code := a.execute(context.Background(), []string{"run", spec}); code != 6 || !strings.Contains(stderr.String(), "UNDO_RETENTION") {
		t.Fatalf("exit code %d, want 6 and what to do: %s", code, stderr.String())
	}
	if code := a.execute(context.Background(), []string{"run", spec, "--reload", "SCOTT.BIG_TABLE"}); code != 0 {
		t.Fatalf("--reload: exit code %d: %s", code, stderr.String())
	}
	if got, want := d.Ask(t, "SELECT count(*) || ' ' || max(id) FROM big_table"), fmt.Sprintf("%d %d", oracleRows+1, oracleRows+1); got != want {
		t.Errorf("after --reload: got %s, want %s", got, want)
	}
}

func TestProbeWritesATableOrADocument(t *testing.T) {
	s, _ := oracleDouble(t)
	spec := oracleProject(t, s, oracleSpec(s, "target \"sqlite\" \"d\" { path = \"d.db\" }", ""))
	run := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		a := &app{registry: all.Registry(), stdout: &stdout, stderr: &stderr, lookupEnv: func(string) (string, bool) { return "", false }}
		return a.execute(context.Background(), append([]string{"probe", spec}, args...)), stdout.String(), stderr.String()
	}
	code, out, errs := run("source.erp", "--compat", "netthroughput", "--period", "100ms", "--rampup", "500ms", "--json")
	var doc struct {
		Command  string `json:"command"`
		Endpoint string `json:"endpoint"`
		Compat   string `json:"compat"`
		Fetch    int    `json:"fetch"`
		Runs     []struct {
			Streams  int     `json:"streams"`
			Logical  float64 `json:"logical_gb_per_second"`
			Physical float64 `json:"physical_gb_per_second"`
		} `json:"runs"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	if doc.Command != "probe" || doc.Endpoint != "source.erp" || doc.Compat != "netthroughput" || doc.Fetch != 8 || len(doc.Runs) != 1 || doc.Runs[0].Logical <= 0 || doc.Runs[0].Physical <= 0 {
		t.Errorf("the document is %s", out)
	}
	if code, out, errs := run("source.erp", "--streams", "1,2", "--period", "50ms"); code != 0 || !strings.Contains(out, "logical GB/s") || strings.Count(out, " to ") < 2 {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"target.d"}, "can't be probed"}, {[]string{"source.erp", "--streams", "x"}, "--streams"}, {[]string{"source.erp", "--compat", "iperf"}, "netthroughput"}, {[]string{"source.erp", "--fetch", "25"}, "not 25"}} {
		if code, _, errs := run(c.args...); code != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("probe %v: exit code %d, %s", c.args, code, errs)
		}
	}
}
