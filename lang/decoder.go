package lang

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"penstock/internal/diag"
	"penstock/internal/secret"
	"penstock/internal/units"

	"github.com/hashicorp/hcl/v2"
)

// body is a connector's block, undecoded.
type body struct {
	r      *reader
	b      hcl.Body
	head   hcl.Range
	noun   string   // "source oracle"
	known  []string // settings in it that the language reads itself
	parent *shape
	under  *body // the same block in the pipeline's defaults: its settings count where this one has none
}

func (b *body) decode(config any) (*Decoded, diag.List) {
	d := &Decoded{ranges: map[string]hcl.Range{}, set: map[string]bool{}}
	v := reflect.ValueOf(config)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("lang: Decode wants a pointer to a struct, not %T", config))
	}
	if b == nil {
		return d, nil
	}
	d.ranges[""] = b.head
	x := &decoding{reader: &reader{scope: b.r.scope}, out: d}
	s := structShape(b.noun, v.Elem().Type())
	s.parent = b.parent
	if b.under != nil {
		x.body(x.content(b.under.b, b.under.head, s, b.under.known...), "", v.Elem())
	}
	x.body(x.content(b.b, b.head, s, b.known...), "", v.Elem())
	x.finish(v.Elem(), "", b.head, b.noun, false)
	return d, x.finished(b.head)
}

// Decoded remembers where each setting of a config struct was written.
type Decoded struct {
	ranges map[string]hcl.Range
	set    map[string]bool
}

// Range is the bytes of the setting at a path such as `host` or
// `table.big_table.rows`; a repeated block without a label is numbered from 0.
// Where it was not written, it is the header of the nearest block around it.
func (d *Decoded) Range(path string) hcl.Range {
	for {
		if r, ok := d.ranges[path]; ok || path == "" {
			return r
		}
		path = parentPath(path)
	}
}

// Set reports whether the setting at a path was written.
func (d *Decoded) Set(path string) bool { return d.set[path] }

func parentPath(path string) string {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)]
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// decoding is one run of Decode.
type decoding struct {
	*reader
	out *Decoded
}

// body reads a block's settings into a struct.
func (x *decoding) body(c content, path string, v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		p, fv := join(path, f.name), v.FieldByIndex(f.index)
		switch {
		case f.label:
		case f.block:
			x.blocks(c, f, p, fv)
		case c.attrs[f.name] != nil:
			a := c.attrs[f.name]
			x.out.ranges[p] = x.valueRange(a.Expr)
			x.out.set[p] = true
			x.setting(a, f, fv)
		}
	}
}

func (x *decoding) blocks(c content, f field, path string, v reflect.Value) {
	t, many := f.blockType()
	bs := c.shape.block(f.name)
	seen := map[string]*hcl.Block{}
	for i, b := range c.blocks(f.name) {
		at, p := x.header(b), path
		elem := reflect.New(t).Elem()
		if !many {
			elem = v
		}
		var labels []string
		for _, bf := range fieldsOf(t) {
			if bf.label && len(labels) < len(b.Labels) {
				label := b.Labels[len(labels)]
				elem.FieldByIndex(bf.index).SetString(label)
				labels = append(labels, label)
			}
		}
		switch {
		case len(labels) > 0:
			p = path + "." + strings.Join(labels, ".")
			if first := seen[p]; first != nil {
				d := x.diags.Errorf(diag.Duplicate, at, fmt.Sprintf("Duplicate %s %q", f.name, strings.Join(labels, " ")), "It is written twice. Merge the two blocks.")
				d.Related = []diag.Related{{Message: "the first one", Range: x.header(first)}}
				continue
			}
			seen[p] = b
		case many:
			p = path + "." + strconv.Itoa(i)
		}
		x.out.ranges[p], x.out.set[p], x.out.set[path] = at, true, true
		x.body(x.content(b.Body, at, bs.in), p, elem)
		if many {
			v.Set(reflect.Append(v, elem))
		}
	}
	if _, ok := x.out.ranges[path]; !ok && x.out.set[path] {
		x.out.ranges[path] = x.header(c.blocks(f.name)[0])
	}
}

var (
	typeSecret   = reflect.TypeFor[secret.Ref]()
	typeSize     = reflect.TypeFor[units.Size]()
	typeRate     = reflect.TypeFor[units.Rate]()
	typeDuration = reflect.TypeFor[time.Duration]()
)

// setting reads one attribute by its field's type.
func (x *decoding) setting(a *hcl.Attribute, f field, v reflect.Value) {
	switch f.typ {
	case typeSecret:
		put(v, x.secret(a))
		return
	case typeSize:
		put(v, x.size(a))
		return
	case typeRate:
		put(v, x.rate(a))
		return
	case typeDuration:
		put(v, x.duration(a))
		return
	}
	switch f.typ.Kind() {
	case reflect.String:
		t := x.text(a)
		if len(f.oneof) > 0 && t.Set {
			t.Set = x.word(t, f.name, f.oneof)
		}
		if t.Set && t.V == "" && f.required {
			x.diags.Errorf(diag.OutOfBounds, t.Range, fmt.Sprintf("%q is empty", f.name), "It is required: give it a value.")
		}
		x.plainPassword(t)
		if t.Set {
			v.SetString(t.V)
		}
	case reflect.Bool:
		put(v, x.boolean(a))
	case reflect.Int, reflect.Int64:
		least := int64(-1 << 63)
		if f.hasLeast {
			least = f.least
		}
		if n := x.integer(a, least); n.Set {
			if v.OverflowInt(n.V) {
				x.diags.Errorf(diag.OutOfBounds, n.Range, fmt.Sprintf("%q is too large", f.name), "It does not fit here.")
				return
			}
			v.SetInt(n.V)
		}
	case reflect.Float64:
		put(v, x.float(a))
	case reflect.Slice:
		if f.typ.Elem().Kind() == reflect.String {
			if len(f.oneof) > 0 {
				put(v, x.words(a, f.oneof...))
				return
			}
			if ts := x.texts(a); ts.Set {
				out := make([]string, len(ts.V))
				for i, t := range ts.V {
					out[i] = t.V
				}
				v.Set(reflect.ValueOf(out).Convert(f.typ))
				if f.required && len(out) == 0 {
					x.diags.Errorf(diag.OutOfBounds, ts.Range, fmt.Sprintf("%q is empty", f.name), "It is required: name at least one.")
				}
			}
			return
		}
		fallthrough
	default:
		panic(fmt.Sprintf("lang: setting %q has the type %s, which no spec can hold", f.name, f.typ))
	}
}

func put[T any](v reflect.Value, from Value[T]) {
	if from.Set {
		v.Set(reflect.ValueOf(from.V).Convert(v.Type()))
	}
}

// plainPassword refuses a password inside an address.
func (x *decoding) plainPassword(t Text) {
	if m := secretURL.FindStringSubmatchIndex(t.V); m != nil {
		at := t.Sub(m[2], m[3])
		x.mask(at)
		x.diags.Errorf(diag.PlainSecret, at, "Secret in plain text", "A password stands inside this address, for all to read who can read the spec. Use the settings for user and password, with env(\"NAME\") for the password.")
	}
}

// finish fills in defaults and reports what is required and missing. A block
// that is absent requires nothing of what would be in it.
func (x *decoding) finish(v reflect.Value, path string, head hcl.Range, noun string, absent bool) {
	for _, f := range fieldsOf(v.Type()) {
		p, fv := join(path, f.name), v.FieldByIndex(f.index)
		switch {
		case f.label:
		case f.required && !x.out.set[p] && !absent:
			what := "setting"
			if f.block {
				what = "block"
			}
			d := x.diags.Errorf(diag.MissingSetting, head, fmt.Sprintf("Missing %s %q", what, f.name), "%s needs it.", capital(noun))
			if len(f.oneof) > 0 {
				d.Detail += fmt.Sprintf(" It is %s.", orList(quoteAll(f.oneof)))
			}
		case f.block && fv.Kind() == reflect.Slice:
			for i := range fv.Len() {
				ep := join(p, elementName(fv.Index(i), i))
				x.finish(fv.Index(i), ep, x.out.Range(ep), noun+"'s "+f.name, false)
			}
		case f.block:
			x.finish(fv, p, x.out.Range(p), noun+"'s "+f.name, !x.out.set[p])
		case f.def != "" && !x.out.set[p]:
			setDefault(fv, f)
		}
	}
}

func elementName(v reflect.Value, i int) string {
	var labels []string
	for _, f := range fieldsOf(v.Type()) {
		if f.label {
			labels = append(labels, v.FieldByIndex(f.index).String())
		}
	}
	if len(labels) == 0 {
		return strconv.Itoa(i)
	}
	return strings.Join(labels, ".")
}
