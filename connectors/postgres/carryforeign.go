package postgres

import (
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// foreignKeys carries those between two tables of the pipeline. They are made
// when both are loaded.
func (m *carrier) foreignKeys() {
	taken := map[string]bool{}
	for _, f := range m.Source.ForeignKeys {
		thing := connectors.ForeignThing(f)
		o, why := m.foreign(f, taken)
		if why != "" {
			m.why[thing] = why
			continue
		}
		m.out.Objects = append(m.out.Objects, o)
		m.done[thing] = renamed(f.Name, o.Name)
	}
}

func (m *carrier) foreign(f schema.ForeignKey, taken map[string]bool) (o schema.Object, why string) {
	to := m.Other(f.References)
	switch {
	case to == nil:
		return o, f.References.String() + " is no table of the pipeline"
	case to.Partial != "" && to != m.Carrying:
		return o, to.Partial
	case to.Partial != "":
		return o, "a filter may leave out what its rows refer to"
	}
	own, theirs := f.Columns, f.ToColumns
	if len(theirs) == 0 && to.Source.PrimaryKey != nil {
		theirs = to.Source.PrimaryKey.Columns
	}
	if len(own) != len(theirs) {
		return o, "the catalog does not tell what it refers to"
	}
	from := m.foreignObject(f)
	if from.Keep != "" {
		return o, from.Keep
	}
	names, refs, why := m.pairs(to, own, theirs)
	if why != "" {
		return o, why
	}
	if !hasKeyOver(to, theirs, refs) {
		return o, fmt.Sprintf("%s has no key over %s at the target", to.Target, strings.Join(refs, ", "))
	}
	rules, why := m.rules(from.Definition)
	if why != "" {
		return o, why
	}
	base := m.Fold(f.Name)
	if base == "" {
		base = cut(m.Target.Name+"_"+strings.Join(names, "_"), "_fkey")
	}
	o = schema.Object{Kind: schema.ObjectForeign, Name: cut(base, ""), Unvalidated: from.Unvalidated, Waits: []string{m.Source.Name.String()}}
	for n := 1; taken[o.Name]; n++ {
		o.Name = cut(base, fmt.Sprint(n))
	}
	taken[o.Name] = true
	o.Definition = fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s(%s)%s", quoteList(names), quoteName(to.Target), quoteList(refs), rules)
	if to != m.Carrying {
		o.Needs, o.Waits = []schema.Name{to.Target}, append(o.Waits, to.Source.Name.String())
	}
	if m.Kind != Kind || from.Definition == "" {
		m.out.Missing = append(m.out.Missing, "ON DELETE and ON UPDATE of foreign key "+f.Name+": the catalog does not tell them")
	}
	for _, s := range from.Settings {
		tokens := scan(s)
		if text := tokens[len(tokens)-1].text; m.Carries("comments") {
			o.Settings = append(o.Settings, fmt.Sprintf("COMMENT ON CONSTRAINT %s ON %s IS %s", quote(o.Name), quoteName(m.Target), text))
		} else {
			m.out.Missing = append(m.out.Missing, "comment of foreign key "+f.Name)
		}
	}
	return o, ""
}

// foreignObject is a foreign key as the source's catalog defines it, if it does.
func (m *carrier) foreignObject(f schema.ForeignKey) schema.Object {
	for _, o := range m.Source.Objects {
		if o.Kind == schema.ObjectForeign && o.Name == f.Name {
			return o
		}
	}
	return schema.Object{}
}

// pairs are the target's columns on both sides. Their values must be the
// source's, and of types that compare.
func (m *carrier) pairs(to *connectors.Carrying, own, theirs []string) (names, refs []string, why string) {
	for i := range own {
		x, why := m.column(own[i])
		if why != "" {
			return nil, nil, why
		}
		y := to.Column(theirs[i])
		switch {
		case y == nil:
			return nil, nil, fmt.Sprintf("column %s of %s is not carried", theirs[i], to.Source.Name)
		case x.Value:
			return nil, nil, "column " + own[i] + " is computed on the way"
		case y.Value:
			return nil, nil, fmt.Sprintf("column %s of %s is computed on the way", theirs[i], to.Source.Name)
		case x.Native != y.Native && !(x.Same() && y.Same()) && !(isInteger(x.Native) && isInteger(y.Native)):
			return nil, nil, fmt.Sprintf("column %s is %s at the target, and %s of %s is %s", x.Name, x.Native, y.Name, to.Target, y.Native)
		}
		names, refs = append(names, x.Name), append(refs, y.Name)
	}
	return names, refs, ""
}

func isInteger(native string) bool {
	t, err := types{}.Parse(native)
	return err == nil && t.IsInteger()
}

// hasKeyOver reports a key of the target table over just these columns, by
// source and by target names: one that it will have, or has.
func hasKeyOver(to *connectors.Carrying, source, target []string) bool {
	same := func(a, b []string) bool {
		a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
		return slices.Equal(a, b)
	}
	if to.There != nil {
		keys := to.There.Unique
		if k := to.There.PrimaryKey; k != nil {
			keys = append([]schema.Key{*k}, keys...)
		}
		return slices.ContainsFunc(keys, func(k schema.Key) bool { return same(k.Columns, target) })
	}
	if same(to.Key, target) {
		return true
	}
	return to.Carries("indexes") && slices.ContainsFunc(to.Source.Unique, func(k schema.Key) bool { return same(k.Columns, source) })
}

// rules are what follows the columns that a foreign key refers to: MATCH, ON
// UPDATE, ON DELETE and its columns, DEFERRABLE.
func (m *carrier) rules(definition string) (string, string) {
	tokens := scan(strings.TrimSuffix(definition, " NOT VALID"))
	at := 0
	for at < len(tokens) && !tokens[at].is("REFERENCES") {
		at++
	}
	for at < len(tokens) && !tokens[at].is("(") {
		at++
	}
	if at == len(tokens) {
		return "", ""
	}
	rest := slices.Clone(tokens[matching(tokens, at)+1:])
	depth := 0
	for i, t := range rest {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth > 0 && t.name() != "":
			x, why := m.column(t.name())
			if why != "" {
				return "", why
			}
			rest[i] = token{space: t.space, text: quote(x.Name), kind: tokenQuoted}
		}
	}
	if len(rest) == 0 {
		return "", ""
	}
	return " " + write(rest), ""
}
