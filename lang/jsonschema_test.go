package lang_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner"

	"github.com/santhosh-tekuri/jsonschema/v6"
	yaml "go.yaml.in/yaml/v4"
	"golang.org/x/tools/txtar"
)

// schemaWith compiles the schema of specs with these connectors.
func schemaWith(t *testing.T, connectors []lang.Connector) *jsonschema.Schema {
	t.Helper()
	b, err := lang.JSONSchema(connectors)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertVocabs()
	if err := c.AddResource("spec.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// jsonOf is what an editor's validator sees of a YAML file; an error where it
// is no YAML.
func jsonOf(src []byte) (any, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(src, &n); err != nil {
		return nil, err
	}
	texts(&n)
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(b))
}

// texts makes dates texts, which they are in YAML 1.2's core schema.
func texts(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		texts(c)
	}
}

func TestSchemaTakesEverySoundSpec(t *testing.T) {
	s := schemaWith(t, planner.Connectors(all.Registry()))
	n := 0
	check := func(name string, src []byte) {
		v, err := jsonOf(src)
		if err == nil {
			err = s.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		n++
	}
	paths, _ := filepath.Glob("../examples/*/*.yaml")
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		check(p, b)
	}
	_, fences := page(t, "../docs/spec.md")
	for i, f := range fences {
		if f.syntax == "yaml" {
			check(fmt.Sprintf("docs/spec.md, piece %d", i), []byte(f.text))
		}
	}
	// What only a plan can refuse, a schema takes. Those specs know two connectors
	// of their own, which the schema does not.
	if n < 7 {
		t.Errorf("got %d specs, want at least 7", n)
	}
}

// A schema can tell shapes, types, words and units.
var schemaTells = []diag.Code{
	diag.UnknownBlock, diag.UnknownSetting, diag.BelongsElsewhere, diag.MissingLabel, diag.BlockOrSetting, diag.ExtraLabel,
	diag.UnknownConnector, diag.MissingSetting, diag.WrongType, diag.NotOneOf, diag.BadUnit, diag.NullValue, diag.PlainSecret,
}

// schemaCant are specs with one of these codes in which it can't, and what it
// would have to know.
var schemaCant = map[string]string{
	"sensitive_default":    "that the variable is sensitive",
	"password_in_address":  "what is inside a text",
	"password_before_host": "what is inside a text",
	"variable_default":     "the variable's type",
}

func TestSchemaRefusesWhatItCanTell(t *testing.T) {
	s := schemaWith(t, connectors)
	paths, _ := filepath.Glob("testdata/bad/*.txtar")
	refused, needed := map[diag.Code]int{}, map[string]bool{}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".txtar")
		ar, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if f.Name != "spec.yaml" {
				continue
			}
			spec, l := lang.Parse(map[string][]byte{f.Name: f.Data}, ".", lang.Options{Connectors: connectors})
			_, l = decodeAll(spec, l)
			v, err := jsonOf(f.Data)
			if err == nil {
				err = s.Validate(v)
			}
			for _, d := range l {
				if !slices.Contains(schemaTells, d.Code) {
					continue
				}
				if err == nil && schemaCant[name] != "" {
					needed[name] = true
					continue
				}
				if err == nil {
					t.Errorf("%s: the schema takes what is %s %s:\n%s", name, d.Code, d.Summary, f.Data)
				}
				if err != nil {
					refused[d.Code]++
				}
			}
		}
	}
	for name, why := range schemaCant {
		if !needed[name] {
			t.Errorf("%s: the schema can tell, without knowing %s", name, why)
		}
	}
	for _, c := range schemaTells {
		if refused[c] == 0 && c != diag.ExtraLabel { // a label too many is another setting in YAML
			t.Errorf("no bad spec in YAML with %s is refused", c)
		}
	}
}

// Editors show the descriptions.
func TestSchemaDescribesEverySetting(t *testing.T) {
	b, err := lang.JSONSchema(planner.Connectors(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(at string, v any)
	n := 0
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if props, ok := v["properties"].(map[string]any); ok {
				for name, p := range props {
					n++
					if d, _ := p.(map[string]any)["description"].(string); len(d) < 8 && !strings.HasSuffix(at, ".source") && !strings.HasSuffix(at, ".target") {
						t.Errorf("%s.%s has the description %q", at, name, d)
					}
					walk(at+"."+name, p)
				}
			}
			for k, c := range v {
				if k != "properties" {
					walk(at, c)
				}
			}
		case []any:
			for _, c := range v {
				walk(at, c)
			}
		}
	}
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	walk("spec", doc)
	if n < 100 {
		t.Errorf("got %d settings, want at least 100", n)
	}
}
