package main

import (
	"fmt"
	"io"
	"strings"

	"penstock/internal/units"
	"penstock/runtime"
)

// closing writes a run's closing report for people.
type closing struct {
	w     io.Writer
	width int
	log   bool   // errors stay on one line each, to be searched for
	saved bool   // run_results.json was written
	dir   string // where the folder .penstock is
	again string // the command that goes on with an unfinished run
}

func (c *closing) line(indent int, format string, args ...any) {
	lead := strings.Repeat(" ", indent)
	fmt.Fprintln(c.w, wrap(fmt.Sprintf(format, args...), c.width, lead, lead+"  "))
}

func (c *closing) error(indent int, text string) {
	if c.log {
		fmt.Fprintf(c.w, "%s%s\n", strings.Repeat(" ", indent), text)
		return
	}
	c.line(indent, "%s", text)
}

func (c *closing) write(res *runtime.Results) {
	if res.Error != nil {
		c.error(0, "penstock: "+res.Error.Message)
	}
	goOn := false
	for _, p := range res.Pipelines {
		fmt.Fprintln(c.w)
		c.line(0, "%s   %s -> %s   %s", p.Name, p.Source, p.Target, outcome(p))
		if p.Epoch != 0 { // else no table was looked at
			for _, t := range p.Tables {
				c.table(t)
			}
		}
		if p.Error != nil {
			c.error(2, "error: "+p.Error.Message)
		}
		if s := idle(p); s != "" {
			c.line(2, "%s", s)
		}
		if p.Discards != "" {
			c.line(2, "bad rows: %s", relative(p.Discards))
		}
		if !p.OneState {
			c.line(2, "not one state: tables were read at different points, see the report")
		}
		if p.Error == nil && !p.Drained && p.Delivery != "" {
			c.line(2, "delivery: %s", p.Delivery)
		}
		if c.saved {
			c.line(2, "report: %s", relative(resultsPath(c.dir, p.Name)))
		}
		goOn = goOn || p.Epoch != 0 && (p.Drained || p.Error != nil)
	}
	if goOn && c.again != "" {
		fmt.Fprintf(c.w, "\nnext: %s\n", c.again) // never wrapped: it is there to be copied
	}
}

// outcome says in a clause how a pipeline ended. One without an epoch was not
// claimed: nothing was done at its target.
func outcome(p *runtime.PipelineResult) string {
	took := short(p.Ended.Sub(p.Started))
	switch {
	case p.Epoch == 0 && p.Drained:
		return fmt.Sprintf("cut short after %s (exit %d); nothing was done", took, p.Exit)
	case p.Epoch == 0 && p.Error != nil:
		return fmt.Sprintf("failed after %s (exit %d); nothing was done", took, p.Exit)
	case p.Drained:
		return fmt.Sprintf("cut short after %s (exit %d); run it again to go on", took, p.Exit)
	case p.Error != nil:
		return fmt.Sprintf("failed after %s (exit %d); what was done is kept", took, p.Exit)
	}
	for _, t := range p.Tables {
		if t.Action != "loaded" {
			if p.Exit == runtime.ExitFindings {
				return fmt.Sprintf("loaded in %s, with rows set aside (exit %d)", took, p.Exit)
			}
			return "loaded in " + took
		}
	}
	return "already loaded; nothing was done"
}

// idle says how much of the workers' time was left at the end, where it shows:
// a table that can't be cut kept one of them longer.
func idle(p *runtime.PipelineResult) string {
	const shows = 0.10
	if n := len(p.Idle.Workers); n > 1 && p.Error == nil && p.Idle.Share >= shows {
		return fmt.Sprintf("workers: %d, of whose time %.0f%% was idle at the end", n, 100*p.Idle.Share)
	}
	return ""
}

func (c *closing) table(t *runtime.TableResult) {
	head := fmt.Sprintf("%s -> %s   ", t.Name, t.Target)
	switch {
	case t.Action == "loaded":
		c.line(2, "%s%s, loaded at %s; --reload %s loads it again", head, plural64(t.Before, "row"), t.LoadedAt, t.Name)
		return
	case t.State == "not begun":
		c.line(2, "%snot begun", head)
		return
	}
	facts := []string{plural64(t.Rows+t.Before, "row")}
	if t.Before > 0 {
		facts[0] += fmt.Sprintf(" (%s by earlier runs)", units.Count(t.Before))
	}
	if t.Read > 0 {
		facts = append(facts, units.Count(t.Read)+" read")
	}
	if t.Filtered > 0 {
		facts = append(facts, units.Count(t.Filtered)+" filtered out")
	}
	if bad := t.Bad + t.BadBefore; bad > 0 {
		facts = append(facts, units.Count(bad)+" bad")
	}
	if t.Seconds > 0 && t.Read > 0 {
		facts = append(facts, rate(float64(t.Read)/t.Seconds)+" read")
	}
	facts = append(facts, fmt.Sprintf("%d of %s", t.ChunksDone, plural(t.Chunks, "chunk")))
	if t.Retries > 0 {
		facts = append(facts, "tried again "+plural(t.Retries, "time"))
	}
	c.line(2, "%s%s", head, strings.Join(facts, ", "))
	if s := byRange(t); s != "" {
		c.line(4, "%s", s)
	}
	if t.Point != "" && t.Generation > 1 {
		c.line(4, "generation %d", t.Generation)
	}
	for _, b := range t.FirstBad {
		c.line(4, "bad: %s", b)
	}
}

// shownRanges is how many ranges the report lists; run_results.json has all.
const shownRanges = 16

// byRange lists what this run loaded of each range. They have their numbers
// unless it loaded all of them whole.
func byRange(t *runtime.TableResult) string {
	n := len(t.Ranges)
	whole := t.Before == 0 && t.State == "loaded" && (n == 0 || t.Ranges[n-1].Range == n)
	if n == 0 || n == 1 && whole {
		return ""
	}
	parts := make([]string, 0, n)
	for _, r := range t.Ranges[:min(n, shownRanges)] {
		s := units.Count(r.Rows)
		if !whole {
			s = fmt.Sprintf("#%d %s", r.Range, s)
		}
		parts = append(parts, s)
	}
	if n > shownRanges {
		parts = append(parts, "...")
	}
	head := "rows by range: "
	if !whole {
		head = "rows of this run by range: "
	}
	return head + strings.Join(parts, ", ")
}
