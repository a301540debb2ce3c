package planner

import (
	"slices"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"

	"github.com/hashicorp/hcl/v2"
)

// pick is a source table with the block that says what to do with it.
type pick struct {
	src   *schema.Table
	block *lang.Table
	exact bool      // named, not matched by a pattern
	at    hcl.Range // where it was named
}

// expand turns the table blocks of a pipeline into its tables, in the order of
// the blocks and, within a pattern, of the names.
func (c *compiler) expand(p *lang.Pipeline, source *catalog) []pick {
	var all []pick
	by := map[*schema.Table][]pick{}
	for _, b := range p.Tables {
		for _, k := range c.expandBlock(b, source) {
			all = append(all, k)
			by[k.src] = append(by[k.src], k)
		}
	}
	var out []pick
	taken := map[*schema.Table]bool{}
	for _, k := range all {
		rivals := by[k.src]
		if exact := slices.ContainsFunc(rivals, func(r pick) bool { return r.exact }); exact && !k.exact || taken[k.src] {
			continue // a table named exactly beats a pattern
		}
		taken[k.src] = true
		for _, r := range rivals {
			if r.block != k.block && r.exact == k.exact {
				what := "patterns match"
				if r.exact {
					what = "blocks name"
				}
				d := c.diags.Errorf(diag.TwoBlocksOneTable, r.at, "Two "+what+" one table",
					"%q and %q both give %s. Exclude it from one of them, or name it exactly in a block of its own.", k.block.Label.V, r.block.Label.V, k.src.Name)
				d.Related = append(d.Related, diag.Related{Message: "the other one", Range: k.at})
				break
			}
		}
		out = append(out, k)
	}
	return out
}

// expandBlock gives the tables of one block, each once.
func (c *compiler) expandBlock(b *lang.Table, source *catalog) []pick {
	entries := []lang.Text{b.Label}
	if b.Tables.Set {
		entries = b.Tables.V
	}
	var found []pick
	failed := false
	seen := map[*schema.Table]bool{}
	for _, e := range entries {
		tables, exact := []*schema.Table(nil), !isPattern(e.V)
		if exact {
			t := c.findTable(e, source)
			if t == nil {
				failed = true
				continue
			}
			tables = []*schema.Table{t}
		} else {
			tables = source.match(e.V)
		}
		for _, t := range tables {
			if !seen[t] {
				seen[t] = true
				found = append(found, pick{src: t, block: b, exact: exact, at: e.Range})
			}
		}
	}
	matched := len(found)
	found = c.exclude(b, found)
	switch {
	case failed: // a wrong name explains a wrong number
	case b.Expect.Set && len(found) != b.Expect.V:
		c.wrongExpect(b, found, matched)
	case len(found) == 0 && matched > 0:
		c.diags.Errorf(diag.NoMatch, b.DefRange, "Block gives no table", "`exclude` takes out every table that %q gives.", b.Label.V)
	case len(found) == 0 && len(entries) > 0:
		c.diags.Errorf(diag.NoMatch, entries[0].Range, "Pattern gives no table",
			"No table of the source's catalog matches %q. `*` stands for any characters and `?` for one; neither stands for the dot between schema and table.%s",
			entries[0].V, didYouMean(entries[0].V, source.names()))
	}
	return found
}

// findTable looks a named table up, and reports when there is not just one.
func (c *compiler) findTable(name lang.Text, source *catalog) *schema.Table {
	tables := source.find(name.V)
	switch len(tables) {
	case 1:
		return tables[0]
	case 0:
		near := diag.Nearest(name.V, source.names())
		d := c.diags.Errorf(diag.UnknownTable, name.Range, "Table not in the catalog",
			"The source's catalog has no table %q.%s If it is new, record the catalog again.", name.V, didYouMean(name.V, source.names()))
		if len(near) == 1 {
			d.Fixes = append(d.Fixes, diag.Edit{Title: "write " + near[0], Range: name.Sub(0, len(name.V)), NewText: near[0]})
		}
	default:
		c.diags.Errorf(diag.AmbiguousName, name.Range, "Name fits more than one table", "%q fits %s. Write it as the catalog does.", name.V, list(tableNames(tables), "and"))
	}
	return nil
}

func tableNames(tables []*schema.Table) []string {
	var out []string
	for _, t := range tables {
		out = append(out, t.Name.String())
	}
	return out
}

// exclude takes out what the block's exclude list says. An entry that takes
// nothing out is a warning.
func (c *compiler) exclude(b *lang.Table, found []pick) []pick {
	for _, x := range b.Exclude {
		hit := map[*schema.Table]bool{}
		var have []*schema.Table
		for _, k := range found {
			have = append(have, k.src)
		}
		among := &catalog{tables: have}
		if isPattern(x.V) {
			for _, t := range among.match(x.V) {
				hit[t] = true
			}
		} else {
			for _, t := range have {
				if isName(t.Name, x.V) {
					hit[t] = true
				}
			}
		}
		if len(hit) == 0 {
			c.warn(diag.UselessExclude, x.Range, b.Label.V, "Exclude takes nothing out", "No table that "+b.Label.V+" gives is named "+x.V+".")
		}
		found = slices.DeleteFunc(found, func(k pick) bool { return hit[k.src] })
	}
	return found
}

// wrongExpect reports a count that is not the expected one, with the tables
// where a person can still take them in.
func (c *compiler) wrongExpect(b *lang.Table, found []pick, matched int) {
	what := "Pattern"
	if b.Tables.Set {
		what = "List"
	}
	which := ""
	if n := len(found); n > 0 && n <= 12 {
		var names []string
		for _, k := range found {
			names = append(names, k.src.Name.String())
		}
		which = ": " + list(names, "and")
	}
	excluded := ""
	if n := matched - len(found); n > 0 {
		excluded = " (" + plural(n, "more") + " taken out by `exclude`)"
	}
	d := c.diags.Errorf(diag.WrongExpect, b.Expect.Range, what+" gives "+plural(len(found), "table")+", expected "+itoa(b.Expect.V),
		"%q gives %s%s%s. Correct `expect`, or the names.", b.Label.V, plural(len(found), "table"), which, excluded)
	d.Related = append(d.Related, diag.Related{Message: "what gives the tables", Range: b.DefRange})
}

func isName(n schema.Name, text string) bool { return strings.EqualFold(n.String(), text) }
