package lang

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// quotesLost reports a row expression that stands where a text must, without
// quotes: read as the spec's own language its columns are names that nobody
// knows. The fix quotes the whole, not the first name in it, which would turn a
// column into a constant.
func (r *reader) quotesLost(a *hcl.Attribute) bool {
	e, _ := r.sole(a.Expr)
	if _, template := e.(*hclsyntax.TemplateExpr); e == nil || template {
		return false
	}
	columns, values := 0, 0
	for _, t := range e.Variables() {
		switch t.RootName() {
		case "var", "local", "table", "source", "target":
			values++
		default:
			columns++
		}
	}
	if columns == 0 {
		return false
	}
	at := r.valueRange(a.Expr)
	d := r.diags.Errorf(diag.UnknownName, at, "Row expression without quotes",
		"%q is worked out for each row, from the columns of the table: the whole of it stands in quotes.", a.Name)
	if values > 0 {
		d.Detail += " Write ${...} inside them around what comes from var and local."
		return true
	}
	text, whole := r.covered(at), at
	if y, ok := a.Expr.(*yamlExpr); ok {
		n := y.f.resolve(y.n)
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(n.Value), "${"), "}"))
		whole = y.f.rangeOf(n)
	} else if w, ok := a.Expr.(*hclsyntax.TemplateWrapExpr); ok {
		whole = w.SrcRange
	}
	if quoted := quoteFor(a.Expr, text); quoted != "" {
		d.Fixes = []diag.Edit{{Title: "quote all of it", Range: whole, NewText: quoted}}
	}
	return true
}

// bareType reports a type such as numeric(10,2) without quotes, which reads as
// a call of a function.
func (r *reader) bareType(a *hcl.Attribute) bool {
	c, ok := a.Expr.(*hclsyntax.FunctionCallExpr)
	if !ok || len(c.Variables()) > 0 {
		return false
	}
	if _, known := functions[c.Name]; known || slices.Contains(secretFunctions, c.Name) {
		return false
	}
	at := c.Range()
	d := r.diags.Errorf(diag.UnknownFunction, at, "Type without quotes", "A type of the target is a text: put it in quotes.")
	if quoted := quoteFor(a.Expr, r.covered(at)); quoted != "" {
		d.Fixes = []diag.Edit{{Title: "put it in quotes", Range: at, NewText: quoted}}
	}
	return true
}

// quoteFor is a text as the syntax of an expression quotes it; "" where it has
// more than one line or a template in it.
func quoteFor(e hcl.Expression, text string) string {
	if text == "" || strings.ContainsAny(text, "\n\r") || strings.Contains(text, "${") || strings.Contains(text, "%{") {
		return ""
	}
	if _, ok := e.(*yamlExpr); ok {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return hclQuote(text)
}

// hclQuote quotes a row expression. Its own texts get single quotes where that
// needs no escape.
func hclQuote(text string) string {
	if !strings.ContainsAny(text, `'\`) {
		text = strings.ReplaceAll(text, `"`, "'")
	}
	return fmt.Sprintf(`"%s"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text))
}
