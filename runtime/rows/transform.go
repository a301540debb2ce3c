// Package rows makes of what a source gives what its target takes: filter,
// computed columns, conversions and checks, as a table's plan says.
package rows

import (
	"fmt"
	"slices"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/rowexpr"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// Transform turns the batches that a source gives into those that a target
// takes: filter, computed columns, conversions, and the checks that the plan
// promised. It belongs to one goroutine.
type Transform struct {
	filter  *rowexpr.Program
	columns []output // with memory of their own
	checked []output // source columns that are passed on once they are checked
	notNull []int    // columns of the result that take no NULL
	values  bool     // reasons may hold values of the row
	target  []string // names of the result's columns
	from    []int    // for SealOver: a source column, or ^own
	made    [][]int  // source columns that each column of the result is made of
	tests   []int    // source columns that the filter looks at
	pool    *batch.Pool
	texts   textRules
	key     []int    // source columns that name a row in a report
	read    []string // names of the source columns
	hash    *ranges.Hasher
	keep    batch.Selection // scratch
	exprBad []rowexpr.BadRow
	convBad []batch.BadValue
	ranges  []int32
}

// output is a target column that is not a source column as it stands.
type output struct {
	name    string
	source  int              // the source column it comes from; -1 for a computed one
	value   *rowexpr.Program // computed
	raw     *batch.Column    // what value gives, before convert; nil when there is nothing to convert
	convert *batch.Converter // into memory of its own
	check   *batch.Converter // where the memory is right once every value has passed
	misfit  string           // what to say of a value that does not convert, without the value
}

// New compiles what a table's plan says about rows. parts is the number of
// ranges that rows are dealt to by hash, 0 for none; values lets the reasons of
// bad rows hold their values. A plan that can't be carried out is the error.
func New(t *plan.Table, parts int, values bool) (*Transform, error) {
	x := &Transform{values: values}
	feeds := map[string]bool{} // source columns whose text gets to the target
	cols := t.ReadColumns()
	at := map[string]int{}
	for i, c := range cols {
		at[c.Name] = i
		x.read = append(x.read, c.Name)
	}
	index := func(name string) int { return at[name] }
	if t.Filter != "" {
		e, problems := rowexpr.CompileFilter(t.Filter, cols)
		if len(problems) > 0 {
			return nil, fmt.Errorf("filter of %s: %s", t.Source, problems[0].Summary)
		}
		x.filter = e.Program(index)
		x.tests = indexes(e.Columns(), index)
	}
	var own []schema.Type
	for k, c := range t.Columns {
		o := output{name: c.Name, source: -1}
		x.target = append(x.target, c.Name)
		if !c.Nullable {
			x.notNull = append(x.notNull, k)
		}
		src := schema.Type{}
		switch {
		case c.Value != "":
			e, problems := rowexpr.Compile(c.Value, cols)
			if len(problems) > 0 {
				return nil, fmt.Errorf("value of column %s of %s: %s", c.Name, t.Source, problems[0].Summary)
			}
			o.value, src = e.Program(index), e.Type()
			x.made = append(x.made, indexes(e.Columns(), index))
			for _, name := range e.Columns() {
				feeds[name] = true
			}
		default:
			i, ok := at[c.Source]
			if !ok {
				return nil, fmt.Errorf("column %s of %s comes from %s, which the plan does not read", c.Name, t.Source, c.Source)
			}
			o.source, src = i, cols[i].Type
			x.made = append(x.made, []int{i})
			feeds[c.Source] = true
		}
		o.misfit = fmt.Sprintf("the %s value has no place in %s", src, c.Native)
		conv, err := batch.NewConverter(src, c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s of %s: %v", c.Name, t.Source, err)
		}
		if c.Special {
			conv.TakeSpecial()
		}
		switch {
		case conv.InPlace() && o.value == nil:
			x.from = append(x.from, o.source)
			if !conv.Same() {
				o.check = conv
				x.checked = append(x.checked, o)
			}
			continue
		case conv.Same():
		case conv.InPlace():
			o.check = conv
		default:
			o.convert = conv
			if o.value != nil {
				o.raw = batch.NewColumn(src)
			}
		}
		x.from = append(x.from, ^len(own))
		own = append(own, c.Type)
		x.columns = append(x.columns, o)
	}
	x.texts.nul, x.texts.invalid = mend(t.OnNUL), mend(t.OnInvalid)
	x.pool = batch.NewPool(own, batch.Limits{})
	for i, c := range cols {
		if k := c.Type.Kind; (k == schema.Text || k == schema.JSON) && feeds[c.Name] {
			x.texts.columns = append(x.texts.columns, i)
		}
	}
	if err := x.setKey(t, at, parts); err != nil {
		return nil, err
	}
	return x, nil
}

// indexes are the places of columns. They are never nil.
func indexes(names []string, index func(string) int) []int {
	out := make([]int, 0, len(names))
	for _, n := range names {
		out = append(out, index(n))
	}
	return out
}

func (x *Transform) setKey(t *plan.Table, at map[string]int, parts int) error {
	by := t.Range.By
	for _, name := range by {
		i, ok := at[name]
		if !ok {
			return fmt.Errorf("range column %s of %s is not read by the plan", name, t.Source)
		}
		x.key = append(x.key, i)
	}
	if parts > 0 {
		if len(x.key) == 0 {
			return fmt.Errorf("%s is split by hash and has no range column", t.Source)
		}
		x.hash = ranges.NewHasher(x.key)
	}
	if len(x.key) == 0 {
		for _, c := range t.Columns {
			if slices.Contains(t.Key, c.Name) && c.Source != "" {
				x.key = append(x.key, at[c.Source])
			}
		}
	}
	return nil
}

// Bad is a row that can't go in.
type Bad struct {
	Row    int32  // of its batch
	Part   int    // index into the job's parts
	Key    string // "id=7", behind "orders.csv:17 " where the source knows it; may be empty
	Column string
	Reason string
	// Of a row that the target refused: its own names of the rule.
	Code, Constraint string
}

func (b Bad) String() string {
	s := connectors.BadRow{Place: b.Key, Column: b.Column, Reason: b.Reason}.String()
	if b.Code != "" {
		s += " [" + b.Code + "]"
	}
	return s
}

// Result is what Apply makes of a batch.
type Result struct {
	Rows     *batch.Batch      // owns the batch it was made from
	Sel      []batch.Selection // by part
	Filtered int64             // rows that the filter leaves out
	Bad      []Bad
}

// Apply takes a batch over and gives what goes to the target. parts are those
// of the job, in the order of the selections wanted.
func (x *Transform) Apply(in *batch.Batch, parts []ranges.Chunk) Result {
	if in.Encoded != nil { // the plan says that nothing looks at its rows
		return Result{Rows: in, Sel: make([]batch.Selection, len(parts))}
	}
	var r Result
	var sel batch.Selection // nil = all
	if x.filter != nil {
		x.keep, x.exprBad = x.filter.Select(in, nil, x.keep[:0], x.exprBad[:0])
		sel = x.keep
		r.Filtered = int64(in.Rows - sel.Len(in.Rows) - len(x.exprBad))
		for _, b := range x.exprBad {
			r.Bad = append(r.Bad, x.badRow(in, b.Row, "filter", b.Reason))
		}
	}
	drop := map[int32]bool{}
	reject := func(row int32, column, reason string) {
		if !drop[row] {
			drop[row] = true
			r.Bad = append(r.Bad, x.badRow(in, row, column, reason))
		}
	}
	for _, i := range x.texts.columns {
		x.texts.check(in.Columns[i], sel, func(row int32, reason string) { reject(row, x.read[i], reason) })
	}
	b := x.pool.Builder()
	for i := range x.columns {
		o := &x.columns[i]
		into := b.Column(i)
		src := into
		if o.value != nil {
			if o.raw != nil {
				o.raw.Reset()
				src = o.raw
			}
			x.exprBad = o.value.Compute(in, sel, src, x.exprBad[:0])
			for _, e := range x.exprBad {
				reject(e.Row, o.name, e.Reason)
			}
		} else {
			src = in.Columns[o.source]
		}
		x.convBad = x.convBad[:0]
		switch {
		case o.convert != nil:
			x.convBad = o.convert.Convert(src, sel, into, x.convBad)
		case o.check != nil:
			x.convBad = o.check.Check(into, sel, x.convBad)
		}
		for _, e := range x.convBad {
			reject(e.Row, o.name, x.reason(o, e))
		}
	}
	for i := range x.checked {
		o := &x.checked[i]
		x.convBad = o.check.Check(in.Columns[o.source], sel, x.convBad[:0])
		for _, e := range x.convBad {
			reject(e.Row, o.name, x.reason(o, e))
		}
	}
	out := b.SealOver(in, x.from)
	for _, k := range x.notNull {
		rejectNulls(out.Columns[k], sel, func(row int32) { reject(row, x.target[k], "NULL in a column that takes none") })
	}
	r.Sel = x.deal(in, sel, drop, parts)
	if len(r.Bad) > 0 && parts[0].Parts > 0 {
		r.Bad = x.place(r.Bad, in, parts)
	}
	r.Rows = out
	return r
}

// reason says why a value did not convert; the value itself only on request.
func (x *Transform) reason(o *output, b batch.BadValue) string {
	if x.values {
		return b.Reason
	}
	return o.misfit
}

// rejectNulls names the selected rows of a column that are NULL.
func rejectNulls(c *batch.Column, sel batch.Selection, bad func(row int32)) {
	if c.Valid == nil {
		return
	}
	for i := range sel.Len(c.Len()) {
		if row := sel.Row(i); !c.Valid.Get(row) {
			bad(int32(row))
		}
	}
}

// deal gives each part its rows: all of sel but the dropped ones for a plain
// chunk, by the hash of the key for the parts of a hash split.
func (x *Transform) deal(in *batch.Batch, sel batch.Selection, drop map[int32]bool, parts []ranges.Chunk) []batch.Selection {
	out := make([]batch.Selection, len(parts))
	if x.hash == nil || parts[0].Parts == 0 {
		if sel == nil && len(drop) == 0 {
			return out // nil: all rows
		}
		keep := make(batch.Selection, 0, sel.Len(in.Rows))
		for i := range sel.Len(in.Rows) {
			if row := int32(sel.Row(i)); !drop[row] {
				keep = append(keep, row)
			}
		}
		out[0] = keep
		return out
	}
	x.ranges = x.hash.Ranges(in, sel, parts[0].Parts, x.ranges[:0])
	byRange := make([]int, parts[0].Parts+1)
	for i := range byRange {
		byRange[i] = -1
	}
	for i, p := range parts {
		byRange[p.Part] = i
		out[i] = batch.Selection{}
	}
	for i := range sel.Len(in.Rows) {
		row := int32(sel.Row(i))
		if k := byRange[x.ranges[i]]; k >= 0 && !drop[row] {
			out[k] = append(out[k], row)
		}
	}
	return out
}

// place gives each bad row of a hash split to the part it hashes to, and
// forgets those of parts that are not in this job.
func (x *Transform) place(bad []Bad, in *batch.Batch, parts []ranges.Chunk) []Bad {
	kept := bad[:0]
	for _, b := range bad {
		x.ranges = x.hash.Ranges(in, batch.Selection{b.Row}, parts[0].Parts, x.ranges[:0])
		for i, p := range parts {
			if p.Part == int(x.ranges[0]) {
				b.Part = i
				kept = append(kept, b)
			}
		}
	}
	return kept
}

// Refused is a row that the target does not take, of a batch that Apply gave.
func (x *Transform) Refused(b *batch.Batch, row int32, why *connectors.Refusal) Bad {
	bad := x.badRow(b.Parent(), row, why.Column, why.Reason)
	bad.Code, bad.Constraint = why.Code, why.Constraint
	if x.values && why.Detail != "" {
		bad.Reason = why.Detail
	}
	return bad
}

func (x *Transform) badRow(in *batch.Batch, row int32, column, reason string) Bad {
	key := []byte(in.Place(int(row)))
	for _, k := range x.key {
		if len(key) > 0 {
			key = append(key, ' ')
		}
		key = append(append(key, x.read[k]...), '=')
		if c := in.Columns[k]; c.IsNull(int(row)) {
			key = append(key, "NULL"...)
		} else {
			key = batch.AppendText(key, c, int(row))
		}
	}
	return Bad{Row: row, Key: string(key), Column: column, Reason: reason}
}
