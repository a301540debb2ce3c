package lang

import (
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v4"
)

// A long spec is no bomb: only what aliases add is counted.
func TestWhatIsWrittenOutIsNoBomb(t *testing.T) {
	src := "x: &x [1, 2, 3]\na: [" + strings.Repeat("1,", maxExpanded+1) + "*x]\n"
	root, err := loadYAML([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	c := yamlCheck{f: &yamlFile{source: newSource("x", []byte(src)), ends: map[*yaml.Node]int{}}, open: map[*yaml.Node]bool{}, sizes: map[*yaml.Node]extent{}}
	if !c.bounded(root) {
		t.Errorf("got %v, want none", c.diags)
	}
}
