package lang

import (
	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// scope is what the expressions of a spec can refer to, and where its bytes are.
type scope struct {
	sources map[string]*source
	masked  map[string][]byte // Spec.Files: what may be shown
	hidden  []hiddenText      // words of variable files

	root    *shape   // the language
	configs []*shape // the connectors' own settings, for "it belongs in"

	vars   map[string]*variable
	locals map[string]*local
	ctx    *hcl.EvalContext // nil until variables and locals are evaluated
}

// variable is a declared variable.
type variable struct {
	name      string
	at        hcl.Range
	typ       cty.Type // DynamicPseudoType where none is declared
	sensitive bool
	value     cty.Value // NilVal: it has none
	failed    bool      // reported; who uses it is silent
	missing   bool      // reported as having no value
}

// local is one entry of a locals block.
type local struct {
	name   string
	at     hcl.Range
	expr   hcl.Expression
	state  localState
	value  cty.Value
	failed bool
}

type localState uint8

const (
	unvisited localState = iota
	visiting
	visited
)

// evaluateLocals evaluates every local after those that it uses. A cycle is
// one diagnostic, and what uses a local that failed fails silently.
func (r *reader) evaluateLocals(order []*local) {
	var path []*local
	var visit func(l *local)
	visit = func(l *local) {
		l.state = visiting
		path = append(path, l)
		for _, t := range l.expr.Variables() {
			to := r.locals[second(t)]
			if t.RootName() != "local" || to == nil {
				continue
			}
			switch to.state {
			case unvisited:
				visit(to)
			case visiting:
				r.cycle(path, to)
			}
		}
		path = path[:len(path)-1]
		l.state = visited
		if l.failed {
			return
		}
		v, ok := r.eval(l.expr, anyScope)
		if ok && v.IsNull() {
			ok = r.null(l.expr, l.name)
		}
		l.value, l.failed = v, !ok
	}
	for _, l := range order {
		if l.state == unvisited {
			visit(l)
		}
	}
}

func (r *reader) cycle(path []*local, to *local) {
	for path[0] != to {
		path = path[1:]
	}
	names := ""
	known := false
	for _, l := range path {
		known = known || l.failed
		l.failed = true
		names += "local." + l.name + " -> "
	}
	if known {
		return
	}
	d := r.diags.Errorf(diag.LocalCycle, to.at, "Local values form a cycle", "%slocal.%s. None of them can be known before the others; give one a value of its own.", names, to.name)
	for _, l := range path[1:] {
		d.Related = append(d.Related, diag.Related{Message: "local." + l.name + " takes part", Range: l.at})
	}
}

// second is the name behind the root of a reference: x of var.x.
func second(t hcl.Traversal) string {
	if len(t) > 1 {
		switch s := t[1].(type) {
		case hcl.TraverseAttr:
			return s.Name
		case hcl.TraverseIndex:
			if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
				return s.Key.AsString()
			}
		}
	}
	return ""
}

// context gives the values that stand when variables and locals are known.
// Before that it holds only what e refers to: made anew with everything for
// each of many locals, it would cost their number squared.
func (s *scope) context(e hcl.Expression) *hcl.EvalContext {
	if s.ctx != nil {
		return s.ctx
	}
	vars, locals := map[string]*variable{}, map[string]*local{}
	for _, t := range e.Variables() {
		name := second(t)
		if v := s.vars[name]; v != nil && t.RootName() == "var" {
			vars[name] = v
		}
		if l := s.locals[name]; l != nil && t.RootName() == "local" {
			locals[name] = l
		}
	}
	return contextOf(vars, locals)
}

func contextOf(vars map[string]*variable, locals map[string]*local) *hcl.EvalContext {
	vv, lv := map[string]cty.Value{}, map[string]cty.Value{}
	for n, v := range vars {
		if v.value != cty.NilVal && !v.sensitive {
			vv[n] = v.value
		}
	}
	for n, l := range locals {
		if l.state == visited && !l.failed {
			lv[n] = l.value
		}
	}
	return &hcl.EvalContext{Functions: functions, Variables: map[string]cty.Value{"var": cty.ObjectVal(vv), "local": cty.ObjectVal(lv)}}
}
