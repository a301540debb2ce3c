//go:build failpoints

package sqlite

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors"
)

// keyless is big_table without a key: nothing but the markers keeps its rows
// from going in twice.
func keyless() connectors.Load {
	l := bigTable
	l.Key = nil
	return l
}

const crashChunks, crashRows = 5, 1000

// TestMain is the child as well: with PENSTOCK_CRASH_FILE it loads that file
// and exits, unless a failpoint kills it before.
func TestMain(m *testing.M) {
	if path := os.Getenv("PENSTOCK_CRASH_FILE"); path != "" {
		if err := crashLoad(path); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func crashLoad(path string) error {
	ctx := context.Background()
	l := keyless()
	tg, err := openTarget(ctx, &TargetConfig{Path: path}, connectors.Env{Pipeline: "p"})
	if err != nil {
		return err
	}
	if _, err := tg.Claim(ctx, connectors.Owner{PID: os.Getpid()}); err != nil {
		return err
	}
	st, err := tg.State(ctx)
	if err != nil {
		return err
	}
	if st.Tables[l.Source] == nil {
		if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: pending(crashChunks)}); err != nil {
			return err
		}
	}
	w, err := tg.OpenLoad(ctx, l)
	if err != nil {
		return err
	}
	pool := poolOf(l)
	for k := 1; k <= crashChunks; k++ {
		m := connectors.Marker{Table: l.Source, Generation: 1, Chunk: k}
		done, err := w.Begin(ctx, m)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		if err := w.Write(ctx, bigBatch(pool, int64((k-1)*crashRows+1), crashRows), nil); err != nil {
			return err
		}
		if _, err := w.Commit(ctx, m); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := tg.Finish(ctx, l); err != nil {
		return err
	}
	return tg.Close()
}

// crash runs the child and reports whether it was killed.
func crash(t *testing.T, path, point, guard string) bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "PENSTOCK_CRASH_FILE="+path, "PENSTOCK_FAILPOINT="+point, "PENSTOCK_GUARD_OFF="+guard)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		return true
	}
	t.Fatalf("%s: %v\n%s", point, err, out)
	return false
}

const rowsAndDistinct = "SELECT count(*) || ' ' || count(DISTINCT id) || ' ' || sum(id) FROM big_table"

func TestKilledAtEveryDurableStepEveryRowIsThereOnce(t *testing.T) {
	for _, point := range []string{"claim.after:1", "begin.before:1", "begin.after:1", "chunk.begin:1", "chunk.begin:4", "chunk.rows:1", "chunk.rows:3", "chunk.marker:2", "chunk.commit.before:1", "chunk.commit.before:5", "chunk.commit.after:1", "chunk.commit.after:5", "finish.before:1", "finish.after:1"} {
		t.Run(point, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.db")
			if !crash(t, path, point, "") {
				t.Fatal("the process was not killed")
			}
			if crash(t, path, "", "") {
				t.Fatal("the second run was killed")
			}
			if got, want := ask(t, path, rowsAndDistinct), "5000 5000 12502500"; got != want {
				t.Errorf("rows, distinct ids, their sum: got %s, want %s", got, want)
			}
			if got := ask(t, path, "SELECT state FROM penstock_table"); got != "loaded" {
				t.Errorf("the table is %s", got)
			}
		})
	}
}

// The negative control: the test above can see doubled rows.
func TestMarkerOutsideTheRowsTransactionDoublesThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	if !crash(t, path, "chunk.marker:2", "marker") {
		t.Fatal("the process was not killed")
	}
	if crash(t, path, "", "marker") {
		t.Fatal("the second run was killed")
	}
	if got := ask(t, path, rowsAndDistinct); !strings.HasPrefix(got, "6000 5000 ") {
		t.Errorf("rows, distinct ids, their sum: got %s, want 1,000 rows twice", got)
	}
}
