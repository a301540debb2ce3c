package lang

import (
	"math/rand/v2"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v4"
)

// Whatever style a text is written in, each of its bytes is found where it
// stands: white space and escapes aside, the source has that very byte there.
func TestBytesOfAnyScalarAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	alphabet := []rune("ab cd\n\"'\\:#{}$é日 \t-&*!|>%@`,[]?\n  xyz${var.x}\u0085\u2028")
	styles := []yaml.Style{0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}
	total, coarse := 0, 0
	runs := 200_000
	if testing.Short() {
		runs = 20_000
	}
	for range runs {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		text, style := b.String(), styles[r.IntN(len(styles))]
		value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: style}
		if style == 0 && r.IntN(4) == 0 {
			value.LineComment = "# c"
		}
		src, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Value: "é"}, {Kind: yaml.MappingNode, Content: []*yaml.Node{
				{Kind: yaml.ScalarNode, Value: "k"}, value,
				{Kind: yaml.ScalarNode, Value: "z"}, {Kind: yaml.ScalarNode, Value: "1"}}}}})
		if err != nil {
			continue
		}
		root, err := loadYAML(src)
		if err != nil {
			continue
		}
		n := root.Content[1].Content[1]
		if n.Value != text {
			continue // the writer's fault, not ours
		}
		total++
		f := &yamlFile{source: newSource("x", src), ends: map[*yaml.Node]int{}}
		m := f.scalar(n)
		if !m.ok {
			coarse++
			continue
		}
		for i := range len(text) {
			c := src[m.from[i]]
			if m.to[i] < m.from[i] || i > 0 && m.from[i] < m.from[i-1] {
				t.Fatalf("byte %d of %q runs backwards in %q", i, text, src)
			}
			if isSpace(text[i]) || c == '\\' || text[i] >= 0x80 {
				continue
			}
			if c != text[i] {
				t.Fatalf("byte %d of %q: got %q, want %q, in %q", i, text, c, text[i], src)
			}
		}
		if end := f.end(n); end > len(src) || !strings.Contains(string(src[end:]), "z: 1") {
			t.Fatalf("the value ends at %d, behind the next key: %q", end, src)
		}
	}
	t.Logf("%d scalars, %d of them coarse", total, coarse)
	if total < runs/2 || coarse*1000 > total {
		t.Errorf("got %d of %d scalars, %d coarse; want most of them, and fewer than one in a thousand coarse", total, runs, coarse)
	}
}
