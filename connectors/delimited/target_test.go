package delimited

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/internal/schema"
)

// readBack reads the files of a loaded table by the source.
func readBack(t testing.TB, config any, l connectors.Load) [][]string {
	t.Helper()
	c := config.(*TargetConfig)
	table := Table{Name: "t", Path: filepath.Join(literal(c.Path), literal(l.Table.Name)+"-*-*-*.csv*")}
	var names []string
	for _, col := range l.Columns {
		table.Columns = append(table.Columns, Column{Name: col.Name, Type: col.Native, Nullable: col.Nullable})
		names = append(names, col.Name)
	}
	if files, err := find(table, ""); err != nil || len(files) == 0 {
		if err != nil {
			t.Fatal(err)
		}
		return nil
	}
	src, err := openSource(context.Background(), &SourceConfig{Form: c.Form, Tables: []Table{table}}, connectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return conformance.ReadAll(t, src, schema.Name{Name: "t"}, names)
}

func TestTargetConforms(t *testing.T) {
	forms := map[string]Form{
		"csv":     csv(),
		"zstd":    {Delimiter: "\t", Header: true, Quote: `"`, Escape: `"`, Null: `\N`, Encoding: "utf-8", Compression: "zstd"},
		"gzip":    {Delimiter: "|", Quote: `'`, Escape: `\`, Null: "NULL", Encoding: "utf-8", Compression: "gzip"},
		"strange": {Delimiter: "é", Header: true, Quote: "1", Escape: "1", Encoding: "utf-8", Compression: "none"},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			conformance.Target(t, conformance.TargetHarness{
				Definition: Definition(),
				Config:     func(t testing.TB) any { return &TargetConfig{Form: form, Path: filepath.Join(t.TempDir(), "out")} },
				Read:       readBack,
				Lose: func(t testing.TB, config any, pipeline string) {
					tg := &target{dir: config.(*TargetConfig).Path, env: connectors.Env{Pipeline: pipeline}}
					if err := os.Remove(tg.lockPath()); err != nil {
						t.Fatal(err)
					}
				},
			})
		})
	}
}
