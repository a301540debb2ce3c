package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/internal/units"
)

// group is tables of a pipeline that differ in names and estimates only.
type group struct {
	tables []*Table
}

// groups puts tables that are alike together, in the order of their first.
func (b *outliner) groups(p *Pipeline) []group {
	var out []group
	at := map[string]int{}
	for i := range p.Tables {
		x := &p.Tables[i]
		k := fmt.Sprint(i)
		if !b.all {
			k = shape(x)
		}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, group{})
		}
		out[n].tables = append(out[n].tables, x)
	}
	return out
}

// shape is all of a table but what sets it apart from its like.
func shape(t *Table) string {
	c := *t
	c.Source, c.Target, c.Digest, c.Estimates = schema.Name{Schema: t.Source.Schema}, schema.Name{Schema: t.Target.Schema}, "", nil
	b, err := json.Marshal(c)
	if err != nil {
		return t.Source.String()
	}
	return string(b)
}

// TableOutline is one table, or several that differ in names and estimates only.
type TableOutline struct {
	Tables   []*Table // the first stands for the others
	Facts    []Fact   // rows, filter, ranges, chunks, how rows enter, key
	Columns  string   // counted in words
	Mappings []Mapping
	Rest     []Fact // what the target computes, what is carried and what is not
}

// Title names what is outlined: "table ORDERS -> orders (created)".
func (o *TableOutline) Title() string {
	x := o.Tables[0]
	made := "exists"
	if x.Create {
		made = "created"
	}
	if n := len(o.Tables); n > 1 {
		return fmt.Sprintf("%d tables alike: %s to %s (%s)", n, x.Source, o.Tables[n-1].Source, made)
	}
	return fmt.Sprintf("table %s -> %s (%s)", x.Source, x.Target, made)
}

func (b *outliner) table(p *Pipeline, g group) TableOutline {
	x := g.tables[0]
	o := TableOutline{Tables: g.tables}
	add := func(name, value string) { o.Facts = append(o.Facts, Fact{name, value}) }
	if e := x.Estimates; e != nil && len(g.tables) == 1 {
		add("rows", estimate(e))
	}
	if x.Filter != "" {
		add("filter", x.Filter)
	}
	if len(x.Operations) > 0 && len(x.Operations) < 3 {
		add("operations", strings.Join(x.Operations, ", ")+" only")
	}
	if p.Mode != "cdc" {
		add("ranges", ranges(x))
		add("chunks", chunks(x))
	}
	add("enters by", enters(b.finish[x.Source.String()], x))
	if x.Route != nil {
		add("lanes", lanes(p, x))
	}
	for _, o := range x.Objects {
		if o.Keep != "" {
			add("stays", o.String()+": "+o.Keep)
		}
	}
	switch {
	case x.Encoded:
		add("travel", "undecoded: both sides have the same types, and nothing looks at a row")
	case x.Decoded != "":
		add("travel", "decoded: "+x.Decoded)
	}
	if len(x.Key) > 0 {
		add("key", strings.Join(x.Key, ", "))
	} else {
		add("key", "none")
	}
	if len(x.Options) > 0 {
		if s := string(x.Options); s != "{}" && s != "null" {
			add("options", inline(x.Options))
		}
	}
	o.Columns, o.Mappings = columns(x)
	for _, c := range x.Computed {
		o.Rest = append(o.Rest, Fact{"computed", c.Name + " " + c.Native + " by the target, as " + c.Expression})
	}
	if len(x.Left) > 0 {
		o.Rest = append(o.Rest, Fact{"left out", strings.Join(x.Left, ", ") + ": the target computes it"})
	}
	if len(x.Carried) > 0 {
		o.Rest = append(o.Rest, Fact{"carried", strings.Join(x.Carried, "; ")})
	}
	if len(x.NotCarried) > 0 {
		o.Rest = append(o.Rest, Fact{"not carried", strings.Join(x.NotCarried, "; ")})
	}
	return o
}

func rows(e *Estimates) string {
	if e == nil {
		return ""
	}
	return "   " + countRows(e.Rows)
}

func countRows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return units.Count(n) + " rows"
}

func estimate(e *Estimates) string {
	s := units.Count(e.Rows)
	if e.From != "counted" {
		s = "about " + s
	}
	s += " (" + e.From + ")"
	if e.Bytes > 0 {
		s += ", " + about(e.Bytes)
	}
	return s
}

// about is an estimate of bytes in two or three digits.
func about(bytes int64) string {
	f, unit := float64(bytes), 0
	names := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for f >= 1000 && unit < len(names)-1 {
		f, unit = f/1024, unit+1
	}
	if f < 10 && unit > 0 {
		return fmt.Sprintf("about %.1f %s", f, names[unit])
	}
	return fmt.Sprintf("about %.0f %s", f, names[unit])
}

func ranges(t *Table) string {
	r := t.Range
	var s string
	switch {
	case r.Split == connectors.SplitNone:
		s = "one, not split"
	case len(r.By) > 0:
		s = fmt.Sprintf("%d by %s of %s", r.Count, r.Split, strings.Join(r.By, ", "))
	default:
		s = fmt.Sprintf("%d by %s", r.Count, r.Split)
	}
	if r.Scan != "" {
		s += fmt.Sprintf("; one scan by %s, whose rows are dealt out", r.Scan)
	}
	if r.Why != "" {
		s += ": " + r.Why
	}
	if r.Auto {
		s += "; as many as workers"
	}
	return s
}

func chunks(t *Table) string {
	if t.Chunk.Restart == "range" {
		s := "one, written in pieces in one transaction; restart unit: "
		if t.Estimates != nil {
			return s + countRows(t.Estimates.Rows)
		}
		return s + "the whole table"
	}
	s := fmt.Sprintf("of up to %s, %s in memory; restart unit: one chunk", countRows(t.Chunk.Rows), about(t.Chunk.Rows*int64(t.Chunk.RowBytes)))
	if e := t.Estimates; e != nil && e.Chunks > 0 {
		n := units.Count(e.Chunks) + " or more"
		if r := int64(t.Range.Count); r > 1 && e.Chunks%r == 0 && e.Chunks > r {
			n += fmt.Sprintf(" (%s a range)", units.Count(e.Chunks/r))
		}
		s = n + " " + s
	}
	return s
}

// lanes says which lanes take a table's changes.
func lanes(p *Pipeline, t *Table) string {
	n, r := p.Lanes(), t.Route
	switch {
	case n == 1:
		return "one for all tables"
	case r.Alone != "":
		s := "one"
		var with []string
		for i := range p.Tables {
			if o := &p.Tables[i]; o.Source != t.Source && o.Route != nil && o.Route.Alone == r.Alone {
				with = append(with, o.Source.String())
			}
		}
		if with != nil {
			s += ", shared with " + strings.Join(with, ", ")
		}
		return s + ": " + r.Why
	case p.Order == "table":
		return "one, in order by table"
	case r.Ranges > 0:
		return fmt.Sprintf("up to %d of %d, by the hash of the key modulo %d", min(r.Ranges, n), n, r.Ranges)
	}
	return fmt.Sprintf("%d, by the hash of the key", n)
}

// enters says how rows come in; finish is what runs after those of the table.
func enters(finish *Stage, t *Table) string {
	var parts []string
	a := t.Apply
	if a.Mode != "" {
		s := a.Mode
		if a.Why != "" {
			s += ", " + a.Why
		}
		switch {
		case t.Create && a.Indexes == "defer" && finish != nil && !finish.NotBuilt && len(finish.Statements) > 0:
			s += "; keys and indexes after the rows"
		case t.Create: // with all that the statements of its creation say
		case a.Indexes == "defer":
			s += "; indexes after the rows"
		default:
			s += "; indexes stay"
		}
		switch t.Existing {
		case "truncate":
			s += "; emptied first"
		case "append":
			s += "; beside the rows that are there"
		default:
			s += "; rows that are there stop the run"
		}
		parts = append(parts, s)
	}
	if a.Changes != "" {
		s := a.Changes
		if a.Mode != "" {
			s = "then changes by " + a.Changes
		}
		if c := t.Commit; c != nil {
			var when []string
			if c.Rows > 0 {
				when = append(when, units.Count(c.Rows)+" changes")
			}
			if c.Bytes > 0 {
				when = append(when, units.Size(c.Bytes).String())
			}
			if c.Every != "" {
				when = append(when, c.Every)
			}
			if when != nil {
				s += ", a commit every " + strings.Join(when, " or ")
			}
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// inline is a JSON object as words: partitions 12, format json.
func inline(raw json.RawMessage) string {
	var b strings.Builder
	for _, c := range string(raw) {
		switch c {
		case '{', '}', '"', '[', ']':
		case ':':
			b.WriteByte(' ')
		case ',':
			b.WriteString(", ")
		default:
			b.WriteRune(c)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
