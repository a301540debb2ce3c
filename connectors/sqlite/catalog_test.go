package sqlite

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"

	"pgregory.net/rapid"
)

func TestCatalogTellsKeysIndexesAndGeneratedColumns(t *testing.T) {
	path := makeFile(t,
		`CREATE TABLE parent (a INT, b TEXT NOT NULL, PRIMARY KEY (b, a))`,
		`CREATE TABLE child (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- a comment, with (brackets
  "the code" VARCHAR(10) NOT NULL UNIQUE DEFAULT 'x',
  pa INT, pb TEXT /* AS (nothing) */,
  total NUMERIC(10,2) GENERATED ALWAYS AS (pa * (2 + 1)) STORED,
  note ANYTHING CHECK (note <> 'AS (x)'),
  FOREIGN KEY (pb, pa) REFERENCES parent, FOREIGN KEY (id) REFERENCES child ("the code"))`,
		`CREATE INDEX by_pa ON child (pa DESC, pb)`,
		`CREATE UNIQUE INDEX some ON child (pa) WHERE pa > 0`,
		`CREATE INDEX expr ON child (lower(pb))`,
		`INSERT INTO child (pa, "the code") VALUES (1, 'a'), (2, 'b'), (3, 'c')`,
		`CREATE VIEW v AS SELECT id FROM child`,
		`CREATE TABLE penstock_chunk (x INT)`,
		`CREATE VIRTUAL TABLE search USING fts5(body)`,
	)
	cat, err := localCatalog(context.Background(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if cat.Find(schema.Name{Name: "penstock_chunk"}) != nil {
		t.Error("a state table is shown as a table of the user")
	}
	want := `{"name":{"name":"child"},"columns":[{"name":"id","type":"INTEGER","identity":true},{"name":"the code","type":"VARCHAR(10)","default":"'x'"},{"name":"pa","type":"INT","nullable":true},{"name":"pb","type":"TEXT","nullable":true},{"name":"total","type":"NUMERIC(10,2)","nullable":true,"generated":"pa * (2 + 1)"},{"name":"note","type":"ANYTHING","nullable":true}],` +
		`"primary_key":{"columns":["id"]},"unique":[{"name":"sqlite_autoindex_child_1","columns":["the code"]}],` +
		`"indexes":[{"name":"by_pa","columns":["pa","pb"],"definition":"CREATE INDEX by_pa ON child (pa DESC, pb)"},{"name":"expr","columns":null,"definition":"CREATE INDEX expr ON child (lower(pb))"},{"name":"some","unique":true,"columns":["pa"],"definition":"CREATE UNIQUE INDEX some ON child (pa) WHERE pa \u003e 0"}],` +
		`"foreign_keys":[{"columns":["id"],"references":{"name":"child"},"to_columns":["the code"]},{"columns":["pb","pa"],"references":{"name":"parent"}}],"storage":"rowid"}`
	child := cat.Find(schema.Name{Name: "child"})
	if child == nil {
		t.Fatalf("no table child in %+v", cat)
	}
	got, _ := json.Marshal(child)
	if string(got) != want {
		t.Errorf("child:\n got %s\nwant %s", got, want)
	}
	if child.Stats == nil || child.Stats.Rows != 3 || child.Stats.Exact {
		t.Errorf("statistics: got %+v, want an estimate of 3 rows", child.Stats)
	}
	if p := child.Column("note").Problem; p == "" {
		t.Error("a type that is not known gives no problem")
	}
	if p := cat.Find(schema.Name{Name: "parent"}).PrimaryKey; len(p.Columns) != 2 || p.Columns[0] != "b" {
		t.Errorf("key in the order of the key: got %v, want [b a]", p)
	}
	if v := cat.Find(schema.Name{Name: "v"}); v == nil || !v.View {
		t.Errorf("the view: got %+v", v)
	}
	alter(t, path, "ANALYZE")
	if cat, err = localCatalog(context.Background(), path, 0); err != nil || cat.Find(schema.Name{Name: "child"}).Stats.Rows != 3 {
		t.Errorf("after ANALYZE: %v, %v", cat, err)
	}
}

// Whatever stands in the text of a table, reading it ends and panics nowhere.
func FuzzParseDefinition(f *testing.F) {
	f.Add("CREATE TABLE t (a INT AS (b + 1), \"b\"\" c\" TEXT DEFAULT 'it''s', [d] INTEGER PRIMARY KEY AUTOINCREMENT)")
	f.Add("CREATE TABLE t (a /* AS ( */ -- x\n AS (((")
	f.Add("('[`\"")
	f.Fuzz(func(t *testing.T, sql string) {
		parseDefinition(sql)
		at := 0
		for _, k := range tokenize(sql) {
			if k.at < at || k.text == "" || sql[k.at:k.at+len(k.text)] != k.text {
				t.Fatalf("token %+v of %q", k, sql)
			}
			at = k.at + len(k.text)
		}
	})
}

func TestQuotedNamesAreOneIdentifierToSQLite(t *testing.T) {
	c, err := openConn(t.TempDir()+"/t.db", create, timeout(0))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^\x00]{1,20}`).Draw(t, "name")
		got := ""
		if _, err := c.query(context.Background(), "SELECT name FROM pragma_table_info('t') UNION ALL SELECT * FROM (SELECT 1 AS "+quote(name)+" WHERE 0)", nil, nil); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if _, err := c.query(context.Background(), "WITH "+quote(name)+"("+quote(name)+") AS (SELECT 'yes') SELECT "+quote(name)+" FROM "+quote(name), nil, func(s *stmt) error { got = s.text(0); return nil }); err != nil || got != "yes" {
			t.Fatalf("%q: got %q, %v", name, got, err)
		}
	})
}

// A copy of the files of an open transaction that has begun to write its pages
// is what kill -9 leaves in the middle of a commit.
func TestFileLeftInTheMiddleOfACommitIsReadable(t *testing.T) {
	ctx := context.Background()
	path := makeFile(t, "CREATE TABLE t (v BLOB)", "INSERT INTO t "+count(100)+"SELECT randomblob(3000) FROM n")
	c, err := openConn(path, readWrite, timeout(0))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, s := range []string{"PRAGMA cache_size = 5", "BEGIN IMMEDIATE", "CREATE TABLE half (v)", "UPDATE t SET v = randomblob(3000)"} {
		if err := c.exec(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	killed := filepath.Join(t.TempDir(), "killed.db")
	for _, suffix := range []string{"", "-journal"} {
		b, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(killed+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if info, _ := os.Stat(killed + "-journal"); info.Size() < 10_000 {
		t.Fatalf("the journal of %d bytes is not in use: the test shows nothing", info.Size())
	}
	plain, err := openConn(killed, readOnly, timeout(0))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.close()
	wantClass(t, plain.exec(ctx, "SELECT count(*) FROM t"), connectors.Denied)
	cat, err := localCatalog(ctx, killed, 0)
	if err != nil || len(cat.Tables) != 1 || cat.Tables[0].Stats.Rows != 100 {
		t.Errorf("got %+v, %v; want the one table that was committed, with its 100 rows", cat, err)
	}
}
