package synthetic

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/internal/workload"
)

func TestTablesAreNamedByLabelAndNumber(t *testing.T) {
	config := &Config{Tables: []Table{
		{Name: "lone", Preset: "big_table", Rows: 10, Seed: 1},
		{Name: "wide_", Preset: "firenibble", Rows: 20, Seed: 5, Tables: 3},
		{Name: "single", Preset: "firenibble_cdc", Rows: 0, Seed: 1, Tables: 1},
	}}
	c, err := Definition().Source.Local(t.Context(), config, connectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range c.Tables {
		got = append(got, table.Name.String()+": "+table.Storage)
		if !table.Stats.Exact || table.PrimaryKey == nil || table.Column(table.PrimaryKey.Columns[0]) == nil {
			t.Errorf("%s: want exact statistics and a primary key, got %+v, %+v", table.Name, table.Stats, table.PrimaryKey)
		}
	}
	want := []string{
		"lone: preset big_table, seed 1", "wide_1: preset firenibble, seed 5", "wide_2: preset firenibble, seed 5, table 2",
		"wide_3: preset firenibble, seed 5, table 3", "single1: preset firenibble_cdc, seed 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if rows := c.Find(schema.Name{Name: "wide_2"}).Stats.Rows; rows != 20 {
		t.Errorf("wide_2 has %d rows, want 20", rows)
	}
}

func TestCatalogSurvivesItsFile(t *testing.T) {
	for _, p := range workload.Presets() {
		_, table := one(t, p.Name, 12, 1)
		c := &schema.Catalog{Kind: "synthetic", Tables: []schema.Table{*table}}
		src, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := schema.ParseCatalog(src, "synthetic", types{}.Parse)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, c) {
			t.Errorf("%s: got %+v\nwant %+v", p.Name, back, c)
		}
	}
}

func TestPresetsOfTheSettingAreThoseOfTheWorkload(t *testing.T) {
	field, _ := reflect.TypeFor[Table]().FieldByName("Preset")
	var want []string
	for _, p := range workload.Presets() {
		want = append(want, p.Name)
	}
	if got := strings.Fields(field.Tag.Get("oneof")); !reflect.DeepEqual(got, want) {
		t.Errorf("the tag allows %q, the workload has %q", got, want)
	}
}

func TestTwoBlocksOfOneTableAreAProblem(t *testing.T) {
	for _, tc := range []struct {
		name   string
		tables []Table
		want   []string // path and a part of the detail
	}{
		{"different", []Table{{Name: "a"}, {Name: "b"}, {Name: "A"}}, nil},
		{"same label", []Table{{Name: "a"}, {Name: "b"}, {Name: "a"}}, []string{"table.a", `two table blocks are labelled "a"`}},
		{"numbered onto a label", []Table{{Name: "a2"}, {Name: "a", Tables: 3}}, []string{"table.a", `makes a table a2, and so does table "a2"`}},
		{"no number, no clash", []Table{{Name: "a"}, {Name: "a", Tables: 3}}, nil},
		{"clash past the tenth", []Table{{Name: "a1", Tables: 9}, {Name: "a", Tables: 11}}, []string{"table.a", "makes a table a11"}},
	} {
		got := Definition().Source.Check(&Config{Tables: tc.tables})
		switch {
		case tc.want == nil && got != nil:
			t.Errorf("%s: got %v, want no problem", tc.name, got)
		case tc.want != nil && (len(got) != 1 || got[0].Path != tc.want[0] || !strings.Contains(got[0].Detail, tc.want[1])):
			t.Errorf("%s: got %v, want one problem at %s with %q", tc.name, got, tc.want[0], tc.want[1])
		}
	}
}

func TestNumbersOutOfBoundsAreProblems(t *testing.T) {
	got := Definition().Source.Check(&Config{Tables: []Table{
		{Name: "a", Rows: maxRows, Tables: maxTables},
		{Name: "b", Rows: maxRows + 1},
		{Name: "c", Tables: maxTables + 1},
	}})
	if len(got) != 2 || got[0].Path != "table.b.rows" || got[1].Path != "table.c.tables" {
		t.Errorf("got %v, want problems at table.b.rows and table.c.tables", got)
	}
}

func TestConfigSurvivesThePlan(t *testing.T) {
	config := &Config{Tables: []Table{{Name: "a", Preset: "big_table", Rows: 10, Seed: 3}, {Name: "b", Preset: "firenibble", Rows: 1, Seed: 1, Tables: 2}}}
	src, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	back := Definition().Source.Config()
	if err := json.Unmarshal(src, back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, config) {
		t.Errorf("got %+v, want %+v, by %s", back, config, src)
	}
}

func TestUnknownPresetOfAnOlderPlanIsAnError(t *testing.T) {
	_, err := Definition().Source.Open(t.Context(), &Config{Tables: []Table{{Name: "a", Preset: "gone"}}}, connectors.Env{})
	if connectors.ClassOf(err) != connectors.Schema || !strings.Contains(err.Error(), `unknown preset "gone"`) {
		t.Errorf("got %v, want an error of class schema that names the preset", err)
	}
}

func TestStatementNamesRowsPresetAndColumns(t *testing.T) {
	_, table := one(t, "big_table", 10, 1)
	for kind, want := range map[connectors.SplitKind]string{
		connectors.SplitBlocks: "rows :lo to :hi of preset big_table, seed 1: id, big_number",
		connectors.SplitNone:   "all rows of preset big_table, seed 1: id, big_number",
	} {
		x := connectors.Extract{Table: table, Columns: []string{"id", "big_number"}, Split: connectors.Split{Kind: kind}}
		if got := Definition().Source.Explain.Read(x); len(got) != 1 || got[0].SQL != want {
			t.Errorf("%s: got %+v, want %q", kind, got, want)
		}
	}
}

func TestSplitsOfferBlocksFirst(t *testing.T) {
	_, table := one(t, "big_table", 10, 1)
	want := []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitNone}
	if got := Definition().Source.Splits(table); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
