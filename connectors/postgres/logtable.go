package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/schema"
)

// logTable is a table as the log has it at some place: what each value of its
// rows becomes.
type logTable struct {
	id     uint32
	table  *schema.Table // nil: it is not followed
	key    []int         // of the table's columns: those of the identity
	fields []logField    // in the order of the log's rows
	whole  change.Mask
	known  map[string]change.Mask // masks met so far, by their octets

	batch *change.Batch // that the rest is of
	set   int32
	sides [2]*change.Image

	mask []byte   // of the row at hand
	old  [][]byte // values of the row as it was, of the message at hand; nil where it has none
	was  []byte   // their kinds
}

// logField is a value of a row of the log.
type logField struct {
	column int  // of the table; -1: passed over
	key    bool // part of the identity
	name   string
	decode decoding
}

// newLogTable is for a table of which every column is among m's. columns gives
// the table's column for each of m's, or -1; special is as connectors.ChangeTable
// has it.
func newLogTable(m relationMessage, t *schema.Table, special []bool, columns []int) *logTable {
	r := &logTable{id: m.id, table: t, known: map[string]change.Mask{}, was: make([]byte, len(m.columns)), old: make([][]byte, len(m.columns))}
	for i, c := range m.columns {
		f := logField{column: columns[i], key: c.key || m.identity == 'f', name: c.name}
		if f.column >= 0 {
			of := &t.Columns[f.column]
			w := wireOf(of.Native)
			f.decode = decoding{form: w.form, store: of.Type.Storage(), scale: of.Type.Scale, digits: of.Type.Precision, special: special != nil && special[f.column]}
			if c.key {
				r.key = append(r.key, f.column)
			}
		}
		r.fields = append(r.fields, f)
	}
	if t == nil {
		return r
	}
	r.whole = change.Whole(len(t.Columns))
	r.mask = make([]byte, len(r.whole))
	return r
}

// into makes b what rows are appended to.
func (r *logTable) into(b *change.Batch) {
	if r.batch == b && int(r.set) < len(b.Sets) && b.Sets[r.set].Table == r.table {
		return
	}
	r.batch, r.set = b, b.SetOf(r.table, r.key)
	r.sides = [2]*change.Image{&b.Sets[r.set].Before, &b.Sets[r.set].After}
}

const before, after = 0, 1

// images appends the rows of an insert, update or delete.
func (r *logTable) images(kind byte, p []byte, c *change.Change) (err error) {
	r.forget()
	switch kind {
	case outInsert:
		c.Op = change.Insert
	case outUpdate:
		c.Op = change.Update
	case outDelete:
		c.Op = change.Delete
	}
	if kind != outInsert && (p[0] == tupleKey || p[0] == tupleOld) {
		if c.Before, p, err = r.tuple(before, p[0], p[1:]); err != nil {
			return err
		}
	}
	if kind != outDelete {
		if len(p) == 0 || p[0] != tupleNew {
			return errCut
		}
		if c.After, p, err = r.tuple(after, tupleNew, p[1:]); err != nil {
			return err
		}
	} else if c.Before < 0 {
		return errCut
	}
	if len(p) > 0 {
		return errCut
	}
	return nil
}

// forget drops what is known of the row as it was.
func (r *logTable) forget() {
	clear(r.old)
	clear(r.was)
}

// tuple appends a row to a side. What is not in it is absent, unless it is in
// the row as it was: a value that is stored apart and not changed stands there
// when the identity is the whole row.
func (r *logTable) tuple(side int, kind byte, p []byte) (row int32, rest []byte, err error) {
	if len(p) < 2 {
		return -1, nil, errCut
	}
	if n := int(binary.BigEndian.Uint16(p)); n != len(r.fields) {
		return -1, nil, fmt.Errorf("the server sent a row of %d values, and had described %d", n, len(r.fields))
	}
	p = p[2:]
	image := r.sides[side]
	whole := true
	for i := range r.fields {
		if len(p) < 1 {
			return -1, nil, errCut
		}
		f, is := &r.fields[i], p[0]
		p = p[1:]
		var v []byte
		if is == valueText || is == valueBinary {
			if len(p) < 4 {
				return -1, nil, errCut
			}
			n := int(int32(binary.BigEndian.Uint32(p)))
			if p = p[4:]; n < 0 || len(p) < n {
				return -1, nil, errCut
			}
			v, p = p[:n:n], p[n:]
		}
		switch {
		case side == before && (kind == tupleOld || f.key):
			r.was[i], r.old[i] = is, v
		case is == valueMissing && r.was[i] != 0:
			is, v = r.was[i], r.old[i]
		}
		if f.column < 0 {
			continue
		}
		c := image.Columns[f.column]
		if is == valueMissing || kind == tupleKey && !f.key {
			if whole {
				whole = false
				copy(r.mask, r.whole)
			}
			r.mask[f.column/8] &^= 1 << (f.column % 8)
			c.AppendNull()
			continue
		}
		if err := f.put(c, is, v); err != nil {
			return -1, nil, err
		}
	}
	mask := r.whole
	if !whole {
		var ok bool
		if mask, ok = r.known[string(r.mask)]; !ok {
			mask = change.Mask(r.mask)
			r.known[string(mask)] = mask
		}
	}
	return image.Add(mask), p, nil
}

// undo takes a row away of which a value could not be read, and the one that
// came before it in the same message.
func (r *logTable) undo(c *change.Change) {
	for side, row := range []int32{c.Before, c.After} {
		m := r.sides[side]
		if row >= 0 {
			m.Remove()
			continue
		}
		for _, col := range m.Columns {
			col.Truncate(m.Rows())
		}
	}
}

// put appends a value to its column.
func (f *logField) put(c *batch.Column, kind byte, v []byte) error {
	switch {
	case kind == valueNull:
		c.AppendNull()
		return nil
	case kind == valueText:
		return f.text(c, v)
	case kind != valueBinary:
		return fmt.Errorf("the server sent a value of kind %q", kind)
	}
	d := &f.decode
	switch d.form { // the commonest here: a call costs as much as they do
	case formInt8:
		if len(v) != 8 {
			return errWidth
		}
		c.AppendInt(int64(binary.BigEndian.Uint64(v)))
		return nil
	case formInt4:
		if len(v) != 4 {
			return errWidth
		}
		c.AppendInt(int64(int32(binary.BigEndian.Uint32(v))))
		return nil
	case formBytes:
		c.AppendBytes(v)
		return nil
	case formNone:
		return fmt.Errorf("the server sent column %s in a form of its own, and was asked for text", f.name)
	}
	d.ints, d.floats, d.decimals, d.offsets, d.data, d.bools = c.Ints, c.Floats, c.Decimals, c.Offsets, c.Data, 0
	reason, _, err := d.put(v, 0)
	switch {
	case err != nil:
		return err
	case reason != "":
		return f.bad(reason)
	case d.store == schema.StoreBool:
		c.AppendBool(d.bools != 0)
		return nil
	}
	c.Ints, c.Floats, c.Decimals, c.Offsets, c.Data = d.ints, d.floats, d.decimals, d.offsets, d.data
	c.Grew(1)
	return nil
}

// text appends a value that the server wrote as text, as it does in a stream with
// a column that has no other form.
func (f *logField) text(c *batch.Column, v []byte) error {
	if f.decode.form == formNone || f.decode.form == formBytes && c.Type.Kind != schema.Bytes {
		c.AppendBytes(v)
		return nil
	}
	if f.decode.special && batch.AppendSpecial(c, v) {
		return nil
	}
	if batch.ParseText(c, v) != nil { // its error shows the value
		return f.bad("it is no " + c.Type.String() + " that a batch holds, such as infinity or a year before Christ")
	}
	return nil
}

// bad is the error of a value that is in the log and fits no batch. A stream has
// no place to set a change aside: later ones of the same row build on it.
func (f *logField) bad(reason string) error {
	return &connectors.Error{Class: connectors.Data, Err: errors.New("column " + f.name + ": " + reason),
		Hint: "Leave the column out of the pipeline, or mend the row at the source and load the table again."}
}
