package lang

import (
	"fmt"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// evalAs is eval for a setting of one type, so that an undeclared variable that
// stands there alone is offered with that type.
func (r *reader) evalAs(e hcl.Expression, typ string) (cty.Value, bool) {
	if r.loneVariable(e) != "" {
		r.wanted = typ
		defer func() { r.wanted = "" }()
	}
	return r.eval(e, anyScope)
}

// loneVariable is the variable that is the whole of an expression, or "".
func (r *reader) loneVariable(e hcl.Expression) string {
	s, _ := r.sole(e)
	t, ok := s.(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(t.Traversal) != 2 || t.Traversal.RootName() != "var" {
		return ""
	}
	return second(t.Traversal)
}

// declaration is how to declare a variable.
func (r *reader) declaration(name string) string {
	typ := r.wanted
	if typ == "" {
		typ = "string"
	}
	return fmt.Sprintf("declare it: variable %q { type = %s }.", name, typ)
}

// textVariable completes what is said of a text where another type is wanted,
// if the text is a variable's value: there the declaration is to be mended.
func (r *reader) textVariable(e hcl.Expression, d *diag.Diagnostic, typ string) bool {
	v := r.vars[r.loneVariable(e)]
	if v == nil {
		return false
	}
	d.Detail += fmt.Sprintf(" Declare the variable with its type: variable %q { type = %s }; a default of it has no quotes then.", v.name, typ)
	d.Related = append(d.Related, diag.Related{Message: "declared here", Range: v.at})
	return true
}
