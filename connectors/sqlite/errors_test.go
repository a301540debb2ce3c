package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors"
)

func TestPlacesThatAreNoFileAreRefusedOffline(t *testing.T) {
	for _, path := range []string{"", ":memory:", "file::memory:?cache=shared", "file:x.db"} {
		if p := Definition().Target.Check(&TargetConfig{Path: path}); len(p) != 1 || p[0].Path != "path" {
			t.Errorf("Check(%q) = %v, want one problem at path", path, p)
		}
		if _, err := openTarget(context.Background(), &TargetConfig{Path: path}, connectors.Env{}); err == nil {
			t.Errorf("open %q: no error", path)
		}
	}
}

func TestClaimSaysWhatIsWrongWithThePath(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		class connectors.Class
		want  string
	}{
		{filepath.Join(dir, "no", "folder", "t.db"), connectors.Fatal, "there is no folder " + filepath.Join(dir, "no", "folder")},
		{dir, connectors.Fatal, "it is a directory"},
		{text, connectors.Fatal, "file is not a database"},
		{filepath.Join(text, "t.db"), connectors.Fatal, "there is no folder"},
	} {
		tg := openTestTarget(t, c.path, "p")
		_, err := tg.Claim(context.Background(), connectors.Owner{})
		wantClass(t, err, c.class)
		if err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("claim %s: got %v, want it to say %q", c.path, err, c.want)
		}
		if m, _ := filepath.Glob(filepath.Join(dir, "*.lock")); len(m) > 0 {
			t.Errorf("claim %s: the failed claim left %v", c.path, m)
		}
	}
}

func TestFullDiskIsClassFullAndLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	tg := openTestTarget(t, path, "p")
	claim(t, tg)
	ctx := context.Background()
	if err := tg.Begin(ctx, bigTable, connectors.Start{Generation: 1, Chunks: pending(1)}); err != nil {
		t.Fatal(err)
	}
	w, err := tg.OpenLoad(ctx, bigTable)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.(*writer).c.exec(ctx, "PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	m := connectors.Marker{Table: bigTable.Source, Generation: 1, Chunk: 1}
	if _, err := w.Begin(ctx, m); err != nil {
		t.Fatal(err)
	}
	p := poolOf(bigTable)
	for i := int64(0); err == nil && i < 20; i++ {
		err = w.Write(ctx, bigBatch(p, i*8000+1, 8000), nil)
	}
	wantClass(t, err, connectors.Full)
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after SQLite rolled back by itself: %v", err)
	}
	if got := ask(t, path, "SELECT count(*) FROM big_table"); got != "0" {
		t.Errorf("%s rows after the abort", got)
	}
}

func TestWritingWithoutPermissionIsClassDenied(t *testing.T) {
	path := makeFile(t, "CREATE TABLE t (v INTEGER)")
	c, err := openConn(path, readOnly, timeout(0))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	wantClass(t, c.exec(context.Background(), "INSERT INTO t VALUES (1)"), connectors.Denied)
}

func TestDuplicateKeyIsClassDataAndTheChunkGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	tg := openTestTarget(t, path, "p")
	claim(t, tg)
	ctx := context.Background()
	if err := tg.Begin(ctx, bigTable, connectors.Start{Generation: 1, Chunks: pending(1)}); err != nil {
		t.Fatal(err)
	}
	w, err := tg.OpenLoad(ctx, bigTable)
	if err != nil {
		t.Fatal(err)
	}
	m := connectors.Marker{Table: bigTable.Source, Generation: 1, Chunk: 1}
	if _, err := w.Begin(ctx, m); err != nil {
		t.Fatal(err)
	}
	p := poolOf(bigTable)
	if err := w.Write(ctx, bigBatch(p, 1, 10), nil); err != nil {
		t.Fatal(err)
	}
	err = w.Write(ctx, bigBatch(p, 10, 1), nil)
	wantClass(t, err, connectors.Data)
	if err != nil && !strings.Contains(err.Error(), "UNIQUE constraint failed: big_table.id") {
		t.Errorf("got %v, want it to name the constraint", err)
	}
	if n, err := w.Commit(ctx, m); err != nil || n != 10 {
		t.Errorf("Commit = %d, %v; want the 10 rows that went in", n, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestLockedFileIsTransientAndTheWaitEndsWithTheContext(t *testing.T) {
	path := makeFile(t, "CREATE TABLE t (v INTEGER)")
	holder, err := openConn(path, readWrite, timeout(0))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.close()
	ctx := context.Background()
	if err := holder.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	c, err := openConn(path, readWrite, 2*busySlice)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	wantClass(t, c.exec(ctx, "BEGIN IMMEDIATE"), connectors.Transient)
	c.busy = timeout(0)
	ctx, cancel := context.WithTimeout(ctx, busySlice)
	defer cancel()
	if err := c.exec(ctx, "BEGIN IMMEDIATE"); err != context.DeadlineExceeded {
		t.Errorf("got %v, want the context's error", err)
	}
	if err := holder.rollback(); err != nil {
		t.Fatal(err)
	}
	if err := c.exec(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Errorf("after the lock is free: %v", err)
	}
}

func TestStatementsOfAnotherVersionAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	tg := openTestTarget(t, path, "p")
	claim(t, tg)
	l := bigTable
	l.Insert = "INSERT INTO big_table SELECT 1"
	if err := tg.Begin(context.Background(), l, connectors.Start{Generation: 1, Chunks: pending(1)}); err != nil {
		t.Fatal(err)
	}
	_, err := tg.OpenLoad(context.Background(), l)
	wantClass(t, err, connectors.Schema)
}
