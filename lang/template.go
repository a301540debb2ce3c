package lang

import (
	"strings"

	"penstock/internal/diag"
	"penstock/internal/schema"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Template is the name that a table gets at the target: a text that may use
// table.schema and table.name.
type Template struct {
	r   *reader
	e   hcl.Expression
	rng hcl.Range
	set bool
}

// IsSet reports whether the spec has one; the zero Template is not set.
func (t Template) IsSet() bool { return t.set }

// Range is the template's bytes; where it is not set, the table's header.
func (t Template) Range() hcl.Range { return t.rng }

// Raw is the template as the spec has it.
func (t Template) Raw() string {
	if !t.set {
		return ""
	}
	if s := t.r.sources[t.rng.Filename]; s != nil {
		return string(s.buf[t.rng.Start.Byte:t.rng.End.Byte])
	}
	return ""
}

// Eval gives the name for the table n of the source. A template that is
// faulty for every table has been reported when the spec was loaded.
func (t Template) Eval(n schema.Name) (Text, diag.List) {
	if !t.set {
		return Text{Value: Value[string]{Range: t.rng}}, nil
	}
	r := &reader{scope: t.r.scope}
	ctx := r.context(t.e).NewChild()
	ctx.Variables = map[string]cty.Value{"table": cty.ObjectVal(map[string]cty.Value{
		"schema": cty.StringVal(n.Schema), "name": cty.StringVal(n.Name)})}
	v, ok := r.value(t.e, ctx)
	if !ok {
		return Text{Value: Value[string]{Range: t.rng, Set: true}}, r.diags
	}
	s, ok := r.string(t.e, v, "to")
	if ok && strings.TrimSpace(s) == "" {
		r.diags.Errorf(diag.OutOfBounds, t.rng, "Empty name", `"to" gives no name for the table %s.`, n)
	}
	return r.textOf(t.e, s, ctx), r.diags
}

// template reads a template and tries it once, so that what is wrong for every
// table is reported while loading.
func (r *reader) template(a *hcl.Attribute) Template {
	t := Template{r: r, e: a.Expr, rng: r.valueRange(a.Expr)}
	if !r.allowed(a.Expr, tableScope) {
		return t
	}
	t.set = true
	_, diags := t.Eval(schema.Name{Schema: "schema", Name: "name"})
	r.diags = append(r.diags, diags...)
	t.set = !diags.HasErrors()
	return t
}
