//go:build failpoints

package delimited

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/ranges"
)

const crashChunks, crashRows = 5, 1000

func crashConfig(dir string) *TargetConfig { return &TargetConfig{Form: csv(), Path: dir} }

// TestMain is the child as well: with PENSTOCK_CRASH_DIR it loads into that
// folder and exits, unless a failpoint kills it before.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PENSTOCK_CRASH_DIR"); dir != "" {
		if err := loadOnce(dir); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func loadOnce(dir string) error {
	ctx := context.Background()
	l := crashTable()
	tg, err := openTarget(ctx, crashConfig(dir), connectors.Env{Pipeline: "p"})
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
	if s := st.Tables[l.Source]; s == nil || s.Generation == 1 { // 1 is what stood there before
		begin := connectors.Start{Generation: 2}
		for i := range crashChunks {
			begin.Chunks = append(begin.Chunks, ranges.Chunk{ID: i + 1, Range: 1 + i/3})
		}
		if err := tg.Begin(ctx, l, begin); err != nil {
			return err
		}
	}
	w, err := tg.OpenLoad(ctx, l)
	if err != nil {
		return err
	}
	for k := 1; k <= crashChunks; k++ {
		m := connectors.Marker{Table: l.Source, Generation: 2, Chunk: k}
		done, err := w.Begin(ctx, m)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		if err := w.Write(ctx, numbers((k-1)*crashRows+1, crashRows), nil); err != nil {
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
func crash(t *testing.T, dir, point, guard string) bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "PENSTOCK_CRASH_DIR="+dir, "PENSTOCK_FAILPOINT="+point, "PENSTOCK_GUARD_OFF="+guard)
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

// ids counts rows, distinct ids and their sum.
func ids(t *testing.T, dir string) string {
	rows := readBack(t, crashConfig(dir), crashTable())
	distinct, sum := map[string]bool{}, 0
	for _, r := range rows {
		n := 0
		if _, err := fmt.Sscan(r[0], &n); err != nil {
			t.Fatal(err)
		}
		sum += n
		distinct[r[0]] = true
	}
	return fmt.Sprint(len(rows), " ", len(distinct), " ", sum)
}

// filled is a folder with a finished load of another generation, which the
// load under test removes.
func filled(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "out")
	tg, err := openTarget(context.Background(), crashConfig(dir), connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	loadInto(t, tg, crashTable(), 1)
	return dir
}

func TestKilledAtEveryDurableStepEveryRowIsThereOnce(t *testing.T) {
	for _, point := range []string{"claim.after:1", "begin.before:1", "begin.described:1", "begin.stored:1", "begin.removed:1", "begin.after:1", "chunk.begin:1", "chunk.begin:4", "chunk.rows:1", "chunk.rows:3", "chunk.commit.before:1", "chunk.commit.before:5", "chunk.marker:1", "chunk.marker:2", "chunk.marker:5", "chunk.commit.after:1", "chunk.commit.after:5", "range.joined:1", "range.joined:2", "range.renamed:1", "range.renamed:2", "range.noted:1", "range.noted:2", "finish.before:1", "finish.after:1"} {
		t.Run(point, func(t *testing.T) {
			dir := filled(t)
			if !crash(t, dir, point, "") {
				t.Fatal("the process was not killed")
			}
			if crash(t, dir, "", "") {
				t.Fatal("the second run was killed")
			}
			if got, want := ids(t, dir), "5000 5000 12502500"; got != want {
				t.Errorf("rows, distinct ids, their sum: got %s, want %s", got, want)
			}
			// A load that was killed before its state was stored has had a number.
			if got := names(t, dir); len(got) != 2 || got[0][3:] != "-0001.csv" || got[1][3:] != "-0002.csv" {
				t.Errorf("the folder has %q, want a file a range", got)
			}
			for _, ext := range []string{partExt, rowsExt} {
				left, err := filepath.Glob(filepath.Join(literal(dir), stateDir, "p-p", "*"+ext))
				if err != nil || len(left) > 0 {
					t.Errorf("files are left: %q, %v", left, err)
				}
			}
		})
	}
}

// The negative controls: the test above can see doubled rows, be it of a chunk
// that is written twice or of a range whose file is.
func TestSecondTryUnderAnotherNameDoublesRows(t *testing.T) {
	for guard, c := range map[string]struct{ point, want string }{
		"marker": {"chunk.marker:2", "6000 5000 "},
		"range":  {"range.renamed:1", "8000 5000 "},
	} {
		dir := filled(t)
		if !crash(t, dir, c.point, guard) {
			t.Fatalf("%s: the process was not killed", c.point)
		}
		if crash(t, dir, "", guard) {
			t.Fatalf("%s: the second run was killed", c.point)
		}
		if got := ids(t, dir); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: rows, distinct ids, their sum: got %s, want rows twice: %s", guard, got, c.want)
		}
	}
}
