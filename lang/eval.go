package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// roots says which names beyond var and local an expression may use.
type roots uint8

const (
	anyScope   roots = iota // var and local
	tableScope              // and table
	noScope                 // nothing: the value must be constant
)

// eval evaluates an expression. What is not allowed in it is reported first,
// at its own bytes; false means that there is no value and that the cause has
// been reported, here or where the cause lies.
func (r *reader) eval(e hcl.Expression, in roots) (cty.Value, bool) {
	if !r.allowed(e, in) {
		return cty.NilVal, false
	}
	return r.value(e, r.context(e))
}

func (r *reader) value(e hcl.Expression, ctx *hcl.EvalContext) (cty.Value, bool) {
	v, diags := e.Value(ctx)
	r.fromHCL(diags)
	if diags.HasErrors() || !v.IsWhollyKnown() {
		return v, false
	}
	if size(v) > maxValue {
		r.diags.Errorf(diag.CannotEvaluate, e.Range(), "Value is too large", "A value of a spec has at most a million bytes and elements.")
		return cty.NilVal, false
	}
	return v, true
}

// hasFor reports whether a loop has another one in it.
func hasFor(f *hclsyntax.ForExpr) bool {
	found := false
	for _, e := range []hclsyntax.Expression{f.CollExpr, f.KeyExpr, f.ValExpr, f.CondExpr} {
		if e == nil {
			continue
		}
		_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
			_, is := n.(*hclsyntax.ForExpr)
			found = found || is
			return nil
		})
	}
	return found
}

// allowed reports functions and references that can't be used. It is false,
// and silent, for what depends on something that has been reported already.
func (r *reader) allowed(e hcl.Expression, in roots) bool {
	ok := true
	walkSyntax(e, func(n hclsyntax.Node, at func(hcl.Range) hcl.Range) {
		if f, is := n.(*hclsyntax.ForExpr); is && hasFor(f) {
			ok = false
			r.diags.Errorf(diag.CannotEvaluate, at(f.OpenRange), "for inside for", "Loops in loops can take more time and memory than there is. Put the inner one into a local value.")
			return
		}
		c, is := n.(*hclsyntax.FunctionCallExpr)
		if !is {
			return
		}
		if _, known := functions[c.Name]; known {
			return
		}
		ok = false
		where := at(c.NameRange)
		if slices.Contains(secretFunctions, c.Name) {
			r.diags.Errorf(diag.SecretElsewhere, where, fmt.Sprintf("%s() outside a secret", c.Name),
				"%s(...) is allowed only as the whole value of a secret setting such as password. For anything else declare a variable and give it a value with --var, --var-file or PENSTOCK_VAR_name.", c.Name)
			return
		}
		d := r.diags.Errorf(diag.UnknownFunction, where, fmt.Sprintf("Unknown function %q", c.Name), "Functions: %s.", strings.Join(functionNames(), ", "))
		if near := nearest(c.Name, functionNames()); near != "" {
			d.Detail = fmt.Sprintf("Did you mean %q?", near)
			d.Fixes = []diag.Edit{{Title: "write " + near, Range: where, NewText: near}}
		}
	})
	for _, t := range e.Variables() {
		ok = r.reference(t, in) && ok
	}
	return ok
}

// reference checks one reference.
func (r *reader) reference(t hcl.Traversal, in roots) bool {
	name, at := second(t), t.SourceRange()
	if in == noScope {
		r.diags.Errorf(diag.UnknownName, at, "Value must be constant", "It can't refer to other values. If this is a text, put it in quotes.")
		return false
	}
	switch root := t.RootName(); root {
	case "var":
		v := r.vars[name]
		switch {
		case v == nil:
			r.undeclared(diag.UndeclaredVariable, "variable", name, at, slices.Sorted(maps.Keys(r.vars)),
				r.declaration(name))
		case v.sensitive:
			d := r.diags.Errorf(diag.SensitiveElsewhere, at, fmt.Sprintf("Sensitive variable %q outside a secret", name),
				"Its value would be seen in the plan. Use it only as the whole value of a secret setting such as password, or remove `sensitive` where it is declared.")
			d.Related = []diag.Related{{Message: "declared sensitive here", Range: v.at}}
		case v.failed, v.missing:
		case v.value == cty.NilVal:
			v.missing = true
			d := r.diags.Errorf(diag.NoValue, at, fmt.Sprintf("Variable %q has no value", name), "Set PENSTOCK_VAR_%s, --var %s=... or --var-file, or give it a default.", name, name)
			d.Related = []diag.Related{{Message: "declared here without a default", Range: v.at}}
		default:
			return true
		}
		return false
	case "local":
		l := r.locals[name]
		if l == nil {
			r.undeclared(diag.UndeclaredLocal, "local value", name, at, slices.Sorted(maps.Keys(r.locals)), fmt.Sprintf("set it: locals { %s = ... }.", name))
			return false
		}
		return !l.failed && l.state == visited
	case "table":
		if in == tableScope {
			if name == "schema" || name == "name" {
				return true
			}
			r.diags.Errorf(diag.UnknownName, at, fmt.Sprintf("table has no %q", name), "Write table.schema or table.name.")
			return false
		}
		r.diags.Errorf(diag.UnknownName, at, `"table" is known only in "to"`, "table.schema and table.name stand for each table in turn, in the name that it gets at the target. Elsewhere use a variable or a local value.")
		return false
	case "source", "target":
		r.diags.Errorf(diag.UnknownName, at, fmt.Sprintf("%q can't be used here", root), "An endpoint is named only in a pipeline's from and to.")
		return false
	default:
		d := r.diags.Errorf(diag.UnknownName, at, fmt.Sprintf("Unknown name %q", root), "Expressions know var.name and local.name. If this is a text, put it in quotes.")
		if len(t) == 1 {
			d.Fixes = []diag.Edit{{Title: "put it in quotes", Range: at, NewText: `"` + root + `"`}}
		}
		return false
	}
}

func (r *reader) undeclared(code diag.Code, noun, name string, at hcl.Range, known []string, how string) {
	if name == "" {
		r.diags.Errorf(code, at, "Reference without a name", "Write the name behind a dot: var.name, local.name.")
		return
	}
	d := r.diags.Errorf(code, at, fmt.Sprintf("Undeclared %s %q", noun, name), "%s", capital(how))
	if near := nearest(name, known); near != "" {
		d.Detail = fmt.Sprintf("Did you mean %q? If not, %s", near, how)
	}
}

// fromHCL collects what HCL's own evaluation reports.
func (r *reader) fromHCL(ds hcl.Diagnostics) {
	for _, d := range ds {
		if d.Severity != hcl.DiagError {
			continue
		}
		code := diag.CannotEvaluate
		var fixes []diag.Edit
		switch x := d.Extra.(type) {
		case coded:
			code = diag.Code(x)
		case mended:
			code, fixes = x.code, []diag.Edit{x.edit}
		}
		var at hcl.Range
		if d.Subject != nil {
			at = *d.Subject
		}
		detail := strings.TrimRight(d.Detail, ".") + "."
		r.diags.Errorf(code, at, strings.TrimRight(d.Summary, "."), "%s", detail).Fixes = fixes
	}
}

// walkSyntax visits every node of the HCL in an expression of either syntax.
// at brings a node's range to the source.
func walkSyntax(e hcl.Expression, visit func(n hclsyntax.Node, at func(hcl.Range) hcl.Range)) {
	switch e := e.(type) {
	case hclsyntax.Expression:
		_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
			visit(n, func(r hcl.Range) hcl.Range { return r })
			return nil
		})
	case *yamlExpr:
		n := e.f.resolve(e.n)
		if e.parsed || isTemplate(n) {
			if t, _ := e.template(); t != nil {
				_ = hclsyntax.VisitAll(t, func(n hclsyntax.Node) hcl.Diagnostics {
					visit(n, e.move)
					return nil
				})
			}
			return
		}
		for _, c := range e.ExprList() {
			walkSyntax(c, visit)
		}
		for _, p := range e.f.pairs(n) {
			walkSyntax(&yamlExpr{f: e.f, n: p.val}, visit)
		}
	}
}
