package postgres

import (
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// everywhere are the collations that every server has, and that order alike in
// all of them.
var everywhere = []string{"C", "POSIX", "ucs_basic", "default"}

// home says what in a text of the source's server belongs to that database: a
// function, type, operator or collation that another one need not have, or a
// relation that a text names. "" for nothing. The server writes a schema before
// all that is not its own (qualified).
func home(tokens []token) string {
	for i, t := range tokens {
		switch n := nth(tokens, i+1); {
		case t.name() != "" && n.is(".") && t.name() != "pg_catalog" && !nth(tokens, i-1).is("."):
			what := write(append([]token{{text: t.text}}, nth(tokens, i+1), nth(tokens, i+2)))
			return "it uses " + what + ", which the target need not have"
		case t.kind == tokenString && n.is("::") && strings.HasPrefix(nth(tokens, i+2).text, "reg"):
			return "it names " + t.text + ", which is the source's own"
		case t.is("COLLATE") && !slices.Contains(everywhere, n.name()):
			return "collation " + n.text + " need not be the target's"
		}
	}
	return ""
}

// refers are the columns of the source table that an expression names. A word
// that could also be something else counts: what is carried must be sure.
func refers(tokens []token, c *connectors.Carrying) (out []string) {
	for i, t := range tokens {
		name := t.name()
		if name == "" || nth(tokens, i+1).is("(") || nth(tokens, i-1).is("::") || c.Source.Column(name) == nil {
			continue
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// unlike says why an expression over the source's columns does not mean the same
// over the target's; "" when it does.
func unlike(tokens []token, c *connectors.Carrying) string {
	for _, name := range refers(tokens, c) {
		x := c.Column(name)
		switch {
		case x == nil:
			return "column " + name + " is not carried"
		case x.Value:
			return "column " + name + " is computed on the way"
		case x.Name != name:
			return fmt.Sprintf("column %s is %s at the target", name, x.Name)
		case !x.Same():
			return fmt.Sprintf("column %s is %s at the target", name, x.Native)
		}
	}
	return ""
}

// expression says why an expression can't stand at the target; "" when it can.
func expression(tokens []token, c *connectors.Carrying) string {
	if c.Kind != Kind {
		return "its expression is in the words of " + c.Kind
	}
	if why := home(tokens); why != "" {
		return why
	}
	return unlike(tokens, c)
}

// compute gives the expression of a column that the target computes as the
// source does.
func compute(c *connectors.Carrying, column *schema.Column) (text, why string) {
	x := c.Column(column.Name)
	if x == nil || x.Value || x.Native != column.Native {
		return "", "the column is of another type at the target"
	}
	if why := expression(scan(column.Generated), c); why != "" {
		return "", why
	}
	return column.Generated, ""
}
