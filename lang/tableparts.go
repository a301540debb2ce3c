package lang

import (
	"fmt"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// common reads what a table and the defaults block share.
func (r *reader) common(spec *Spec, p *Pipeline, t *Table, c content) {
	for name, a := range c.attrs {
		switch name {
		case "to":
			if to := r.template(a); to.set {
				t.To = to
			}
		case "operations":
			ops := r.words(a, "insert", "update", "delete")
			if ops.Set && len(ops.V) == 0 {
				r.diags.Errorf(diag.OutOfBounds, ops.Range, `"operations" is empty`, "No change would be carried. Name at least one of insert, update and delete.")
			}
			or(&t.Operations, ops)
		case "existing":
			or(&t.Existing, r.enum(a, "error", "truncate", "append"))
		case "carry":
			or(&t.Carry, r.words(a, "indexes", "foreign_keys", "defaults", "comments"))
		case "on_nul":
			or(&t.OnNUL, r.enum(a, "reject", "strip", "replace"))
		case "on_invalid_text":
			or(&t.OnInvalidText, r.enum(a, "reject", "strip", "replace"))
		}
	}
	for _, b := range c.all {
		at := r.header(b)
		if b.Type == "column" {
			continue
		}
		in := c.shape.block(b.Type).in
		switch b.Type {
		case "range":
			t.Split.Range = at
			r.split(&t.Split, r.content(b.Body, at, in))
		case "apply":
			t.Apply.Range = at
			for name, a := range r.content(b.Body, at, in).attrs {
				switch name {
				case "mode":
					or(&t.Apply.Mode, r.enum(a, "copy", "array", "row"))
				case "changes":
					or(&t.Apply.Changes, r.enum(a, "merge", "array", "row", "append"))
				case "indexes":
					or(&t.Apply.Indexes, r.enum(a, "keep", "defer"))
				}
			}
		case "commit":
			t.Commit.Range = at
			for name, a := range r.content(b.Body, at, in).attrs {
				switch name {
				case "rows":
					or(&t.Commit.Rows, r.integer(a, 1))
				case "bytes":
					or(&t.Commit.Bytes, r.size(a))
				case "every":
					or(&t.Commit.Every, r.duration(a))
				}
			}
		default:
			r.options(spec, p, t, b, at)
		}
	}
}

// split reads a range block.
func (r *reader) split(s *Split, c content) {
	for name, a := range c.attrs {
		switch name {
		case "by":
			or(&s.By, r.names(a))
		case "split":
			or(&s.Kind, r.enum(a, "auto", "blocks", "key", "hash", "none"))
		case "count":
			// A number, or the word that stands for the default.
			if v, diags := a.Expr.Value(r.context(a.Expr)); !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String && !plainNumber.MatchString(v.AsString()) {
				if w := r.enum(a, "auto"); w.Set {
					s.Count = Value[int]{Range: w.Range, Set: true}
				}
				continue
			}
			or(&s.Count, r.count(a, 1))
		}
	}
}

// column reads a column block.
func (r *reader) column(b *hcl.Block, shape *shape) *Column {
	label := r.label(b, 0)
	at := label.Range
	none := Text{Value: Value[string]{Range: at}}
	col := &Column{Label: r.labelText(b, label), DefRange: at, To: none, Type: none, Value: none, Drop: Value[bool]{Range: at}, AcceptLoss: Value[bool]{Range: at}}
	text := func(to *Text, a *hcl.Attribute) {
		t := r.text(a)
		if t.Set && strings.TrimSpace(t.V) == "" {
			r.diags.Errorf(diag.OutOfBounds, t.Range, fmt.Sprintf("%q is empty", a.Name), "Give it a value, or leave the setting out.")
			return
		}
		if t.Set {
			*to = t
		}
	}
	for name, a := range r.content(b.Body, at, shape).attrs {
		switch name {
		case "to":
			text(&col.To, a)
		case "type":
			if !r.bareType(a) {
				text(&col.Type, a)
			}
		case "value":
			if !r.quotesLost(a) {
				text(&col.Value, a)
			}
		case "drop":
			or(&col.Drop, r.boolean(a))
		case "accept_loss":
			or(&col.AcceptLoss, r.boolean(a))
		}
	}
	return col
}

// options keeps a connector's own block. It must be the block of the
// pipeline's target.
func (r *reader) options(spec *Spec, p *Pipeline, t *Table, b *hcl.Block, at hcl.Range) {
	if e := spec.Endpoint(Target, p.To.Name); p.To.Set && e != nil && e.Kind.V != b.Type {
		d := r.diags.Errorf(diag.ForeignOptions, b.TypeRange, fmt.Sprintf("%q does not fit the target", b.Type), "The pipeline's target is %s.%s, of kind %s. Remove the block.", Target, e.Name.V, e.Kind.V)
		d.Related = []diag.Related{{Message: "the target", Range: e.Kind.Range}}
		return
	}
	o := &TableOptions{Kind: b.Type, DefRange: at, body: &body{r: r, b: b.Body, head: at, noun: "the " + b.Type + " block of a table"}}
	if d := t.Options[b.Type]; d != nil {
		o.body.under = d.body
	}
	t.Options[b.Type] = o
}
