package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// TargetHarness is what the suite needs of a target.
type TargetHarness struct {
	Definition *connectors.Definition
	// Config makes a fresh, empty place and returns the config that opens it.
	Config func(t testing.TB) any
	Env    connectors.Env // Pipeline is set by the suite
	// Read reads a table back by another way than the one that loaded it.
	// Values as ReadAll gives them. Absent table: nil.
	Read func(t testing.TB, config any, l connectors.Load) [][]string
	// Lose makes the target's world believe that the pipeline's owner is gone
	// while its process lives on: an expired lease, a lock file that someone
	// deleted. What the owner then tries must fail.
	Lose func(t testing.TB, config any, pipeline string)
	// Refused reports a value of a type that the target does not store: writing
	// it must be an error of class Data. nil: it stores all of them.
	Refused func(typ schema.Type, value string) bool
	// Keys is set where the target refuses a second row of one key.
	Keys bool
}

// Target runs the suite.
func Target(t *testing.T, h TargetHarness) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, TargetHarness)
	}{
		{"OfflineCatalogOfNothingIsEmpty", emptyCatalog},
		{"SecondOwnerIsHeld", secondOwner},
		{"OtherPipelineIsNotHeld", otherPipeline},
		{"EpochRisesWithEachClaim", epochs},
		{"BeginStoresPendingChunks", pendingChunks},
		{"AbortedChunkLeavesNothing", aborted},
		{"DoneChunkIsNotLoadedTwice", doneOnce},
		{"CommittedRowsAreCounted", counted},
		{"FormerOwnerIsFenced", fenced},
		{"OpenChunkOfFormerOwnerNeverOutlivesTheClaim", fencedOpen},
		{"CancelledWriteLeavesNothing", cancelledWrite},
		{"OneOfTwoWritersLoadsAChunk", twoWriters},
		{"WritersRunSideBySide", sideBySide},
		{"BatchIsTheCallersAgain", batchReused},
		{"ExistingRows", existing},
		{"MissingColumnIsASchemaError", missingColumn},
		{"RestartEmptiesTheUnfinished", restart},
		{"FinishIsDoneOnce", finishOnce},
		{"ScriptRunsOnceAGeneration", script},
		{"RenderedTypesParseBack", func(t *testing.T, h TargetHarness) { Types(t, h.Definition.Types) }},
		{"TypesRoundTrip", typesRoundTrip},
		{"NaNIsKeptOrRefused", nanKept},
		{"OddNames", oddNames},
		{"NullInNotNullIsBadData", nullKey},
		{"EveryRowOfAChunkIsRefused", everyRowBad},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, h) })
	}
	for _, mode := range h.Definition.Target.Capabilities.Modes {
		t.Run("EveryMode/"+mode, func(t *testing.T) { everyMode(t, h, mode) })
		t.Run("RefusedRowsAreLeftOut/"+mode, func(t *testing.T) { eachRow(t, h, mode) })
	}
}

const pipeline = "conformance"

// place is one fresh place with a target opened on it.
type place struct {
	TargetHarness
	t      testing.TB
	config any
	connectors.Target
}

func (h TargetHarness) place(t testing.TB) *place {
	t.Helper()
	p := &place{TargetHarness: h, t: t, config: h.Config(t)}
	p.Target = p.open(pipeline)
	return p
}

// open opens the place once more, as another process would.
func (p *place) open(pipeline string) connectors.Target {
	p.t.Helper()
	env := p.Env
	env.Pipeline = pipeline
	tg, err := p.Definition.Target.Open(context.Background(), p.config, env)
	if err != nil {
		p.t.Fatalf("open: %v", err)
	}
	p.t.Cleanup(func() {
		for range 2 {
			if err := tg.Close(); err != nil {
				p.t.Errorf("close: %v", err)
			}
		}
	})
	return tg
}

func owner(run string) connectors.Owner {
	return connectors.Owner{Run: run, Host: "host-" + run, Boot: "boot", PID: 4711, Started: "2026-01-02T03:04:05Z"}
}

func (p *place) claim(tg connectors.Target, run string) int64 {
	p.t.Helper()
	c, err := tg.Claim(context.Background(), owner(run))
	if err != nil {
		p.t.Fatalf("claim as %s: %v", run, err)
	}
	return c.Epoch
}

// load is a table of two columns with a key, as a plan describes it.
func (h TargetHarness) load(t testing.TB, source, name string, columns ...connectors.TargetColumn) connectors.Load {
	t.Helper()
	caps := h.Definition.Target.Capabilities
	n, err := h.Definition.Target.SplitName(name)
	if err != nil {
		t.Fatalf("SplitName(%q): %v", name, err)
	}
	if columns == nil {
		columns = []connectors.TargetColumn{{Name: "id", Type: schema.Of(schema.Int64)}, {Name: "v", Type: schema.Type{Kind: schema.Text, Length: 40}, Nullable: true}}
	}
	l := connectors.Load{Source: source, Table: n, Columns: columns, Key: []string{columns[0].Name}, Create: true, Existing: connectors.ExistingError,
		Digest: "digest-1", Definition: `{"digest":"of this"}`}
	if len(caps.Modes) > 0 {
		l.Mode = caps.Modes[0]
	}
	for i, c := range columns {
		if l.Columns[i].Native, err = h.Definition.Types.Render(c.Type); err != nil {
			t.Fatalf("Render(%s): %v", c.Type, err)
		}
	}
	return h.explained(l)
}

// explained puts the statements in, as a plan does.
func (h TargetHarness) explained(l connectors.Load) connectors.Load {
	e := h.Definition.Target.Explain
	if e == nil {
		return l
	}
	texts := func(list []connectors.Statement) (out []string) {
		for _, s := range list {
			out = append(out, s.SQL)
		}
		return out
	}
	l.Prepare, l.Finish = texts(e.Prepare(l)), texts(e.Finish(l))
	return l
}

func chunks(n int) []ranges.Chunk {
	out := make([]ranges.Chunk, n)
	for i := range out {
		out[i] = ranges.Chunk{ID: i + 1, Range: i/2 + 1, Rows: 10}
		if i > 0 {
			out[i].Lo = ranges.Edge{{Kind: schema.Text, Value: `q"` + fmt.Sprint(i)}, {Kind: schema.Int64, Value: fmt.Sprint(i)}}
			out[i-1].Hi = out[i].Lo
		}
	}
	return out
}

func start(n int) connectors.Start {
	return connectors.Start{Generation: 1, Point: change.Position{0, 1, 255}, Chunks: chunks(n), Created: true}
}

func mark(l connectors.Load, chunk int) connectors.Marker {
	return connectors.Marker{Table: l.Source, Generation: 1, Chunk: chunk}
}

// begin claims the place and begins a table of n chunks.
func (p *place) begin(l connectors.Load, n int) {
	p.t.Helper()
	p.claim(p.Target, "first")
	if err := p.Begin(context.Background(), l, start(n)); err != nil {
		p.t.Fatalf("begin: %v", err)
	}
}

func (p *place) writer(tg connectors.Target, l connectors.Load) connectors.BulkWriter {
	p.t.Helper()
	w, err := tg.OpenLoad(context.Background(), l)
	if err != nil {
		p.t.Fatalf("open a writer: %v", err)
	}
	p.t.Cleanup(func() {
		for range 2 {
			if err := w.Close(); err != nil {
				p.t.Errorf("close a writer: %v", err)
			}
		}
	})
	return w
}

// rows makes a batch of rows first..first+n-1 for the default columns.
func rows(first, n int) *batch.Batch {
	b := batch.NewPool([]schema.Type{schema.Of(schema.Int64), {Kind: schema.Text, Length: 40}}, batch.Limits{}).Builder()
	for i := first; i < first+n; i++ {
		b.Column(0).AppendInt(int64(i))
		if i%5 == 0 {
			b.Column(1).AppendNull()
		} else {
			b.Column(1).AppendString(fmt.Sprintf("row %d", i))
		}
	}
	return b.Seal()
}

// chunk loads one chunk with the batches.
func (p *place) chunk(w connectors.BulkWriter, m connectors.Marker, bs ...*batch.Batch) int64 {
	p.t.Helper()
	ctx := context.Background()
	done, err := w.Begin(ctx, m)
	if err != nil || done {
		p.t.Fatalf("begin chunk %d: done %v, %v", m.Chunk, done, err)
	}
	for _, b := range bs {
		if err := w.Write(ctx, b, nil); err != nil {
			p.t.Fatalf("write chunk %d: %v", m.Chunk, err)
		}
	}
	n, err := w.Commit(ctx, m)
	if err != nil {
		p.t.Fatalf("commit chunk %d: %v", m.Chunk, err)
	}
	return n
}

func (p *place) wantRows(what string, l connectors.Load, bs ...*batch.Batch) {
	p.t.Helper()
	var want [][]string
	for _, b := range bs {
		want = append(want, textRows(b)...)
	}
	sameRows(p.t, what, p.Read(p.t, p.config, l), want)
}

// shown is a state as messages show it: a ChunkState alone prints as its Chunk.
func shown(st *connectors.TableState) string {
	if st == nil {
		return "no state"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "generation %d, digest %q, definition %q, point %s, loaded %v", st.Generation, st.Digest, st.Definition, st.Point, st.Loaded)
	for _, k := range st.Chunks {
		fmt.Fprintf(&b, "\n\t%s: done %v, %d rows, %d bad, estimate %d, part %d of %d", k.Chunk, k.Done, k.Rows, k.BadRows, k.Chunk.Rows, k.Part, k.Parts)
	}
	return b.String()
}

// call is a call that runs beside the test.
type call struct{ done chan struct{} }

// soon runs f beside the test and gives it half a second to end, since f may
// rightly have to wait for what the test does next. The time decides nothing
// but which of the two orders is tested.
func soon(f func()) call {
	c := call{make(chan struct{})}
	go func() { defer close(c.done); f() }()
	select {
	case <-c.done:
	case <-time.After(500 * time.Millisecond):
	}
	return c
}

func (c call) wait() { <-c.done }

// over reports whether the call has ended.
func (c call) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (p *place) state(table string) *connectors.TableState {
	p.t.Helper()
	st, err := p.State(context.Background())
	if err != nil {
		p.t.Fatalf("state: %v", err)
	}
	return st.Tables[table]
}
