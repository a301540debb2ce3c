package plan

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever stands in a file of another version, or of another program: it is
// shown or refused.
func FuzzParseToShow(f *testing.F) {
	paths, _ := filepath.Glob("../../examples/*/*.plan.json")
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"format_version": 99, "pipelines": [{"name": "p", "stages": [{"kind": "apply", "not_built": true}], "tables": [{}]}], "endpoints": [{}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, notes, err := ParseToShow(src)
		if err != nil {
			return
		}
		if err := Text(io.Discard, p, TextOptions{Run: "penstock run x"}); err != nil {
			t.Fatal(err)
		}
		if got := Changes(p, p); notes == nil && len(got) != 0 {
			t.Fatalf("a plan differs from itself: %q", got)
		}
	})
}
