package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/secret"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Where values that come from outside of any file are said to stand.
const (
	commandLine = "(command line)"
	environment = "(environment)"
)

// assigned is a value given to a variable from outside of the spec.
type assigned struct {
	text string     // from the command line or the environment
	expr *cty.Value // from a file
	at   hcl.Range
}

// assign gives variables their values: the command line beats the files, a
// later file an earlier one, files the environment, and that the default.
func (r *reader) assign(o Options, spec *Spec) {
	values := map[string]assigned{}
	r.fromEnvironment(o, values)
	for _, f := range o.VarFiles {
		r.fromFile(f, o, values)
	}
	r.fromCommandLine(o, values)
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		v := r.vars[name]
		a, given := values[name]
		if v.sensitive {
			spec.Sensitive[name] = r.sensitive(v, a, given, o)
			// What was read anyway must not show, whoever prints it.
			if given && a.expr != nil {
				if text, ok := asString(*a.expr); ok {
					secret.New(text)
				}
			} else if given {
				secret.New(a.text)
			}
			continue
		}
		if !given {
			continue
		}
		val, ok := v.fit(a)
		if !ok {
			v.failed = true
			r.diags.Errorf(diag.BadVariableValue, a.at, fmt.Sprintf("Value does not fit variable %q", name), "Its type is %s.", typeexpr.TypeString(v.typ)).
				Related = []diag.Related{{Message: "declared here", Range: v.at}}
			continue
		}
		v.value = val
	}
}

// sensitive resolves a sensitive variable when it is asked for, and not before.
func (r *reader) sensitive(v *variable, a assigned, given bool, o Options) func() (string, bool) {
	return func() (string, bool) {
		switch {
		case given && a.expr != nil:
			return asString(*a.expr)
		case given && a.at.Filename == commandLine:
			return a.text, true
		case o.LookupEnv != nil:
			return o.LookupEnv("PENSTOCK_VAR_" + v.name)
		}
		return "", false
	}
}

// fit turns a value from outside into the variable's type.
func (v *variable) fit(a assigned) (cty.Value, bool) {
	if a.expr != nil {
		return conform(*a.expr, v.typ)
	}
	switch v.typ {
	case cty.String, cty.DynamicPseudoType:
		return cty.StringVal(a.text), true
	case cty.Number:
		if !plainNumber.MatchString(a.text) {
			return cty.NilVal, false
		}
		n, err := cty.ParseNumberVal(a.text)
		return n, err == nil
	case cty.Bool:
		return cty.BoolVal(a.text == "true"), a.text == "true" || a.text == "false"
	}
	e, diags := hclsyntax.ParseExpression([]byte(a.text), "", hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	val, diags := e.Value(nil)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	return conform(val, v.typ)
}

func (r *reader) fromEnvironment(o Options, values map[string]assigned) {
	if o.LookupEnv == nil {
		return
	}
	var shown strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		if r.vars[name].sensitive { // looked up when it is needed
			continue
		}
		if text, ok := o.LookupEnv("PENSTOCK_VAR_" + name); ok {
			values[name] = assigned{text: text, at: show(&shown, environment, "PENSTOCK_VAR_"+name, "")}
		}
	}
	r.keep(environment, []byte(shown.String()))
}

func (r *reader) fromCommandLine(o Options, values map[string]assigned) {
	var shown strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o.Vars)) {
		at := show(&shown, commandLine, name, "--var ")
		if v := r.vars[name]; v == nil {
			r.undeclaredAssignment(&r.diags, diag.Error, name, at)
			continue
		}
		values[name] = assigned{text: o.Vars[name], at: at}
	}
	r.keep(commandLine, []byte(shown.String()))
}

// show writes a line that stands for a value from outside, never the value.
func show(b *strings.Builder, file, name, before string) hcl.Range {
	line, at := strings.Count(b.String(), "\n")+1, b.Len()+len(before)
	b.WriteString(before + name + "=...\n")
	return hcl.Range{Filename: file, Start: hcl.Pos{Line: line, Column: len(before) + 1, Byte: at},
		End: hcl.Pos{Line: line, Column: len(before) + len(name) + 1, Byte: at + len(name)}}
}

func (r *reader) undeclaredAssignment(l *diag.List, s diag.Severity, name string, at hcl.Range) {
	add := l.Errorf
	if s == diag.Warning {
		add = l.Warnf
	}
	d := add(diag.UndeclaredAssignment, at, fmt.Sprintf("No variable %q in the spec", name), "%s", "A value is given for a variable that no variable block declares.")
	if near := nearest(name, slices.Sorted(maps.Keys(r.vars))); near != "" {
		d.Detail += fmt.Sprintf(" Did you mean %q?", near)
	}
}

// fromFile reads a file of name = value, in HCL or YAML by its name.
func (r *reader) fromFile(path string, o Options, values map[string]assigned) {
	src, err := o.readFile(path)
	if err != nil {
		r.keep(path, nil)
		r.diags.Errorf(diag.CannotRead, hcl.Range{Filename: path, Start: hcl.InitialPos, End: hcl.InitialPos}, "Variable file can't be read", "%s.", capital(err.Error()))
		return
	}
	r.keep(path, src)
	r.hideValues(path)
	body, l := parse(path, src)
	r.diags = append(r.diags, l...)
	if body == nil || l.HasErrors() {
		return
	}
	for _, w := range names(body) {
		if _, ok := body.(*hclsyntax.Body); ok && w.block {
			r.diags.Errorf(diag.BlockOrSetting, w.at, fmt.Sprintf("%q is a block", w.name), "A variable file holds lines of `name = value`.")
			return
		}
	}
	attrs, hd := body.JustAttributes()
	r.fromHCL(hd)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		v := r.vars[name]
		if v == nil {
			r.undeclaredAssignment(&r.diags, diag.Warning, name, a.NameRange)
			continue
		}
		at := r.valueRange(a.Expr)
		if v.sensitive {
			r.mask(at)
		}
		if !r.allowed(a.Expr, noScope) {
			continue
		}
		val, ok := r.value(a.Expr, &hcl.EvalContext{Functions: functions})
		if ok {
			values[name] = assigned{expr: &val, at: at}
		}
	}
}
