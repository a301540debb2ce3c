package rows

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
)

// lay makes the table's images of the target's columns.
func (l *laid) lay(changes []change.Change) (*change.Set, error) {
	if l.plain {
		l.in.Key = l.key
		if err := l.texts(changes); err != nil {
			return nil, err
		}
		return l.in, nil
	}
	slices.Sort(l.sel)
	slices.Sort(l.keyed)
	out := &change.Set{Table: l.into, Key: l.key}
	if err := l.texts(changes); err != nil {
		return nil, err
	}
	columns, bad := l.columns(&l.in.After, l.sel, nil)
	for row, b := range bad {
		if n, ok := l.first[row]; ok {
			return nil, l.wrong(&changes[n], fmt.Errorf("column %s: %s", b.column, b.reason))
		}
	}
	out.After = l.in.After.Over(columns, l.x.made)
	// Of an old image only the key is looked at.
	made := make([][]int, len(l.x.made))
	for _, k := range l.key {
		made[k] = l.x.made[k]
	}
	columns, _ = l.columns(&l.in.Before, l.keyed, l.key)
	out.Before = l.in.Before.Over(columns, made)
	return out, nil
}

// misfit is a value that has no place at the target.
type misfit struct{ column, reason string }

// columns are the target's columns for the rows of an image; only is those that
// are wanted, nil all of them. bad is by row.
func (l *laid) columns(m *change.Image, sel batch.Selection, only []int) (out []*batch.Column, bad map[int32]misfit) {
	if sel == nil {
		sel = batch.Selection{}
	}
	in := view(m)
	bad = map[int32]misfit{}
	tell := func(row int32, column, reason string) {
		if _, is := bad[row]; !is {
			bad[row] = misfit{column, reason}
		}
	}
	own := make([]*batch.Column, len(l.x.columns))
	want := func(k int) bool { return only == nil || slices.Contains(only, k) }
	for k, from := range l.x.from {
		if from >= 0 || !want(k) {
			continue
		}
		o := &l.x.columns[^from]
		into := batch.NewColumn(l.own[^from])
		own[^from] = into
		src := into
		if o.value != nil {
			if o.raw != nil {
				o.raw.Reset()
				src = o.raw
			}
			for _, e := range o.value.Compute(in, sel, src, nil) {
				tell(e.Row, o.name, e.Reason)
			}
		} else {
			src = in.Columns[o.source]
		}
		var failed []batch.BadValue
		switch {
		case o.convert != nil:
			failed = o.convert.Convert(src, sel, into, nil)
		case o.check != nil:
			failed = o.check.Check(into, sel, nil)
		}
		for _, e := range failed {
			tell(e.Row, o.name, l.x.reason(o, e))
		}
	}
	for i := range l.x.checked {
		o := &l.x.checked[i]
		for _, e := range o.check.Check(in.Columns[o.source], sel, nil) {
			tell(e.Row, o.name, l.x.reason(o, e))
		}
	}
	for k, from := range l.x.from {
		switch {
		case from >= 0:
			out = append(out, in.Columns[from])
		case own[^from] != nil:
			out = append(out, own[^from])
		default:
			out = append(out, batch.NewColumn(l.into.Columns[k].Type))
		}
	}
	return out, bad
}

// texts looks at the texts of new images, and mends them as the plan says.
func (l *laid) texts(changes []change.Change) (err error) {
	sel := l.sel
	if sel == nil {
		sel = batch.Selection{}
	}
	for _, i := range l.x.texts.columns {
		l.x.texts.check(l.in.After.Columns[i], sel, func(row int32, reason string) {
			if n, ok := l.first[row]; ok && err == nil {
				err = l.wrong(&changes[n], fmt.Errorf("column %s: %s", l.x.read[i], reason))
			}
		})
	}
	return err
}

// complete makes sure that a change holds what becomes of it: all columns for a
// row that may be new, and NULL nowhere that the target takes none.
func (l *laid) complete(s *change.Set, c *change.Change) error {
	if c.Op == change.LeftOut || c.Op == change.Truncate || c.Op == change.Delete || c.Op == change.DeleteThere {
		return nil
	}
	mask := s.After.Mask(c.After)
	if c.Op != change.Update {
		for k := range s.After.Columns {
			if !mask.Has(k) {
				return fmt.Errorf("the row comes to the target whole, and the change does not hold column %s", s.Table.Columns[k].Name)
			}
		}
	}
	for _, k := range l.x.notNull {
		if mask.Has(k) && s.After.Columns[k].IsNull(int(c.After)) {
			return fmt.Errorf("column %s: NULL in a column that takes none", l.x.target[k])
		}
	}
	return nil
}

// absent is the first of some columns that a row of an image does not hold.
func (l *laid) absent(m *change.Image, row int32, of []int) string {
	for _, i := range of {
		if !m.Mask(row).Has(i) {
			return l.x.read[i]
		}
	}
	return ""
}

// wrong is an error about a change, with the key of its row.
func (l *laid) wrong(c *change.Change, err error) error {
	key := ""
	img, row := &l.in.After, c.After
	if row < 0 {
		img, row = &l.in.Before, c.Before
	}
	for _, i := range l.x.key {
		if row >= 0 && img.Mask(row).Has(i) {
			if key != "" {
				key += " "
			}
			key += l.x.read[i] + "=" + string(batch.AppendText(nil, img.Columns[i], int(row)))
		}
	}
	if key != "" {
		err = fmt.Errorf("row %s: %w", key, err)
	}
	return &connectors.Error{Op: "stream", Table: l.name, Position: c.Position, Class: connectors.Data, Err: err}
}

// isClean reports a column of valid UTF-8 without a NUL byte. Values that begin
// with a whole character and are valid end to end are each valid.
func isClean(c *batch.Column) bool {
	if bytes.IndexByte(c.Data, 0) >= 0 || !utf8.Valid(c.Data) {
		return false
	}
	for _, at := range c.Offsets {
		if int(at) < len(c.Data) && !utf8.RuneStart(c.Data[at]) {
			return false
		}
	}
	return true
}
