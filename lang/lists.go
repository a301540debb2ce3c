package lang

import (
	"fmt"
	"slices"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// texts reads a list of texts. A list written out keeps each element's bytes;
// of one that is computed every element points at the whole.
func (r *reader) texts(a *hcl.Attribute) Value[[]Text] {
	out := Value[[]Text]{Range: r.valueRange(a.Expr)}
	if elems, ok := listOf(a.Expr); ok {
		out.Set = true
		for _, e := range elems {
			v, ok := r.eval(e, anyScope)
			if ok {
				var s string
				if s, ok = r.string(e, v, a.Name); ok {
					out.V = append(out.V, r.textOf(e, s, r.context(e)))
				}
			}
			out.Set = out.Set && ok
		}
		return out
	}
	v, ok := r.eval(a.Expr, anyScope)
	if !ok {
		return out
	}
	if v.IsNull() {
		r.null(a.Expr, a.Name)
		return out
	}
	list, ok := conform(v, cty.List(cty.String))
	if !ok {
		d := r.wrongType(a.Expr, v, a.Name, "a list of texts")
		if v.Type() == cty.String {
			d.Detail += " Put it in square brackets."
		}
		return out
	}
	for it := list.ElementIterator(); it.Next(); {
		_, e := it.Element()
		out.V = append(out.V, Text{Value: Value[string]{V: e.AsString(), Range: out.Range, Set: true}})
	}
	out.Set = true
	return out
}

// listOf is the elements of a list that is written out.
func listOf(e hcl.Expression) ([]hcl.Expression, bool) {
	switch e := e.(type) {
	case *hclsyntax.TupleConsExpr:
		out := make([]hcl.Expression, 0, len(e.Exprs))
		for _, x := range e.Exprs {
			out = append(out, x)
		}
		return out, true
	case *yamlExpr:
		l := e.ExprList()
		return l, l != nil
	}
	return nil, false
}

// words reads a list of words out of several.
func (r *reader) words(a *hcl.Attribute, allowed ...string) Value[[]string] {
	ts := r.texts(a)
	out := Value[[]string]{Range: ts.Range, Set: ts.Set}
	for i, t := range ts.V {
		if !r.word(t, a.Name, allowed) {
			out.Set = false
			continue
		}
		if slices.ContainsFunc(ts.V[:i], func(o Text) bool { return o.V == t.V }) {
			r.diags.Errorf(diag.Duplicate, t.Range, fmt.Sprintf("Duplicate %q", t.V), "It stands twice in %q. Remove one of them.", a.Name)
			continue
		}
		out.V = append(out.V, t.V)
	}
	return out
}
