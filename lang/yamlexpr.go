package lang

import (
	"fmt"
	"regexp"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	yaml "go.yaml.in/yaml/v4"
)

// yamlExpr is a YAML value read as an HCL expression. A text with "${" or "%{"
// is a template; one that is a single "${...}" keeps the type of what is in it.
type yamlExpr struct {
	f *yamlFile
	n *yaml.Node

	parsed bool // expr and diags are known
	expr   hclsyntax.Expression
	diags  hcl.Diagnostics
	mapped bool // bytes is known
	bytes  byteMap
}

var _ hcl.Expression = (*yamlExpr)(nil)

// Range is the value without its quotes, of a lone "${x}" the x: the bytes
// that carry the meaning, the same as in HCL.
func (e *yamlExpr) Range() hcl.Range {
	n := e.f.resolve(e.n)
	if isTemplate(n) {
		if t, _ := e.template(); t != nil {
			if w, ok := t.(*hclsyntax.TemplateWrapExpr); ok {
				return e.move(w.Wrapped.Range())
			}
		}
	}
	return e.f.inner(n)
}

// StartRange is the first line of Range.
func (e *yamlExpr) StartRange() hcl.Range { return e.f.firstLine(e.f.resolve(e.n)) }

func isTemplate(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && isText(n) && (strings.Contains(n.Value, "${") || strings.Contains(n.Value, "%{"))
}

// isText reports scalars that are texts whatever is in them: quoted ones, and
// plain ones that are no number, truth value or null.
func isText(n *yaml.Node) bool {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return true
	}
	switch n.ShortTag() {
	case "!!null", "!!bool", "!!int", "!!float":
		return false
	}
	return true
}

// template parses a text as an HCL template. It is parsed at position zero of
// its decoded text; move brings ranges that come out of it to the source.
func (e *yamlExpr) template() (hclsyntax.Expression, hcl.Diagnostics) {
	if !e.parsed {
		n := e.f.resolve(e.n)
		e.parsed = true
		if at := tooDeep([]byte(n.Value)); at >= 0 {
			e.diags = e.moved(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Nested too deeply", Extra: coded(diag.HCLSyntax),
				Detail:  fmt.Sprintf("At most %d brackets and signs may be open at once.", maxNesting),
				Subject: &hcl.Range{Start: hcl.Pos{Byte: at}, End: hcl.Pos{Byte: at + 1}}}})
			return nil, e.diags
		}
		var diags hcl.Diagnostics
		e.expr, diags = hclsyntax.ParseTemplate([]byte(n.Value), e.f.name, hcl.Pos{Line: 1, Column: 1})
		for _, d := range diags {
			d.Extra = coded(diag.HCLSyntax)
		}
		e.diags = e.moved(diags)
	}
	return e.expr, e.diags
}

// syntax reads a text as an expression, not as a template: for `from: source.x`
// and `type: list(string)`.
func (e *yamlExpr) syntax() (*yamlExpr, hcl.Diagnostics) {
	n := e.f.resolve(e.n)
	if n.Kind != yaml.ScalarNode || !isText(n) {
		return e, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Not an expression", Subject: e.Range().Ptr(),
			Detail: fmt.Sprintf("A name is needed here, not %s.", kindOf(n))}}
	}
	if isTemplate(n) {
		t, diags := e.template()
		if w, ok := t.(*hclsyntax.TemplateWrapExpr); ok {
			return &yamlExpr{f: e.f, n: e.n, parsed: true, expr: w.Wrapped}, diags
		}
		return e, diags
	}
	out := &yamlExpr{f: e.f, n: e.n, parsed: true}
	if tooDeep([]byte(n.Value)) >= 0 {
		return out, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Nested too deeply", Subject: e.Range().Ptr()}}
	}
	var diags hcl.Diagnostics
	out.expr, diags = hclsyntax.ParseExpression([]byte(n.Value), e.f.name, hcl.Pos{Line: 1, Column: 1})
	return out, e.moved(diags)
}

// move brings a range of the decoded text to the source.
func (e *yamlExpr) move(r hcl.Range) hcl.Range {
	if !e.mapped {
		e.bytes, e.mapped = e.f.scalar(e.f.resolve(e.n)), true
	}
	from, to := e.bytes.span(r.Start.Byte, r.End.Byte)
	return e.f.rng(from, to)
}

func (e *yamlExpr) moved(ds hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range ds {
		if d.Subject != nil {
			d.Subject = e.move(*d.Subject).Ptr()
		}
		d.Context, d.Expression = nil, nil
	}
	return ds
}

// plainNumber is what every YAML reader and HCL read alike.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// Value evaluates the value. Without a context a text stands for itself.
func (e *yamlExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	n := e.f.resolve(e.n)
	switch n.Kind {
	case yaml.ScalarNode:
		return e.scalar(n, ctx)
	case yaml.SequenceNode:
		var diags hcl.Diagnostics
		vals := make([]cty.Value, 0, len(n.Content))
		for _, c := range e.ExprList() {
			v, d := c.Value(ctx)
			vals, diags = append(vals, v), append(diags, d...)
		}
		return cty.TupleVal(vals), diags
	case yaml.MappingNode:
		var diags hcl.Diagnostics
		vals := map[string]cty.Value{}
		for _, p := range e.f.pairs(n) {
			v, d := (&yamlExpr{f: e.f, n: p.val}).Value(ctx)
			vals[p.key], diags = v, append(diags, d...)
		}
		return cty.ObjectVal(vals), diags
	}
	return cty.DynamicVal, nil
}

func (e *yamlExpr) scalar(n *yaml.Node, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if isText(n) {
		if ctx == nil || !isTemplate(n) {
			return cty.StringVal(n.Value), nil
		}
		t, diags := e.template()
		if diags.HasErrors() {
			return cty.DynamicVal, diags
		}
		v, vd := t.Value(ctx)
		return v, append(diags, e.moved(vd)...)
	}
	switch n.ShortTag() {
	case "!!null":
		return cty.NullVal(cty.DynamicPseudoType), nil
	case "!!bool":
		return cty.BoolVal(strings.EqualFold(n.Value, "true")), nil
	}
	if plainNumber.MatchString(n.Value) {
		if v, err := cty.ParseNumberVal(n.Value); err == nil {
			return v, nil
		}
	}
	var extra any = coded(diag.AmbiguousNumber)
	if plain := strings.ReplaceAll(n.Value, "_", ""); plain != n.Value && plainNumber.MatchString(plain) {
		extra = mended{diag.AmbiguousNumber, diag.Edit{Title: "write " + plain, Range: e.StartRange(), NewText: plain}}
	}
	return cty.DynamicVal, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Ambiguous number", Subject: e.StartRange().Ptr(), Extra: extra,
		Detail: fmt.Sprintf("Readers of YAML disagree on what %s is. Write a plain decimal number, or put it in quotes if it is a text.", n.Value)}}
}

// Variables lists the references in the value, at their bytes in the source.
func (e *yamlExpr) Variables() []hcl.Traversal {
	n := e.f.resolve(e.n)
	var out []hcl.Traversal
	switch n.Kind {
	case yaml.ScalarNode:
		if !e.parsed && !isTemplate(n) {
			return nil
		}
		t, diags := e.template()
		if diags.HasErrors() || t == nil {
			return nil
		}
		for _, tr := range t.Variables() {
			out = append(out, e.traversal(tr))
		}
	case yaml.SequenceNode:
		for _, c := range e.ExprList() {
			out = append(out, c.Variables()...)
		}
	case yaml.MappingNode:
		for _, p := range e.f.pairs(n) {
			out = append(out, (&yamlExpr{f: e.f, n: p.val}).Variables()...)
		}
	}
	return out
}

func (e *yamlExpr) traversal(t hcl.Traversal) hcl.Traversal {
	out := make(hcl.Traversal, len(t))
	for i, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			s.SrcRange = e.move(s.SrcRange)
			step = s
		case hcl.TraverseAttr:
			s.SrcRange = e.move(s.SrcRange)
			step = s
		case hcl.TraverseIndex:
			s.SrcRange = e.move(s.SrcRange)
			step = s
		case hcl.TraverseSplat:
			s.SrcRange = e.move(s.SrcRange)
			step = s
		}
		out[i] = step
	}
	return out
}

// ExprList is the values of a list, or nil.
func (e *yamlExpr) ExprList() []hcl.Expression {
	n := e.f.resolve(e.n)
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]hcl.Expression, 0, len(n.Content))
	for _, c := range n.Content {
		out = append(out, &yamlExpr{f: e.f, n: c})
	}
	return out
}
