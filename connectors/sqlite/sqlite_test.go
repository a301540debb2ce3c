package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"penstock/connectors"
	"penstock/connectors/conformance"
)

func TestTargetConforms(t *testing.T) {
	conformance.Target(t, conformance.TargetHarness{
		Keys:       true,
		Definition: Definition(),
		Config:     func(t testing.TB) any { return &TargetConfig{Path: filepath.Join(t.TempDir(), "target.db")} },
		Read: func(t testing.TB, config any, l connectors.Load) [][]string {
			columns := make([]string, len(l.Columns))
			for i, c := range l.Columns {
				columns[i] = c.Name
			}
			return conformance.ReadAll(t, openTestSource(t, config.(*TargetConfig).Path), l.Table, columns)
		},
		Lose: func(t testing.TB, config any, pipeline string) {
			if err := os.Remove(lockPath(config.(*TargetConfig).Path, pipeline)); err != nil {
				t.Fatal(err)
			}
		},
	})
}
