package planner

import (
	"slices"
	"strings"

	"penstock/internal/schema"
)

// catalog finds tables by name without walking them all: a spec of thousands
// of tables looks each up.
type catalog struct {
	tables []*schema.Table
	exact  map[string]*schema.Table
	folded map[string][]*schema.Table
}

func index(have *schema.Catalog) *catalog {
	c := &catalog{exact: map[string]*schema.Table{}, folded: map[string][]*schema.Table{}}
	for i := range have.Tables {
		t := &have.Tables[i]
		name := t.Name.String()
		c.tables = append(c.tables, t)
		c.exact[name] = t
		low := strings.ToLower(name)
		c.folded[low] = append(c.folded[low], t)
	}
	// A catalog's order is its writer's; a plan's must not be.
	slices.SortStableFunc(c.tables, func(a, b *schema.Table) int { return natural(a.Name.String(), b.Name.String()) })
	return c
}

// find gives the table of this name: exactly so, else without regard to case.
// More than one is ambiguous, none is unknown.
func (c *catalog) find(name string) []*schema.Table {
	if t := c.exact[name]; t != nil {
		return []*schema.Table{t}
	}
	return c.folded[strings.ToLower(name)]
}

// match gives the tables that fit a pattern, in natural order: exactly, else
// without regard to case.
func (c *catalog) match(pattern string) []*schema.Table {
	var out []*schema.Table
	for _, t := range c.tables {
		if fits(pattern, t.Name) {
			out = append(out, t)
		}
	}
	if out == nil {
		low := strings.ToLower(pattern)
		for _, t := range c.tables {
			if fits(low, foldName(t.Name, "lower")) {
				out = append(out, t)
			}
		}
	}
	return out
}

func (c *catalog) names() []string {
	var out []string
	for _, t := range c.tables {
		out = append(out, t.Name.String())
	}
	return out
}

func isPattern(s string) bool { return strings.ContainsAny(s, "*?") }

// fits matches a pattern with a name. Schema and table are matched apart, so
// that no wildcard stands for the dot between them.
func fits(pattern string, n schema.Name) bool {
	if n.Schema == "" {
		return glob(pattern, n.Name)
	}
	s, t, dotted := strings.Cut(pattern, ".")
	return dotted && glob(s, n.Schema) && glob(t, n.Name)
}

// glob matches * with any characters and ? with one. It goes back to the last
// star only, so its cost is bounded by the product of the lengths.
func glob(pattern, s string) bool {
	p, r := []rune(pattern), []rune(s)
	i, j, star, from := 0, 0, -1, 0
	for j < len(r) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == r[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
