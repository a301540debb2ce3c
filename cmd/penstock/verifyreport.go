package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"penstock/internal/units"
	"penstock/runtime"
	"penstock/runtime/verify"
)

// comparison writes what verify found for people.
type comparison struct {
	w      io.Writer
	width  int
	values bool // shown already: no hint at the flag
}

func (c *comparison) line(indent int, format string, args ...any) {
	lead := strings.Repeat(" ", indent)
	fmt.Fprintln(c.w, wrap(fmt.Sprintf(format, args...), c.width, lead, lead+"  "))
}

func (c *comparison) write(res *verify.Report) {
	if res.Err != nil {
		c.line(0, "penstock: %s", res.Err.Message)
	}
	for _, p := range res.Pipelines {
		fmt.Fprintln(c.w)
		c.line(0, "%s   %s -> %s   %s", p.Name, p.Source, p.Target, c.outcome(res, p))
		for _, t := range p.Tables {
			c.table(t)
		}
		if p.Error != nil {
			c.line(2, "error: %s", p.Error.Message)
		}
	}
}

func (c *comparison) outcome(res *verify.Report, p *verify.Pipeline) string {
	switch {
	case p.Error != nil && (res.Exit == runtime.ExitInterrupt || res.Exit == runtime.ExitTerminated):
		return fmt.Sprintf("cut short (exit %d)", res.Exit)
	case p.Error != nil:
		return fmt.Sprintf("not compared (exit %d)", p.Exit)
	case p.Exit == runtime.ExitFindings:
		return fmt.Sprintf("differs (exit %d)", p.Exit)
	}
	return "equal"
}

func (c *comparison) table(t *verify.Table) {
	head := fmt.Sprintf("%s -> %s   ", t.Name, t.Target)
	for _, n := range t.Notes {
		c.line(2, "note: %s: %s", t.Name, n)
	}
	switch t.State {
	case verify.NotCompared:
		c.line(2, "%snot compared", head)
		return
	case verify.Absent:
		c.line(2, "%sthe target has no such table", head)
		return
	case verify.Equal:
		c.line(2, "%sequal, %s, in %s", head, plural64(t.SourceSide.Rows, "row"), short(seconds(t.Seconds)))
	default:
		c.line(2, "%sdiffers: %s missing, %s extra, %s different; %s at the source, %s at the target, in %s", head,
			units.Count(t.Missing), units.Count(t.Extra), units.Count(t.Different),
			plural64(t.SourceSide.Rows, "row"), units.Count(t.TargetSide.Rows), short(seconds(t.Seconds)))
	}
	c.side("at the source are bad and no run would load them", t.SourceSide)
	c.side("at the target can't be read", t.TargetSide)
	for _, r := range t.Rows {
		c.row(r)
	}
	if t.LeftOut > 0 {
		c.line(4, "... and %s more; --limit lists more", units.Count(t.LeftOut))
	}
	if len(t.Rows) > 0 && !c.values {
		c.line(4, "--values shows the values")
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *comparison) side(what string, s verify.Side) {
	if s.Bad == 0 {
		return
	}
	c.line(4, "%s %s:", plural64(s.Bad, "row"), what)
	for _, b := range s.FirstBad {
		c.line(6, "%s", b)
	}
}

// row is a line: what is wrong, with which row, in which columns.
func (c *comparison) row(r *verify.Row) {
	name := "hash " + r.Hash
	if r.Hash == "" {
		var parts []string
		for _, k := range r.Key {
			parts = append(parts, k.Column+"="+shown(k.Value))
		}
		name = strings.Join(parts, " ")
	}
	var columns []string
	for _, d := range r.Columns {
		switch {
		case d.Source != nil && d.Target != nil:
			columns = append(columns, fmt.Sprintf("%s: %s at the source, %s at the target", d.Column, shown(d.Source), shown(d.Target)))
		case d.Source != nil:
			columns = append(columns, d.Column+"="+shown(d.Source))
		case d.Target != nil:
			columns = append(columns, d.Column+"="+shown(d.Target))
		default:
			columns = append(columns, d.Column)
		}
	}
	text := fmt.Sprintf("%-9s  %s", r.Kind, name)
	if len(columns) > 0 {
		text += "   " + strings.Join(columns, ", ")
	}
	c.line(4, "%s", text)
}

// shown is a value so that what differs can be seen: quoted where it is not
// plain, with all that is not ASCII by its number.
func shown(v *verify.Text) string {
	if v.Null {
		return "NULL"
	}
	if plainWord.MatchString(v.Text) {
		return v.Text
	}
	if r := []rune(v.Text); len(r) > 200 {
		return strconv.QuoteToASCII(string(r[:200])) + "..."
	}
	return strconv.QuoteToASCII(v.Text)
}

// writeFixes writes the repairs as a script.
func writeFixes(w io.Writer, res *verify.Report) error {
	for _, p := range res.Pipelines {
		for _, t := range p.Tables {
			if len(t.Fix) == 0 {
				continue
			}
			head := fmt.Sprintf("-- %s.%s: %s\n", p.Name, oneLine(t.Name), plural(len(t.Rows), "row"))
			if t.LeftOut > 0 {
				head += fmt.Sprintf("-- %s more differ: raise --limit\n", units.Count(t.LeftOut))
			}
			if _, err := io.WriteString(w, head+strings.Join(t.Fix, "\n")+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneLine keeps a name from ending the comment that it stands in.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
