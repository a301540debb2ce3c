package rowexpr

import (
	"fmt"
	"slices"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Program evaluates an expression over batches. It belongs to one goroutine and
// reuses its memory: after the first batches it allocates nothing.
type Program struct {
	typ  schema.Type
	root op
	run  run
}

// BadRow is a row whose value can't be computed: an overflow, a division by
// zero, a text that is no number. Reason never holds a value of the row.
type BadRow struct {
	Row    int32
	Reason string
}

// Program prepares the expression for batches in which index gives each source
// column's position.
func (e *Expr) Program(index func(column string) int) *Program {
	c := compiler{index: index}
	return &Program{typ: e.Type(), root: c.compile(e.root)}
}

// run is one evaluation. Operators report bad rows to it.
type run struct {
	batch *batch.Batch
	n     int
	bad   []BadRow
	first int          // where this evaluation's bad rows begin
	seen  batch.Bitmap // bad rows, once any
	dec   decimals
}

// fail records that row i is bad. Only its first reason is kept.
func (r *run) fail(i int, reason string) {
	if len(r.bad) == r.first {
		r.seen = resize(r.seen, (r.n+7)/8)
		fill(r.seen, 0)
	}
	if !r.seen.Get(i) {
		r.seen.Set(i)
		r.bad = append(r.bad, BadRow{Row: int32(i), Reason: reason})
	}
}

// op computes the values of a node for the rows of act; nil is all rows of the
// batch. A row outside act never becomes bad, and its value may be anything.
type op interface {
	eval(r *run, act batch.Selection) *vec
}

func (p *Program) eval(b *batch.Batch, act batch.Selection, bad []BadRow) *vec {
	r := &p.run
	r.batch, r.n, r.bad, r.first = b, b.Rows, bad, len(bad)
	v := p.root.eval(r, act)
	slices.SortFunc(r.bad[r.first:], func(a, b BadRow) int { return int(a.Row - b.Row) })
	return v
}

// finish lets go of what belongs to the caller.
func (p *Program) finish() []BadRow {
	bad := p.run.bad
	p.run.batch, p.run.bad = nil, nil
	return bad
}

// Select returns the rows of in for which the expression is true, in dst's
// memory, and appends the bad ones to bad, ascending. A row for which it is
// NULL does not pass, nor does a bad one. The result is never nil, since a nil
// selection is all rows. dst may be in itself.
func (p *Program) Select(b *batch.Batch, in, dst batch.Selection, bad []BadRow) (batch.Selection, []BadRow) {
	if p.typ.Kind != schema.Bool {
		panic("rowexpr: Select on an expression of " + p.typ.String())
	}
	n := in.Len(b.Rows)
	if cap(dst) < n || dst == nil {
		dst = make(batch.Selection, n, max(n, b.Rows))
	}
	if n == 0 {
		return dst[:0], bad
	}
	dst = dst[:n]
	v := p.eval(b, in, bad)
	k := 0
	// The row is written in any case and counted when it passes: no branch to mispredict.
	if in == nil {
		for i := range n {
			dst[k] = int32(i)
			k += int(v.bools[i&v.index] & yes)
		}
	} else {
		for _, i := range in {
			dst[k] = i
			k += int(v.bools[int(i)&v.index] & yes)
		}
	}
	dst = dst[:k]
	if len(p.run.bad) > p.run.first {
		dst = slices.DeleteFunc(dst, func(i int32) bool { return p.run.seen.Get(int(i)) })
	}
	return dst, p.finish()
}

// Compute appends a value for each row of b to into, whose type must be stored
// as the expression's, with its scale. Rows outside sel, and the bad ones that
// are appended to bad, get NULL or any value.
func (p *Program) Compute(b *batch.Batch, sel batch.Selection, into *batch.Column, bad []BadRow) []BadRow {
	if into.Storage() != p.typ.Storage() || p.typ.Storage() == schema.StoreDecimal && into.Type.Scale != p.typ.Scale {
		panic(fmt.Sprintf("rowexpr: Compute of %s into a column of %s", p.typ, into.Type))
	}
	if sel != nil && len(sel) == 0 {
		for range b.Rows {
			into.AppendNull()
		}
		return bad
	}
	v := p.eval(b, sel, bad)
	v.appendTo(into, b.Rows, sel)
	return p.finish()
}
