package all_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"penstock/connectors"
	"penstock/connectors/all"
	"penstock/internal/schema"
	"penstock/lang"
)

const examples = "../../examples"

// known is what the language is told of the connectors.
func known(r *connectors.Registry) []lang.Connector {
	var out []lang.Connector
	for _, kind := range r.Kinds() {
		d := r.Find(kind)
		c := lang.Connector{Kind: kind}
		if d.Source != nil {
			c.Source = d.Source.Config()
		}
		if d.Target != nil {
			c.Target = d.Target.Config()
			if d.Target.Options != nil {
				c.Table = d.Target.Options()
			}
		}
		out = append(out, c)
	}
	return out
}

// TestExamplesConfigureTheirConnectors decodes each example's endpoints and
// tables into the connectors' own structs and checks them.
func TestExamplesConfigureTheirConnectors(t *testing.T) {
	r := all.Registry()
	specs, err := filepath.Glob(examples + "/*/*.hcl")
	if err != nil || len(specs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	yaml, _ := filepath.Glob(examples + "/*/*.yaml")
	for _, path := range slices.Concat(specs, yaml) {
		spec, diags := lang.Load(path, lang.Options{Connectors: known(r)})
		for _, d := range diags {
			t.Errorf("%s: %s: %s %s", path, d.Subject, d.Summary, d.Detail)
		}
		for _, e := range spec.Endpoints {
			config, check := side(r.Find(e.Kind.V), e.Role)
			_, diags := e.Decode(config)
			for _, d := range diags {
				t.Errorf("%s: %s: %s %s", path, d.Subject, d.Summary, d.Detail)
			}
			if check != nil {
				for _, p := range check(config) {
					t.Errorf("%s: %s %s: %s: %s", path, e.Role, e.Name.V, p.Path, p.Detail)
				}
			}
		}
		for _, p := range spec.Pipelines {
			for _, table := range p.Tables {
				for kind, o := range table.Options {
					if _, diags := o.Decode(r.Find(kind).Target.Options()); diags.HasErrors() {
						t.Errorf("%s: %s block of %s: %v", path, kind, table.Label.V, diags)
					}
				}
			}
		}
	}
}

func side(d *connectors.Definition, role lang.Role) (config any, check func(any) []connectors.Problem) {
	if role == lang.Source {
		return d.Source.Config(), d.Source.Check
	}
	return d.Target.Config(), d.Target.Check
}

// TestRecordedCatalogsAreInTheirStableForm holds the examples' catalogs to what
// `catalog pull` writes, and every column to a type.
func TestRecordedCatalogsAreInTheirStableForm(t *testing.T) {
	r := all.Registry()
	files, err := filepath.Glob(examples + "/*/catalog/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogs: %v", err)
	}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var head struct{ Kind string }
		if err := json.Unmarshal(src, &head); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		d := r.Find(head.Kind)
		if d == nil {
			t.Fatalf("%s is of %q, which is no connector", path, head.Kind)
		}
		c, err := schema.ParseCatalog(src, head.Kind, d.Types.Parse)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, table := range c.Tables {
			for _, col := range table.Columns {
				if col.Problem != "" {
					t.Errorf("%s: %s.%s: %s", path, table.Name, col.Name, col.Problem)
				}
			}
		}
		if out, err := c.Marshal(); err != nil || !bytes.Equal(out, src) {
			t.Errorf("%s is not as a catalog is written (%v):\n%s", path, err, out)
		}
	}
}

// TestDefinitionsAreWhole holds each connector to what planning needs of it.
func TestDefinitionsAreWhole(t *testing.T) {
	r := all.Registry()
	want := []string{"delimited", "firebolt", "kafka", "oracle", "postgres", "sqlite", "sqlserver", "synthetic"}
	if got := r.Kinds(); !slices.Equal(got, want) {
		t.Fatalf("connectors %q, want %q", got, want)
	}
	deliveries := []string{"applied exactly once", "effectively once", "exactly once for read_committed readers, else at least once with dense sequence numbers"}
	for _, kind := range r.Kinds() {
		d := r.Find(kind)
		if d.Summary == "" || d.Types == nil || d.Source == nil && d.Target == nil {
			t.Errorf("%s lacks a summary, types or a side", kind)
		}
		if s := d.Source; s != nil {
			splits := s.Splits(&schema.Table{View: true})
			if !slices.Contains(splits, connectors.SplitNone) {
				t.Errorf("%s: a view is split by %q, want none among them", kind, splits)
			}
			survivesJSON(t, kind+" source", s.Config())
		}
		if tg := d.Target; tg != nil {
			c := tg.Capabilities
			if len(c.Modes) == 0 || c.Names != "lower" && c.Names != "keep" || !slices.Contains(deliveries, c.Delivery) || tg.SplitName == nil {
				t.Errorf("%s: capabilities %+v are not whole", kind, c)
			}
			survivesJSON(t, kind+" target", tg.Config())
			if tg.Options != nil {
				survivesJSON(t, kind+" options", tg.Options())
			}
		}
	}
}

// survivesJSON fails when a setting would be lost between a plan and its run.
func survivesJSON(t *testing.T, what string, config any) {
	t.Helper()
	fill(reflect.ValueOf(config).Elem())
	src, err := json.Marshal(config)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	back := reflect.New(reflect.TypeOf(config).Elem()).Interface()
	if err := json.Unmarshal(src, back); err != nil || !reflect.DeepEqual(config, back) {
		t.Errorf("%s: %+v comes back from a plan as %+v, %v", what, config, back, err)
	}
}

// fill gives every setting a value that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	}
}
