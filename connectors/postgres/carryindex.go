package postgres

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// indexes carries unique keys and indexes.
func (m *carrier) indexes() {
	for _, k := range connectors.Keys(m.Source) {
		o, why := m.index(k)
		if why != "" {
			m.why[k.Thing] = why
			continue
		}
		m.out.Objects = append(m.out.Objects, o)
		m.done[k.Thing] = renamed(k.Name, o.Name)
	}
}

// index makes one for the target. why: it can't be made.
func (m *carrier) index(k connectors.KeyOrIndex) (o schema.Object, why string) {
	from := m.object(k)
	if from.Keep != "" {
		return o, from.Keep
	}
	o = schema.Object{Kind: from.Kind}
	how := ""
	if m.Kind == Kind && from.Definition != "" {
		how, why = m.indexText(from.Definition, k.Unique)
	} else {
		how, why = m.indexOver(k)
	}
	if why != "" {
		return o, why
	}
	suffix, unique := "_idx", ""
	if k.Unique {
		suffix, unique = "_key", "UNIQUE "
	}
	o.Name = m.name(k.Name, cut(m.Target.Name+"_"+m.Fold(strings.Join(k.Columns, "_")), suffix))
	o.Definition = fmt.Sprintf("CREATE %sINDEX %s ON %s %s", unique, quote(o.Name), quoteName(m.Target), how)
	if o.Kind == schema.ObjectUnique {
		o.Constraint = "UNIQUE" + deferrable(from.Constraint)
	}
	m.settings(from, &o)
	return o, ""
}

// object is a key or an index as the source's catalog defines it. One that was
// written by hand may have no definition: then it is a plain one.
func (m *carrier) object(k connectors.KeyOrIndex) schema.Object {
	for _, o := range m.Source.Objects {
		if o.Kind != schema.ObjectForeign && o.Name == k.Name {
			return o
		}
	}
	o := schema.Object{Kind: schema.ObjectIndex, Name: k.Name}
	if k.Index == nil {
		o.Kind = schema.ObjectUnique
	} else {
		o.Definition = k.Index.Definition
	}
	return o
}

// indexOver is an index over plain columns, of any source.
func (m *carrier) indexOver(k connectors.KeyOrIndex) (string, string) {
	if len(k.Columns) == 0 {
		return "", "it is over an expression"
	}
	if x := k.Index; x != nil && strings.Contains(strings.ToUpper(x.Definition), " WHERE ") {
		return "", "its condition is in the words of " + m.Kind
	}
	var names []string
	for _, n := range k.Columns {
		x, why := m.column(n)
		if why == "" && k.Unique && x.Value {
			why = "column " + n + " is computed on the way"
		}
		if why != "" {
			return "", why
		}
		names = append(names, x.Name)
	}
	return "USING btree (" + quoteList(names) + ")", ""
}

// indexText is what follows the table in an index's definition, over the target's
// columns: USING, columns and expressions, INCLUDE, WITH, WHERE.
func (m *carrier) indexText(definition string, unique bool) (string, string) {
	tokens := scan(definition)
	at := 0
	for at < len(tokens) && !tokens[at].is("USING") {
		at++
	}
	// USING method (elements) and the rest.
	if !nth(tokens, at+2).is("(") {
		return "", "its definition can't be read"
	}
	tokens = append([]token{}, tokens[at:]...)
	tokens[0].space = ""
	if why := home(tokens); why != "" {
		return "", why
	}
	btree := tokens[1].is("btree")
	end := matching(tokens, 2)
	for start, i, depth := 3, 3, 0; i <= end; i++ {
		switch t := tokens[i]; {
		case t.is("("):
			depth++
		case t.is(")") && depth > 0:
			depth--
		case depth == 0 && (t.is(",") || i == end):
			if why := m.element(tokens[start:i], unique, btree); why != "" {
				return "", why
			}
			start = i + 1
		}
	}
	rest := tokens[end+1:]
	if nth(rest, 0).is("INCLUDE") {
		close := matching(rest, 1)
		for i := 2; i < close; i++ {
			if name := rest[i].name(); name != "" {
				x, why := m.column(name)
				if why != "" {
					return "", why
				}
				rest[i] = token{space: rest[i].space, text: quote(x.Name), kind: tokenQuoted}
			}
		}
		rest = rest[close+1:]
	}
	for i := range rest {
		if rest[i].is("WHERE") {
			if why := unlike(rest[i:], m.Carrying); why != "" {
				return "", why
			}
			break
		}
	}
	return write(tokens), ""
}

// element is one of what an index is over: a column, which may have another name
// at the target, or an expression, whose columns may not.
func (m *carrier) element(e []token, unique, btree bool) string {
	if len(e) == 0 {
		return "its definition can't be read"
	}
	if e[0].name() == "" || nth(e, 1).is("(") {
		return unlike(e, m.Carrying)
	}
	x, why := m.column(e[0].name())
	switch {
	case why != "":
		return why
	case x.Value && unique:
		return "column " + e[0].name() + " is computed on the way"
	case !x.Same() && (!btree || len(e) > 1):
		return fmt.Sprintf("column %s is %s at the target", e[0].name(), x.Native)
	}
	e[0] = token{space: e[0].space, text: quote(x.Name), kind: tokenQuoted}
	return ""
}

// deferrable is what a key's definition says of when it is checked, with a space
// before it.
func deferrable(constraint string) string {
	tokens := scan(constraint)
	for i := range tokens {
		if tokens[i].is("DEFERRABLE") {
			return " " + write(tokens[i:])
		}
	}
	return ""
}

// settings carries what the source says of an index and of its constraint, where
// comments are carried, and lists the settings that are not.
func (m *carrier) settings(from schema.Object, o *schema.Object) {
	for _, s := range from.Settings {
		tokens := scan(s)
		text, what := tokens[len(tokens)-1].text, "setting"
		switch {
		case strings.HasPrefix(s, "COMMENT ON INDEX "):
			s, what = fmt.Sprintf("COMMENT ON INDEX %s IS %s", quoteName(schema.Name{Schema: m.Target.Schema, Name: o.Name}), text), "comment"
		case strings.HasPrefix(s, "COMMENT ON CONSTRAINT "):
			s, what = fmt.Sprintf("COMMENT ON CONSTRAINT %s ON %s IS %s", quote(o.Name), quoteName(m.Target), text), "comment"
		case strings.Contains(s, " SET STATISTICS "):
			what = "statistics target"
		case strings.Contains(s, " CLUSTER ON "):
			what = "CLUSTER"
		case strings.Contains(s, " REPLICA IDENTITY "):
			what = "REPLICA IDENTITY"
		}
		if what == "comment" && m.Carries("comments") {
			o.Settings = append(o.Settings, s)
		} else {
			m.out.Missing = append(m.out.Missing, what+" of "+string(from.Kind)+" "+from.Name)
		}
	}
}
