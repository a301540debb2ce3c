package rows

import (
	"fmt"
	"slices"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// Changes makes of a source's changes what a target takes of them: columns as
// Transform does, and filters over rows, not over changes. A row that moves into a
// filter is inserted, one that moves out of it is deleted. It belongs to one
// goroutine.
type Changes struct {
	tables map[string]*changed // by the source's name
	plain  bool                // nothing is to be done to any of them
}

// changed is one table.
type changed struct {
	name   string
	x      *Transform
	plain  bool
	takes  [change.Truncate + 1]bool // operations
	key    []int                     // columns of the result
	into   *schema.Table             // the result
	own    []schema.Type             // of columns with memory of their own, as x.columns
	moving []int                     // source columns that the key is made of
}

// NewChanges compiles what a pipeline's tables say about rows; the images of a
// table have the columns that its plan reads.
func NewChanges(tables []*plan.Table, values bool) (*Changes, error) {
	x := &Changes{tables: map[string]*changed{}, plain: true}
	for _, t := range tables {
		c, err := newChanged(t, values)
		if err != nil {
			return nil, err
		}
		x.tables[c.name] = c
		x.plain = x.plain && c.plain
	}
	return x, nil
}

func newChanged(t *plan.Table, values bool) (*changed, error) {
	x, err := New(t, 0, values)
	if err != nil {
		return nil, err
	}
	c := &changed{name: t.Source.String(), x: x, into: &schema.Table{Name: t.Source}}
	for k, col := range t.Columns {
		c.into.Columns = append(c.into.Columns, schema.Column{Name: col.Name, Native: col.Native, Type: col.Type, Nullable: col.Nullable})
		if x.from[k] < 0 {
			c.own = append(c.own, col.Type)
		}
	}
	for _, k := range t.Key {
		at := slices.IndexFunc(t.Columns, func(c plan.Column) bool { return c.Name == k })
		if at < 0 {
			return nil, fmt.Errorf("key column %s of %s is no column of the plan", k, t.Source)
		}
		c.key = append(c.key, at)
		c.moving = append(c.moving, x.made[at]...)
	}
	for op, name := range map[change.Op]string{change.Insert: "insert", change.Update: "update", change.Delete: "delete"} {
		c.takes[op] = len(t.Operations) == 0 || slices.Contains(t.Operations, name)
	}
	c.takes[change.Truncate] = c.takes[change.Delete] // it takes rows away
	all := c.takes[change.Insert] && c.takes[change.Update] && c.takes[change.Delete]
	inPlace := len(x.from) == len(x.read)
	for i, from := range x.from {
		inPlace = inPlace && from == i && (t.Columns[i].Nullable || !t.Read[i].Nullable)
	}
	c.plain = all && inPlace && x.filter == nil && len(x.checked) == 0
	return c, nil
}

// Table is what the images of a table are after Apply, with the indexes of its
// key columns. source is what they are before.
func (x *Changes) Table(source *schema.Table) (of *schema.Table, key []int) {
	c := x.tables[source.Name.String()]
	if c.plain {
		return source, c.key
	}
	return c.into, c.key
}

// Apply takes a batch over and gives what goes on of it. What the target has no
// part in is left out; where that ends a transaction it stays, as LeftOut.
func (x *Changes) Apply(in *change.Batch) (*change.Batch, error) {
	if x.plain && x.clean(in) {
		return in, nil
	}
	out := change.Over(in)
	tables := make([]*laid, len(in.Sets))
	for i, s := range in.Sets {
		c := x.tables[s.Table.Name.String()]
		if c == nil {
			in.Release()
			return nil, &connectors.Error{Op: "stream", Table: s.Table.Name.String(), Class: connectors.Schema, Err: fmt.Errorf("the source sends changes of a table that the plan does not have")}
		}
		tables[i] = &laid{changed: c, in: s}
		tables[i].test()
	}
	// What is left out is decided first: values that nobody takes may be bad.
	for i := range in.Changes {
		c := in.Changes[i]
		t := tables[c.Set]
		if err := t.filter(&c); err != nil {
			out.Release()
			return nil, t.wrong(&c, err)
		}
		if c.Op == change.LeftOut && !c.End {
			continue
		}
		t.take(&c, len(out.Changes))
		out.Changes = append(out.Changes, c)
	}
	for _, t := range tables {
		set, err := t.lay(out.Changes)
		if err != nil {
			out.Release()
			return nil, err
		}
		out.Sets = append(out.Sets, set)
	}
	for i := range out.Changes {
		c := &out.Changes[i]
		if err := tables[c.Set].complete(out.Sets[c.Set], c); err != nil {
			err = tables[c.Set].wrong(c, err)
			out.Release()
			return nil, err
		}
	}
	return out, nil
}

// clean reports that no text of a batch has to be looked at value by value.
func (x *Changes) clean(b *change.Batch) bool {
	for _, s := range b.Sets {
		c := x.tables[s.Table.Name.String()]
		if c == nil {
			return false
		}
		for _, i := range c.x.texts.columns {
			if !isClean(s.After.Columns[i]) {
				return false
			}
		}
	}
	return true
}

// laid is a table's images in one batch.
type laid struct {
	*changed
	in     *change.Set
	before []bool // whether each row passes the filter; nil: all do, or none is known to
	after  []bool
	bad    map[int32]string // rows of After that the filter fails on
	sel    batch.Selection  // rows of After that go on
	keyed  batch.Selection  // rows of Before whose key does
	first  map[int32]int    // rows of After: the change that has it
}

// test runs the filter over both images.
func (l *laid) test() {
	if l.x.filter == nil {
		return
	}
	l.bad = map[int32]string{}
	l.before, l.after = l.passing(&l.in.Before, nil), l.passing(&l.in.After, l.bad)
}

// passing tells which rows of an image pass, of those that have all columns that
// the filter looks at.
func (l *laid) passing(m *change.Image, bad map[int32]string) []bool {
	n := m.Rows()
	known := make(batch.Selection, 0, n)
	for row := range int32(n) {
		if m.Mask(row).HasAll(l.x.tests) {
			known = append(known, row)
		}
	}
	out := make([]bool, n)
	if len(known) == 0 {
		return out
	}
	sel, failed := l.x.filter.Select(view(m), known, nil, nil)
	for _, row := range sel {
		out[row] = true
	}
	for _, f := range failed {
		if bad != nil {
			bad[f.Row] = f.Reason
		}
	}
	return out
}

// view is the rows of an image as a batch.
func view(m *change.Image) *batch.Batch { return &batch.Batch{Rows: m.Rows(), Columns: m.Columns} }

// filter makes of a change what becomes of the row that it is of.
func (l *laid) filter(c *change.Change) error {
	if !l.takes[c.Op] {
		c.Op = change.LeftOut
	}
	if l.x.filter == nil || c.Op == change.LeftOut || c.Op == change.Truncate {
		return nil
	}
	old, known := l.was(c)
	if c.Op == change.Delete {
		switch {
		case !known:
			c.Op = change.DeleteThere
		case !old:
			c.Op = change.LeftOut
		}
		return nil
	}
	if !l.in.After.Mask(c.After).HasAll(l.x.tests) {
		return fmt.Errorf("the filter looks at column %s, which the change does not hold", l.absent(&l.in.After, c.After, l.x.tests))
	}
	if why, is := l.bad[c.After]; is {
		return fmt.Errorf("filter: %s", why)
	}
	now := l.after[c.After]
	switch {
	case c.Op == change.Insert && now, known && old && now:
	case c.Op == change.Insert, known && !old && !now:
		c.Op = change.LeftOut
	case known && old:
		c.Op = change.Delete
	case known:
		c.Op = change.Insert
	case !now:
		c.Op = change.DeleteThere
	case l.moves(c):
		return fmt.Errorf("a row gets another key, and nobody knows whether it was within the filter")
	default:
		c.Op = change.Upsert
	}
	return nil
}

// was tells whether the row passed before the change, where that is known: from its
// old image, or because what the filter looks at is its key and that has not moved.
func (l *laid) was(c *change.Change) (passed, known bool) {
	if c.Before >= 0 && l.in.Before.Mask(c.Before).HasAll(l.x.tests) {
		return l.before[c.Before], true
	}
	if c.Op != change.Update || c.Before >= 0 {
		return false, false
	}
	for _, i := range l.x.tests {
		if !slices.Contains(l.moving, i) {
			return false, false
		}
	}
	return l.after[c.After], true
}

// moves reports a change that gives its row another key.
func (l *laid) moves(c *change.Change) bool {
	if c.Before < 0 {
		return false
	}
	old, now := &l.in.Before, &l.in.After
	for _, i := range l.moving {
		if old.Mask(c.Before).Has(i) && now.Mask(c.After).Has(i) && !change.Equal(old.Columns[i], int(c.Before), now.Columns[i], int(c.After)) {
			return true
		}
	}
	return false
}

// take notes which rows a change needs.
func (l *laid) take(c *change.Change, n int) {
	if c.Op == change.LeftOut || c.Op == change.Truncate {
		return
	}
	if c.Before >= 0 {
		l.keyed = append(l.keyed, c.Before)
	}
	if c.After >= 0 {
		l.sel = append(l.sel, c.After)
		if l.first == nil {
			l.first = map[int32]int{}
		}
		l.first[c.After] = n
	}
}
