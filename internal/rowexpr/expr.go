// Package rowexpr reads the expressions that pick rows and compute columns,
// evaluates them column-wise with SQL's three-valued logic, and prints them as SQL.
//
// The syntax is expr-lang's, which is used as a parser only. The values are
// SQL's: any operand that is NULL makes a comparison unknown, decimals are
// exact, and what overflows, divides by zero or does not convert makes a bad
// row instead of a wrong value.
//
// and, or, ?: and ?? are lazy, left to right: a row whose left side decides is
// never evaluated on the right, so "n != 0 and 1/n > 2" has no bad rows.
package rowexpr

import (
	"penstock/internal/diag"
	"penstock/internal/schema"
)

// Problem is a fault of an expression; From and To are byte offsets into the
// source text. Fix replaces From..To; "" means there is none.
type Problem struct {
	Code     diag.Code
	Summary  string // one line, no full stop
	Detail   string // why, and what to write: whole sentences
	From, To int
	Fix      string
}

// Expr is a checked expression. It does not change and may be shared.
type Expr struct {
	root     *node
	columns  []string // read, in the catalog's order
	from, to int      // bytes of the whole, without blanks around it
}

// Compile reads and checks an expression over the columns of a table. Names
// match exactly, else without regard to case when one column fits. All problems
// are returned; with any, the expression is nil.
func Compile(src string, columns []schema.Column) (*Expr, []Problem) {
	s, problems := read(src, columns)
	if len(problems) > 0 {
		return nil, problems
	}
	c := &checker{source: s, columns: columns}
	root := c.check(s.tree)
	if root != nil && root.typ.Kind == schema.Invalid {
		c.problem(s.tree, diag.RowNoType, "Expression is always NULL",
			"nil has no type of its own; write int(nil), float(nil) or string(nil) to say which NULL is meant.")
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	root.settle()
	e := &Expr{root: root}
	e.from, e.to = s.span(s.tree)
	read := map[string]bool{}
	root.columns(read)
	for i := range columns {
		if read[columns[i].Name] {
			e.columns = append(e.columns, columns[i].Name)
		}
	}
	return e, nil
}

// columns adds the columns that n reads to read.
func (n *node) columns(read map[string]bool) {
	if n.kind == kColumn {
		read[n.name] = true
	}
	for _, a := range n.args {
		a.columns(read)
	}
}

// CompileFilter is Compile for an expression that must be a condition.
func CompileFilter(src string, columns []schema.Column) (*Expr, []Problem) {
	e, problems := Compile(src, columns)
	if e == nil || e.Type().Kind == schema.Bool {
		return e, problems
	}
	return nil, []Problem{{Code: diag.RowNotCondition, Summary: "Filter is not a condition",
		Detail: "This yields " + kindName(e.Type()) + "; compare it with something.", From: e.from, To: e.to}}
}

// Type is the type of the values. A decimal that may need more than 38 digits
// has no declared precision.
func (e *Expr) Type() schema.Type { return e.root.typ }

// Nullable reports whether the value of a row may be NULL.
func (e *Expr) Nullable() bool { return e.root.null }

// Columns are the source columns read, in the catalog's order and spelling.
func (e *Expr) Columns() []string { return e.columns }
