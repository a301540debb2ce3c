package lang

import (
	"fmt"
	"regexp"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

var quotedRef = regexp.MustCompile(`^(source|target)\.[A-Za-z_][\w-]*$`)

// ref reads source.x or target.y. In YAML `source.x` and `${source.x}` are equal.
func (r *reader) ref(a *hcl.Attribute, role Role) Ref {
	out := Ref{Role: role, Range: r.valueRange(a.Expr)}
	e, diags := a.Expr, hcl.Diagnostics(nil)
	if y, ok := e.(*yamlExpr); ok {
		var s *yamlExpr
		s, diags = y.syntax()
		if t, ok := s.expr.(*hclsyntax.ScopeTraversalExpr); ok && !diags.HasErrors() {
			return r.endpointRef(out, y.traversal(t.Traversal), role, a.Name)
		}
	} else if t, ok := e.(*hclsyntax.ScopeTraversalExpr); ok {
		return r.endpointRef(out, t.Traversal, role, a.Name)
	}
	d := r.diags.Errorf(diag.NotAReference, out.Range, fmt.Sprintf("%q names no endpoint", a.Name), "Write %s.name, the name of a %s block, without quotes.", role, role)
	if v, vd := e.Value(nil); !vd.HasErrors() && v.IsKnown() && !v.IsNull() {
		if s, ok := asString(v); ok && quotedRef.MatchString(s) {
			d.Fixes = []diag.Edit{{Title: "remove the quotes", Range: e.Range(), NewText: s}}
		}
	}
	return out
}

func (r *reader) endpointRef(out Ref, t hcl.Traversal, role Role, setting string) Ref {
	name := second(t)
	switch root := t.RootName(); {
	case len(t) == 2 && name != "" && root == string(role):
		out.Name, out.Set = name, true
	case len(t) == 2 && name != "" && (root == "source" || root == "target"):
		r.diags.Errorf(diag.NotAReference, out.Range, fmt.Sprintf("%q takes a %s", setting, role), "Rows go from a source to a target: write from = source.name and to = target.name.")
	case len(t) == 1:
		d := r.diags.Errorf(diag.NotAReference, out.Range, fmt.Sprintf("%q names no endpoint", setting), "Write %s.%s.", role, root)
		d.Fixes = []diag.Edit{{Title: fmt.Sprintf("write %s.%s", role, root), Range: out.Range, NewText: fmt.Sprintf("%s.%s", role, root)}}
	default:
		r.diags.Errorf(diag.NotAReference, out.Range, fmt.Sprintf("%q names no endpoint", setting), "Write %s.name, the name of a %s block. It can't be computed.", role, role)
	}
	return out
}
