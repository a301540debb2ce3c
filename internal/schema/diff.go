package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Diff says in words how catalog is differs from catalog was, statistics aside:
// a line for each table, column, key and index that is new, gone or otherwise,
// sorted by table. Native types are compared as they are written.
func Diff(was, is *Catalog) []string {
	var out []string
	names := map[Name]bool{}
	for _, c := range []*Catalog{was, is} {
		for i := range c.Tables {
			names[c.Tables[i].Name] = true
		}
	}
	sorted := make([]Name, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.SortFunc(sorted, func(a, b Name) int { return cmp.Compare(a.String(), b.String()) })
	before, after := was.byName(), is.byName()
	for _, n := range sorted {
		switch a, b := before[n], after[n]; {
		case a == nil:
			out = append(out, fmt.Sprintf("table %s is new", n))
		case b == nil:
			out = append(out, fmt.Sprintf("table %s is gone", n))
		default:
			for _, line := range a.diff(b) {
				out = append(out, fmt.Sprintf("table %s: %s", n, line))
			}
		}
	}
	return out
}

func (c *Catalog) byName() map[Name]*Table {
	out := make(map[Name]*Table, len(c.Tables))
	for i := range c.Tables {
		out[c.Tables[i].Name] = &c.Tables[i]
	}
	return out
}

func (t *Table) diff(is *Table) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if t.View != is.View {
		say("it was a %s and is a %s", kindOf(t), kindOf(is))
	}
	if t.Comment != is.Comment {
		say("its comment was %s and is %s", orNone(t.Comment), orNone(is.Comment))
	}
	if t.Storage != is.Storage {
		say("its storage was %s and is %s", orNone(t.Storage), orNone(is.Storage))
	}
	for i := range t.Columns {
		a := &t.Columns[i]
		b := is.Column(a.Name)
		if b == nil {
			say("column %s is gone (%s)", a.Name, a.Native)
			continue
		}
		for _, line := range a.diff(b) {
			say("column %s %s", a.Name, line)
		}
	}
	for i := range is.Columns {
		if b := &is.Columns[i]; t.Column(b.Name) == nil {
			say("column %s is new (%s)", b.Name, b.describe())
		}
	}
	if len(out) == 0 && !slices.EqualFunc(t.Columns, is.Columns, func(a, b Column) bool { return a.Name == b.Name }) {
		say("its columns are in another order")
	}
	one := func(k *Key) []string {
		if k == nil {
			return nil
		}
		return []string{k.describe()}
	}
	out = append(out, listDiff("primary key", one(t.PrimaryKey), one(is.PrimaryKey))...)
	out = append(out, listDiff("unique key", texts(t.Unique, Key.describe), texts(is.Unique, Key.describe))...)
	out = append(out, listDiff("index", texts(t.Indexes, Index.describe), texts(is.Indexes, Index.describe))...)
	return append(out, listDiff("foreign key", texts(t.ForeignKeys, ForeignKey.describe), texts(is.ForeignKeys, ForeignKey.describe))...)
}

func (c *Column) diff(is *Column) []string {
	var out []string
	if c.Native != is.Native {
		out = append(out, fmt.Sprintf("was %s and is %s", c.Native, is.Native))
	}
	switch {
	case c.Nullable && !is.Nullable:
		out = append(out, "may no longer be NULL")
	case !c.Nullable && is.Nullable:
		out = append(out, "was NOT NULL and may be NULL")
	}
	for _, x := range []struct{ what, was, is string }{
		{"default", c.Default, is.Default}, {"expression", c.Generated, is.Generated}, {"comment", c.Comment, is.Comment},
		{"sequence", c.Sequence.describe(), is.Sequence.describe()},
	} {
		if x.was != x.is {
			out = append(out, fmt.Sprintf("had the %s %s and has %s", x.what, orNone(x.was), orNone(x.is)))
		}
	}
	switch {
	case c.Identity && !is.Identity:
		out = append(out, "is no longer numbered by the database")
	case !c.Identity && is.Identity:
		out = append(out, "is now numbered by the database")
	}
	return out
}

func (c *Column) describe() string {
	if c.Nullable {
		return c.Native
	}
	return c.Native + " NOT NULL"
}

func (k Key) describe() string {
	return strings.TrimSpace(k.Name + " (" + strings.Join(k.Columns, ", ") + ")")
}

func (x Index) describe() string {
	if x.Definition != "" {
		return x.Definition
	}
	s := x.Name + " (" + strings.Join(x.Columns, ", ") + ")"
	if x.Unique {
		s += ", unique"
	}
	return s
}

func (f ForeignKey) describe() string {
	s := strings.TrimSpace(f.Name+" ("+strings.Join(f.Columns, ", ")+")") + " to " + f.References.String()
	if len(f.ToColumns) > 0 {
		s += " (" + strings.Join(f.ToColumns, ", ") + ")"
	}
	return s
}

func texts[T any](list []T, describe func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = describe(x)
	}
	return out
}

// listDiff tells what is in one list alone.
func listDiff(what string, was, is []string) []string {
	var out []string
	for _, x := range was {
		if !slices.Contains(is, x) {
			out = append(out, what+" "+x+" is gone")
		}
	}
	for _, x := range is {
		if !slices.Contains(was, x) {
			out = append(out, what+" "+x+" is new")
		}
	}
	return out
}

func kindOf(t *Table) string {
	if t.View {
		return "view"
	}
	return "table"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
