package lang

import (
	"fmt"
	"reflect"
)

// structBlock is the block that a connector's config struct describes.
func structBlock(name string, t reflect.Type) *Block {
	b := &Block{Name: name}
	for _, f := range fieldsOf(t) {
		switch {
		case f.label:
			b.Labels, b.Example = append(b.Labels, f.name), f.example
		case f.block:
			bt, many := f.blockType()
			in := structBlock(f.name, bt)
			in.Doc, in.Many, in.Required = f.doc, many, f.required
			b.Blocks = append(b.Blocks, in)
		default:
			b.Fields = append(b.Fields, f.field())
		}
	}
	return b
}

// field is a setting as docs and editors see it.
func (f field) field() Field {
	out := Field{Name: f.name, Words: f.oneof, Required: f.required, Doc: f.doc, Example: f.example}
	if f.hasLeast {
		out.Least = least(f.least)
	}
	switch f.typ {
	case typeSecret:
		out.Form = FormSecret
	case typeSize:
		out.Form = FormSize
	case typeRate:
		out.Form = FormRate
	case typeDuration:
		out.Form = FormDuration
	default:
		switch f.typ.Kind() {
		case reflect.String:
			out.Form = FormText
			if f.name == "path" {
				out.Form = FormPath
			}
			if len(f.oneof) > 0 {
				out.Form = FormWord
			}
		case reflect.Bool:
			out.Form = FormBool
		case reflect.Int, reflect.Int64:
			out.Form = FormInteger
		case reflect.Float64:
			out.Form = FormNumber
		default:
			out.Form = FormTexts
			if len(f.oneof) > 0 {
				out.Form = FormWords
			}
		}
	}
	switch {
	case f.def == "":
	case out.Form == FormText || out.Form == FormPath || out.Form == FormSize || out.Form == FormRate || out.Form == FormDuration:
		out.Default = fmt.Sprintf("`%q`", f.def)
	case out.Form == FormInteger:
		out.Default = f.def
	default:
		out.Default = "`" + f.def + "`"
	}
	return out
}
