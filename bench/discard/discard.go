// Package discard is a target that reads every value and keeps none: what a
// run costs without a database. Its state lives in memory.
package discard

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"penstock/connectors"
	"penstock/connectors/synthetic"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Target counts what it was given. Open gives every pipeline of a process the
// same one, so that it is there after the run.
type Target struct {
	Rows atomic.Int64
	Sum  atomic.Uint64 // of all values, so that none of them goes unread

	mu    sync.Mutex
	epoch int64
	state connectors.State
	begun []schema.Table
}

// New returns an empty target.
func New() *Target {
	return &Target{state: connectors.State{Tables: map[string]*connectors.TableState{}}}
}

// Config has no settings.
type Config struct{}

// Definition is the connector "discard", always opening t. It takes the type
// names of the synthetic connector.
func (t *Target) Definition() *connectors.Definition {
	return &connectors.Definition{
		Kind: "discard", Summary: "reads every value and keeps none", Types: synthetic.Definition().Types,
		Target: &connectors.TargetDef{
			Config:       func() any { return &Config{} },
			Capabilities: connectors.TargetCapabilities{Modes: []string{"copy"}, Changes: []string{"append"}, Lanes: connectors.LanesPipeline, Names: "keep", Delivery: "none: rows are discarded"},
			SplitName:    func(s string) (schema.Name, error) { return schema.Name{Name: s}, nil },
			Explain:      explainer{},
			Open: func(context.Context, any, connectors.Env) (connectors.Target, error) {
				return t, nil
			},
		},
	}
}

type explainer struct{}

func (explainer) Prepare(connectors.Load) []connectors.Statement { return nil }
func (explainer) Insert(l connectors.Load) []connectors.Statement {
	return []connectors.Statement{{SQL: "discard rows of " + l.Table.String()}}
}
func (explainer) Finish(connectors.Load) []connectors.Statement { return nil }

var _ connectors.Target = (*Target)(nil)

// Catalog has the tables that were begun.
func (t *Target) Catalog(context.Context) (*schema.Catalog, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &schema.Catalog{Kind: "discard", Tables: slices.Clone(t.begun)}, nil
}

// Claim raises the epoch.
func (t *Target) Claim(context.Context, connectors.Owner) (connectors.Claim, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	return connectors.Claim{Epoch: t.epoch}, nil
}

// State is what was committed in this process.
func (t *Target) State(context.Context) (connectors.State, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := connectors.State{Tables: map[string]*connectors.TableState{}}
	for name, s := range t.state.Tables {
		c := *s
		c.Chunks = append([]connectors.ChunkState{}, s.Chunks...)
		out.Tables[name] = &c
	}
	return out, nil
}

// Begin remembers a table's chunks.
func (t *Target) Begin(_ context.Context, l connectors.Load, s connectors.Start) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := &connectors.TableState{Generation: s.Generation, Digest: l.Digest, Definition: l.Definition, Point: s.Point, Created: s.Created}
	for _, c := range s.Chunks {
		st.Chunks = append(st.Chunks, connectors.ChunkState{Chunk: c})
	}
	t.state.Tables[l.Source] = st
	table := schema.Table{Name: l.Table}
	for _, c := range l.Columns {
		table.Columns = append(table.Columns, schema.Column{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable})
	}
	t.begun = append(slices.DeleteFunc(t.begun, func(b schema.Table) bool { return b.Name == l.Table }), table)
	return nil
}

// OpenLoad returns a writer.
func (t *Target) OpenLoad(context.Context, connectors.Load) (connectors.BulkWriter, error) {
	return &writer{t: t}, nil
}

// Undo has nothing to put back.
func (t *Target) Undo(context.Context, string, int) ([]connectors.Dropped, error) { return nil, nil }

// Finish marks the table loaded.
func (t *Target) Finish(_ context.Context, l connectors.Load) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.Tables[l.Source].Loaded = true
	return nil
}

// Script does nothing: there is nothing to run statements on.
func (t *Target) Script(context.Context, connectors.Script) error { return nil }

// Release does nothing.
func (t *Target) Release(context.Context) error { return nil }

// Close does nothing: the target outlives its pipeline.
func (t *Target) Close() error { return nil }

type writer struct {
	t    *Target
	rows int64
	sum  uint64
}

func (w *writer) Begin(_ context.Context, m connectors.Marker) (bool, error) {
	w.rows, w.sum = 0, 0
	c, err := w.t.chunk(m)
	if err != nil {
		return false, err
	}
	return c.Done, nil
}

func (t *Target) chunk(m connectors.Marker) (*connectors.ChunkState, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.state.Tables[m.Table]; s != nil && s.Generation == m.Generation && m.Chunk >= 1 && m.Chunk <= len(s.Chunks) {
		return &s.Chunks[m.Chunk-1], nil
	}
	return nil, &connectors.Error{Op: "begin chunk of", Table: m.Table, Class: connectors.Fenced, Err: fmt.Errorf("no marker of chunk %d, generation %d", m.Chunk, m.Generation)}
}

// Write reads each selected value.
func (w *writer) Write(_ context.Context, b *batch.Batch, sel batch.Selection) error {
	n := sel.Len(b.Rows)
	for _, c := range b.Columns {
		w.sum += sum(c, sel, n)
	}
	w.rows += int64(n)
	return nil
}

// WriteEach is Write: nothing is refused here.
func (w *writer) WriteEach(ctx context.Context, b *batch.Batch, sel batch.Selection, _ func(int32, *connectors.Refusal) error) error {
	return w.Write(ctx, b, sel)
}

func sum(c *batch.Column, sel batch.Selection, n int) (s uint64) {
	for i := range n {
		row := sel.Row(i)
		if c.IsNull(row) {
			continue
		}
		switch c.Storage() {
		case schema.StoreInt:
			s += uint64(c.Ints[row])
		case schema.StoreFloat:
			s += math.Float64bits(c.Floats[row])
		case schema.StoreBool:
			if c.Bools.Get(row) {
				s++
			}
		case schema.StoreDecimal:
			s += c.Decimals[row].LowBits()
		case schema.StoreBytes:
			for _, x := range c.Bytes(row) {
				s += uint64(x)
			}
		}
	}
	return s
}

func (w *writer) Commit(_ context.Context, m connectors.Marker) (int64, error) {
	c, err := w.t.chunk(m)
	if err != nil {
		return 0, err
	}
	w.t.mu.Lock()
	c.Done, c.Rows, c.BadRows = true, w.rows, m.BadRows
	w.t.mu.Unlock()
	w.t.Rows.Add(w.rows)
	w.t.Sum.Add(w.sum)
	return w.rows, nil
}

func (w *writer) Abort() error { return nil }
func (w *writer) Close() error { return nil }
