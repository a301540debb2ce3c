package lang

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// name checks that a label can be referred to.
func (r *reader) name(v Value[string], noun string, longest int) bool {
	switch {
	case !identifier.MatchString(v.V):
		r.diags.Errorf(diag.BadName, v.Range, fmt.Sprintf("%q can't name a %s", v.V, noun), "A name is made of letters, digits, _ and -, and begins with a letter or _.")
	case len(v.V) > longest:
		r.diags.Errorf(diag.BadName, v.Range, fmt.Sprintf("Name of a %s is too long", noun), "It has %d bytes; at most %d fit where databases show it.", len(v.V), longest)
	default:
		return true
	}
	return false
}

const longName = 128

// variable reads a variable block.
func (r *reader) variable(b *hcl.Block, shape *shape) {
	label := r.label(b, 0)
	v := &variable{name: label.V, at: label.Range, typ: cty.DynamicPseudoType}
	c := r.content(b.Body, label.Range, shape)
	v.failed = !r.name(label, "variable", longName)
	if first := r.vars[v.name]; first != nil {
		d := r.diags.Errorf(diag.Duplicate, v.at, fmt.Sprintf("Duplicate variable %q", v.name), "It is declared twice. Remove one of them.")
		d.Related = []diag.Related{{Message: "declared here first", Range: first.at}}
		return
	}
	r.vars[v.name] = v
	if a := c.attrs["type"]; a != nil {
		if t, ok := r.typeOf(a); ok {
			v.typ = t
		} else {
			v.failed = true
		}
	}
	if a := c.attrs["sensitive"]; a != nil {
		s := r.boolean(a)
		v.sensitive = s.V
		v.failed = v.failed || !s.Set
	}
	if a := c.attrs["description"]; a != nil {
		r.text(a)
	}
	a := c.attrs["default"]
	if a == nil {
		return
	}
	if v.sensitive {
		at := r.valueRange(a.Expr)
		r.mask(at)
		r.diags.Errorf(diag.PlainSecret, at, "Secret in plain text", "Variable %q is sensitive, and its default is written here for all to read who can read the spec. Remove the default and set PENSTOCK_VAR_%s.", v.name, v.name)
		v.failed = true
		return
	}
	val, ok := r.eval(a.Expr, noScope)
	if ok && val.IsNull() {
		ok = r.null(a.Expr, "default")
	} else if ok {
		var fits bool
		if val, fits = conform(val, v.typ); !fits {
			r.diags.Errorf(diag.WrongType, r.valueRange(a.Expr), fmt.Sprintf("Default does not fit variable %q", v.name), "Its type is %s, this is %s.", typeexpr.TypeString(v.typ), typeName(val.Type()))
			ok = false
		}
	}
	v.value, v.failed = val, v.failed || !ok
}

// typeOf reads the type of a variable: string, number, bool, any, list(string) and so on.
func (r *reader) typeOf(a *hcl.Attribute) (cty.Type, bool) {
	var e hcl.Expression = a.Expr
	var diags hcl.Diagnostics
	y, isYAML := e.(*yamlExpr)
	if isYAML {
		y, diags = y.syntax()
		if y.expr != nil {
			e = y.expr
		}
	}
	if !diags.HasErrors() {
		t, td := typeexpr.TypeConstraint(e)
		if !td.HasErrors() {
			return t, true
		}
	}
	r.diags.Errorf(diag.BadType, r.valueRange(a.Expr), "Unknown type", "Types are string, number, bool, any, list(...), set(...) and map(...) of them, written without quotes.")
	return cty.DynamicPseudoType, false
}

// localsBlock collects the names of a locals block.
func (r *reader) localsBlock(b *hcl.Block) []*local {
	var attrs hcl.Attributes
	if h, ok := b.Body.(*hclsyntax.Body); ok {
		for _, blk := range h.Blocks {
			r.diags.Errorf(diag.BlockOrSetting, blk.TypeRange, fmt.Sprintf("%q is a setting", blk.Type), "locals holds values: write `%s = { ... }`.", blk.Type)
		}
		attrs = hcl.Attributes{}
		for n, a := range h.Attributes {
			attrs[n] = a.AsHCLAttribute()
		}
	} else {
		var diags hcl.Diagnostics
		attrs, diags = b.Body.JustAttributes()
		r.fromHCL(diags)
	}
	var out []*local
	for _, n := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[n]
		l := &local{name: n, at: a.NameRange, expr: a.Expr}
		if first := r.locals[n]; first != nil {
			d := r.diags.Errorf(diag.Duplicate, l.at, fmt.Sprintf("Duplicate %q", n), "It is set twice in locals. Remove one of them.")
			d.Related = []diag.Related{{Message: "set here first", Range: first.at}}
			continue
		}
		l.failed = !r.name(Value[string]{V: n, Range: l.at}, "local value", longName)
		r.locals[n] = l
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b *local) int { return a.at.Start.Byte - b.at.Start.Byte })
	return out
}
