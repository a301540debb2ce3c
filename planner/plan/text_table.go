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
func (t *text) groups(p *Pipeline) []group {
	var out []group
	at := map[string]int{}
	for i := range p.Tables {
		x := &p.Tables[i]
		k := fmt.Sprint(i)
		if !t.options.All {
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

func (t *text) table(p *Pipeline, g group) {
	x := g.tables[0]
	made := "exists"
	if x.Create {
		made = "created"
	}
	if n := len(g.tables); n == 1 {
		t.wrapped(2, fmt.Sprintf("table %s -> %s (%s)", x.Source, x.Target, made))
	} else {
		last := g.tables[n-1]
		t.wrapped(2, fmt.Sprintf("%d tables alike: %s to %s (%s)", n, x.Source, last.Source, made))
		for _, y := range g.tables {
			t.wrapped(4, fmt.Sprintf("%s -> %s%s", y.Source, y.Target, rows(y.Estimates)))
		}
	}
	if e := x.Estimates; e != nil && len(g.tables) == 1 {
		t.field(4, "rows", estimate(e))
	}
	if x.Filter != "" {
		t.field(4, "filter", x.Filter)
	}
	if len(x.Operations) > 0 && len(x.Operations) < 3 {
		t.field(4, "operations", strings.Join(x.Operations, ", ")+" only")
	}
	if p.Mode != "cdc" {
		t.field(4, "ranges", ranges(x))
		t.field(4, "chunks", chunks(x))
	}
	t.field(4, "enters by", enters(p, x))
	if len(x.Key) > 0 {
		t.field(4, "key", strings.Join(x.Key, ", "))
	} else {
		t.field(4, "key", "none")
	}
	if len(x.Options) > 0 {
		if s := string(x.Options); s != "{}" && s != "null" {
			t.field(4, "options", inline(x.Options))
		}
	}
	t.columns(x)
	if len(x.NotCarried) > 0 {
		t.field(4, "not carried", strings.Join(x.NotCarried, "; "))
	}
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
	s := fmt.Sprintf("of up to %s, %s; restart unit: one chunk", countRows(t.Chunk.Rows), about(t.Chunk.Rows*int64(t.Chunk.RowBytes)))
	if e := t.Estimates; e != nil && e.Chunks > 0 {
		s = units.Count(e.Chunks) + " or more " + s
	}
	return s
}

func enters(p *Pipeline, t *Table) string {
	var parts []string
	a := t.Apply
	if a.Mode != "" {
		s := a.Mode
		if a.Why != "" {
			s += ", " + a.Why
		}
		if a.Indexes == "defer" {
			s += "; indexes after the rows"
		} else {
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
		s := "changes by " + a.Changes
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
