package oracle_test

import (
	"context"
	"fmt"
	"testing"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/connectors/oracle"
	"penstock/connectors/oracle/oracletest"
	"penstock/internal/schema"
	"penstock/internal/secret"
)

// double is a server of db that ends with the test, and fails it for statements
// and messages that are not ours.
func double(t testing.TB, db *oracletest.Database) *oracletest.Server {
	t.Helper()
	s, err := oracletest.NewServer(db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func configOf(s *oracletest.Server) (*oracle.SourceConfig, connectors.Env) {
	c := &oracle.SourceConfig{Host: s.Host, Port: s.Port, Service: s.Service, User: s.User, Password: secret.Ref{Env: "PASSWORD"}}
	env := connectors.Env{Pipeline: "test", TLS: "off", Secrets: secret.Resolver{Env: func(string) (string, bool) { return s.Password, true }}}
	return c, env
}

func open(t testing.TB, s *oracletest.Server) connectors.Source {
	t.Helper()
	c, env := configOf(s)
	src, err := oracle.Definition().Source.Open(context.Background(), c, env)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// conformanceTables are one of each kind of table.
func conformanceTables(db *oracletest.Database) map[string]int64 {
	heap := db.Create(&oracletest.Table{Owner: "SCOTT", Name: "HEAP", PrimaryKey: []string{"ID"}, RowsPerBlock: 7, ExtentBlocks: 3, Analyzed: 300, Columns: []oracletest.Column{
		{Name: "ID", Type: "NUMBER(10)", NotNull: true}, {Name: "NAME", Type: "VARCHAR2(40 CHAR)"}, {Name: "AT", Type: "DATE"}, {Name: "RAW_DATA", Type: "RAW(16)"}, {Name: "NOTE", Type: "CLOB"},
	}})
	for i := range 300 {
		note := any(fmt.Sprintf("note %d", i))
		switch i % 3 {
		case 1:
			note = nil
		case 2:
			note = ""
		}
		db.Insert(heap, 0, []any{i, fmt.Sprintf("name %d", i%17), "2026-01-02 03:04:05", "00ff", note})
	}
	parts := db.Create(&oracletest.Table{Owner: "SCOTT", Name: "PARTS", RowsPerBlock: 5, ExtentBlocks: 4,
		Columns: []oracletest.Column{{Name: "K", Type: "NUMBER"}, {Name: "V", Type: "NVARCHAR2(20)"}},
		Parts:   []oracletest.Part{{Partition: "P1", Files: []uint32{6, 5}}, {Partition: "P2", Bigfile: true, FirstBlock: 1<<22 - 2}, {Partition: "P3", Subpartition: "S1"}, {Partition: "P3", Subpartition: "S2", Files: []uint32{1023}}},
	})
	for p, n := range []int{120, 70, 0, 31} {
		for i := range n {
			k := any(i)
			if i%10 == 0 {
				k = nil
			}
			db.Insert(parts, p, []any{k, fmt.Sprintf("wört %d", i%4)})
		}
	}
	iot := db.Create(&oracletest.Table{Owner: "SCOTT", Name: "IOT", IOT: true, PrimaryKey: []string{"A", "B"}, Columns: []oracletest.Column{
		{Name: "A", Type: "VARCHAR2(10)", NotNull: true}, {Name: "B", Type: "TIMESTAMP(6)", NotNull: true}, {Name: "C", Type: "BINARY_DOUBLE"},
	}})
	for i := range 90 {
		db.Insert(iot, 0, []any{fmt.Sprintf("k%d", i/9), fmt.Sprintf("2026-01-01 00:00:%02d.5", i%60), float64(i) / 7})
	}
	db.Create(&oracletest.Table{Owner: "SCOTT", Name: "EMPTY", PrimaryKey: []string{"ID"}, Columns: []oracletest.Column{{Name: "ID", Type: "NUMBER", NotNull: true}}})
	view := db.Create(&oracletest.Table{Owner: "SCOTT", Name: "V", View: true, Columns: []oracletest.Column{{Name: "X", Type: "NUMBER(5)"}}})
	for i := range 40 {
		db.Insert(view, 0, []any{i % 9})
	}
	return map[string]int64{"SCOTT.HEAP": 300, "SCOTT.PARTS": 221, "SCOTT.IOT": 90, "SCOTT.EMPTY": 0, "SCOTT.V": 40}
}

func TestConformance(t *testing.T) {
	db := oracletest.NewDatabase()
	tables := conformanceTables(db)
	s := double(t, db)
	c, env := configOf(s)
	conformance.Source(t, conformance.SourceHarness{Definition: oracle.Definition(), Config: c, Env: env, Tables: tables})
}

// TestConformanceUnderInserts gives every subtest a database of its own.
func TestConformanceUnderInserts(t *testing.T) {
	db := oracletest.NewDatabase()
	h := db.Create(&oracletest.Table{Owner: "SCOTT", Name: "T", PrimaryKey: []string{"ID"}, RowsPerBlock: 3, Columns: []oracletest.Column{{Name: "ID", Type: "NUMBER(10)", NotNull: true}}})
	for i := range 100 {
		db.Insert(h, 0, []any{i})
	}
	s := double(t, db)
	c, env := configOf(s)
	next := 1000
	src := open(t, s)
	conformance.Source(t, conformance.SourceHarness{Definition: oracle.Definition(), Config: c, Env: env, Tables: map[string]int64{"SCOTT.T": 100}, Insert: func(t testing.TB, _ string) func() {
		db.Insert(h, 0, []any{next})
		next++
		t.Cleanup(func() {
			db.Delete(h, func(v [][]byte) bool { return string(v[0]) == string(oracletest.Int(int64(next-1))) })
		})
		return func() {}
	}})
	_ = src
	if got := conformance.ReadAll(t, src, schema.Name{Schema: "SCOTT", Name: "T"}, []string{"ID"}); int64(len(got)) != db.Rows(h) {
		t.Errorf("%d rows, the model has %d", len(got), db.Rows(h))
	}
}
