package lang

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"penstock/internal/diag"
	"penstock/internal/units"

	"github.com/hashicorp/hcl/v2"
)

// tables reads the table blocks of a pipeline. Each starts as a copy of what
// the defaults block says, and its own settings go on top one by one.
func (r *reader) tables(spec *Spec, p *Pipeline, c content) {
	defaults := newTable(p.DefRange)
	if b := c.block("defaults"); b != nil {
		r.common(spec, p, defaults, r.content(b.Body, r.header(b), c.shape.block("defaults").in))
	}
	blocks := c.blocks("table")
	byLabel := make(map[string]*Table, len(blocks))
	for _, b := range blocks {
		t := r.table(spec, p, defaults, b, c.shape.block("table").in)
		if first := byLabel[t.Label.V]; first != nil {
			d := r.diags.Errorf(diag.Duplicate, t.Label.Range, fmt.Sprintf("Duplicate table %q", t.Label.V), "A table is written once in a pipeline. Merge the two blocks, or put this one into another pipeline.")
			d.Related = []diag.Related{{Message: "the first one", Range: first.Label.Range}}
			continue
		}
		byLabel[t.Label.V] = t
		p.Tables = append(p.Tables, t)
	}
	if len(blocks) == 0 {
		r.diags.Errorf(diag.MissingBlock, c.head, `Missing block "table"`, "The pipeline moves no table. Write a table block for each one, or one with a pattern such as \"SCHEMA.*\".")
	}
}

// newTable is a table with the language's defaults, all of them not set.
func newTable(at hcl.Range) *Table {
	word := func(v string) Value[string] { return Value[string]{V: v, Range: at} }
	return &Table{
		DefRange: at, Options: map[string]*TableOptions{},
		To: Template{rng: at}, Tables: Value[[]Text]{Range: at}, Expect: Value[int]{Range: at}, Key: Value[[]Text]{Range: at},
		Filter:     Text{Value: word("")},
		Operations: Value[[]string]{V: []string{"insert", "update", "delete"}, Range: at},
		Existing:   word("error"), Carry: Value[[]string]{Range: at}, OnNUL: word("reject"), OnInvalidText: word("reject"),
		Split:  Split{By: Value[[]Text]{Range: at}, Count: Value[int]{Range: at}, Kind: word("auto"), Range: at},
		Apply:  Apply{Mode: word(""), Changes: word(""), Indexes: word(""), Range: at},
		Commit: Commit{Range: at, Rows: Value[int64]{Range: at}, Bytes: Value[units.Size]{Range: at}, Every: Value[time.Duration]{Range: at}},
	}
}

// inherit takes over what the defaults block sets.
func (t *Table) inherit(d *Table) {
	if d.To.set {
		t.To = d.To
	}
	or(&t.Operations, d.Operations)
	or(&t.Existing, d.Existing)
	or(&t.Carry, d.Carry)
	or(&t.OnNUL, d.OnNUL)
	or(&t.OnInvalidText, d.OnInvalidText)
	if d.Split.Range != d.DefRange {
		t.Split.Range = d.Split.Range
	}
	or(&t.Split.By, d.Split.By)
	or(&t.Split.Count, d.Split.Count)
	or(&t.Split.Kind, d.Split.Kind)
	if d.Apply.Range != d.DefRange {
		t.Apply.Range = d.Apply.Range
	}
	or(&t.Apply.Mode, d.Apply.Mode)
	or(&t.Apply.Changes, d.Apply.Changes)
	or(&t.Apply.Indexes, d.Apply.Indexes)
	if d.Commit.Range != d.DefRange {
		t.Commit.Range = d.Commit.Range
	}
	or(&t.Commit.Rows, d.Commit.Rows)
	or(&t.Commit.Bytes, d.Commit.Bytes)
	or(&t.Commit.Every, d.Commit.Every)
	for k, o := range d.Options {
		t.Options[k] = o
	}
}

// table reads a table block.
func (r *reader) table(spec *Spec, p *Pipeline, defaults *Table, b *hcl.Block, shape *shape) *Table {
	label := r.label(b, 0)
	t := newTable(label.Range)
	t.inherit(defaults)
	t.Label = r.labelText(b, label)
	if strings.TrimSpace(label.V) == "" {
		r.diags.Errorf(diag.BadName, label.Range, "Table without a name", "The label of a table block is the table's name at the source, such as \"SCHEMA.TABLE\", or a pattern.")
	}
	c := r.content(b.Body, label.Range, shape)
	r.common(spec, p, t, c)
	for name, a := range c.attrs {
		switch name {
		case "tables":
			or(&t.Tables, r.names(a))
		case "exclude":
			t.Exclude = r.names(a).V
		case "expect":
			or(&t.Expect, r.count(a, 1))
		case "key":
			or(&t.Key, r.names(a))
		case "filter":
			if r.quotesLost(a) {
				break
			}
			if f := r.text(a); f.Set {
				t.Filter = f
			}
		}
	}
	for _, cb := range c.blocks("column") {
		col := r.column(cb, shape.block("column").in)
		if i := slices.IndexFunc(t.Columns, func(o *Column) bool { return o.Label.V == col.Label.V }); i >= 0 {
			d := r.diags.Errorf(diag.Duplicate, col.Label.Range, fmt.Sprintf("Duplicate column %q", col.Label.V), "A column is written once in a table. Merge the two blocks.")
			d.Related = []diag.Related{{Message: "the first one", Range: t.Columns[i].Label.Range}}
			continue
		}
		t.Columns = append(t.Columns, col)
	}
	return t
}

// names reads a list of names: none empty, none twice, at least one.
func (r *reader) names(a *hcl.Attribute) Value[[]Text] {
	v := r.texts(a)
	if v.Set && len(v.V) == 0 {
		r.diags.Errorf(diag.OutOfBounds, v.Range, fmt.Sprintf("%q is empty", a.Name), "Name at least one, or leave the setting out.")
	}
	for i, n := range v.V {
		switch {
		case strings.TrimSpace(n.V) == "":
			r.diags.Errorf(diag.OutOfBounds, n.Range, "Empty name", "%q holds a name that is empty.", a.Name)
		case slices.ContainsFunc(v.V[:i], func(o Text) bool { return o.V == n.V }):
			r.diags.Errorf(diag.Duplicate, n.Range, fmt.Sprintf("Duplicate %q", n.V), "It stands twice in %q. Remove one of them.", a.Name)
		}
	}
	return v
}

// labelText is a label that still knows its bytes: a table's pattern, a column.
func (r *reader) labelText(b *hcl.Block, v Value[string]) Text {
	src := r.sources[v.Range.Filename]
	if src == nil || string(src.buf[v.Range.Start.Byte:v.Range.End.Byte]) != v.V {
		return Text{Value: v} // written with escapes
	}
	return Text{Value: v, at: func(from, to int) hcl.Range {
		from = min(max(from, 0), len(v.V))
		to = min(max(to, from), len(v.V))
		return src.rng(v.Range.Start.Byte+from, v.Range.Start.Byte+to)
	}}
}
