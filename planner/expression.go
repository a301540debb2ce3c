package planner

import (
	"penstock/internal/diag"
	"penstock/internal/rowexpr"
	"penstock/lang"
)

// expression is a row expression of the spec, compiled for one table.
type expression struct{ *rowexpr.Expr }

// filter compiles the table's filter. nil is no filter, or a faulty one.
func (t *table) filter() *expression {
	if !t.spec.Filter.Set {
		return nil
	}
	return t.expression(t.spec.Filter, true)
}

// expression compiles a row expression over the source's columns. Its problems
// are reported at their own bytes within the text.
func (t *table) expression(text lang.Text, condition bool) *expression {
	compile := rowexpr.Compile
	if condition {
		compile = rowexpr.CompileFilter
	}
	e, problems := compile(text.V, t.src.Columns)
	for _, p := range problems {
		d := t.errorf(p.Code, text.Sub(p.From, p.To), p.Summary, p.Summary, "%s", p.Detail)
		if p.Fix != "" {
			d.Fixes = append(d.Fixes, diag.Edit{Title: "write " + p.Fix, Range: text.Sub(p.From, p.To), NewText: p.Fix})
		}
	}
	if len(problems) > 0 {
		return nil
	}
	return &expression{e}
}
