package connectors

import (
	"strings"

	"penstock/internal/schema"
)

// NotCarried lists what the source table has and the target does not get, in
// the order of Carrying.What's words. why gives the reason for a thing that was
// asked for (by its words, as they stand here), and whether it is carried: then
// it is no part of the list. nil: nothing is carried, and nothing was asked.
func NotCarried(c *Carrying, why func(thing string) (reason string, carried bool)) []string {
	var out []string
	add := func(words ...string) {
		thing := join(words)
		if why == nil {
			out = append(out, thing)
			return
		}
		if reason, carried := why(thing); !carried {
			if reason != "" {
				thing += ": " + reason
			}
			out = append(out, thing)
		}
	}
	for _, o := range Keys(c.Source) {
		add(o.Thing)
	}
	for _, f := range c.Source.ForeignKeys {
		add(ForeignThing(f))
	}
	for i := range c.Source.Columns {
		s := &c.Source.Columns[i]
		if c.Column(s.Name) == nil {
			continue // dropped, or left to the target
		}
		if s.Default != "" && s.Sequence == nil {
			add("default of", s.Name)
		}
		if s.Identity || s.Sequence != nil {
			add("numbering of", s.Name)
		}
		if x := c.Column(s.Name); s.Generated != "" && !x.Computed {
			add("expression of", s.Name)
		}
		if s.Comment != "" {
			add("comment on", s.Name)
		}
		for _, o := range s.Other {
			add(o, "of", s.Name)
		}
	}
	if c.Source.Comment != "" {
		add("comment on the table")
	}
	for _, o := range c.Source.Other {
		add(o)
	}
	return out
}

// KeyOrIndex is a unique key or an index of a table, once.
type KeyOrIndex struct {
	Name    string
	Unique  bool
	Columns []string
	Index   *schema.Index // nil: the catalog has it as a key alone
	Thing   string        // for people: unique key customers_email_key (email)
}

// Keys are the unique keys and the indexes of a table, but the primary key. What
// a catalog has under both is a key.
func Keys(t *schema.Table) []KeyOrIndex {
	var out []KeyOrIndex
	at := map[string]int{}
	for _, k := range t.Unique {
		at[k.Name] = len(out)
		out = append(out, KeyOrIndex{Name: k.Name, Unique: true, Columns: k.Columns, Thing: join([]string{"unique key", k.Name, columnsOf(k.Columns)})})
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if t.PrimaryKey != nil && x.Name == t.PrimaryKey.Name && x.Name != "" {
			continue
		}
		if n, ok := at[x.Name]; ok && x.Name != "" && x.Unique {
			out[n].Index = x
			continue
		}
		kind := "index"
		if x.Unique {
			kind = "unique index"
		}
		out = append(out, KeyOrIndex{Name: x.Name, Unique: x.Unique, Columns: x.Columns, Index: x, Thing: join([]string{kind, x.Name, columnsOf(x.Columns)})})
	}
	return out
}

// ForeignThing is a foreign key for people.
func ForeignThing(f schema.ForeignKey) string {
	return join([]string{"foreign key", f.Name, columnsOf(f.Columns), "to", f.References.String()})
}

func columnsOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func join(words []string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
