package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
	yaml "go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// Limits of a YAML file. Its nodes are walked by recursion, and aliases can
// stand for far more nodes than there are bytes.
const (
	maxDepth    = 64
	maxExpanded = 1_000_000 // nodes that aliases and merges add, beyond those written
	maxAliased  = 256       // levels, aliases followed
)

// yamlFile is a YAML document as a tree of nodes over its source.
type yamlFile struct {
	*source
	ends map[*yaml.Node]int
}

// loadYAML and loadError are all that touches the YAML library, so that
// another version or library can take its place.
func loadYAML(src []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Load(src, &doc, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))); err != nil {
		return nil, err
	}
	if doc.Kind == yaml.DocumentNode {
		return doc.Content[0], nil
	}
	return &doc, nil
}

// loadError takes an error of loadYAML apart: what went wrong, and where, as
// lines and columns from 1. A line of 0 means that the library does not know.
func loadError(err error) (message string, line, col, contextLine, contextCol int) {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return strings.TrimPrefix(err.Error(), "yaml: "), 0, 0, 0, 0
	}
	message = strings.TrimPrefix(le.Message, "yaml: ")
	if le.ContextMsg != "" {
		message = le.ContextMsg + ": " + message
	}
	return message, le.Mark.Line, le.Mark.Column, le.ContextMark.Line, le.ContextMark.Column
}

// parseYAML reads one document. The body is empty when there are errors in the
// syntax; faults that leave a usable tree are reported beside it.
func parseYAML(name string, src []byte) (hcl.Body, diag.List) {
	f := &yamlFile{source: newSource(name, src), ends: map[*yaml.Node]int{}}
	root, err := loadYAML(src)
	if err != nil {
		return nil, diag.List{f.syntaxError(err)}
	}
	c := yamlCheck{f: f, open: map[*yaml.Node]bool{}, sizes: map[*yaml.Node]extent{}}
	if !c.bounded(root) {
		return nil, c.diags
	}
	c.walk(root)
	if n := f.resolve(root); n.Kind != yaml.MappingNode {
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
			return nil, diag.List{emptyFile(f.rng(0, 0))}
		}
		c.diags.Errorf(diag.YAMLSyntax, f.firstLine(n), "A spec is a mapping",
			"The file holds %s. Write settings as `name: value`, beginning with `penstock: {spec: 1}`.", kindOf(n))
		return nil, c.diags
	}
	return &yamlBody{f: f, n: root, head: f.rng(0, 0)}, c.diags
}

// yamlCheck looks once at every node for what no later step wants to meet.
type yamlCheck struct {
	f     *yamlFile
	open  map[*yaml.Node]bool   // on the path from the root
	sizes map[*yaml.Node]extent // aliases expanded
	diags diag.List
}

// extent is what a node stands for: how many nodes, and how many levels.
type extent struct{ nodes, levels int }

// bounded refuses aliases that contain themselves and aliases that multiply,
// before anything follows them.
func (c *yamlCheck) bounded(root *yaml.Node) bool {
	written := 0
	var size func(n *yaml.Node) extent
	size = func(n *yaml.Node) extent {
		if n.Kind == yaml.AliasNode {
			if c.open[n.Alias] {
				c.diags.Errorf(diag.YAMLAlias, c.f.firstLine(n), "Alias contains itself",
					"*%s stands inside the value that &%s names, so it has no end.", n.Value, n.Value)
				return extent{}
			}
			return size(n.Alias)
		}
		if e, ok := c.sizes[n]; ok {
			return e
		}
		written++
		c.open[n] = true
		e := extent{nodes: 1}
		for _, child := range n.Content {
			s := size(child)
			e.nodes = min(e.nodes+s.nodes, 1<<40)
			e.levels = max(e.levels, s.levels+1)
		}
		delete(c.open, n)
		c.sizes[n] = e
		return e
	}
	total := size(root)
	if len(c.diags) == 0 && (total.nodes-written > maxExpanded || total.levels > maxAliased) {
		c.diags.Errorf(diag.YAMLAlias, c.f.firstLine(root), "Aliases expand too far",
			"Written out, the aliases of this file stand for more than %d values or %d levels. Repeat less, or split the file.", maxExpanded, maxAliased)
	}
	return len(c.diags) == 0
}

func (c *yamlCheck) walk(n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		seen := map[string]*yaml.Node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			switch {
			case k.Kind != yaml.ScalarNode:
				c.diags.Errorf(diag.YAMLSyntax, c.f.firstLine(k), "Key is not a word", "Keys are plain words or quoted texts, not %s.", kindOf(k))
			case isMerge(k):
				if v := n.Content[i+1]; !mergeable(c.f, v) {
					c.diags.Errorf(diag.YAMLSyntax, c.f.inner(k), "Nothing to merge", "<< takes a mapping, an alias of one, or a list of those, not %s.", kindOf(v))
				}
			case seen[k.Value] != nil:
				d := c.diags.Errorf(diag.Duplicate, c.f.inner(k), fmt.Sprintf("Duplicate %q", k.Value), "It is set twice in the same mapping; only one can count. Remove one of them.")
				d.Related = []diag.Related{{Message: "set here first", Range: c.f.inner(seen[k.Value])}}
			default:
				seen[k.Value] = k
				c.tag(k)
			}
			c.walk(n.Content[i+1])
		}
	case yaml.SequenceNode:
		for _, child := range n.Content {
			c.walk(child)
		}
	case yaml.ScalarNode:
		c.tag(n)
		return
	default:
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		c.tag(n)
	}
}

// tag refuses explicit tags: what begins with "!" was nearly always meant as "not".
func (c *yamlCheck) tag(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle == 0 {
		return
	}
	f := c.f
	from := f.offset(n.Line, n.Column)
	for from < len(f.buf) && f.buf[from] != '!' {
		from++
	}
	to := from
	for to < len(f.buf) && !isSpace(f.buf[to]) && !isFlow(f.buf[to]) {
		to++
	}
	word := string(f.buf[from:to])
	end := max(to, f.end(n))
	d := c.diags.Errorf(diag.YAMLTag, f.rng(from, to), `"!" starts a YAML tag`,
		"This reads as the tag %s, which gives a type to what follows. Put the whole value in quotes.", word)
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		text := strings.TrimRight(string(f.buf[from:end]), " \t\r\n")
		d.Fixes = []diag.Edit{{Title: "put it in quotes", Range: f.rng(from, from+len(text)), NewText: "'" + strings.ReplaceAll(text, "'", "''") + "'"}}
	}
}

func isMerge(k *yaml.Node) bool { return k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" }

func mergeable(f *yamlFile, v *yaml.Node) bool {
	switch v = f.resolve(v); v.Kind {
	case yaml.MappingNode:
		return true
	case yaml.SequenceNode:
		return !slices.ContainsFunc(v.Content, func(e *yaml.Node) bool { return f.resolve(e).Kind != yaml.MappingNode })
	}
	return false
}

// kindOf names what a node holds, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.AliasNode:
		return kindOf(n.Alias)
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	}
	return "a text"
}
