package plan

import (
	"bytes"
	"encoding"
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// Encode writes a value as the canonical JSON that Marshal gives, a part at a
// time: encoding/json holds the whole of it twice before it writes the first
// byte, which for the plan of 20,000 tables is more than the plan itself. Each
// write ends behind a value, so that what looks through the writes sees every
// text whole.
func Encode(w io.Writer, v any) error {
	e := &encoder{w: w}
	if err := e.value(reflect.ValueOf(v), "", 0); err != nil {
		return err
	}
	e.b.WriteByte('\n')
	return e.flush(0)
}

type encoder struct {
	w    io.Writer
	b    bytes.Buffer // not yet written
	leaf bytes.Buffer
}

const (
	indent = "  "
	// taken is how deep structs and lists are taken apart: down to the tables of a
	// pipeline and the statements of a stage. Below, encoding/json does it.
	taken = 7
	// enough is what is written at once.
	enough = 64 << 10
)

func (e *encoder) flush(above int) error {
	if e.b.Len() <= above {
		return nil
	}
	_, err := e.w.Write(e.b.Bytes())
	e.b.Reset()
	return err
}

func (e *encoder) value(v reflect.Value, in string, depth int) error {
	for v.Kind() == reflect.Pointer && !v.IsNil() && !marshals(v.Type()) {
		v = v.Elem()
	}
	switch {
	case !v.IsValid() || depth >= taken || marshals(v.Type()):
		return e.whole(v, in)
	case v.Kind() == reflect.Struct:
		return e.object(v, in, depth)
	case v.Kind() == reflect.Slice && !v.IsNil() && v.Len() > 0 && v.Type().Elem().Kind() != reflect.Uint8:
		e.b.WriteString("[")
		for i := range v.Len() {
			e.next(i, in)
			if err := e.value(v.Index(i), in+indent, depth+1); err != nil {
				return err
			}
			if err := e.flush(enough); err != nil {
				return err
			}
		}
		e.b.WriteString("\n" + in + "]")
		return nil
	}
	return e.whole(v, in)
}

// next begins the i-th element of a list or an object.
func (e *encoder) next(i int, in string) {
	if i > 0 {
		e.b.WriteByte(',')
	}
	e.b.WriteString("\n" + in + indent)
}

// whole is a value as encoding/json writes it.
func (e *encoder) whole(v reflect.Value, in string) error {
	var x any
	if v.IsValid() {
		x = v.Interface()
	}
	e.leaf.Reset()
	enc := json.NewEncoder(&e.leaf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(in, indent)
	if err := enc.Encode(x); err != nil {
		return err
	}
	e.b.Write(bytes.TrimSuffix(e.leaf.Bytes(), []byte("\n")))
	return nil
}

func (e *encoder) object(v reflect.Value, in string, depth int) error {
	e.b.WriteByte('{')
	n := 0
	if err := e.fields(v, in, depth, &n); err != nil {
		return err
	}
	if n > 0 {
		e.b.WriteString("\n" + in)
	}
	e.b.WriteByte('}')
	return nil
}

// fields writes a struct's fields by their json tags, those of an embedded struct
// as its own. n counts them.
func (e *encoder) fields(v reflect.Value, in string, depth int, n *int) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && reflect.Indirect(v.Field(i)).Kind() == reflect.Struct:
			if err := e.fields(reflect.Indirect(v.Field(i)), in, depth, n); err != nil {
				return err
			}
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer: // to nothing
			continue
		case !f.IsExported() || name == "-":
			continue
		case strings.Contains(options, "omitempty") && empty(v.Field(i)), strings.Contains(options, "omitzero") && v.Field(i).IsZero():
			continue
		}
		if name == "" {
			name = f.Name
		}
		e.next(*n, in)
		*n++
		e.b.WriteString(`"` + name + `": `)
		if err := e.value(v.Field(i), in+indent, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// marshals reports whether a type writes itself, by itself or by its address.
func marshals(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler) || p.Implements(textMarshaler)
}
