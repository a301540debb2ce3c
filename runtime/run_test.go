package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/bench/discard"
	"penstock/connectors"
	"penstock/connectors/synthetic"
	"penstock/internal/batch"
	"penstock/internal/event"
	"penstock/internal/ranges"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a pipeline of made-up rows into a target in memory, either of which
// can be made to fail.
type rig struct {
	t     *testing.T
	sink  *discard.Target
	reg   *connectors.Registry
	plan  *plan.Plan
	dir   string
	drain chan struct{}

	unreadable bool // rows that can't be read stand before and behind those of a chunk

	onRead   func() error                    // before each Read
	onWrite  func() error                    // before each Write
	onCommit func(commit func() error) error // around each Commit
	miscount int64                           // added to the rows that each Commit reports
	refuse   func(id int64) bool             // whether the target refuses a row
}

const rigRows = 50_000

// newRig plans table as the body of the pipeline's only table block.
func newRig(t *testing.T, table, more string) *rig {
	t.Helper()
	r := &rig{t: t, sink: discard.New(), dir: t.TempDir(), drain: make(chan struct{})}
	src := *synthetic.Definition()
	def := *src.Source
	open := def.Open
	def.Open = func(ctx context.Context, cfg any, env connectors.Env) (connectors.Source, error) {
		s, err := open(ctx, cfg, env)
		return faultySource{s, r}, err
	}
	src.Source = &def
	dst := *r.sink.Definition()
	tdef := *dst.Target
	tdef.Open = func(context.Context, any, connectors.Env) (connectors.Target, error) {
		return faultyTarget{r.sink, r}, nil
	}
	dst.Target = &tdef
	r.reg = connectors.NewRegistry(&src, &dst)
	spec := fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "t" {
    preset = "big_table"
    rows   = %d
    seed   = 3
  }
}
target "discard" "d" {}
pipeline "p" {
  from    = source.s
  to      = target.d
  workers = 3
  memory  = "2MiB"
  %s
  table "t" {
    %s
  }
}
`, rigRows, more, table)
	parsed, found := lang.Parse(map[string][]byte{"spec.hcl": []byte(spec)}, r.dir, lang.Options{Connectors: planner.Connectors(r.reg)})
	if found.HasErrors() {
		t.Fatalf("%s: %s", found[0].Summary, found[0].Detail)
	}
	p, found := planner.Compile(t.Context(), parsed, r.reg, planner.Options{})
	if p == nil {
		t.Fatalf("%s: %s", found[0].Summary, found[0].Detail)
	}
	r.plan = p
	return r
}

func (r *rig) run(reload ...string) *runtime.Results {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	return runtime.Run(ctx, r.plan, runtime.Options{
		Registry: r.reg, Dir: r.dir, Reload: reload, Drain: r.drain,
		Events:  event.SinkFunc(func(e event.Event) {}),
		Backoff: runtime.Backoff{Attempts: 8, First: time.Microsecond, Max: time.Microsecond},
	})
}

// want checks that a run ended with this code and that the target holds each
// row of an undisturbed run once.
func (r *rig) want(res *runtime.Results, exit int, rows int64) {
	r.t.Helper()
	if res.Exit != exit {
		r.t.Fatalf("exit %d, want %d: %s", res.Exit, exit, failure(res))
	}
	if got := r.sink.Rows.Load(); got != rows {
		r.t.Errorf("the target holds %d rows, want %d", got, rows)
	}
}

func failure(res *runtime.Results) string {
	if res.Error != nil {
		return res.Error.Message
	}
	for _, p := range res.Pipelines {
		if p.Error != nil {
			return p.Error.Class + ": " + p.Error.Message
		}
	}
	return "no error"
}

// undisturbed is the sum of all values of the same pipeline without faults.
func undisturbed(t *testing.T, table string) uint64 {
	t.Helper()
	r := newRig(t, table, "")
	r.want(r.run(), 0, rigRows)
	return r.sink.Sum.Load()
}

type faultySource struct {
	connectors.Source
	r *rig
}

func (s faultySource) Snapshot(ctx context.Context, o connectors.SnapshotOptions) (connectors.Snapshot, error) {
	snap, err := s.Source.Snapshot(ctx, o)
	return faultySnapshot{snap, s.r}, err
}

type faultySnapshot struct {
	connectors.Snapshot
	r *rig
}

func (s faultySnapshot) OpenChunk(ctx context.Context, x connectors.Extract, c ranges.Chunk) (connectors.RowReader, error) {
	rd, err := s.Snapshot.OpenChunk(ctx, x, c)
	if err == nil && s.r.unreadable {
		rd = &unreadable{RowReader: rd, x: x, place: c.String()}
	}
	return faultyReader{rd, s.r}, err
}

type faultyReader struct {
	connectors.RowReader
	r *rig
}

func (rd faultyReader) Read(ctx context.Context, b *batch.Builder) error {
	if f := rd.r.onRead; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	return rd.RowReader.Read(ctx, b)
}

type faultyTarget struct {
	*discard.Target
	r *rig
}

func (t faultyTarget) OpenLoad(ctx context.Context, l connectors.Load) (connectors.BulkWriter, error) {
	w, err := t.Target.OpenLoad(ctx, l)
	return faultyWriter{w, t.r}, err
}

type faultyWriter struct {
	connectors.BulkWriter
	r *rig
}

func (w faultyWriter) Write(ctx context.Context, b *batch.Batch, sel batch.Selection) error {
	if f := w.r.onWrite; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	if f := w.r.refuse; f != nil {
		for k := range sel.Len(b.Rows) {
			if f(b.Columns[0].Ints[sel.Row(k)]) {
				return &connectors.Error{Class: connectors.Data, Err: errors.New("some row is refused")}
			}
		}
	}
	return w.BulkWriter.Write(ctx, b, sel)
}

func (w faultyWriter) WriteEach(ctx context.Context, b *batch.Batch, sel batch.Selection, bad func(int32, *connectors.Refusal) error) error {
	keep := batch.Selection{}
	for k := range sel.Len(b.Rows) {
		row := sel.Row(k)
		if w.r.refuse == nil || !w.r.refuse(b.Columns[0].Ints[row]) {
			keep = append(keep, int32(row))
			continue
		}
		why := &connectors.Refusal{Code: "23505", Constraint: "t_u", Reason: "unique constraint t_u", Detail: "unique constraint t_u: (u)=(1)", Hint: "Look at u."}
		if err := bad(int32(row), why); err != nil {
			return err
		}
	}
	return w.BulkWriter.WriteEach(ctx, b, keep, bad)
}

func (w faultyWriter) Commit(ctx context.Context, m connectors.Marker) (n int64, err error) {
	f := w.r.onCommit
	if f == nil {
		f = func(commit func() error) error { return commit() }
	}
	err = f(func() error { n, err = w.BulkWriter.Commit(ctx, m); return err })
	return n + w.r.miscount, err
}

func transient(what string) error {
	return &connectors.Error{Op: what, Class: connectors.Transient, Err: errors.New("connection reset")}
}

// atCalls gives an error at the calls of these numbers, from 1.
func atCalls(err error, numbers ...int64) func() error {
	var calls atomic.Int64
	return func() error {
		if slices.Contains(numbers, calls.Add(1)) {
			return err
		}
		return nil
	}
}

// nowAndThen fails at a few calls that are early, late and close together.
func nowAndThen(what string) func() error { return atCalls(transient(what), 2, 3, 11, 40, 41, 90) }

// cutAfter calls cut once three chunks are committed. By then at most half of
// the chunks are read: further reads wait for the cut.
func (r *rig) cutAfter(cut func()) {
	done := make(chan struct{})
	var commits, reads atomic.Int64
	r.onCommit = func(commit func() error) error {
		err := commit()
		if commits.Add(1) == 3 {
			cut()
			close(done)
		}
		return err
	}
	r.onRead = func() error {
		if reads.Add(1) > 20 {
			<-done
		}
		return nil
	}
}

// uncut lets the next run through.
func (r *rig) uncut() {
	r.onCommit, r.onRead, r.drain = nil, nil, make(chan struct{})
}

func TestTransientErrorsAreTriedAgainAndEachRowIsThereOnce(t *testing.T) {
	for _, split := range []string{"blocks", "hash"} {
		table := fmt.Sprintf(`range {
      count = 4
      split = %q
    }`, split)
		sum := undisturbed(t, table)
		for name, fault := range map[string]func(*rig){
			"reading": func(r *rig) { r.onRead = nowAndThen("fetch") },
			"writing": func(r *rig) { r.onWrite = nowAndThen("copy") },
			"commit that fails": func(r *rig) {
				f := atCalls(transient("commit"), 1, 4, 5, 9)
				r.onCommit = func(commit func() error) error {
					if err := f(); err != nil {
						return err
					}
					return commit()
				}
			},
			"commit whose reply is lost": func(r *rig) {
				f := atCalls(transient("commit"), 1, 4, 5, 9)
				r.onCommit = func(commit func() error) error {
					if err := commit(); err != nil {
						return err
					}
					return f()
				}
			},
			"chunks that outgrow their share": func(r *rig) { r.plan.Pipelines[0].Resources.SlotBytes = 1000 },
			"outgrown chunks and writing": func(r *rig) {
				r.plan.Pipelines[0].Resources.SlotBytes = 1000
				r.onWrite = nowAndThen("copy")
			},
			"outgrown chunks and reading": func(r *rig) {
				r.plan.Pipelines[0].Resources.SlotBytes = 1000
				r.onRead = nowAndThen("fetch")
			},
			"one writer in order": func(r *rig) {
				r.plan.Pipelines[0].Resources.Writers = 1
				r.plan.Pipelines[0].Resources.SlotBytes = 1000
				r.onWrite = nowAndThen("copy")
			},
		} {
			t.Run(split+"/"+name, func(t *testing.T) {
				r := newRig(t, table, "")
				fault(r)
				res := r.run()
				r.want(res, 0, rigRows)
				if got := r.sink.Sum.Load(); got != sum {
					t.Errorf("the values sum up to %d, want %d", got, sum)
				}
				if x := res.Pipelines[0].Tables[0]; x.Read != rigRows || x.Rows+x.Filtered+x.Bad != x.Read {
					t.Errorf("%d rows read, %d loaded, %d filtered, %d bad", x.Read, x.Rows, x.Filtered, x.Bad)
				}
			})
		}
	}
}

func TestErrorThatStaysTransientEndsTheRunAfterItsAttempts(t *testing.T) {
	for name, fault := range map[string]func(*rig){
		"reading": func(r *rig) { r.onRead = func() error { return transient("fetch") } },
		"writing": func(r *rig) { r.onWrite = func() error { return transient("copy") } },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "range { count = 2 }", "")
			fault(r)
			res := r.run()
			r.want(res, runtime.ExitFailed, 0)
			if msg := failure(res); !strings.Contains(msg, "connection reset") || !regexp.MustCompile(`chunk \d+ of range \d`).MatchString(msg) {
				t.Errorf("the error does not say what failed and where: %s", msg)
			}
		})
	}
}

func TestTargetThatCountsOtherRowsThanWereSentStopsTheRun(t *testing.T) {
	r := newRig(t, "", "")
	r.miscount = -1
	res := r.run()
	if res.Exit != runtime.ExitFailed || !strings.Contains(failure(res), "count mismatch") {
		t.Errorf("exit %d, %s", res.Exit, failure(res))
	}
}

func TestFencedWriterEndsTheRunWithExit5(t *testing.T) {
	r := newRig(t, "", "")
	r.onCommit = func(func() error) error {
		return &connectors.Error{Op: "commit", Class: connectors.Fenced, Err: errors.New("epoch 1 is over")}
	}
	r.want(r.run(), runtime.ExitHeld, 0)
}

func TestDrainKeepsWhatIsCommittedAndTheNextRunDoesTheRest(t *testing.T) {
	sum := undisturbed(t, "")
	r := newRig(t, "", "")
	r.cutAfter(func() { close(r.drain) })
	res := r.run()
	if res.Exit != 0 || !res.Pipelines[0].Drained {
		t.Fatalf("exit %d, drained %v, want 0 and true: %s", res.Exit, res.Pipelines[0].Drained, failure(res))
	}
	if got := r.sink.Rows.Load(); got == 0 || got == rigRows {
		t.Fatalf("%d rows after the drain, want some and not all", got)
	}
	if s := res.Pipelines[0].Tables[0].State; s != "unfinished" {
		t.Errorf("the table's state is %q, want unfinished", s)
	}
	r.uncut()
	res = r.run()
	r.want(res, 0, rigRows)
	if got := r.sink.Sum.Load(); got != sum {
		t.Errorf("the values sum up to %d, want %d", got, sum)
	}
	if a := res.Pipelines[0].Tables[0].Action; a != "continue" {
		t.Errorf("the second run's action is %q, want continue", a)
	}
}

func TestSecondRunOfALoadedTableDoesNothing(t *testing.T) {
	r := newRig(t, "", "")
	r.want(r.run(), 0, rigRows)
	r.onRead = func() error { t.Error("a loaded table was read again"); return io.ErrUnexpectedEOF }
	res := r.run()
	r.want(res, 0, rigRows)
	if a := res.Pipelines[0].Tables[0].Action; a != "loaded" {
		t.Errorf("action %q, want loaded", a)
	}
}

func TestChangedDefinitionStopsWithTheFieldNamed(t *testing.T) {
	r := newRig(t, "", "")
	r.want(r.run(), 0, rigRows)
	other := newRig(t, `filter = "id > 10"`, "")
	other.sink, other.reg = r.sink, r.reg
	res := other.run()
	r.want(res, runtime.ExitDrift, rigRows)
	if msg := failure(res); !strings.Contains(msg, `filter was unset, is "id > 10"`) {
		t.Errorf("the error does not name the field: %s", msg)
	}
}

func TestChangedWorkersAndMemoryGoOnWithTheLoad(t *testing.T) {
	r := newRig(t, "", "")
	r.cutAfter(func() { close(r.drain) })
	r.run()
	r.uncut()
	res := &r.plan.Pipelines[0].Resources
	res.Readers, res.Writers, res.Slots, res.SlotBytes = 1, 1, 4, res.SlotBytes*2
	r.want(r.run(), 0, rigRows)
}

func TestPointOfAnotherSourceIsRefusedWithExit6(t *testing.T) {
	r := newRig(t, "", "")
	r.cutAfter(func() { close(r.drain) })
	r.run()
	r.uncut()
	cfg := r.plan.Endpoint("source.s")
	cfg.Config = json.RawMessage(strings.Replace(string(cfg.Config), `"seed":3`, `"seed":4`, 1))
	if !strings.Contains(string(cfg.Config), `"seed":4`) {
		t.Fatalf("the plan's config has no seed to change: %s", cfg.Config)
	}
	before := r.sink.Rows.Load()
	r.want(r.run(), runtime.ExitPosition, before)
}

func TestBadRowStopsTheRunNamingIt(t *testing.T) {
	r := newRig(t, `column "broken" { value = "1000 / (id - 777)" }`, "")
	res := r.run()
	if res.Exit != runtime.ExitFailed {
		t.Fatalf("exit %d, want 1: %s", res.Exit, failure(res))
	}
	for _, want := range []string{"id=777", "broken", "discard"} {
		if msg := failure(res); !strings.Contains(msg, want) {
			t.Errorf("the error does not say %q: %s", want, msg)
		}
	}
}

func TestDiscardedRowsAreCountedAndListedOnce(t *testing.T) {
	for _, split := range []string{"blocks", "hash"} {
		t.Run(split, func(t *testing.T) {
			const more = `bad_rows {
    action = "discard"
    file   = "bad.ndjson"
  }`
			r := newRig(t, fmt.Sprintf(`column "broken" { value = "1 / (id %% 1000)" }
    range {
      count = 4
      split = %q
    }`, split), more)
			f := atCalls(transient("commit"), 1, 4, 5, 9) // a retry must not list its rows again
			r.onCommit = func(commit func() error) error {
				if err := f(); err != nil {
					return err
				}
				return commit()
			}
			res := r.run()
			const bad = rigRows / 1000
			r.want(res, runtime.ExitFindings, rigRows-bad)
			if got := res.Pipelines[0].Tables[0].Bad; got != bad {
				t.Errorf("%d bad rows reported, want %d", got, bad)
			}
			b, err := os.ReadFile(filepath.Join(r.dir, "bad.ndjson"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(b), "\n"); got != bad {
				t.Errorf("%d lines in the discard file, want %d", got, bad)
			}
			if !strings.Contains(string(b), `"key":"id=7000"`) {
				t.Errorf("the discard file does not name id=7000:\n%.400s", b)
			}
			// Lines of chunks that never committed are removed at the next start.
			if err := os.WriteFile(filepath.Join(r.dir, "bad.ndjson"), append(b, `{"pipeline":"p","table":"t","generation":1,"chunk":9999,"reason":"x"}`+"\n"+`{"pipel`...), 0o600); err != nil {
				t.Fatal(err)
			}
			r.run()
			if after, err := os.ReadFile(filepath.Join(r.dir, "bad.ndjson")); err != nil || string(after) != string(b) {
				t.Errorf("the discard file was not put right (%v): %d bytes, want %d", err, len(after), len(b))
			}
		})
	}
}

func TestMoreBadRowsThanTheLimitStopTheRun(t *testing.T) {
	r := newRig(t, `column "broken" { value = "1 / (id % 1000)" }`, `bad_rows {
    action = "discard"
    limit  = 5
  }`)
	res := r.run()
	if res.Exit != runtime.ExitFailed || !strings.Contains(failure(res), "bad_rows.limit = 5") {
		t.Errorf("exit %d, %s; want 1 and the limit named", res.Exit, failure(res))
	}
}

func TestCancelledContextEndsTheRunAndLeavesItResumable(t *testing.T) {
	r := newRig(t, "", "")
	ctx, cancel := context.WithCancel(t.Context())
	r.cutAfter(func() { cancel() })
	res := runtime.Run(ctx, r.plan, runtime.Options{Registry: r.reg, Dir: r.dir})
	if res.Exit == 0 || !res.Pipelines[0].Cancelled {
		t.Fatalf("exit %d, cancelled %v", res.Exit, res.Pipelines[0].Cancelled)
	}
	r.uncut()
	r.want(r.run(), 0, rigRows)
}

func TestPlanOfAnotherFormatOrUnknownStageIsRefused(t *testing.T) {
	r := newRig(t, "", "")
	r.plan.FormatVersion = 99
	r.want(r.run(), runtime.ExitSpec, 0)
	r = newRig(t, "", "")
	r.plan.Pipelines[0].Stages[0].Kind = "polish"
	res := r.run()
	r.want(res, runtime.ExitSpec, 0)
	if !strings.Contains(failure(res), `"polish"`) {
		t.Errorf("the error does not name the kind: %s", failure(res))
	}
	r = newRig(t, "", "")
	r.plan.Pipelines[0].Tables[0].Filter = "id > 5"
	if res := r.run(); res.Exit != runtime.ExitSpec || !strings.Contains(failure(res), "digest") {
		t.Errorf("an edited plan ran: exit %d, %s", res.Exit, failure(res))
	}
}

func TestDrainEndsTheWaitForAnotherTry(t *testing.T) {
	r := newRig(t, "", "")
	r.onRead = func() error { return transient("fetch") }
	drain := r.drain
	var once sync.Once
	started := time.Now()
	res := runtime.Run(t.Context(), r.plan, runtime.Options{
		Registry: r.reg, Dir: r.dir, Drain: drain,
		Backoff: runtime.Backoff{Attempts: 10, First: time.Hour, Max: time.Hour},
		Events: event.SinkFunc(func(e event.Event) {
			if e, ok := e.(event.Retrying); ok && e.Attempt == 1 {
				once.Do(func() { close(drain) })
			}
		}),
	})
	if res.Exit != 0 || !res.Pipelines[0].Drained || time.Since(started) > time.Minute {
		t.Errorf("exit %d, drained %v after %s: %s", res.Exit, res.Pipelines[0].Drained, time.Since(started), failure(res))
	}
}

func TestOnlyAndReloadNameWhatIsInThePlan(t *testing.T) {
	r := newRig(t, "", "")
	for name, o := range map[string]runtime.Options{
		"unknown pipeline":           {Only: []string{"q"}},
		"unknown table":              {Only: []string{"p.q"}},
		"unknown table to reload":    {Reload: []string{"q"}},
		"reload of a table left out": {Only: []string{"p.t"}, Reload: []string{"u"}},
		"table without its pipeline": {Only: []string{"t"}},
	} {
		o.Registry, o.Dir = r.reg, r.dir
		if res := runtime.Run(t.Context(), r.plan, o); res.Exit != runtime.ExitSpec || !strings.Contains(failure(res), "p.t") {
			t.Errorf("%s: exit %d, %s", name, res.Exit, failure(res))
		}
	}
	res := runtime.Run(t.Context(), r.plan, runtime.Options{Registry: r.reg, Dir: r.dir, Only: []string{"p.t"}})
	r.want(res, 0, rigRows)
}

func TestThrottleBoundsWhatIsReadASecond(t *testing.T) {
	r := newRig(t, "", "")
	r.plan.Endpoint("source.s").Throttle = 2 << 20
	started := time.Now()
	r.want(r.run(), 0, rigRows)
	// 50,000 rows are over 3 MB, of which a burst of 2 MiB is free.
	if d := time.Since(started); d < 300*time.Millisecond {
		t.Errorf("3 MB at 2 MiB a second took %s", d)
	}
}

func TestResultsAreWrittenByRename(t *testing.T) {
	r := newRig(t, "", "")
	res := r.run()
	path := filepath.Join(r.dir, ".penstock", "p", "run_results.json")
	for range 2 {
		if err := res.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got runtime.Results
	if err := json.Unmarshal(b, &got); err != nil || got.Pipelines[0].Tables[0].Rows != rigRows || got.FormatVersion != runtime.ResultsVersion {
		t.Errorf("%v in %s", err, b)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files beside the results, want none", len(files)-1)
	}
}

func TestDiscardFileThatHoldsSomethingElseIsLeftAlone(t *testing.T) {
	for name, content := range map[string]string{
		"notes":           "buy milk\n",
		"no line end":     "buy milk",
		"other JSON":      `{"a": 1}` + "\n",
		"a database":      "SQLite format 3\x00\x10\x00\n\x01\x02",
		"lines, and more": `{"pipeline":"p","table":"t","generation":1,"chunk":1,"reason":"x"}` + "\nbuy milk\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `column "broken" { value = "1 / (id % 1000)" }`, `bad_rows {
    action = "discard"
    file   = "notes.txt"
  }`)
			path := filepath.Join(r.dir, "notes.txt")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			res := r.run()
			r.want(res, runtime.ExitFailed, 0)
			if !strings.Contains(failure(res), "something else than discards") {
				t.Errorf("the error does not say what is wrong: %s", failure(res))
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != content {
				t.Errorf("the file holds %q now (%v)", b, err)
			}
			if files, err := os.ReadDir(r.dir); err != nil || len(files) != 1 {
				t.Errorf("%d files are there (%v), want the one", len(files), err)
			}
		})
	}
}

func TestReloadTakesTheTablesOldDiscardsOut(t *testing.T) {
	r := newRig(t, `column "broken" { value = "1 / (id % 1000)" }`, `bad_rows {
    action = "discard"
    file   = "bad.ndjson"
    limit  = 60
  }`)
	const bad = rigRows / 1000
	lines := func() int {
		b, err := os.ReadFile(filepath.Join(r.dir, "bad.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n")
	}
	r.want(r.run(), runtime.ExitFindings, rigRows-bad)
	if res := r.run("t"); res.Exit != runtime.ExitFindings {
		t.Fatalf("reload: exit %d, %s", res.Exit, failure(res))
	}
	if n := lines(); n != bad {
		t.Errorf("%d lines after the reload, want %d", n, bad)
	}
	// A load that was finished before is no finding of this run.
	if res := r.run(); res.Exit != 0 || lines() != bad {
		t.Errorf("third run: exit %d, %d lines", res.Exit, lines())
	}
}

func TestPlanWithNumbersThatNoPlannerWritesIsRefused(t *testing.T) {
	for name, edit := range map[string]func(*plan.Pipeline){
		"no resources":      func(p *plan.Pipeline) { p.Resources = plan.Resources{} },
		"no writers":        func(p *plan.Pipeline) { p.Resources.Writers = 0 },
		"negative readers":  func(p *plan.Pipeline) { p.Resources.Readers = -1 },
		"absurd readers":    func(p *plan.Pipeline) { p.Resources.Readers = 1 << 62 },
		"no slots":          func(p *plan.Pipeline) { p.Resources.Slots = 0 },
		"no bytes":          func(p *plan.Pipeline) { p.Resources.SlotBytes = 0 },
		"empty chunks":      func(p *plan.Pipeline) { p.Tables[0].Chunk.Rows = 0 },
		"unknown bad_rows":  func(p *plan.Pipeline) { p.BadRows.Action = "DISCARD" },
		"a stage too few":   func(p *plan.Pipeline) { p.Stages = p.Stages[1:] },
		"a mode of streams": func(p *plan.Pipeline) { p.Mode = "cdc" },
	} {
		r := newRig(t, "", "")
		edit(&r.plan.Pipelines[0])
		if res := r.run(); res.Exit != runtime.ExitSpec || r.sink.Rows.Load() != 0 {
			t.Errorf("%s: exit %d, %d rows, %s", name, res.Exit, r.sink.Rows.Load(), failure(res))
		}
	}
	r := newRig(t, "", "")
	r.plan.Pipelines = append(r.plan.Pipelines, r.plan.Pipelines[0])
	if res := r.run(); res.Exit != runtime.ExitSpec || !strings.Contains(failure(res), "twice") {
		t.Errorf("a pipeline twice: exit %d, %s", res.Exit, failure(res))
	}
	r.plan.Pipelines = nil
	if res := r.run(); res.Exit != runtime.ExitSpec {
		t.Errorf("no pipeline: exit %d, %s", res.Exit, failure(res))
	}
}
