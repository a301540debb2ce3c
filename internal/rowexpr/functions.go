package rowexpr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"penstock/internal/diag"
	"penstock/internal/schema"
)

const functionNames = "upper, lower, trim, len, abs, round, int, float and string"

// functions are the names that may be called, each with what it takes.
var functions = map[string]string{
	"upper": "text", "lower": "text", "trim": "text", "len": "text or bytes",
	"abs": "a number", "round": "a number",
	"int": "a number or text", "float": "a number or text", "string": "any value but bytes",
}

func isFunction(name string) bool { return functions[name] != "" }

// instead says what to write for a function that other languages have.
var instead = map[string]string{
	"now":   "A result must depend on the row alone; give a time as a variable of the spec: \"${var.since}\".",
	"ucase": "upper", "lcase": "lower", "length": "len", "char_length": "len", "ltrim": "trim", "rtrim": "trim",
	"concat":    "Texts are joined with +.",
	"coalesce":  "coalesce(a, b) is written a ?? b.",
	"nvl":       "nvl(a, b) is written a ?? b.",
	"ifnull":    "ifnull(a, b) is written a ?? b.",
	"isnull":    "isnull(x) is written x == nil.",
	"substr":    "substr(s, 1, 3) is written s[0:3].",
	"substring": "substring(s, 1, 3) is written s[0:3].",
	"left":      "left(s, 3) is written s[0:3].",
	"right":     "right(s, 3) is written s[-3:].",
	"decode":    "decode is written a == 1 ? b : c.",
	"iff":       "iff(a, b, c) is written a ? b : c.",
	"nullif":    "nullif(a, b) is written a == b ? nil : a.",
	"mod":       "mod(a, b) is written a % b.",
	"cast":      "Values are converted with int(), float() and string().",
	"to_char":   "string", "to_number": "float", "str": "string",
	"date":     "A text literal that is compared with a date is read as one: created >= \"2024-01-31\".",
	"to_date":  "A text literal that is compared with a date is read as one: created >= \"2024-01-31\".",
	"contains": "contains(s, \"A\") is written s matches \"A\".",
}

// call checks a function, its one argument and its type.
func (c *checker) call(n ast.Node, name string, args []ast.Node) *node {
	if !isFunction(name) {
		return c.unknownFunction(n, name)
	}
	if len(args) != 1 {
		c.problem(n, diag.RowFunction, fmt.Sprintf("%s takes one argument", name), fmt.Sprintf("It is given %d.", len(args)))
		return nil
	}
	x := c.check(args[0])
	if x == nil {
		return nil
	}
	t, ok := resultType(name, x.typ)
	if !ok {
		detail := fmt.Sprintf("%s takes %s, and this is %s.", name, functions[name], kindName(x.typ))
		if x.typ.IsNumber() && functions[name] == "text" {
			detail += fmt.Sprintf(" Write %s(string(...)).", name)
		}
		return c.operand(args[0], detail)
	}
	if isNil(x) {
		return &node{kind: kConst, typ: t, null: true, lit: literal{null: true}, text: name + "(nil)"}
	}
	return &node{kind: kCall, fn: name, typ: t, null: x.null, args: []*node{x}}
}

// resultType is the type that a function makes of a type.
func resultType(name string, t schema.Type) (schema.Type, bool) {
	switch name {
	case "upper", "lower", "trim":
		return schema.Type{Kind: schema.Text, Length: t.Length}, t.Kind == schema.Text
	case "len":
		return schema.Of(schema.Int64), t.Kind == schema.Text || t.Kind == schema.Bytes
	case "abs", "round":
		switch {
		case t.IsInteger():
			t = schema.Of(schema.Int64)
		case name == "round" && t.Kind == schema.Decimal && !wide(t):
			t = limited(t.Precision-t.Scale+min(1, t.Scale), 0)
			t.Precision = max(1, t.Precision)
		case wide(t):
			t = schema.Of(schema.Decimal)
		}
		return t, t.IsNumber()
	case "int":
		return schema.Of(schema.Int64), t.IsNumber() || t.Kind == schema.Text || t.Kind == schema.Invalid
	case "float":
		return schema.Of(schema.Float64), t.IsNumber() || t.Kind == schema.Text || t.Kind == schema.Invalid
	}
	if t.Kind == schema.Invalid {
		return schema.Type{Kind: schema.Text, Length: 1}, true
	}
	return schema.Type{Kind: schema.Text, Length: textLength(t)}, t.Kind != schema.Bytes
}

func (c *checker) unknownFunction(n ast.Node, name string) *node {
	code, summary := diag.RowFunction, fmt.Sprintf("Unknown function %q", name)
	detail := "The functions are " + functionNames + "."
	word := strings.ToLower(name)
	from, to := c.bytes(n.Location())
	fix := ""
	switch hint := instead[word]; {
	case loops[name]:
		code, summary = diag.RowNotAllowed, "Not allowed in a row expression"
		detail = "Expressions have no loops and closures: they see one row."
	case word == "now":
		code, summary, detail = diag.RowNotAllowed, "Not allowed in a row expression", hint
	case isFunction(word):
		fix, detail = word, fmt.Sprintf("It is written %s.", word)
	case isFunction(hint):
		fix, detail = hint, fmt.Sprintf("It is written %s.", hint)
	case hint != "":
		detail = hint
	default:
		if near := diag.Nearest(word, slices.Collect(maps.Keys(functions))); len(near) > 0 {
			fix, detail = near[0], fmt.Sprintf("Did you mean %s?", near[0])
		}
	}
	c.problemAt(from, to, code, summary, detail).Fix = fix
	return nil
}

// loops are the functions over collections that the parser reads by itself.
var loops = map[string]bool{
	"all": true, "none": true, "any": true, "one": true, "filter": true, "map": true, "count": true, "sum": true, "find": true,
	"findIndex": true, "findLast": true, "findLastIndex": true, "groupBy": true, "sortBy": true, "reduce": true,
}
