package synthetic

import (
	"testing"

	"penstock/connectors/conformance"
)

func TestSourceConforms(t *testing.T) {
	conformance.Source(t, conformance.SourceHarness{
		Definition: Definition(),
		Config: &Config{Tables: []Table{
			{Name: "big_table", Preset: "big_table", Rows: 1000, Seed: 1},
			{Name: "nibble", Preset: "firenibble", Rows: 90, Seed: 2},
			{Name: "changed", Preset: "firenibble_cdc", Rows: 1, Seed: 3},
			{Name: "empty", Preset: "big_table", Rows: 0, Seed: 1},
		}},
		Tables: map[string]int64{"big_table": 1000, "nibble": 90, "changed": 1, "empty": 0},
	})
}
