package sqlite

import (
	"context"
	"os"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// loadInto loads rows (i, i % 10) into a table that the statements made, and
// gives the error of the first step that fails.
func loadInto(t *testing.T, existing connectors.Existing, during func(path string), statements ...string) (path string, err error) {
	t.Helper()
	path = makeFile(t, statements...)
	ctx := context.Background()
	tg, err := openTarget(ctx, &TargetConfig{Path: path}, connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	if _, err := tg.Claim(ctx, connectors.Owner{Run: "r"}); err != nil {
		t.Fatal(err)
	}
	long := schema.Of(schema.Int64)
	l := connectors.Load{Source: "t", Table: schema.Name{Name: "t"}, Existing: existing, Mode: "copy",
		Columns: []connectors.TargetColumn{{Name: "id", Native: "INTEGER", Type: long}, {Name: "a", Native: "INTEGER", Type: long, Nullable: true}}}
	l.Prepare = []string{}
	for _, s := range (explainer{}).Prepare(l) {
		l.Prepare = append(l.Prepare, s.SQL)
	}
	if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: []ranges.Chunk{{ID: 1, Range: 1}}}); err != nil {
		return path, err
	}
	w, err := tg.OpenLoad(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if during != nil {
		during(path)
	}
	m := connectors.Marker{Table: "t", Generation: 1, Chunk: 1}
	if _, err := w.Begin(ctx, m); err != nil {
		return path, err
	}
	b := batch.NewPool([]schema.Type{long, long}, batch.Limits{}).Builder()
	for i := range int64(500) {
		b.Column(0).AppendInt(i)
		b.Column(1).AppendInt(i % 10)
	}
	if err := w.Write(ctx, b.Seal(), nil); err != nil {
		return path, err
	}
	if _, err := w.Commit(ctx, m); err != nil {
		return path, err
	}
	return path, tg.Finish(ctx, l)
}

// A table can say that rows in conflict are dropped or replaced, and a trigger
// can leave rows out: none of that may pass for loaded.
func TestRowsThatATableWouldSwallowStopTheLoad(t *testing.T) {
	for name, c := range map[string]struct {
		ddl   []string
		class connectors.Class
	}{
		"unique on conflict ignore":  {[]string{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, UNIQUE (a) ON CONFLICT IGNORE)"}, connectors.Data},
		"unique on conflict replace": {[]string{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, UNIQUE (a) ON CONFLICT REPLACE)"}, connectors.Data},
		"key on conflict replace":    {[]string{"CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, a INTEGER)", "INSERT INTO t VALUES (7, 700)"}, connectors.Data},
		"trigger that ignores":       {[]string{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)", "CREATE TRIGGER tr BEFORE INSERT ON t WHEN new.a = 3 BEGIN SELECT RAISE(IGNORE); END"}, connectors.Mismatch},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := loadInto(t, connectors.ExistingAppend, nil, c.ddl...)
			wantClass(t, err, c.class)
			if got := ask(t, path, "SELECT count(*) FROM t WHERE a < 700"); got != "0" {
				t.Errorf("%s rows of the chunk are there", got)
			}
		})
	}
}

func TestTriggerThatKeepsRowsFromBeingEmptiedIsAConflict(t *testing.T) {
	_, err := loadInto(t, connectors.ExistingTruncate, nil, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)", "INSERT INTO t VALUES (1000, 1)",
		"CREATE TRIGGER tr BEFORE DELETE ON t BEGIN SELECT RAISE(IGNORE); END")
	wantClass(t, err, connectors.Conflict)
}

func TestFileThatLostItsNameIsNotLoaded(t *testing.T) {
	for _, mode := range []string{"delete", "wal"} {
		t.Run(mode, func(t *testing.T) {
			_, err := loadInto(t, connectors.ExistingError, func(path string) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}, "PRAGMA journal_mode = "+mode, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)")
			if err == nil || !strings.Contains(err.Error(), "deleted, moved or replaced") {
				t.Errorf("got %v, want an error that says what became of the file", err)
			}
		})
	}
}
