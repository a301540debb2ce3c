package delimited

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"

	"pgregory.net/rapid"
)

func csv() Form {
	return Form{Delimiter: ",", Header: true, Quote: `"`, Escape: `"`, Encoding: "utf-8", Compression: "none"}
}

func TestParse(t *testing.T) {
	tests := []struct {
		native string
		want   schema.Type
	}{
		{"bigint", schema.Of(schema.Int64)},
		{"INT", schema.Of(schema.Int32)},
		{"numeric(10, 2)", schema.Type{Kind: schema.Decimal, Precision: 10, Scale: 2}},
		{"numeric", schema.Of(schema.Decimal)},
		{"varchar(50)", schema.Type{Kind: schema.Text, Length: 50}},
		{"char(3)", schema.Type{Kind: schema.Text, Length: 3, Fixed: true}},
		{"text", schema.Of(schema.Text)},
		{"timestamp(9)", schema.Type{Kind: schema.Timestamp, Precision: 9}},
		{"timestamptz", schema.Of(schema.TimestampTZ)},
		{"timestamp with time zone", schema.Of(schema.TimestampTZ)},
		{"uuid", schema.Of(schema.UUID)},
	}
	for _, c := range tests {
		if got, err := (types{}).Parse(c.native); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.native, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "money", "bigint(5)", "varchar(0)"} {
		if got, err := (types{}).Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestRenderedTypesAreTheSameTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := schema.Of(schema.Kind(rapid.IntRange(int(schema.Bool), int(schema.JSON)).Draw(t, "kind")))
		switch in.Kind {
		case schema.Text, schema.Bytes:
			in.Length = rapid.IntRange(0, 300).Draw(t, "length")
			in.Fixed = in.Length > 0 && rapid.Bool().Draw(t, "fixed")
		case schema.Decimal:
			if in.Precision = rapid.IntRange(0, 60).Draw(t, "precision"); in.Precision > 0 {
				in.Scale = rapid.IntRange(-10, 70).Draw(t, "scale")
			}
		case schema.Time, schema.Timestamp, schema.TimestampTZ:
			in.Precision = rapid.IntRange(0, 9).Draw(t, "digits")
		}
		native, err := types{}.Render(in)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := (types{}).Parse(native); err != nil || out != in {
			t.Fatalf("%s renders as %s, which is %s, %v", in, native, out, err)
		}
	})
}

func TestCheck(t *testing.T) {
	with := func(change func(*SourceConfig)) *SourceConfig {
		c := &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "t*.csv"}}}
		change(c)
		return c
	}
	tests := []struct {
		name, path string
		config     *SourceConfig
	}{
		{"as it should be", "", with(func(*SourceConfig) {})},
		{"two characters", "delimiter", with(func(c *SourceConfig) { c.Delimiter = "||" })},
		{"a tab", "", with(func(c *SourceConfig) { c.Delimiter = "\t" })},
		{"end of line", "delimiter", with(func(c *SourceConfig) { c.Delimiter = "\n" })},
		{"delimiter is quote", "delimiter", with(func(c *SourceConfig) { c.Delimiter = `"` })},
		{"nothing quoted", "", with(func(c *SourceConfig) { c.Quote, c.Escape = "", "" })},
		{"delimiter that the encoding lacks", "delimiter", with(func(c *SourceConfig) { c.Delimiter, c.Encoding = "→", "latin1" })},
		{"null holds a quote", "null", with(func(c *SourceConfig) { c.Null = `"` })},
		{"null holds a delimiter", "null", with(func(c *SourceConfig) { c.Null = "a,b" })},
		{"bad pattern", "table.t.path", with(func(c *SourceConfig) { c.Tables[0].Path = "[" })},
		{"no names", "table.t", with(func(c *SourceConfig) { c.Header = false })},
		{"bad type", "table.t.column.a.type", with(func(c *SourceConfig) { c.Tables[0].Columns = []Column{{Name: "a", Type: "money"}} })},
		{"key of nothing", "table.t.key", with(func(c *SourceConfig) {
			c.Tables[0].Columns, c.Tables[0].Key = []Column{{Name: "a", Type: "text"}}, []string{"b"}
		})},
	}
	for _, c := range tests {
		got := checkSource(c.config)
		if c.path == "" && len(got) > 0 || c.path != "" && (len(got) != 1 || got[0].Path != c.path) {
			t.Errorf("%s: %+v, want a problem at %q", c.name, got, c.path)
		}
	}
	if got := checkTarget(&TargetConfig{Form: Form{Delimiter: ",", Encoding: "latin1"}}); len(got) != 1 || got[0].Path != "encoding" {
		t.Errorf("a target in latin1: %+v, want a problem at encoding", got)
	}
}

func TestHeaderNamesTheColumns(t *testing.T) {
	tests := []struct {
		form Form
		file string
		want []string
		err  string
	}{
		{csv(), "id,name\n1,a\n", []string{"id", "name"}, ""},
		{csv(), "\ufeffid,\"a,b\",\"c\"\"d\"\r\n", []string{"id", "a,b", `c"d`}, ""},
		{csv(), `"""",b`, []string{`"`, "b"}, ""},
		{Form{Delimiter: "|", Quote: `"`, Escape: `\`, Encoding: "utf-8", Compression: "none"}, `a|"b\"|"` + "\n", []string{"a", `b"|`}, ""},
		{csv(), "", nil, "the file is empty"},
		{csv(), `"id`, nil, "never closed"},
		{csv(), "id,id\n", nil, "no name of its own"},
		{csv(), "id,,x\n", nil, "no name of its own"},
		{Form{Delimiter: ",", Encoding: "utf-16", Compression: "none"}, "i\x00d\x00", nil, "byte order mark"},
		{Form{Delimiter: ",", Encoding: "utf-16", Compression: "none"}, "\xfe\xff\x00i\x00d", []string{"id"}, ""},
		{Form{Delimiter: ",", Encoding: "latin1", Compression: "none"}, "gr\xf6\xdfe,b", []string{"größe", "b"}, ""},
	}
	for _, c := range tests {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "t1.csv"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := local(context.Background(), &SourceConfig{Form: c.form, Tables: []Table{{Name: "t", Path: "t*.csv"}}}, connectors.Env{Dir: dir})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("header %q: %v, want %q", c.file, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("header %q: %v", c.file, err)
			continue
		}
		var names []string
		for _, col := range got.Tables[0].Columns {
			names = append(names, col.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("header %q = %q, want %q", c.file, names, c.want)
		}
	}
}

func TestTablesWithColumnsNeedNoFile(t *testing.T) {
	c := &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "absent/*.csv", Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "bigint", Nullable: true}, {Name: "a", Type: "text", Nullable: true}}}}}
	got, err := local(context.Background(), c, connectors.Env{Dir: t.TempDir()})
	if err != nil || got.Tables[0].Columns[0].Type != schema.Of(schema.Int64) || !slices.Equal(got.Tables[0].DefaultKey(), []string{"id"}) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if cols := got.Tables[0].Columns; cols[0].Nullable || !cols[1].Nullable {
		t.Errorf("columns %+v: want the key not null, and the other as it says", cols)
	}
	if s := splits(&got.Tables[0]); s[0] != connectors.SplitBlocks {
		t.Errorf("a plain file is split by %q, want blocks", s)
	}
	c.Compression = "gzip"
	if got, err = local(context.Background(), c, connectors.Env{Dir: t.TempDir()}); err != nil || splits(&got.Tables[0])[0] != connectors.SplitNone {
		t.Errorf("a compressed file can't be split: %+v, %v", got, err)
	}
}

func TestTargetNamesKeepTheirDots(t *testing.T) {
	if got, err := splitName("SCOTT.BIG_TABLE"); err != nil || got != (schema.Name{Name: "SCOTT.BIG_TABLE"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "..", "a/b", `a\b`} {
		if got, err := splitName(bad); err == nil {
			t.Errorf("splitName(%q) = %+v, want an error", bad, got)
		}
	}
}
