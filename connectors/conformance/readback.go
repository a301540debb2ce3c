package conformance

import (
	"context"
	"errors"
	"io"
	"slices"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// encodedRows are the rows of a batch as they are compared, sorted.
func encodedRows(b *batch.Batch) []string {
	var out []string
	for i := range b.Rows {
		out = append(out, string(ranges.AppendRow(nil, b.Columns, i)))
	}
	slices.Sort(out)
	return out
}

// readsBack reads a loaded table through TargetDef.Read, where there is one, cut
// small, and wants the rows that were sent: equal by the encoding that compares
// them, none twice, none missing.
func (p *place) readsBack(l connectors.Load, want []string) {
	p.t.Helper()
	def := p.Definition
	if def.Target.Read == nil {
		return
	}
	ctx := context.Background()
	env := p.Env
	env.Pipeline = pipeline
	s, err := def.Target.Read(ctx, p.config, env)
	if err != nil {
		p.t.Fatalf("open it to be read from: %v", err)
	}
	defer s.Close()
	c, err := s.Catalog(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	table := c.Find(l.Table)
	if table == nil {
		p.t.Fatalf("read back, there is no table %s", l.Table)
	}
	x := connectors.Extract{Table: table, Split: connectors.Split{Kind: def.Source.Splits(table)[0], Count: 2, ChunkRows: 2}}
	var types []schema.Type
	for _, col := range l.Columns {
		have := table.Column(col.Name)
		if have == nil {
			p.t.Fatalf("read back, %s has no column %s", l.Table, col.Name)
		}
		x.Columns, types = append(x.Columns, col.Name), append(types, have.Type)
	}
	if def.Source.Explain != nil {
		x.Statement = def.Source.Explain.Read(x)[0].SQL
	}
	n, err := s.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1, Tables: []*schema.Table{table}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer n.Close()
	chunks, err := n.Split(ctx, table, x.Split)
	if err != nil {
		p.t.Fatal(err)
	}
	pool := batch.NewPool(types, batch.Limits{})
	var got []string
	for _, k := range chunks {
		r, err := n.OpenChunk(ctx, x, k)
		if err != nil {
			p.t.Fatal(err)
		}
		for {
			b := pool.Builder()
			if err := r.Read(ctx, b); err != nil {
				b.Discard()
				if !errors.Is(err, io.EOF) {
					p.t.Fatalf("read back: %v", err)
				}
				break
			}
			sealed := b.Seal()
			got = append(got, encodedRows(sealed)...)
			sealed.Release()
		}
		if err := r.Close(); err != nil {
			p.t.Error(err)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.t.Errorf("read back by its own reader, the rows encode to %q, those sent to %q", got, want)
	}
}
