package lang

import (
	"fmt"

	"penstock/internal/diag"
	"penstock/internal/secret"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// secret reads a secret setting: exactly one reference, never opened here. A
// value that is written out is masked in everything that is shown of the spec.
func (r *reader) secret(a *hcl.Attribute) Value[secret.Ref] {
	out := Value[secret.Ref]{Range: r.valueRange(a.Expr)}
	e, at := r.sole(a.Expr)
	switch e := e.(type) {
	case *hclsyntax.FunctionCallExpr:
		if e.Name != "env" && e.Name != "file" {
			break
		}
		if len(e.Args) == 1 && !e.ExpandFinal {
			v, diags := e.Args[0].Value(nil)
			if s, ok := asString(v); ok && !diags.HasErrors() && s != "" {
				out.Set = true
				if e.Name == "env" {
					out.V.Env = s
				} else {
					out.V.File = s
				}
				return out
			}
		}
		r.diags.Errorf(diag.BadSecret, at(e.Range()), fmt.Sprintf("%s() takes one text", e.Name),
			"Write the name itself, in quotes: env(\"NAME\") or file(\"path\"). It can't be computed, so that a reader of the spec sees which secret is used.")
		return out
	case *hclsyntax.ScopeTraversalExpr:
		if e.Traversal.RootName() != "var" {
			break
		}
		name, where := second(e.Traversal), at(e.Range())
		switch v := r.vars[name]; {
		case v == nil:
			r.reference(r.movedTraversal(a.Expr, e.Traversal), anyScope)
		case !v.sensitive:
			d := r.diags.Errorf(diag.NotSensitive, where, fmt.Sprintf("Variable %q is not sensitive", name), "%s is a secret. Add `sensitive = true` where the variable is declared.", a.Name)
			d.Related = []diag.Related{{Message: "declared here", Range: v.at}}
		case !v.failed:
			out.V.Var, out.Set = name, true
		}
		return out
	}
	if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.IsKnown() && v.IsNull() {
		r.null(a.Expr, a.Name)
		return out
	}
	r.mask(out.Range)
	at0 := out.Range
	if y, ok := a.Expr.(*yamlExpr); ok {
		at0 = y.StartRange()
	}
	r.diags.Errorf(diag.PlainSecret, at0, "Secret in plain text",
		"%s is written here, for all to read who can read the spec. Write env(\"NAME\"), file(\"path\") or a sensitive variable, and nothing beside it%s.", a.Name, yamlForm(a.Expr))
	return out
}

func yamlForm(e hcl.Expression) string {
	if _, ok := e.(*yamlExpr); ok {
		return `; in YAML inside ${...}: ${env("NAME")}`
	}
	return ""
}

// sole is the HCL of an expression that is a single one in both syntaxes, and
// what brings its ranges to the source.
func (r *reader) sole(e hcl.Expression) (hclsyntax.Expression, func(hcl.Range) hcl.Range) {
	same := func(r hcl.Range) hcl.Range { return r }
	switch e := e.(type) {
	case *hclsyntax.TemplateWrapExpr:
		return e.Wrapped, same
	case hclsyntax.Expression:
		return e, same
	case *yamlExpr:
		if isTemplate(e.f.resolve(e.n)) {
			if t, _ := e.template(); t != nil {
				if w, ok := t.(*hclsyntax.TemplateWrapExpr); ok {
					return w.Wrapped, e.move
				}
			}
		}
	}
	return nil, same
}

func (r *reader) movedTraversal(e hcl.Expression, t hcl.Traversal) hcl.Traversal {
	if y, ok := e.(*yamlExpr); ok {
		return y.traversal(t)
	}
	return t
}
