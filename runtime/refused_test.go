package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"penstock/runtime"
)

const discardToFile = `bad_rows {
    action = "discard"
    file   = "bad.ndjson"
  }`

// listed are the discarded rows in the file, by their ids, and the marker's sum.
func (r *rig) listed() (ids []int64, marked int64) {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "bad.ndjson"))
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l struct{ Key, Code, Constraint, Reason string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			r.t.Fatalf("%q: %v", line, err)
		}
		var id int64
		if _, err := fmt.Sscanf(l.Key, "id=%d", &id); err != nil {
			r.t.Fatalf("%q names no id: %v", line, err)
		}
		if l.Code != "" && (l.Code != "23505" || l.Constraint != "t_u" || strings.Contains(l.Reason, "(1)")) {
			r.t.Errorf("a refused row is listed as %s", line)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	state, err := r.sink.State(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range state.Tables["t"].Chunks {
		marked += c.BadRows
	}
	return ids, marked
}

// What the engine and what the target finds of a chunk add up; a retry, whether
// from memory, by reading again or after a commit that was done, lists each once.
func TestRowsThatTheTargetRefusesAreCountedAndListedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		table, more string
		done        bool // a failing commit was done after all
	}{
		"blocks":      {`range { count = 4 }`, "", false},
		"lost answer": {`range { count = 4 }`, "", true},
		"hash": {`range {
      count = 4
      split = "hash"
    }`, "", false},
		"in pieces": {`range { split = "none" }`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `column "broken" { value = "1 / (id % 1000)" }
    `+c.table, discardToFile+c.more)
			r.refuse = func(id int64) bool { return id%700 == 3 }
			fails := atCalls(transient("commit"), 1, 3, 6)
			r.onCommit = func(commit func() error) error {
				err := fails()
				if err == nil || c.done {
					if cerr := commit(); cerr != nil {
						return cerr
					}
				}
				return err
			}
			var want []int64
			for id := range int64(rigRows + 1) {
				if id > 0 && (id%700 == 3 || id%1000 == 0) {
					want = append(want, id)
				}
			}
			res := r.run()
			r.want(res, runtime.ExitFindings, rigRows-int64(len(want)))
			got, marked := r.listed()
			if !slices.Equal(got, want) || marked != int64(len(want)) || res.Pipelines[0].Tables[0].Bad != marked || res.Pipelines[0].Tables[0].Rows != rigRows-marked {
				t.Errorf("%d rows listed, %d in markers, %d bad and %d good reported; want %d", len(got), marked, res.Pipelines[0].Tables[0].Bad, res.Pipelines[0].Tables[0].Rows, len(want))
			}
		})
	}
}

// Which rows are refused can change from one try to the next, as other
// transactions commit: the file holds those of the try that committed.
func TestRetryThatFindsOtherBadRowsReplacesThem(t *testing.T) {
	r := newRig(t, `range { count = 4 }`, discardToFile)
	var mu sync.Mutex
	commits := 0
	r.refuse = func(id int64) bool {
		mu.Lock()
		defer mu.Unlock()
		return id%1000 == 1 || commits == 0 && id%1000 == 2 || commits > 5 && id%10_000 == 3
	}
	fails := atCalls(transient("commit"), 1, 2, 3, 4, 5, 6, 7)
	r.onCommit = func(commit func() error) error {
		mu.Lock()
		commits++
		mu.Unlock()
		if err := fails(); err != nil {
			return err
		}
		return commit()
	}
	res := r.run()
	got, marked := r.listed()
	r.want(res, runtime.ExitFindings, rigRows-marked)
	if int64(len(got)) != marked || slices.Contains(got, 2) || !slices.Contains(got, 1) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("listed %v; the markers count %d", got, marked)
	}
	// The next run keeps them all.
	r.run()
	if again, _ := r.listed(); !slices.Equal(again, got) {
		t.Errorf("after another run %d rows are listed, want %d", len(again), len(got))
	}
}

func TestRowThatTheTargetRefusesStopsTheRunNamingIt(t *testing.T) {
	r := newRig(t, `range { count = 4 }`, "")
	r.refuse = func(id int64) bool { return id == 31_313 }
	res := r.run()
	if res.Exit != runtime.ExitFailed {
		t.Fatalf("exit %d, want 1: %s", res.Exit, failure(res))
	}
	for _, want := range []string{"data: ", "load t", "range 3", "chunk", "id=31313", "unique constraint t_u", "23505", "Look at u", `action = "discard"`} {
		if msg := failure(res); !strings.Contains(msg, want) {
			t.Errorf("the error does not say %q: %s", want, msg)
		}
	}
	if msg := failure(res); strings.Contains(msg, "(1)") {
		t.Errorf("the error holds a value: %s", msg)
	}
	// What was refused once may go in later.
	r.refuse = nil
	r.want(r.run(), runtime.ExitOK, rigRows)
}

func TestMoreRefusedRowsThanTheLimitStopTheRun(t *testing.T) {
	r := newRig(t, `range { count = 4 }`, `bad_rows {
    action = "discard"
    limit  = 5
  }`)
	var asked sync.Map
	r.refuse = func(id int64) bool { asked.Store(id, true); return true }
	res := r.run()
	if res.Exit != runtime.ExitFailed || !strings.Contains(failure(res), "bad_rows.limit = 5") || !strings.Contains(failure(res), "id=") {
		t.Errorf("exit %d, %s; want 1, the limit and a row", res.Exit, failure(res))
	}
	n := 0
	asked.Range(func(any, any) bool { n++; return true })
	if n > 100 || r.sink.Rows.Load() > 0 {
		t.Errorf("%d rows were looked at, and %d are there", n, r.sink.Rows.Load())
	}
}

func TestReasonsOfRefusedRowsHoldValuesOnRequest(t *testing.T) {
	r := newRig(t, "", `bad_rows {
    action = "discard"
    file   = "bad.ndjson"
    values = true
  }`)
	r.refuse = func(id int64) bool { return id == 7 }
	r.want(r.run(), runtime.ExitFindings, rigRows-1)
	if text, err := os.ReadFile(filepath.Join(r.dir, "bad.ndjson")); err != nil || !strings.Contains(string(text), "(u)=(1)") {
		t.Errorf("%v, %s", err, text)
	}
}
