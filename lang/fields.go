package lang

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Connectors know nothing of this package: the tags of their config structs
// say what may be written.
//
//	Host   string            `spec:"host,required" doc:"..."`
//	Format string            `spec:"format" oneof:"json debezium" default:"json"`
//	Port   int               `spec:"port" min:"1" default:"1521"`
//	Pass   secret.Ref        `spec:"password"`
//	S3     Staging           `spec:"s3,block"`      // one block
//	Tables []Table           `spec:"table,block"`   // a block for each, with a label if Table has one:
//	Name   string            `spec:"name,label"`
//
// doc is what docs and editors say of a setting, example is what a draft of a
// spec begins with.
//
// Types: string, bool, int, int64, float64, []string, secret.Ref, units.Size,
// units.Rate, time.Duration, structs and slices of structs. Nothing is
// converted. A fault in a tag is a programmer's mistake and panics.

// field is a setting as a struct's tag describes it.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	required bool
	block    bool
	label    bool
	oneof    []string
	def      string
	doc      string
	example  string
	least    int64
	hasLeast bool
}

// fieldsOf lists the settings of a struct, embedded structs included.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, ok := sf.Tag.Lookup("spec")
		if !ok {
			if sf.Anonymous && sf.Type.Kind() == reflect.Struct {
				for _, f := range fieldsOf(sf.Type) {
					f.index = append([]int{i}, f.index...)
					out = append(out, f)
				}
			}
			continue
		}
		if !sf.IsExported() {
			panic(fmt.Sprintf("lang: field %s.%s has a spec tag and is not exported", t, sf.Name))
		}
		name, flags, _ := strings.Cut(tag, ",")
		f := field{name: name, index: []int{i}, typ: sf.Type, def: sf.Tag.Get("default"), doc: sf.Tag.Get("doc"), example: sf.Tag.Get("example")}
		for _, flag := range strings.Split(flags, ",") {
			switch flag {
			case "":
			case "required":
				f.required = true
			case "block":
				f.block = true
			case "label":
				f.label = true
			default:
				panic(fmt.Sprintf("lang: field %s.%s: unknown flag %q in its spec tag", t, sf.Name, flag))
			}
		}
		if f.label && f.name == "" {
			f.name = "name"
		}
		f.oneof = strings.Fields(sf.Tag.Get("oneof"))
		if m, ok := sf.Tag.Lookup("min"); ok {
			n, err := strconv.ParseInt(m, 10, 64)
			if err != nil {
				panic(fmt.Sprintf("lang: field %s.%s: min:%q is no number", t, sf.Name, m))
			}
			f.least, f.hasLeast = n, true
		}
		out = append(out, f)
	}
	return out
}

func structOf(config any) reflect.Type {
	t := reflect.TypeOf(config)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// blockType is the struct inside a block field, and whether it may repeat.
func (f field) blockType() (t reflect.Type, many bool) {
	if f.typ.Kind() == reflect.Slice {
		return f.typ.Elem(), true
	}
	return f.typ, false
}

// shapeOf is the shape that a config struct describes. It is made once for each:
// an editor's server reads a spec at every key, and reflection was a quarter of
// that. Nobody changes a shape that it gave.
func shapeOf(noun string, config any) *shape {
	key := shapeKey{noun, structOf(config)}
	if s, ok := shapes.Load(key); ok {
		return s.(*shape)
	}
	s, _ := shapes.LoadOrStore(key, structShape(key.noun, key.config))
	return s.(*shape)
}

// shapes are those of shapeOf, by shapeKey.
var shapes sync.Map

type shapeKey struct {
	noun   string
	config reflect.Type
}

func structShape(noun string, t reflect.Type) *shape {
	return structBlock("", t).shape(noun, func(noun, block string) string { return noun + "'s " + block })
}
