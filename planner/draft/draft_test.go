package draft_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/draft"
	"penstock/planner/plan"

	"pgregory.net/rapid"
)

// draftAndPlan drafts a spec in a syntax and plans it.
func draftAndPlan(o draft.Options, syntax draft.Syntax) (text, planned []byte, err error) {
	o.Syntax = syntax
	ctx := context.Background()
	text, err = draft.Write(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	spec, l := lang.Parse(map[string][]byte{"spec." + string(syntax): text}, o.Dir, lang.Options{Connectors: o.Connectors})
	p, more := planner.Compile(ctx, spec, o.Registry, planner.Options{ReadFile: o.ReadFile})
	l = append(l, more.Apart(l)...).Sorted()
	if l.HasErrors() || p == nil {
		var b strings.Builder
		_ = diag.Write(&b, l, spec.Files, false)
		return text, nil, fmt.Errorf("the draft does not plan:\n%s\n%s", b.String(), text)
	}
	planned, err = plan.Marshal(p)
	return text, planned, err
}

func options(from, to string) draft.Options {
	reg := all.Registry()
	return draft.Options{Registry: reg, Connectors: planner.Connectors(reg), From: from, To: to, Name: "p", Dir: ".", ReadFile: os.ReadFile}
}

func targets() []string {
	var out []string
	reg := all.Registry()
	for _, k := range reg.Kinds() {
		if reg.Find(k).Target != nil {
			out = append(out, k)
		}
	}
	return out
}

// A draft plans as it stands, and to the same plan in both syntaxes.
func TestDraftsOfEveryRecordedCatalogPlan(t *testing.T) {
	paths, _ := filepath.Glob("../../examples/*/catalog/*.json")
	n := 0
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range all.Registry().Kinds() {
			if all.Registry().Find(from).Source == nil || !bytes.Contains(b, []byte(`"kind": "`+from+`"`)) {
				continue
			}
			for _, to := range targets() {
				n++
				o := options(from, to)
				o.Catalog, o.Dir = filepath.Base(path), filepath.Dir(path)
				same(t, path+" to "+to, o)
			}
		}
	}
	if n < 12 {
		t.Errorf("got %d drafts, want at least 12", n)
	}
}

func same(t interface{ Errorf(string, ...any) }, name string, o draft.Options) (hcl []byte) {
	hcl, a, err := draftAndPlan(o, draft.HCL)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	yaml, b, err := draftAndPlan(o, draft.YAML)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s: the plans of the two syntaxes differ:\n%s\n%s", name, hcl, yaml)
	}
	return hcl
}

// natives are types of each source, some of which no target can hold as they are.
var natives = map[string][]string{
	"oracle":    {"NUMBER", "NUMBER(38,0)", "NUMBER(5,7)", "NUMBER(10,-2)", "FLOAT(126)", "VARCHAR2(30 CHAR)", "CHAR(3)", "CLOB", "BLOB", "DATE", "TIMESTAMP(9)", "TIMESTAMP(6) WITH TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "RAW(16)", "BINARY_DOUBLE", "LONG", "BFILE", "INTERVAL DAY TO SECOND", "XMLTYPE", "ROWID"},
	"sqlserver": {"int", "bigint", "tinyint", "bit", "money", "decimal(38,10)", "float", "real", "datetime", "datetime2(7)", "datetimeoffset(7)", "time(7)", "date", "nvarchar(max)", "char(4)", "uniqueidentifier", "varbinary(max)", "xml", "sql_variant", "geography", "rowversion", "hierarchyid"},
	"postgres":  {"bigint", "numeric", "numeric(50,2)", "text", "bytea", "uuid", "jsonb", "timestamp with time zone", "time without time zone", "boolean", "double precision", "inet", "tsvector", "money", "character(8)", "xml"},
}

// Whatever a catalog holds, its draft plans: names with quotes, blanks and
// template signs, names that fold together, types that a target lacks.
func TestDraftsOfAnyCatalogPlan(t *testing.T) {
	names := rapid.OneOf(rapid.StringMatching(`[A-Z][A-Z0-9_]{0,11}`), rapid.SampledFrom([]string{"id", "ID", "Id", `a "b"`, "x y", "${n}", "%{n}", "größe", "on", "null", "1st", "#", "a:b", "日本", "select", `back\slash`, "tab\there"}))
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]string{"oracle", "sqlserver", "postgres"}).Draw(t, "from")
		to := rapid.SampledFrom(targets()).Draw(t, "to")
		c := schema.Catalog{Kind: from}
		seen := map[string]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "tables") {
			table := schema.Table{Name: schema.Name{Schema: rapid.SampledFrom([]string{"APP", "hr"}).Draw(t, "schema"), Name: names.Draw(t, "table")}}
			if seen[table.Name.String()] {
				continue
			}
			seen[table.Name.String()] = true
			used := map[string]bool{}
			for range rapid.IntRange(1, 6).Draw(t, "columns") {
				col := schema.Column{Name: names.Draw(t, "column"), Native: rapid.SampledFrom(natives[from]).Draw(t, "type"), Nullable: rapid.Bool().Draw(t, "nullable")}
				if !used[col.Name] {
					used[col.Name] = true
					table.Columns = append(table.Columns, col)
				}
			}
			c.Tables = append(c.Tables, table)
		}
		src, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		o := options(from, to)
		o.Catalog = "catalog.json"
		o.ReadFile = func(string) ([]byte, error) { return src, nil }
		if _, _, err := draftAndPlan(o, draft.HCL); err != nil && strings.Contains(err.Error(), "moves no table") {
			return // every column of it is of a type that can't be carried
		}
		same(t, from+" to "+to, o)
	})
}

// Hundreds of tables are a pattern, with a block for those alone that need one.
func TestDraftsOfManyTablesUsePatterns(t *testing.T) {
	c := schema.Catalog{Kind: "postgres"}
	for i := range 200 {
		native := "bigint"
		if i == 7 {
			native = "tsvector"
		}
		c.Tables = append(c.Tables, schema.Table{Name: schema.Name{Schema: "app", Name: fmt.Sprintf("t%03d", i)},
			Columns: []schema.Column{{Name: "id", Native: "bigint"}, {Name: "v", Native: native, Nullable: true}}, PrimaryKey: &schema.Key{Columns: []string{"id"}}})
	}
	src, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	o := options("postgres", "sqlite")
	o.Catalog = "catalog.json"
	o.ReadFile = func(string) ([]byte, error) { return src, nil }
	text := string(same(t, "200 tables", o))
	if n := strings.Count(text, "table \""); n > 2 || !strings.Contains(text, `table "app.*"`) {
		t.Errorf("got %d table blocks, want the pattern and at most one more:\n%s", n, text)
	}
}

func TestDraftsSayWhatTheyNeed(t *testing.T) {
	for _, c := range []struct {
		from, to string
		set      []string
		want     string
	}{
		{"oracle", "sqlite", nil, "oracle is a server, and init connects to none: give its recorded catalog with --catalog FILE"},
		{"sqlite", "postgres", nil, "sqlite needs path: give it with --set source.path=VALUE"},
		{"delimited", "sqlite", nil, "delimited takes tables: give each with --set source.table.NAME.SETTING=VALUE"},
		{"kafka", "sqlite", nil, "kafka is no source; these are: "},
		{"synthetic", "sqlite", []string{"target.pth=x"}, `there is no such setting. Did you mean path?`},
		{"synthetic", "sqlite", []string{"path=x"}, "--set path=x: write source.SETTING=VALUE or target.SETTING=VALUE"},
		{"synthetic", "postgres", []string{"target.password=hunter2"}, "name its environment variable, as in env:NAME"},
		{"synthetic", "postgres", []string{"target.port=x"}, "it takes a number"},
	} {
		o := options(c.from, c.to)
		o.Set = c.set
		_, err := draft.Write(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s to %s, %q: got %v, want %s", c.from, c.to, c.set, err, c.want)
		}
	}
}
