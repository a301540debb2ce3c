package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/runtime"
)

// unreadable leaves a row out at the beginning of each chunk and one behind its
// last row.
type unreadable struct {
	connectors.RowReader
	x     connectors.Extract
	place string
	begun bool
	ended bool
}

func (u *unreadable) bad(what string) error {
	return u.x.Bad(connectors.BadRow{Place: u.place + " " + what, Column: "id", Reason: "it is no number", Detail: `"secret" is no number`})
}

func (u *unreadable) Read(ctx context.Context, b *batch.Builder) error {
	if !u.begun {
		u.begun = true
		if err := u.bad("first"); err != nil {
			return err
		}
	}
	err := u.RowReader.Read(ctx, b)
	if errors.Is(err, io.EOF) && !u.ended {
		u.ended = true
		if err := u.bad("last"); err != nil {
			return err
		}
	}
	return err
}

func TestRowsThatTheSourceCanNotReadAreCountedAndListedOnce(t *testing.T) {
	for _, split := range []string{"blocks", "hash"} {
		for _, values := range []bool{false, true} {
			for _, outgrown := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, values %v, outgrown %v", split, values, outgrown), func(t *testing.T) {
					r := newRig(t, fmt.Sprintf("range {\n count = 4\n split = %q\n }", split), fmt.Sprintf("bad_rows {\n action = \"discard\"\n file = \"bad.ndjson\"\n values = %v\n }", values))
					r.unreadable = true
					f := atCalls(transient("commit"), 1, 4, 5, 9)
					r.onCommit = func(commit func() error) error { return errors.Join(f(), commit()) }
					if outgrown {
						r.plan.Pipelines[0].Resources.SlotBytes = 1000
					}
					res := r.run()
					r.want(res, runtime.ExitFindings, rigRows)
					table := res.Pipelines[0].Tables[0]
					stretches := table.Chunks
					if split == "hash" {
						stretches /= 4
					}
					if table.Bad != int64(2*stretches) || table.Read != int64(rigRows+2*stretches) {
						t.Errorf("%d rows read and %d bad, want %d and %d", table.Read, table.Bad, rigRows+2*stretches, 2*stretches)
					}
					b, err := os.ReadFile(filepath.Join(r.dir, "bad.ndjson"))
					if err != nil {
						t.Fatal(err)
					}
					if n := strings.Count(string(b), "\n"); n != 2*stretches {
						t.Errorf("%d lines in the discard file, want %d", n, 2*stretches)
					}
					if strings.Contains(string(b), "secret") != values || !strings.Contains(string(b), `last","column":"id"`) {
						t.Errorf("values %v: %.400s", values, b)
					}
				})
			}
		}
	}
}

func TestRowThatCanNotBeReadStopsTheRun(t *testing.T) {
	r := newRig(t, "", "")
	r.unreadable = true
	res := r.run()
	if msg := failure(res); res.Exit != runtime.ExitFailed || !strings.Contains(msg, "first, column id: it is no number") || !strings.Contains(msg, "discard") {
		t.Errorf("exit %d: %s", res.Exit, msg)
	}
}
