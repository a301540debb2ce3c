package main

import (
	"fmt"
	"io"
	"strings"

	"penstock/internal/units"
	"penstock/runtime"
)

// writeReport is a run's closing report for people.
func writeReport(w io.Writer, res *runtime.Results, dir string) {
	if res.Error != nil {
		fmt.Fprintf(w, "penstock: %s\n", res.Error.Message)
	}
	for _, p := range res.Pipelines {
		fmt.Fprintf(w, "\n%s   %s -> %s   %s\n", p.Name, p.Source, p.Target, outcome(p))
		for _, t := range p.Tables {
			writeTable(w, t)
		}
		if p.Error != nil {
			fmt.Fprintf(w, "  error: %s\n", p.Error.Message)
		}
		if p.Discards != "" {
			fmt.Fprintf(w, "  bad rows: %s\n", relative(p.Discards))
		}
		if !p.OneState {
			fmt.Fprintf(w, "  not one state: tables were read at different points, see the report\n")
		}
		if p.Error == nil && !p.Drained && p.Delivery != "" {
			fmt.Fprintf(w, "  delivery: %s\n", p.Delivery)
		}
		fmt.Fprintf(w, "  report: %s\n", relative(resultsPath(dir, p.Name)))
	}
}

// outcome says in a clause how a pipeline ended.
func outcome(p *runtime.PipelineResult) string {
	took := p.Ended.Sub(p.Started)
	switch {
	case p.Drained:
		return fmt.Sprintf("cut short after %s (exit %d); run it again to go on", short(took), p.Exit)
	case p.Error != nil:
		return fmt.Sprintf("failed after %s (exit %d); what was done is kept", short(took), p.Exit)
	}
	for _, t := range p.Tables {
		if t.Action != "loaded" {
			return "loaded in " + short(took)
		}
	}
	return "already loaded; nothing was done"
}

func writeTable(w io.Writer, t *runtime.TableResult) {
	fmt.Fprintf(w, "  %s -> %s   ", t.Name, t.Target)
	switch {
	case t.Action == "loaded":
		fmt.Fprintf(w, "%s rows, loaded at %s; --reload %s loads it again\n", units.Count(t.Before), t.LoadedAt, t.Name)
		return
	case t.State == "not begun":
		fmt.Fprintf(w, "not begun\n")
		return
	}
	fmt.Fprintf(w, "%s rows", units.Count(t.Rows+t.Before))
	if t.Before > 0 {
		fmt.Fprintf(w, " (%s by earlier runs)", units.Count(t.Before))
	}
	if t.Read > 0 {
		fmt.Fprintf(w, ", %s read, %s filtered out", units.Count(t.Read), units.Count(t.Filtered))
	}
	if bad := t.Bad + t.BadBefore; bad > 0 {
		fmt.Fprintf(w, ", %s bad", units.Count(bad))
	}
	if t.Seconds > 0 && t.Read > 0 {
		fmt.Fprintf(w, ", %s rows/s read", units.Count(int64(float64(t.Read)/t.Seconds)))
	}
	fmt.Fprintf(w, ", %d of %s", t.ChunksDone, plural(t.Chunks, "chunk"))
	if t.Retries > 0 {
		fmt.Fprintf(w, ", tried again %s", plural(t.Retries, "time"))
	}
	fmt.Fprintln(w)
	if n := len(t.Ranges); n > 1 {
		parts := make([]string, 0, n)
		for _, r := range t.Ranges[:min(n, 16)] {
			parts = append(parts, units.Count(r.Rows))
		}
		more := ""
		if n > 16 {
			more = ", ..."
		}
		fmt.Fprintf(w, "    rows by range: %s%s\n", strings.Join(parts, ", "), more)
	}
	if t.Point != "" && t.Generation > 1 {
		fmt.Fprintf(w, "    generation %d\n", t.Generation)
	}
	for _, b := range t.FirstBad {
		fmt.Fprintf(w, "    bad: %s\n", b)
	}
}
