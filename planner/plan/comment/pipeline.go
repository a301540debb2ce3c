package comment

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/units"
	"penstock/planner/plan"
)

func (w *writer) pipeline(p *plan.PipelineOutline) {
	w.printf("\n#### %s %s\n\n", w.code(p.Name), p.Mode)
	w.printf("%s (%s) → %s (%s)", w.code(p.Source.ID), escape(p.Source.Connector), w.code(p.Target.ID), escape(p.Target.Connector))
	for _, f := range p.Facts {
		w.printf("<br>%s: %s", escape(f.Name), prose(short(f.Value, w.prose)))
	}
	w.printf("\n")
	w.tables(p)
	w.decisions(p)
	w.statements(p)
	if w.prose < 200 {
		return
	}
	w.printf("\n<details><summary>What it takes</summary>\n\n")
	for _, f := range p.Takes {
		w.printf("- %s: %s\n", f.Name, prose(short(f.Value, w.prose)))
	}
	w.printf("- from %s\n- to %s\n", w.code(p.Source.String()), w.code(p.Target.String()))
	w.printf("\n</details>\n")
}

// tables lists what goes where, and how.
func (w *writer) tables(p *plan.PipelineOutline) {
	room, all := w.detail.tables, 0
	for i := range p.Tables {
		all += len(p.Tables[i].Tables)
	}
	if room == 0 {
		w.printf("\n%s\n", count(all, "table"))
		w.left = true
		return
	}
	w.printf("\n| table | rows | how | ranges | key | columns |\n|---|---:|---|---|---|---|\n")
	for i := range p.Tables {
		g := &p.Tables[i]
		for _, t := range g.Tables {
			if room--; room < 0 || w.full() {
				break
			}
			made := "exists"
			if t.Create {
				made = "created"
			}
			name := w.code(t.Source.String()) + " → " + w.code(t.Target.String()) + " " + made
			if t.Filter != "" {
				name += "<br>only where " + w.code(t.Filter)
			}
			w.row(name, rows(t), how(t), ranges(p.Mode, t), w.code(strings.Join(t.Key, ", ")), prose(short(g.Columns, w.cell)))
		}
	}
	if n := all - w.detail.tables; n > 0 {
		w.row(count(n, "table")+" more", "", "", "", "", "")
		w.left = true
	}
}

func rows(t *plan.Table) string {
	switch {
	case t.Estimates == nil:
		return ""
	case t.Estimates.From == "counted":
		return units.Count(t.Estimates.Rows)
	}
	return "about " + units.Count(t.Estimates.Rows)
}

func how(t *plan.Table) string {
	var parts []string
	if t.Apply.Mode != "" {
		s := t.Apply.Mode
		switch t.Existing {
		case "truncate":
			s += ", <b>emptied first</b>"
		case "append":
			s += ", beside the rows that are there"
		}
		parts = append(parts, s)
	}
	if t.Apply.Changes != "" {
		parts = append(parts, "changes by "+t.Apply.Changes)
	}
	return strings.Join(parts, "; ")
}

func ranges(mode string, t *plan.Table) string {
	switch {
	case mode == "cdc":
		return ""
	case t.Range.Split == connectors.SplitNone:
		return "1"
	}
	return fmt.Sprintf("%d by %s", t.Range.Count, t.Range.Split)
}

// decisions are the columns that are not carried as they are, and what is not
// carried at all.
func (w *writer) decisions(p *plan.PipelineOutline) {
	type line struct {
		table string
		m     plan.Mapping
	}
	var lines []line
	var rest []string
	shown := 0
	for i := range p.Tables {
		g := &p.Tables[i]
		name := g.Tables[0].Source.String()
		if n := len(g.Tables); n > 1 {
			name = fmt.Sprintf("%s and %d alike", name, n-1)
		}
		had := len(lines)
		for _, m := range g.Mappings {
			if !m.Plain && shown < w.columns {
				lines = append(lines, line{name, m})
			}
			if !m.Plain && shown >= w.columns {
				w.left = true
			}
		}
		if len(lines) > had {
			shown++
		}
		for _, f := range g.Rest {
			if len(rest) < w.columns {
				rest = append(rest, fmt.Sprintf("- %s: %s %s\n", w.code(name), f.Name, prose(short(f.Value, w.prose))))
			} else {
				w.left = true
			}
		}
	}
	if len(lines) == 0 && len(rest) == 0 {
		return
	}
	w.printf("\n<details><summary>Columns that change on the way</summary>\n\n")
	if len(lines) > 0 {
		w.printf("| table | from | to | decision |\n|---|---|---|---|\n")
	}
	for _, l := range lines {
		if w.full() {
			return
		}
		decision := escape(l.m.Decision)
		if l.m.Reason != "" {
			decision += ": " + prose(short(l.m.Reason, w.prose))
		}
		w.row(w.code(l.table), w.code(l.m.From), w.code(l.m.To), decision)
	}
	if len(rest) > 0 {
		w.printf("\n%s", strings.Join(rest, ""))
	}
	w.printf("\n</details>\n")
}

// statements are folded, a box of the plan each.
func (w *writer) statements(p *plan.PipelineOutline) {
	for i := range p.Stages {
		s := &p.Stages[i]
		text := sql(s)
		if text == "" {
			continue
		}
		if w.detail.statements <= 0 {
			w.left = true
			return
		}
		w.detail.statements--
		w.printf("\n<details><summary>%d. %s</summary>\n\n", s.Number, w.code(s.Title))
		if facts := s.Facts(); len(facts) > 0 {
			w.printf("%s\n\n", prose(short(strings.Join(facts, "; "), w.prose)))
		}
		w.b.WriteString(fence("sql", short(text, 20*w.prose)))
		w.printf("\n</details>\n")
	}
}

// sql is what a box runs, with its notes as comments.
func sql(s *plan.StageOutline) string {
	var b strings.Builder
	add := func(list []connectors.Statement) {
		for _, x := range list {
			b.WriteString(strings.TrimRight(x.SQL, "\n") + "\n")
			if notes := plan.Notes(x); notes != "" {
				b.WriteString("  -- " + strings.ReplaceAll(notes, "\n", " ") + "\n")
			}
		}
	}
	add(s.Statements)
	if n := len(s.Stages); n > 1 && len(s.Statements) > 0 {
		fmt.Fprintf(&b, "-- the same for the other %s\n", count(n-1, "table"))
	}
	for _, l := range s.Loads {
		if len(s.Loads)+s.OtherLoads > 1 {
			b.WriteString("-- " + strings.ReplaceAll(l.Table, "\n", " ") + "\n")
		}
		add(l.Statements)
	}
	if s.OtherLoads > 0 {
		fmt.Fprintf(&b, "-- the same for the other %s, with their own names and columns\n", count(s.OtherLoads, "table"))
	}
	return b.String()
}
