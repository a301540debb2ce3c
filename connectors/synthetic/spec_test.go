package synthetic

import (
	"reflect"
	"testing"

	"penstock/lang"
)

// decoded reads a source block with these lines in its table block.
func decoded(t *testing.T, table string) (*Config, string) {
	t.Helper()
	src := "penstock { spec = 1 }\nsource \"synthetic\" \"s\" {\n  table \"t\" {\n" + table + "\n  }\n}\n"
	spec, problems := lang.Parse(map[string][]byte{"spec.hcl": []byte(src)}, ".", lang.Options{
		Connectors: []lang.Connector{{Kind: "synthetic", Source: Config{}}},
	})
	var out Config
	if e := spec.Endpoint(lang.Source, "s"); e != nil {
		_, more := e.Decode(&out)
		problems = append(problems, more...)
	}
	text := ""
	for _, p := range problems {
		text += p.Summary + ": " + p.Detail + "\n"
	}
	return &out, text
}

func TestSettingsAndTheirDefaults(t *testing.T) {
	for table, want := range map[string]Table{
		"preset = \"big_table\"\nrows = 10":                           {Name: "t", Preset: "big_table", Rows: 10, Seed: 1},
		"preset = \"firenibble\"\nrows = 0\nseed = -7\ntables = 3":    {Name: "t", Preset: "firenibble", Seed: -7, Tables: 3},
		"preset = \"firenibble_cdc\"\nrows = 200000000\ntables = 1\n": {Name: "t", Preset: "firenibble_cdc", Rows: 200_000_000, Seed: 1, Tables: 1},
	} {
		got, problems := decoded(t, table)
		if problems != "" || !reflect.DeepEqual(got.Tables, []Table{want}) {
			t.Errorf("%s\n got %+v\nwant %+v\nproblems: %s", table, got.Tables, want, problems)
		}
	}
}

func TestWrongSettingsAreProblems(t *testing.T) {
	for _, table := range []string{
		"rows = 10", "preset = \"big_table\"", "preset = \"big\"\nrows = 10", "preset = \"big_table\"\nrows = -1",
		"preset = \"big_table\"\nrows = \"10\"", "preset = \"big_table\"\nrows = 10\ntables = 0", "preset = \"big_table\"\nrows = 1.5",
	} {
		if got, problems := decoded(t, table); problems == "" {
			t.Errorf("%s\ngot %+v without a problem", table, got.Tables)
		}
	}
}
