package planner_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/internal/secret"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
)

// The connectors of these tests: "db" is a server with everything, "file" is a
// target with one writer and no stream, "files" a source that finds none, "topics"
// takes changes only.
func registry() *connectors.Registry {
	db := &connectors.Definition{
		Kind: "db", Types: types{},
		Source: &connectors.SourceDef{
			Config: func() any { return &dbConfig{} },
			Check: func(config any) []connectors.Problem {
				if config.(*dbConfig).Port == 666 {
					return []connectors.Problem{{Path: "port", Detail: "666 is taken."}}
				}
				return nil
			},
			Capabilities: connectors.SourceCapabilities{CDC: true, Durable: true},
			Splits:       splits,
			Place:        func(config any, _ connectors.Env) string { return "source " + config.(*dbConfig).Host },
		},
		Target: &connectors.TargetDef{
			Config:  func() any { return &dbConfig{} },
			Options: func() any { return &dbTable{} },
			Place: func(config any, _ connectors.Env) string {
				if config.(*dbConfig).Host == "same" {
					return "source same"
				}
				return "target"
			},
			Capabilities: connectors.TargetCapabilities{
				Modes: []string{"copy", "array", "row"}, Changes: []string{"array", "row", "append"}, Lanes: connectors.LanesKeys,
				Names: "lower", Carry: []string{"indexes"}, Delivery: "applied exactly once", CommitRows: 1000, CommitEvery: "1s",
			},
			SplitName: splitName,
			Carry: func(c *connectors.Carrying) connectors.Carried {
				return connectors.Carried{Missing: connectors.NotCarried(c, func(thing string) (string, bool) {
					return "", c.Carries("indexes") && strings.HasPrefix(thing, "index")
				})}
			},
			Storable: func(native string, _ schema.Type) error {
				if native == "bytes" {
					return errors.New("a column declared bytes keeps nothing")
				}
				return nil
			},
			Explain: explainer{},
		},
	}
	local := &connectors.Definition{
		Kind: "log", Types: types{},
		Source: &connectors.SourceDef{Config: func() any { return &fileConfig{} }, Splits: splits, Explain: explainer{}},
	}
	files := &connectors.Definition{
		Kind: "files", Types: types{},
		Source: &connectors.SourceDef{Config: func() any { return &fileConfig{} }, Splits: splits, Explain: explainer{},
			Local: func(_ context.Context, config any, _ connectors.Env) (*schema.Catalog, error) {
				return nil, fmt.Errorf("open %q: there is nothing", config.(*fileConfig).Path)
			}},
	}
	file := &connectors.Definition{
		Kind: "file", Types: types{},
		Target: &connectors.TargetDef{
			Config: func() any { return &fileConfig{} },
			Capabilities: connectors.TargetCapabilities{
				Writers: 1, Modes: []string{"copy", "row"}, Lanes: connectors.LanesPipeline, Names: "keep", NoScripts: true, Delivery: "effectively once",
			},
			SplitName: splitName,
		},
	}
	topics := &connectors.Definition{
		Kind: "topics", Types: types{},
		Target: &connectors.TargetDef{
			Config: func() any { return &fileConfig{} },
			Capabilities: connectors.TargetCapabilities{
				Changes: []string{"append"}, Lanes: connectors.LanesPipeline, Names: "keep", Delivery: "at least once",
			},
			SplitName: splitName,
		},
	}
	return connectors.NewRegistry(db, local, files, file, topics)
}

type dbConfig struct {
	Host     string     `spec:"host,required" json:"host"`
	Port     int        `spec:"port" default:"5432" json:"port"`
	Password secret.Ref `spec:"password" json:"password"`
}

type dbTable struct {
	Packed bool `spec:"packed" json:"packed"`
}

type fileConfig struct {
	Path string `spec:"path,required" json:"path"`
}

func splits(t *schema.Table) []connectors.SplitKind {
	switch {
	case t.View:
		return []connectors.SplitKind{connectors.SplitNone}
	case t.DefaultKey() != nil:
		return []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitKey, connectors.SplitNone}
	}
	return []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitNone}
}

func splitName(s string) (schema.Name, error) {
	a, b, dotted := strings.Cut(s, ".")
	switch {
	case strings.Contains(b, "."):
		return schema.Name{}, errors.New("it has more than two parts")
	case dotted:
		return schema.Name{Schema: a, Name: b}, nil
	}
	return schema.Name{Name: a}, nil
}

// types are words of our own: int, bigint, number, number(p,s), text, text(n),
// char(n), float, timestamp, timestamptz, date, bytes.
type types struct{}

func (types) Parse(native string) (schema.Type, error) {
	word, args, _ := strings.Cut(strings.TrimSuffix(native, ")"), "(")
	first, second, _ := strings.Cut(args, ",")
	n, _ := strconv.Atoi(first)
	scale, _ := strconv.Atoi(second)
	switch word {
	case "int":
		return schema.Of(schema.Int32), nil
	case "bigint":
		return schema.Of(schema.Int64), nil
	case "number":
		return schema.Type{Kind: schema.Decimal, Precision: n, Scale: scale}, nil
	case "text":
		return schema.Type{Kind: schema.Text, Length: n}, nil
	case "char":
		return schema.Type{Kind: schema.Text, Length: n, Fixed: true}, nil
	case "boolean":
		return schema.Of(schema.Bool), nil
	case "float":
		return schema.Of(schema.Float64), nil
	case "timestamp":
		return schema.Type{Kind: schema.Timestamp, Precision: 6}, nil
	case "timestamptz":
		return schema.Type{Kind: schema.TimestampTZ, Precision: 6}, nil
	case "date":
		return schema.Of(schema.Date), nil
	case "bytes":
		return schema.Of(schema.Bytes), nil
	case "json":
		return schema.Of(schema.JSON), nil
	}
	return schema.Type{}, fmt.Errorf("%s is not read", native)
}

func (types) Render(t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Int16, schema.Int32:
		return "int", nil
	case schema.Int64:
		return "bigint", nil
	case schema.Decimal:
		if t.Precision == 0 {
			return "", errors.New(`write type = "number(38,9)" or type = "text"`)
		}
		return fmt.Sprintf("number(%d,%d)", t.Precision, t.Scale), nil
	case schema.Text:
		if t.Length > 0 {
			return fmt.Sprintf("text(%d)", t.Length), nil
		}
		return "text", nil
	case schema.Bool:
		return "boolean", nil
	case schema.Float64:
		return "float", nil
	}
	return t.Kind.String(), nil
}

type explainer struct{}

func (explainer) Read(x connectors.Extract) []connectors.Statement {
	return []connectors.Statement{{SQL: "READ " + strings.Join(x.Columns, ", ") + " FROM " + x.Table.Name.String() + " FROM :lo TO :hi"}}
}

func (explainer) Prepare(t connectors.Load) []connectors.Statement {
	if !t.Create {
		return nil
	}
	return []connectors.Statement{{SQL: "CREATE TABLE " + t.Table.String(), Locks: "exclusive"}}
}

func (explainer) Insert(t connectors.Load) []connectors.Statement {
	return []connectors.Statement{{SQL: "BEGIN"}, {SQL: "COPY " + t.Table.String(), Rows: 500}, {SQL: "COMMIT"}}
}

func (explainer) Finish(t connectors.Load) []connectors.Statement {
	return []connectors.Statement{{SQL: "ANALYZE " + t.Table.String()}}
}

// compile plans a spec given as HCL, with catalogs for source.db and target.db.
func compile(t testing.TB, body string, source *schema.Catalog, target *schema.Catalog) (*plan.Plan, diag.List) {
	t.Helper()
	head := "penstock { spec = 1 }\nsource \"db\" \"db\" { host = \"a\" }\ntarget \"db\" \"db\" { host = \"b\" }\n"
	spec, l := lang.Parse(map[string][]byte{"spec.hcl": []byte(head + body)}, ".", lang.Options{Connectors: planner.Connectors(registry())})
	if l.HasErrors() {
		t.Fatalf("the spec of the test is wrong: %v", l)
	}
	catalogs := map[string]*schema.Catalog{"source.db": source}
	if target != nil {
		catalogs["target.db"] = target
	}
	return planner.Compile(t.Context(), spec, registry(), planner.Options{Catalogs: catalogs})
}

// good is compile for a spec without a fault.
func good(t testing.TB, body string, source *schema.Catalog, target *schema.Catalog) *plan.Pipeline {
	t.Helper()
	p, l := compile(t, body, source, target)
	if p == nil {
		t.Fatalf("no plan for\n%s\n%v", body, l)
	}
	return &p.Pipelines[0]
}

// made makes a table from "name type" columns: a type that ends with ? may be
// NULL, a column that ends with ! is in the primary key.
func made(name string, columns ...string) schema.Table {
	s, n, ok := strings.Cut(name, ".")
	if !ok {
		s, n = "", name
	}
	t := schema.Table{Name: schema.Name{Schema: s, Name: n}}
	for _, c := range columns {
		name, native, _ := strings.Cut(c, " ")
		native, nullable := strings.CutSuffix(native, "?")
		name, key := strings.CutSuffix(name, "!")
		typ, err := types{}.Parse(native)
		col := schema.Column{Name: name, Native: native, Type: typ, Nullable: nullable}
		if err != nil {
			col.Problem = err.Error()
		}
		t.Columns = append(t.Columns, col)
		if key {
			if t.PrimaryKey == nil {
				t.PrimaryKey = &schema.Key{}
			}
			t.PrimaryKey.Columns = append(t.PrimaryKey.Columns, name)
		}
	}
	return t
}

func catalogOf(tables ...schema.Table) *schema.Catalog {
	return &schema.Catalog{Kind: "db", Tables: tables}
}
