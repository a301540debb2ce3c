package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/planner/plan"
	"penstock/runtime/checkpoint"
	"penstock/runtime/rows"
)

// table compares one table.
func (p *pipeline) table(ctx context.Context, pt *plan.Table, r *Table) error {
	t := &table{p: p, load: p.find.Load(pt), report: r}
	state := p.state.Tables[r.Name]
	t.tellOfLoad(pt, state)
	have := p.have.Find(pt.Target)
	if have == nil {
		r.State = Absent
		return nil
	}
	var err error
	if t.source, err = p.sourceSide(ctx, t, pt, state); err != nil {
		return err
	}
	if t.target, err = p.targetSide(ctx, t, pt, have); err != nil {
		return err
	}
	return t.compare(ctx)
}

// tellOfLoad says first what makes a comparison worth less than it seems.
func (t *table) tellOfLoad(pt *plan.Table, s *connectors.TableState) {
	r := t.report
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	if s == nil {
		r.Load.State = "never"
		note("this pipeline has not loaded it: penstock run loads it")
		return
	}
	r.Load = Load{State: "loaded", Generation: s.Generation, At: s.UpdatedAt, Point: s.Point.String()}
	if !s.Loaded {
		done := 0
		for _, c := range s.Chunks {
			if c.Done {
				done++
			}
		}
		r.Load.State = "unfinished"
		note("its load is not finished, %d of %d chunks are there: penstock run goes on with it", done, len(s.Chunks))
	}
	var drift *checkpoint.Drift
	if _, err := checkpoint.Decide(s, checkpoint.Want{Digest: t.load.Digest, Definition: t.load.Definition, Durable: true}); errors.As(err, &drift) {
		r.Load.Changed = drift.Fields
		note("it was loaded by another definition than the one it is compared by: %s", strings.Join(drift.Fields, "; "))
	}
	if t.load.Existing == connectors.ExistingAppend {
		note(`existing = "append": rows that were there before the load count as extra`)
	}
}

// tellOfPoint says where the source was read beside the point of the load.
func (t *table) tellOfPoint(s *connectors.TableState, now change.Position) {
	t.report.SourceSide.Point = now.String()
	if s == nil || t.p.sourceDef.Capabilities.Frozen && now.Compare(s.Point) == 0 {
		return
	}
	switch {
	case t.p.sourceDef.Capabilities.Frozen:
		t.report.Notes = append(t.report.Notes, fmt.Sprintf("the source is not the one that was loaded: it was at %s, and is at %s", s.Point, now))
	case now == nil || s.Point == nil:
		t.report.Notes = append(t.report.Notes, fmt.Sprintf("the source was read as it is now, later than the load, which was finished at %s: what has changed since its rows were read counts as a difference", s.UpdatedAt))
	case now.Compare(s.Point) != 0:
		t.report.Notes = append(t.report.Notes, fmt.Sprintf("the source was read at a later point (%s) than the load (%s): what has changed in between counts as a difference", now, s.Point))
	}
}

// sourceSide prepares reading the source as a run reads it.
func (p *pipeline) sourceSide(ctx context.Context, t *table, pt *plan.Table, state *connectors.TableState) (*side, error) {
	live := p.live.Find(pt.Source)
	if live == nil || live.Name != pt.Source {
		return nil, drift(t.report.Name, "the source has no such table any more")
	}
	for _, c := range pt.Read {
		switch col := live.Column(c.Name); {
		case col == nil:
			return nil, drift(t.report.Name, "column %s is gone from the source", c.Name)
		case col.Type != c.Type:
			return nil, drift(t.report.Name, "column %s was %s in the plan and is %s", c.Name, c.Native, col.Native)
		}
	}
	n, err := p.sourceAt(ctx, state)
	if err != nil {
		return nil, err
	}
	point, err := n.Position(live)
	if err != nil {
		return nil, fmt.Errorf("find the point at which %s is read: %w", t.report.Name, err)
	}
	t.tellOfPoint(state, point)
	s := p.side(t, "source", n, pt)
	s.throttle = p.throttle
	s.extract = connectors.Extract{Table: live, Columns: pt.ReadNames(), Split: pt.SourceSplit(), Special: pt.ReadSpecial()}
	s.statement(p.sourceDef.Explain)
	types := make([]schema.Type, len(pt.Read))
	for i, c := range pt.Read {
		types[i] = c.Type
	}
	s.pool = batch.NewPool(types, batch.Limits{})
	s.transform = func() (*rows.Transform, error) { return rows.New(pt, 0, p.o.Values) }
	return s, s.cut(ctx)
}

// targetSide prepares reading the target's columns.
func (p *pipeline) targetSide(ctx context.Context, t *table, pt *plan.Table, have *schema.Table) (*side, error) {
	n, err := p.targetNow(ctx)
	if err != nil {
		return nil, err
	}
	point, err := n.Position(have)
	if err != nil {
		return nil, fmt.Errorf("find the point at which %s is read: %w", t.report.Target, err)
	}
	t.report.TargetSide.Point = point.String()
	s := p.side(t, "target", n, pt)
	var names []string
	var types []schema.Type
	var special []bool
	for _, c := range pt.Columns {
		col := have.Column(c.Name)
		switch {
		case col == nil:
			return nil, drift(t.report.Target, "column %s is gone from the target", c.Name)
		case col.Problem != "":
			return nil, drift(t.report.Target, "column %s is %s, which can't be read: %s", c.Name, col.Native, col.Problem)
		case family(col.Type) != family(c.Type):
			return nil, drift(t.report.Target, "column %s is %s in the plan and %s at the target", c.Name, c.Native, col.Native)
		}
		names, types = append(names, c.Name), append(types, col.Type)
		special = append(special, true) // its rows are only compared
	}
	s.extract = connectors.Extract{Table: have, Columns: names, Special: special, Split: connectors.Split{
		Kind: p.targetDef.Source.Splits(have)[0], Count: p.readers(), ChunkRows: max(pt.Chunk.Rows, 1),
	}}
	s.statement(p.targetDef.Source.Explain)
	s.pool = batch.NewPool(types, batch.Limits{})
	return s, s.cut(ctx)
}

// family are kinds whose values can be equal.
func family(t schema.Type) schema.Kind {
	switch {
	case t.IsInteger() || t.Kind == schema.Decimal:
		return schema.Decimal
	case t.IsFloat():
		return schema.Float64
	}
	return t.Kind
}

func (p *pipeline) side(t *table, name string, n connectors.Snapshot, pt *plan.Table) *side {
	var key []int
	for _, k := range pt.Key {
		if i := slices.IndexFunc(pt.Columns, func(c plan.Column) bool { return c.Name == k }); i >= 0 {
			key = append(key, i)
		}
	}
	return &side{
		name: name, snapshot: n, workers: p.readers(), values: p.o.Values, backoff: p.o.Backoff, emit: p.o.Events.Emit,
		labels: labels{p.plan.Name, t.report.Name},
		hasher: func() *ranges.RowHasher { return ranges.NewRowHasher(len(pt.Columns), key) },
	}
}

// statement has the connector write what reads a chunk. The source's is the
// plan's own, but where a run copies rows undecoded and here they are looked at.
func (s *side) statement(e connectors.SourceExplainer) {
	if e == nil {
		return
	}
	if st := e.Read(s.extract); len(st) > 0 {
		s.extract.Statement = st[0].SQL
	}
}

// cut asks for the chunks.
func (s *side) cut(ctx context.Context) (err error) {
	if s.chunks, err = s.snapshot.Split(ctx, s.extract.Table, s.extract.Split); err != nil {
		return fmt.Errorf("cut the %s into chunks: %w", s.name, err)
	}
	return nil
}

func drift(table, format string, args ...any) error {
	return &connectors.Error{Op: "compare", Table: table, Class: connectors.Schema, Err: fmt.Errorf(format, args...), Hint: "Plan it again."}
}
