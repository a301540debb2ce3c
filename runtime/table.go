package runtime

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/planner/plan"
	"penstock/runtime/checkpoint"
	"penstock/runtime/rows"
)

// table is one table of a running pipeline.
type table struct {
	plan     *plan.Table
	name     string // the source's
	load     connectors.Load
	extract  connectors.Extract
	task     checkpoint.Task
	snapshot connectors.Snapshot
	weight   int64 // rows still to read, by estimate: the heaviest table goes first
	pool     *batch.Pool
	parts    int  // ranges that rows are dealt to by hash; 0 = none
	created  bool // the load makes the target table, now or before
	values   bool // reports of bad rows may hold their values

	mu         sync.Mutex
	transforms []*rows.Transform // idle ones
	left       int               // chunks not yet committed
	byRange    map[int]int64
	result     *TableResult
	began      time.Time // its first chunk was begun
	ended      time.Time // its last chunk of this run was committed
}

// newTable prepares what the plan says of a table for the connectors.
func newTable(p *plan.Pipeline, f *plan.Finder, t *plan.Table) *table {
	name := t.Source.String()
	r := &table{plan: t, name: name, load: f.Load(t), values: p.BadRows.Values, byRange: map[int]int64{}}
	r.extract = connectors.Extract{Columns: t.ReadNames(), Split: t.SourceSplit(), Encoded: t.Encoded, Special: t.ReadSpecial()}
	if s := f.Stage(plan.StageExtract, name); s != nil && len(s.Statements) > 0 {
		r.extract.Statement = s.Statements[0].SQL
	}
	if t.Range.Split == connectors.SplitHash {
		r.parts = t.Range.Count
	}
	var types []schema.Type // none where rows are passed on undecoded
	for _, c := range t.Read {
		if !t.Encoded {
			types = append(types, c.Type)
		}
	}
	// A batch is what a slot takes at least, and a chunk at most.
	r.pool = batch.NewPool(types, batch.Limits{
		Rows:  int(min(batch.DefaultRows, max(t.Chunk.Rows, 1))),
		Bytes: int(min(batch.DefaultBytes, max(p.Resources.SlotBytes, 1))),
	})
	r.result = &TableResult{Name: name, Target: t.Target.String(), State: "not begun"}
	return r
}

// bind finds the table in the live source, which Drift has compared with the plan.
func (t *table) bind(c *schema.Catalog, splits func(*schema.Table) []connectors.SplitKind) error {
	live := c.Find(t.plan.Source)
	wrong := func(format string, args ...any) error {
		return &connectors.Error{Op: "check", Table: t.name, Class: connectors.Schema, Err: fmt.Errorf(format, args...), Hint: "Plan it again."}
	}
	if live == nil || live.Name != t.plan.Source {
		return wrong("the source has no such table any more")
	}
	if kind := t.extract.Split.Kind; splits != nil && kind != connectors.SplitNone && !slices.Contains(splits(live), kind) {
		return wrong("it can't be cut by %s any more", kind)
	}
	t.extract.Table = live
	return nil
}

// positions are where the source's sequences stood when its catalog was read,
// before the snapshot: what they have given since is in the rows or was not kept.
func (t *table) positions() map[string]int64 {
	out := map[string]int64{}
	for _, c := range t.plan.Columns {
		if !c.Follows || t.extract.Table == nil {
			continue
		}
		if live := t.extract.Table.Column(c.Source); live != nil && live.Sequence != nil && live.Sequence.Last != nil {
			out[c.Name] = *live.Sequence.Last
		}
	}
	return out
}

// known reports that the target holds rows of the table's present generation.
func (t *table) known() bool {
	switch t.task.Action {
	case checkpoint.Continue, checkpoint.Complete, checkpoint.Loaded:
		return true
	}
	return false
}

// transform gives an idle transform of the table, or a new one.
func (t *table) transform() (*rows.Transform, error) {
	t.mu.Lock()
	if n := len(t.transforms); n > 0 {
		x := t.transforms[n-1]
		t.transforms = t.transforms[:n-1]
		t.mu.Unlock()
		return x, nil
	}
	t.mu.Unlock()
	x, err := rows.New(t.plan, t.parts, t.values)
	if err != nil {
		return nil, &UsageError{err.Error()}
	}
	return x, nil
}

func (t *table) giveBack(x *rows.Transform) {
	t.mu.Lock()
	t.transforms = append(t.transforms, x)
	t.mu.Unlock()
}

// jobs groups pending chunks into what is read together: one chunk, or the
// parts of one stretch. Where a target has several writers the ranges take
// turns, so that all of them are loaded side by side.
func (t *table) jobs(pending []ranges.Chunk, inOrder bool) []*job {
	var out []*job
	stretch := map[string]*job{}
	for _, c := range pending {
		if c.Parts > 0 {
			k := edgeKey(c)
			if j := stretch[k]; j != nil {
				j.parts = append(j.parts, c)
				continue
			}
			j := &job{table: t, parts: []ranges.Chunk{c}}
			stretch[k] = j
			out = append(out, j)
			continue
		}
		out = append(out, &job{table: t, parts: []ranges.Chunk{c}})
	}
	if inOrder || t.parts > 0 {
		return out
	}
	byRange := map[int][]*job{}
	var order []int
	for _, j := range out {
		r := j.parts[0].Range
		if byRange[r] == nil {
			order = append(order, r)
		}
		byRange[r] = append(byRange[r], j)
	}
	turns := make([]*job, 0, len(out))
	for i := 0; len(turns) < len(out); i++ {
		for _, r := range order {
			if i < len(byRange[r]) {
				turns = append(turns, byRange[r][i])
			}
		}
	}
	return turns
}

// report puts what was counted into the table's result.
func (t *table) report() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Ranges = nil
	for _, r := range slices.Sorted(maps.Keys(t.byRange)) {
		t.result.Ranges = append(t.result.Ranges, RangeResult{Range: r, Rows: t.byRange[r]})
	}
	if !t.began.IsZero() {
		t.result.Seconds = t.ended.Sub(t.began).Seconds()
	}
}

func edgeKey(c ranges.Chunk) string {
	b, err := json.Marshal([]ranges.Edge{c.Lo, c.Hi})
	if err != nil {
		panic(err) // strings and kinds always marshal
	}
	return string(b)
}

// dealt makes the chunks of a hash split out of those of another split: each
// stretch is read once, and each range's rows of it are a chunk of their own.
func dealt(chunks []ranges.Chunk, count int) []ranges.Chunk {
	out := make([]ranges.Chunk, 0, len(chunks)*count)
	for _, c := range chunks {
		for i := 1; i <= count; i++ {
			out = append(out, ranges.Chunk{ID: len(out) + 1, Range: i, Lo: c.Lo, Hi: c.Hi, Part: i, Parts: count, Rows: c.Rows / int64(count)})
		}
	}
	return out
}
