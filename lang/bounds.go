package lang

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// maxValue bounds a value of a spec, in bytes and elements: local values can
// double each other, and a text can be put for each letter of a text.
const maxValue = 1 << 20

// size counts the bytes of the texts and the elements of a value.
func size(v cty.Value) int {
	n := 0
	_ = cty.Walk(v, func(_ cty.Path, e cty.Value) (bool, error) {
		n++
		if e.Type() == cty.String && e.IsKnown() && !e.IsNull() {
			n += len(e.AsString())
		}
		return n <= maxValue, nil
	})
	return n
}

// bounded refuses a call whose result would be too large, before it is made.
func bounded(f function.Function, result func(args []cty.Value) int) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(),
		Type: f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if n := result(args); n > maxValue {
				return cty.NilVal, fmt.Errorf("the result would be larger than a million bytes")
			}
			return f.Call(args)
		},
	})
}

// replaced is the length of replace's result. A pattern between slashes is a
// regular expression, which can match everywhere.
func replaced(args []cty.Value) int {
	s, old, with := args[0].AsString(), args[1].AsString(), args[2].AsString()
	n := strings.Count(s, old)
	if len(old) > 1 && strings.HasPrefix(old, "/") && strings.HasSuffix(old, "/") {
		n = len(s) + 1
	}
	if n > 0 && len(with) > maxValue/n {
		return maxValue + 1
	}
	return len(s) + n*len(with)
}

// wide is a width or precision of format that makes a text of any length.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{5}`)

// formatted is at least the length of what format adds by widths.
func formatted(args []cty.Value) int {
	if wide.MatchString(args[0].AsString()) {
		return maxValue + 1
	}
	return 0
}
