package lang

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"penstock/internal/diag"
	"penstock/internal/units"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	yaml "go.yaml.in/yaml/v4"
)

// The readers below take one setting each. They convert nothing: a number in
// quotes is a text, and a text is no number. Where a value is not what is
// wanted, the result is not set and the fault has been reported.

// string is the text that v must be.
func (r *reader) string(e hcl.Expression, v cty.Value, name string) (string, bool) {
	if v.IsNull() {
		return "", r.null(e, name)
	}
	if v.Type() != cty.String {
		d := r.wrongType(e, v, name, "a text")
		if d != nil && (v.Type() == cty.Number || v.Type() == cty.Bool) {
			d.Detail += " Put it in quotes."
			if len(e.Variables()) == 0 {
				at := r.valueRange(e)
				d.Fixes = []diag.Edit{{Title: "put it in quotes", Range: at, NewText: `"` + r.covered(at) + `"`}}
			}
		}
		return "", false
	}
	return v.AsString(), true
}

// covered is the bytes of a range. An expression that HCL read past an error
// may end before it begins: it covers nothing.
func (r *reader) covered(at hcl.Range) string {
	if s := r.sources[at.Filename]; s != nil && at.Start.Byte <= at.End.Byte && at.End.Byte <= len(s.buf) {
		return string(s.buf[at.Start.Byte:at.End.Byte])
	}
	return ""
}

// null reports a null; it is always false.
func (r *reader) null(e hcl.Expression, name string) bool {
	at := r.valueRange(e)
	if y, ok := e.(*yamlExpr); ok && at.Empty() { // `filter:` with nothing behind
		at = y.f.rng(at.Start.Byte, at.Start.Byte)
	}
	r.diags.Errorf(diag.NullValue, at, fmt.Sprintf("%q has no value", name), "Leave the setting out to get its default, or give it a value.")
	return false
}

// wrongType reports a value of another type than wanted.
func (r *reader) wrongType(e hcl.Expression, v cty.Value, name, want string) *diag.Diagnostic {
	if y, ok := e.(*yamlExpr); ok && y.f.resolve(y.n).Kind == yaml.MappingNode {
		at := y.f.firstLine(y.f.resolve(y.n))
		return r.diags.Errorf(diag.BlockOrSetting, at, fmt.Sprintf("%q is a setting", name), "It takes %s, not a mapping.", want)
	}
	return r.diags.Errorf(diag.WrongType, r.valueRange(e), fmt.Sprintf("%q takes %s", name, want), "This is %s.", typeName(v.Type()))
}

func typeName(t cty.Type) string {
	switch {
	case t == cty.String:
		return "a text"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "true or false"
	case t.IsListType(), t.IsSetType(), t.IsTupleType():
		return "a list"
	case t.IsMapType(), t.IsObjectType():
		return "a map"
	}
	return t.FriendlyName()
}

// text reads a text that keeps where its bytes came from.
func (r *reader) text(a *hcl.Attribute) Text {
	v, ok := r.eval(a.Expr, anyScope)
	if ok {
		if s, ok := r.string(a.Expr, v, a.Name); ok {
			return r.textOf(a.Expr, s, r.context(a.Expr))
		}
	}
	return Text{Value: Value[string]{Range: r.valueRange(a.Expr)}}
}

func (r *reader) str(a *hcl.Attribute) Value[string] { return r.text(a).Value }

// enum reads one of several words.
func (r *reader) enum(a *hcl.Attribute, words ...string) Value[string] {
	t := r.text(a)
	if t.Set && !r.word(t, a.Name, words) {
		t.Set, t.V = false, ""
	}
	return t.Value
}

func (r *reader) word(t Text, name string, words []string) bool {
	if slices.Contains(words, t.V) {
		return true
	}
	d := r.diags.Errorf(diag.NotOneOf, t.Range, fmt.Sprintf("%q is no value of %q", t.V, name), "Write %s.", orList(quoteAll(words)))
	if near := nearest(t.V, words); near != "" {
		d.Detail += fmt.Sprintf(" Did you mean %q?", near)
		d.Fixes = []diag.Edit{{Title: "write " + near, Range: t.Range, NewText: near}}
	}
	return false
}

// integer reads a whole number of at least least.
func (r *reader) integer(a *hcl.Attribute, least int64) Value[int64] {
	out := Value[int64]{Range: r.valueRange(a.Expr)}
	v, ok := r.evalAs(a.Expr, "number")
	if !ok {
		return out
	}
	if v.IsNull() {
		r.null(a.Expr, a.Name)
		return out
	}
	if v.Type() != cty.Number {
		r.notNumber(a, v, "a whole number")
		return out
	}
	n, acc := v.AsBigFloat().Int64()
	switch {
	case acc != big.Exact:
		r.diags.Errorf(diag.WrongType, out.Range, fmt.Sprintf("%q takes a whole number", a.Name), "%s is not whole, or too large.", v.AsBigFloat().Text('g', 20))
	case n < least:
		r.diags.Errorf(diag.OutOfBounds, out.Range, fmt.Sprintf("%q is too small", a.Name), "It must be at least %d.", least)
	default:
		out.V, out.Set = n, true
	}
	return out
}

func (r *reader) notNumber(a *hcl.Attribute, v cty.Value, want string) {
	d := r.wrongType(a.Expr, v, a.Name, want)
	if v.Type() == cty.String && r.textVariable(a.Expr, d, "number") {
		return
	}
	if v.Type() == cty.String && plainNumber.MatchString(v.AsString()) {
		d.Detail += " Write it without quotes."
		if len(a.Expr.Variables()) == 0 {
			d.Fixes = []diag.Edit{{Title: "remove the quotes", Range: a.Expr.Range(), NewText: v.AsString()}}
			if y, ok := a.Expr.(*yamlExpr); ok {
				d.Fixes[0].Range = y.f.rangeOf(y.f.resolve(y.n))
			}
		}
	}
}

func (r *reader) count(a *hcl.Attribute, least int) Value[int] {
	v := r.integer(a, int64(least))
	if v.V > 1<<31-1 {
		r.diags.Errorf(diag.OutOfBounds, v.Range, fmt.Sprintf("%q is too large", a.Name), "It must be at most %d.", 1<<31-1)
		v.Set, v.V = false, 0
	}
	return Value[int]{V: int(v.V), Range: v.Range, Set: v.Set}
}

// float reads a number.
func (r *reader) float(a *hcl.Attribute) Value[float64] {
	out := Value[float64]{Range: r.valueRange(a.Expr)}
	v, ok := r.evalAs(a.Expr, "number")
	switch {
	case !ok:
	case v.IsNull():
		r.null(a.Expr, a.Name)
	case v.Type() != cty.Number:
		r.notNumber(a, v, "a number")
	default:
		out.V, _ = v.AsBigFloat().Float64()
		out.Set = true
	}
	return out
}

// boolean reads true or false.
func (r *reader) boolean(a *hcl.Attribute) Value[bool] {
	out := Value[bool]{Range: r.valueRange(a.Expr)}
	v, ok := r.evalAs(a.Expr, "bool")
	switch {
	case !ok:
	case v.IsNull():
		r.null(a.Expr, a.Name)
	case v.Type() != cty.Bool:
		d := r.wrongType(a.Expr, v, a.Name, "true or false")
		if v.Type() == cty.String && !r.textVariable(a.Expr, d, "bool") {
			d.Detail += " Write true or false, without quotes."
		}
	default:
		out.V, out.Set = v.True(), true
	}
	return out
}

// withUnit reads a text with a unit by one of the parsers of package units.
func withUnit[T ~int64](r *reader, a *hcl.Attribute, noun string, parse func(string) (T, error)) Value[T] {
	out := Value[T]{Range: r.valueRange(a.Expr)}
	v, ok := r.eval(a.Expr, anyScope)
	switch {
	case !ok:
	case v.IsNull():
		r.null(a.Expr, a.Name)
	case v.Type() != cty.String:
		if d := r.wrongType(a.Expr, v, a.Name, noun); v.Type() == cty.Number {
			d.Detail += " Write it in quotes and with its unit."
		}
	default:
		n, err := parse(v.AsString())
		if err != nil {
			r.diags.Errorf(diag.BadUnit, out.Range, fmt.Sprintf("%q takes %s", a.Name, noun), "%s.", capital(err.Error()))
			break
		}
		out.V, out.Set = n, true
	}
	return out
}

func (r *reader) size(a *hcl.Attribute) Value[units.Size] {
	v := withUnit(r, a, `a size such as "8MiB"`, units.ParseSize)
	if v.Set && v.V == 0 {
		r.diags.Errorf(diag.OutOfBounds, v.Range, fmt.Sprintf("%q is too small", a.Name), "It must be at least 1B.")
		v.Set = false
	}
	return v
}

func (r *reader) rate(a *hcl.Attribute) Value[units.Rate] {
	return withUnit(r, a, `a rate such as "40MiB/s"`, units.ParseRate)
}

func (r *reader) duration(a *hcl.Attribute) Value[time.Duration] {
	return withUnit(r, a, `a duration such as "60s"`, units.ParseDuration)
}
