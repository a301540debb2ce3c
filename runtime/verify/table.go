package verify

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"penstock/connectors"
	"penstock/internal/event"
	"penstock/internal/ranges"

	"golang.org/x/sync/errgroup"
)

// table is one table while it is compared.
type table struct {
	p              *pipeline
	load           connectors.Load
	source, target *side
	report         *Table
}

// compare fills the report: sums of both sides first, then the rows of those
// ranges whose sums differ, then the values of the rows that are listed.
func (t *table) compare(ctx context.Context) error {
	r := t.report
	r.Ranges = Ranges
	var expected int64
	for _, s := range []*side{t.source, t.target} {
		for _, c := range s.chunks {
			expected += c.Rows
		}
	}
	t.p.o.Events.Emit(event.CompareStarted{Pipeline: t.p.plan.Name, Table: r.Name, Chunks: len(t.source.chunks) + len(t.target.chunks), Expected: expected})
	k := newKeep(t.most())
	a, b := newSums(k), newSums(k)
	var read [2]counts
	err := t.both(ctx, func(ctx context.Context, s *side, i int) (err error) {
		into := [...]*sums{a, b}[i]
		read[i], err = s.scan(ctx, s.all(), func() visitor { return into.summer(s.hasher()) })
		return err
	})
	if err != nil {
		return err
	}
	read[0].into(&r.SourceSide)
	read[1].into(&r.TargetSide)
	differ := differing(a, b)
	r.Differing = len(differ)
	if len(differ) == 0 {
		if r.State = Equal; r.TargetSide.Bad > 0 {
			r.State = Differs // who can't read a row can't say that it is right
		}
		return nil
	}
	r.State = Differs
	t.p.o.Events.Emit(event.Notice{Pipeline: t.p.plan.Name, Text: fmt.Sprintf("%s: %d of %d ranges of keys differ; looking for their rows", r.Name, len(differ), Ranges)})
	f, err := t.find(ctx, a, b, differ)
	if err != nil {
		return err
	}
	r.Missing, r.Extra, r.Different = f.counts[MissingRow], f.counts[ExtraRow], f.counts[DifferentRow]
	list := f.listed()
	r.LeftOut = r.Missing + r.Extra + r.Different - int64(len(list))
	return t.describe(ctx, list)
}

func (c counts) into(s *Side) {
	s.Rows, s.Filtered, s.Bad, s.FirstBad = c.rows, c.filtered, c.bad, c.firstBad
}

// both does something with both sides at once.
func (t *table) both(ctx context.Context, do func(ctx context.Context, s *side, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range []*side{t.source, t.target} {
		g.Go(func() error { return do(ctx, s, i) })
	}
	return g.Wait()
}

// most is how many entries may be in memory: half of what the pipeline has for
// rows on their way. Sorting them is in place.
func (t *table) most() int64 { return max(t.p.plan.Memory/2/entrySize, 1000) }

// find matches the rows of the ranges that differ.
func (t *table) find(ctx context.Context, a, b *sums, differ []int) (f *found, err error) {
	if !a.keep.over.Load() {
		f = newFound(t.p.o.Limit)
		match(a.among(differ), b.among(differ), f)
		return f, nil
	}
	e, err := newEntries(a, b, differ, t.most(), t.p.spillDir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := e.close(); err == nil {
			err = cerr
		}
	}()
	err = t.both(ctx, func(ctx context.Context, s *side, i int) error {
		_, err := s.scan(ctx, s.all(), func() visitor { return &collector{e: e, into: &e.sides[i], hash: s.hasher()} })
		return err
	})
	if err != nil {
		return nil, err
	}
	f = newFound(t.p.o.Limit)
	for g := range e.count {
		left, err := e.sides[0].take(g)
		if err != nil {
			return nil, err
		}
		right, err := e.sides[1].take(g)
		if err != nil {
			return nil, err
		}
		match(left, right, f)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// describe reads the rows of findings and lists them.
func (t *table) describe(ctx context.Context, list []finding) error {
	var want [2][]*entry
	for i := range list {
		for s, e := range []*entry{list[i].source, list[i].target} {
			if e != nil {
				want[s] = append(want[s], e)
			}
		}
	}
	var have [2]map[ranges.Hash128]*record
	err := t.both(ctx, func(ctx context.Context, s *side, i int) (err error) {
		have[i], err = s.read(ctx, want[i])
		return err
	})
	if err != nil {
		return err
	}
	for _, x := range list {
		var a, b *record
		if x.source != nil {
			a = have[0][x.source.row]
		}
		if x.target != nil {
			b = have[1][x.target.row]
		}
		t.report.Rows = append(t.report.Rows, t.row(x, a, b))
	}
	slices.SortStableFunc(t.report.Rows, byKey)
	if t.p.o.FixSQL {
		t.report.Fix = fixes(t.p.dialect, t.load, t.report.Rows)
	}
	return nil
}

// row is a finding as it is listed.
func (t *table) row(x finding, a, b *record) *Row {
	r := &Row{Kind: x.kind, sole: x.sole && len(t.load.Key) > 0}
	if a != nil {
		r.source = a.cells
	}
	if b != nil {
		r.target = b.cells
	}
	one := r.source
	if one == nil {
		one = r.target
	}
	for _, k := range t.load.Key {
		i := slices.IndexFunc(t.load.Columns, func(c connectors.TargetColumn) bool { return c.Name == k })
		v := Text(one[i])
		r.Key = append(r.Key, Value{k, &v})
	}
	if len(t.load.Key) == 0 {
		var raw [16]byte
		binary.BigEndian.PutUint64(raw[:8], x.key.Hi)
		binary.BigEndian.PutUint64(raw[8:], x.key.Lo)
		r.Hash = hex.EncodeToString(raw[:])
	}
	for i, c := range t.load.Columns {
		if a != nil && b != nil {
			if a.enc[i] == b.enc[i] {
				continue
			}
			r.changed = append(r.changed, i)
		} else if !t.p.o.Values || slices.Contains(t.load.Key, c.Name) {
			continue
		}
		d := Difference{Column: c.Name}
		if t.p.o.Values {
			d.Source, d.Target = text(r.source, i), text(r.target, i)
		}
		r.Columns = append(r.Columns, d)
	}
	return r
}

func text(cells []connectors.Cell, i int) *Text {
	if cells == nil {
		return nil
	}
	v := Text(cells[i])
	return &v
}

// spillDir is the folder for rows that memory does not hold.
func (p *pipeline) spillDir() (string, error) {
	dir := filepath.Join(p.o.Dir, ".penstock", p.plan.Name)
	return dir, os.MkdirAll(dir, 0o700)
}
