package lang_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/internal/secret"
	"penstock/internal/units"
	"penstock/lang"

	"github.com/google/go-cmp/cmp"
)

// decoded is everything that a spec means, without where it is written.
type decoded struct {
	Spec    any
	Configs map[string]any
	Options map[string]any
}

// decodeAll loads a spec and decodes every connector's block in it, as the
// planner does: of a spec that could be read in part, none.
func decodeAll(spec *lang.Spec, l diag.List) (decoded, diag.List) {
	d := decoded{Spec: meaning(reflect.ValueOf(spec)), Configs: map[string]any{}, Options: map[string]any{}}
	l = append(l, decodeParts(spec, func(name string, config any) {
		if strings.Count(name, ".") == 1 {
			d.Configs[name] = config
		} else {
			d.Options[name] = config
		}
	})...)
	return d, l.Sorted()
}

// decodeParts decodes the settings of every endpoint, "role.name", and the
// connectors' blocks of every table, "pipeline.table.kind".
func decodeParts(spec *lang.Spec, found func(name string, config any)) (l diag.List) {
	if spec.Partial {
		return nil
	}
	for _, e := range spec.Endpoints {
		if configs[e.Kind.V] == nil {
			continue
		}
		c := configs[e.Kind.V]()
		_, dl := e.Decode(c)
		l = append(l, dl...)
		found(string(e.Role)+"."+e.Name.V, c)
	}
	for _, p := range spec.Pipelines {
		for _, t := range p.Tables {
			for k, o := range t.Options {
				c := tableOptions[k]()
				_, dl := o.Decode(c)
				l = append(l, dl...)
				found(p.Name.V+"."+t.Label.V+"."+k, c)
			}
		}
	}
	return l
}

// meaning copies a model into plain maps and lists, leaving out ranges, file
// contents and everything not exported. A template is what it gives for a table.
func meaning(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return meaning(v.Elem())
	case reflect.Struct:
		if t, ok := v.Interface().(lang.Template); ok {
			name, _ := t.Eval(schema.Name{Schema: "SC", Name: "TAB"})
			return map[string]any{"set": t.IsSet(), "for SC.TAB": name.V}
		}
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "Range" || f.Name == "DefRange" || f.Name == "Files" || f.Name == "Sensitive" || f.Name == "Path" || f.Name == "Dir" {
				continue
			}
			out[f.Name] = meaning(v.Field(i))
		}
		return out
	case reflect.Slice:
		out := []any{}
		for i := range v.Len() {
			out = append(out, meaning(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for _, k := range v.MapKeys() {
			out[k.String()] = meaning(v.MapIndex(k))
		}
		return out
	}
	return v.Interface()
}

func loadExample(t *testing.T, name string) (*lang.Spec, decoded) {
	t.Helper()
	spec, l := lang.Load(filepath.Join("..", "examples", strings.TrimSuffix(name, filepath.Ext(name)), name), lang.Options{Connectors: connectors})
	d, l := decodeAll(spec, l)
	for _, x := range l {
		t.Errorf("%s: %s:%s: %s: %s: %s", name, x.Subject, x.Code, x.Severity, x.Summary, x.Detail)
	}
	return spec, d
}

func TestExamplesMeanTheSameInBothSyntaxes(t *testing.T) {
	names, _ := filepath.Glob("../examples/*/*.hcl")
	if len(names) < 4 {
		t.Fatalf("got %d examples, want at least 4", len(names))
	}
	for _, n := range names {
		n = strings.TrimSuffix(filepath.Base(n), ".hcl")
		t.Run(n, func(t *testing.T) {
			_, h := loadExample(t, n+".hcl")
			_, y := loadExample(t, n+".yaml")
			if d := cmp.Diff(h, y); d != "" {
				t.Errorf("HCL (-) and YAML (+) differ:\n%s", d)
			}
		})
	}
}

func TestBigTableIsDecodedWithDefaultsAndRanges(t *testing.T) {
	spec, d := loadExample(t, "big_table.hcl")
	p := spec.Pipelines[0]
	tab := p.Tables[0]
	to, l := tab.To.Eval(schema.Name{Schema: "SCOTT", Name: "BIG_TABLE"})
	got := map[string]any{
		"from": p.From.Name, "to": p.To.Name, "workers": p.Workers.V, "memory": p.Memory.V, "memory set": p.Memory.Set,
		"every": p.ReportEvery.V, "action": p.BadRows.Action.V, "limit": p.BadRows.Limit.V,
		"table": tab.Label.V, "target": to.V, "count": tab.Split.Count.V, "split": tab.Split.Kind.V, "mode": tab.Apply.Mode.V,
		"indexes": tab.Apply.Indexes.V, "on_nul": tab.OnNUL.V, "operations": strings.Join(tab.Operations.V, " "),
		"tls": spec.Endpoint(lang.Source, "erp").TLS.V, "tls of target": spec.Endpoint(lang.Target, "booker").TLS.V,
		"source": d.Configs["source.erp"],
	}
	want := map[string]any{
		"from": "erp", "to": "booker", "workers": 8, "memory": 96 * units.MiB, "memory set": false,
		"every": time.Minute, "action": "discard", "limit": int64(1000),
		"table": "SCOTT.BIG_TABLE", "target": "booker.big_table", "count": 8, "split": "auto", "mode": "copy",
		"indexes": "defer", "on_nul": "reject", "operations": "insert update delete", "tls": "off", "tls of target": "verify",
		"source": &oracleConfig{Host: "ora1.example.net", Port: 1521, Service: "ggpoc", User: "penstock", Password: secret.Ref{Env: "ERP_PASSWORD"}},
	}
	if d := cmp.Diff(want, got); d != "" || len(l) > 0 {
		t.Errorf("want (-), got (+):\n%s%v", d, l)
	}
	for want, r := range map[string]string{
		"booker.big_table": covered(spec, tab.To.Range()), "SCOTT.BIG_TABLE": covered(spec, tab.DefRange),
		"source.erp": covered(spec, p.From.Range), "8": covered(spec, p.Workers.Range), "BIG": covered(spec, tab.Label.Sub(6, 9)),
	} {
		if r != want {
			t.Errorf("got range over %q, want %q", r, want)
		}
	}
}
