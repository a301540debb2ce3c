package postgres

import (
	"fmt"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/schema"
)

// carrier decides what a table that the run creates gets of its source's.
type carrier struct {
	*connectors.Carrying
	out  connectors.Carried
	done map[string]string // things that come, by their words, and as what; "" = as they are
	why  map[string]string // why those that were asked for do not
}

// carry is TargetDef.Carry.
func carry(c *connectors.Carrying) connectors.Carried {
	m := &carrier{Carrying: c, done: map[string]string{}, why: map[string]string{},
		out: connectors.Carried{Defaults: map[string]string{}, Sequences: map[string]*schema.Sequence{}, Comments: map[string]string{}}}
	m.primary()
	if c.Carries("indexes") {
		m.indexes()
	}
	if c.Carries("foreign_keys") {
		m.foreignKeys()
	}
	if c.Carries("defaults") {
		m.defaults()
	}
	if c.Carries("comments") {
		m.comments()
	}
	m.out.Missing = append(m.out.Missing, connectors.NotCarried(c, func(thing string) (string, bool) {
		as, carried := m.done[thing]
		if carried {
			if as != "" {
				thing += " as " + as
			}
			m.out.Made = append(m.out.Made, thing)
		}
		return m.why[thing], carried
	})...)
	return m.out
}

// name gives a relation its source's name, or one beside it where that is taken.
func (m *carrier) name(source, suggested string) string {
	base := m.Fold(source)
	if base == "" {
		base = suggested
	}
	for n := 0; ; n++ {
		name := cut(base, "")
		if n > 0 {
			name = cut(base, fmt.Sprint(n))
		}
		if at := (schema.Name{Schema: m.Target.Schema, Name: name}); !m.Taken[at] && !isStateTable(name) {
			m.Taken[at] = true
			return name
		}
	}
}

// cut is a name with something behind it, as long as an identifier may be.
func cut(base, suffix string) string {
	for len(base) > maxName-len(suffix) {
		_, n := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-n]
	}
	return base + suffix
}

// renamed is what stands in the plan where a thing has another name: "" where it
// has its own.
func renamed(source, target string) string {
	if source == target {
		return ""
	}
	return target
}

// column is the target column for a plain column of a source's key, or why there
// is none.
func (m *carrier) column(name string) (*connectors.CarryColumn, string) {
	x := m.Column(name)
	switch {
	case x == nil && m.Source.Column(name) == nil:
		return nil, "it is over an expression"
	case x == nil:
		return nil, "column " + name + " is not carried"
	}
	return x, ""
}

// primary makes the primary key as the source has it, where indexes are carried
// and it is the source's: with its name, what it includes, and when it is checked.
func (m *carrier) primary() {
	if len(m.Key) == 0 {
		return
	}
	k := m.Source.PrimaryKey
	fallback := keyName(connectors.Load{Table: m.Target})
	if k == nil || k.Name == "" || !m.Carries("indexes") || !m.isKey(k.Columns) {
		m.name("", fallback)
		return
	}
	for _, from := range m.Source.Objects {
		if from.Kind != schema.ObjectPrimary || from.Name != k.Name {
			continue
		}
		how, why := m.indexText(from.Definition, true)
		if m.Kind != Kind || from.Definition == "" || why != "" {
			break
		}
		o := schema.Object{Kind: schema.ObjectPrimary, Name: m.name(k.Name, fallback), Constraint: "PRIMARY KEY (" + quoteList(m.Key) + ")" + deferrable(from.Constraint)}
		o.Definition = fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s %s", quote(o.Name), quoteName(m.Target), how)
		m.settings(from, &o)
		m.out.Objects = append(m.out.Objects, o)
		return
	}
	o := schema.Object{Kind: schema.ObjectPrimary, Name: m.name(k.Name, fallback), Constraint: "PRIMARY KEY (" + quoteList(m.Key) + ")"}
	o.Definition = fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)", quote(o.Name), quoteName(m.Target), quoteList(m.Key))
	m.out.Objects = append(m.out.Objects, o)
}

func (m *carrier) isKey(columns []string) bool {
	if len(columns) != len(m.Key) {
		return false
	}
	for i, n := range columns {
		if x := m.Column(n); x == nil || x.Name != m.Key[i] {
			return false
		}
	}
	return true
}

// comments are those on the table and on its columns.
func (m *carrier) comments() {
	if m.Source.Comment != "" {
		m.out.Comments[""] = m.Source.Comment
		m.done["comment on the table"] = ""
	}
	for i := range m.Source.Columns {
		s := &m.Source.Columns[i]
		if x := m.Column(s.Name); x != nil && s.Comment != "" {
			m.out.Comments[x.Name] = s.Comment
			m.done["comment on "+s.Name] = renamed(s.Name, x.Name)
		}
	}
}
