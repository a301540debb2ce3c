package lang

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions are what expressions may call. All of them are pure: a plan is a
// function of the spec and the catalog, so there is no clock, no file and no
// environment among them.
var functions = map[string]function.Function{
	"coalesce":   stdlib.CoalesceFunc,
	"concat":     stdlib.ConcatFunc,
	"contains":   stdlib.ContainsFunc,
	"format":     bounded(stdlib.FormatFunc, formatted),
	"formatlist": bounded(stdlib.FormatListFunc, formatted),
	"join":       stdlib.JoinFunc,
	"keys":       stdlib.KeysFunc,
	"length":     lengthFunc,
	"lower":      stdlib.LowerFunc,
	"merge":      stdlib.MergeFunc,
	"replace":    bounded(stdlib.ReplaceFunc, replaced),
	"split":      stdlib.SplitFunc,
	"substr":     stdlib.SubstrFunc,
	"tolist":     stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
	"tonumber":   stdlib.MakeToFunc(cty.Number),
	"toset":      stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
	"tostring":   stdlib.MakeToFunc(cty.String),
	"trimspace":  stdlib.TrimSpaceFunc,
	"upper":      stdlib.UpperFunc,
	"values":     stdlib.ValuesFunc,
}

// secretFunctions stand for a secret; they are never called.
var secretFunctions = []string{"env", "file"}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

// lengthFunc counts the characters of a text or the elements of a collection.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
	Type: func(args []cty.Value) (cty.Type, error) {
		if t := args[0].Type(); t != cty.String && t != cty.DynamicPseudoType && !t.IsCollectionType() && !t.IsTupleType() && !t.IsObjectType() {
			return cty.DynamicPseudoType, function.NewArgErrorf(0, "length takes a text, a list or a map")
		}
		return cty.Number, nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v := args[0]
		switch {
		case v.Type() == cty.String:
			return stdlib.Strlen(v)
		case v.Type().IsObjectType():
			return cty.NumberIntVal(int64(len(v.Type().AttributeTypes()))), nil
		}
		return v.Length(), nil
	},
})

// conform gives v the type t without changing what its values are: a list may
// stand for a set, a number never for a text.
func conform(v cty.Value, t cty.Type) (cty.Value, bool) {
	if !conforms(v, t) {
		return v, false
	}
	out, err := convert.Convert(v, t)
	return out, err == nil
}

func conforms(v cty.Value, t cty.Type) bool {
	vt := v.Type()
	switch {
	case v.IsNull() || !v.IsKnown():
		return false
	case t == cty.DynamicPseudoType:
		return true
	case t.IsPrimitiveType():
		return vt == t
	case t.IsListType(), t.IsSetType():
		if !vt.IsListType() && !vt.IsSetType() && !vt.IsTupleType() {
			return false
		}
		return allConform(v, func(cty.Value) cty.Type { return t.ElementType() })
	case t.IsMapType():
		if !vt.IsMapType() && !vt.IsObjectType() {
			return false
		}
		return allConform(v, func(cty.Value) cty.Type { return t.ElementType() })
	case t.IsTupleType():
		if !vt.IsTupleType() || vt.Length() != t.Length() {
			return false
		}
		return allConform(v, func(k cty.Value) cty.Type {
			i, _ := k.AsBigFloat().Int64()
			return t.TupleElementType(int(i))
		})
	case t.IsObjectType():
		if !vt.IsMapType() && !vt.IsObjectType() {
			return false
		}
		n := 0
		ok := allConform(v, func(k cty.Value) cty.Type {
			if !t.HasAttribute(k.AsString()) {
				return cty.NilType
			}
			n++
			return t.AttributeType(k.AsString())
		})
		return ok && n == len(t.AttributeTypes())
	}
	return false
}

func allConform(v cty.Value, elem func(key cty.Value) cty.Type) bool {
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		t := elem(k)
		if t == cty.NilType || !conforms(e, t) {
			return false
		}
	}
	return true
}
