// Package page draws a plan as one HTML page that needs nothing but itself: the
// stage graph, every statement and every type decision, for a reviewer with a
// browser and no database.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"penstock/connectors"
	"penstock/internal/units"
	"penstock/planner/plan"
)

// Options say what a page is of.
type Options struct {
	Of  string // the spec, or the plan file; may be empty
	Run string // the command that carries the plan out; may be empty
	// Baseline is an older plan's file that this one was compared with, and
	// Changes what is otherwise, in words.
	Baseline string
	Changes  []string
}

// Write writes the page. Equal plans give equal bytes.
func Write(w io.Writer, p *plan.Plan, o Options) error {
	outline := plan.NewOutline(p, false)
	v := view{Options: o, Outline: outline, Policy: policy, Style: template.CSS(style), Script: template.JS(script), Format: p.FormatVersion}
	for i := range outline.Pipelines {
		l := pipelineView{PipelineOutline: &outline.Pipelines[i], ID: fmt.Sprintf("p%d", i+1)}
		for j := range l.Tables {
			l.Groups = append(l.Groups, newTableView(l.Mode, &l.Tables[j], fmt.Sprintf("%s-t%d", l.ID, j+1)))
			v.Tables += len(l.Tables[j].Tables)
		}
		l.Wide, l.Narrow = newGraph(&l), newColumn(&l)
		v.Lines = append(v.Lines, l)
	}
	var b bytes.Buffer
	if err := document.Execute(&b, v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

type view struct {
	Options
	*plan.Outline
	Lines  []pipelineView
	Tables int
	Format int
	Policy string
	Style  template.CSS
	Script template.JS
}

type pipelineView struct {
	*plan.PipelineOutline
	ID     string
	Groups []tableView
	Wide   graph
	Narrow graph
}

// StageID is the fragment of a stage's details.
func (l pipelineView) StageID(number int) string { return fmt.Sprintf("%s-s%d", l.ID, number) }

type tableView struct {
	*plan.TableOutline
	ID     string
	Name   string
	Target string
	Made   string
	Rows   string
	Count  string // of rows, as short as a drawing needs it
	Ranges string
	Tally  []tally
	Words  string // what the filter box looks in
}

// tally counts the columns of one decision.
type tally struct {
	Decision string
	N        int
}

func newTableView(mode string, o *plan.TableOutline, id string) tableView {
	first := o.Tables[0]
	v := tableView{TableOutline: o, ID: id, Name: first.Source.String(), Target: first.Target.String(), Made: "exists"}
	if first.Create {
		v.Made = "created"
	}
	if n := len(o.Tables); n > 1 {
		v.Name = fmt.Sprintf("%s … %s", first.Source, o.Tables[n-1].Source)
		v.Target = units.Count(int64(n)) + " tables alike"
	}
	var rows int64
	known, counted := true, true
	var words []string
	for _, t := range o.Tables {
		if t.Estimates == nil {
			known = false
		} else {
			rows += t.Estimates.Rows
			counted = counted && t.Estimates.From == "counted"
		}
		words = append(words, t.Source.String(), t.Target.String())
	}
	v.Words = strings.ToLower(strings.Join(words, " "))
	if known {
		v.Rows, v.Count = plural64(rows, "row"), few(rows)+" rows"
		if !counted {
			v.Rows, v.Count = "about "+v.Rows, "≈"+v.Count
		}
	}
	if mode != "cdc" {
		v.Ranges = "1 range"
		if n := first.Range.Count; n > 1 {
			v.Ranges = fmt.Sprintf("%d ranges", n)
		}
	}
	for _, d := range []string{"lossy", "checked", "exact"} {
		n := 0
		for _, c := range first.Columns {
			if c.Decision == d {
				n++
			}
		}
		if n > 0 {
			v.Tally = append(v.Tally, tally{d, n})
		}
	}
	return v
}

var (
	//go:embed page.html
	markup string
	//go:embed page.css
	style string
	//go:embed page.js
	script string

	// policy lets a browser run and draw what is in the page, and load nothing.
	policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))

	document = template.Must(template.New("page").Funcs(template.FuncMap{
		"notes": plan.Notes,
		"join":  func(list []string) string { return strings.Join(list, "; ") },
		"kind":  func(decision string) string { return decision[strings.LastIndexByte(decision, ' ')+1:] },
		"count": plural,
		"edge":  func(n int) int { return n + 4 }, // room for strokes
		"carried": func(s plan.StageOutline) string {
			if facts := s.Facts(); len(facts) > 0 {
				return strings.Join(facts, "; ")
			}
			return what(&s, "")
		},
		"prose":  prose,
		"lower":  strings.ToLower,
		"others": func(n int) int { return n - 1 },
		"sql": func(s connectors.Statement) string {
			if s.SQL == connectors.NotBuilt {
				return "" // the stage says it
			}
			return strings.TrimRight(s.SQL, "\n")
		},
	}).Parse(markup))
)

// span is a piece of a sentence.
type span struct {
	Text string
	Code bool
}

// prose takes a sentence apart at the backticks around its code.
func prose(s string) []span {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 { // one of them has no other
		return []span{{Text: s}}
	}
	var out []span
	for i, p := range parts {
		out = append(out, span{p, i%2 == 1})
	}
	return out
}

// few writes a number in two or three digits, or whole below ten thousand.
func few(n int64) string {
	f, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if n < 10_000 || f < 1000 {
			break
		}
		f, unit = f/1000, u
	}
	switch {
	case unit == "":
		return units.Count(n)
	case f < 10:
		return fmt.Sprintf("%.1f%s", f, unit)
	}
	return fmt.Sprintf("%.0f%s", f, unit)
}

func plural(n int, one string) string { return plural64(int64(n), one) }

func plural64(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return units.Count(n) + " " + one + "s"
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
