package draft

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/internal/units"
)

// table drafts a table block: nothing in it where the defaults do, else what
// makes it plan. taken are the target names that other tables have.
func table(t *schema.Table, to *connectors.Definition, taken map[string]bool) item {
	b := block("table", []string{t.Name.String()})
	b.comments = []string{about(t)}
	fold := func(s string) string { return s }
	if to.Target.Capabilities.Names == "lower" {
		fold = strings.ToLower
	}
	name := fold(t.Name.String())
	if _, err := to.Target.SplitName(name); err != nil || taken[name] {
		name = free(safe(name), func(n string) bool {
			_, err := to.Target.SplitName(n)
			return err != nil || taken[n]
		})
		b.in = append(b.in, setting("to", name))
	}
	taken[name] = true
	names := map[string]bool{}
	kept := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		d := decide(c, to)
		if !d.drop {
			kept++
			if have := fold(c.Name); names[have] {
				d.to = free(have, func(n string) bool { return names[n] })
				names[d.to] = true
			} else {
				names[have] = true
			}
		}
		if col := d.item(c.Name); len(col.in) > 0 {
			b.in = append(b.in, col)
		}
	}
	if kept == 0 { // the block would give nothing to carry
		return comment("%s: no column of it can be carried to %s.", t.Name, to.Kind)
	}
	return b
}

// about is what a reader wants to know of a table before its plan.
func about(t *schema.Table) string {
	parts := []string{}
	if t.Stats != nil {
		about := "about "
		if t.Stats.Exact {
			about = ""
		}
		parts = append(parts, about+units.Count(t.Stats.Rows)+" rows")
	}
	if key := t.DefaultKey(); key != nil {
		parts = append(parts, "key "+strings.Join(key, ", "))
	} else {
		parts = append(parts, "no key: name one with `key` where the target wants one")
	}
	columns := "1 column"
	if n := len(t.Columns); n != 1 {
		columns = fmt.Sprintf("%d columns", n)
	}
	return columns + ", " + strings.Join(parts, ", ")
}

// safe is a name with nothing in it that a target could refuse.
func safe(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, s), "_")
}

// free is a name that is not taken: itself, or with a number.
func free(name string, taken func(string) bool) string {
	if name == "" {
		name = "t"
	}
	for n := 1; ; n++ {
		s := name
		if n > 1 {
			s = fmt.Sprintf("%s_%d", name, n)
		}
		if !taken(s) || n > 1000 {
			return s
		}
	}
}

// decision is what a column needs so that it plans.
type decision struct {
	drop, accept bool
	typ, to, why string
}

func (d decision) item(name string) item {
	b := block("column", []string{name})
	if d.why != "" {
		b.comments = []string{d.why}
	}
	if d.drop {
		b.in = append(b.in, setting("drop", true))
		return b
	}
	if d.to != "" {
		b.in = append(b.in, setting("to", d.to))
	}
	if d.typ != "" {
		b.in = append(b.in, setting("type", d.typ))
	}
	if d.accept {
		b.in = append(b.in, setting("accept_loss", true))
	}
	return b
}

// others are types that hold much, in the words of the targets that there are.
var others = []string{"numeric(38,9)", "numeric", "double precision", "text", "TEXT", "string", "bytea", "BLOB", "timestamptz", "timestamp"}

// decide finds the type of a new column at the target: the connector's own
// choice where nothing is lost by it, else another that holds the values.
func decide(c *schema.Column, to *connectors.Definition) decision {
	if c.Problem != "" {
		return decision{drop: true, why: fmt.Sprintf("%s: %s", c.Native, strings.TrimSuffix(c.Problem, "."))}
	}
	native, err := to.Types.Render(c.Type)
	class, reason := schema.FitNone, ""
	if err != nil {
		reason = err.Error()
	} else {
		class, reason = fits(c.Type, native, to)
	}
	if class == schema.FitExact || class == schema.FitChecked {
		return decision{}
	}
	why := fmt.Sprintf("%s: %s. Is this the type that you want?", c.Native, strings.TrimSuffix(reason, "."))
	checked := ""
	for _, o := range others {
		switch got, _ := fits(c.Type, o, to); {
		case got == schema.FitExact, got == schema.FitChecked && c.Type.IsNumber(): // a number stays one
			return decision{typ: o, why: why}
		case got == schema.FitChecked && checked == "":
			checked = o
		}
	}
	if checked != "" {
		return decision{typ: checked, why: why}
	}
	if class == schema.FitLossy {
		return decision{accept: true, why: fmt.Sprintf("%s to %s: %s. Is that acceptable?", c.Native, native, strings.TrimSuffix(reason, "."))}
	}
	for _, o := range others {
		if got, lost := fits(c.Type, o, to); got == schema.FitLossy {
			return decision{typ: o, accept: true, why: fmt.Sprintf("%s to %s: %s. Is that acceptable?", c.Native, o, lost)}
		}
	}
	return decision{drop: true, why: fmt.Sprintf("%s: %s", c.Native, strings.TrimSuffix(reason, "."))}
}

// fits says what becomes of values in a column of a native type.
func fits(from schema.Type, native string, to *connectors.Definition) (schema.FitClass, string) {
	typ, err := to.Types.Parse(native)
	if err != nil {
		return schema.FitNone, err.Error()
	}
	class, reason := schema.Fit(from, typ)
	if keeps := to.Target.Storable; keeps != nil && class != schema.FitNone {
		if err := keeps(native, typ); err != nil {
			return schema.FitNone, err.Error()
		}
	}
	return class, reason
}
