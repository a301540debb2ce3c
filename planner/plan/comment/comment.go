// Package comment writes a plan, or what keeps a spec from having one, as a
// Markdown comment of a pull request that GitHub takes whole.
package comment

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"penstock/internal/diag"
	"penstock/planner/plan"
)

// Limit is how long a comment may be, in bytes: GitHub refuses one of more than
// 65,536 characters, and no character has less than a byte.
const Limit = 65_536

// Marker is the first line of every comment, by which a later run finds it.
const Marker = "<!-- penstock -->"

// Comment is what is commented on.
type Comment struct {
	Command     string // "plan", "show"; "validate", which is about findings alone
	Of          string // the spec, or the plan file
	Diagnostics []diag.Record
	Plan        *plan.Plan // nil where the spec has errors
	Run         string     // the command that carries the plan out
	Baseline    string     // an older plan's file, where it was compared with; "" where not
	Changes     []string   // what is otherwise than in that, in words
}

// detail is how much of a plan is shown. Where a comment would be too long, the
// next one shows less; the last always fits.
type detail struct {
	statements int // boxes whose statements are shown
	columns    int // tables whose columns are shown
	tables     int // tables of a pipeline that are listed
	pipelines  int
	findings   int // diagnostics, and warnings
	cell       int // characters of a name or an expression
	prose      int // characters of an explanation
}

var details = []detail{
	{1000, 1000, 1000, 1000, 1000, 400, 2000},
	{40, 200, 500, 100, 200, 200, 600},
	{12, 60, 200, 100, 100, 200, 600},
	{4, 20, 100, 50, 50, 120, 400},
	{0, 8, 50, 30, 40, 100, 300},
	{0, 0, 25, 20, 25, 80, 240},
	{0, 0, 0, 10, 10, 40, 120},
}

// Write writes the comment, within Limit.
func Write(w io.Writer, c Comment) error {
	o := &plan.Outline{}
	if c.Plan != nil {
		o = plan.NewOutline(c.Plan, false)
	}
	var b bytes.Buffer
	for _, d := range details {
		b.Reset()
		(&writer{Comment: c, outline: o, detail: d, b: &b}).write()
		if b.Len() <= Limit {
			break
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Failure is the comment of a command that could not look at a spec.
func Failure(message string) string {
	return Marker + "\n### Penstock\n\n> [!CAUTION]\n> " + prose(short(message, 2000)) + "\n"
}

type writer struct {
	Comment
	detail
	outline *plan.Outline
	b       *bytes.Buffer
	left    bool // something was left out
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w.b, format, args...) }

// full reports that this much detail is too much already.
func (w *writer) full() bool { return w.b.Len() > Limit }

// row writes a row of a table; its cells are escaped already.
func (w *writer) row(cells ...string) { w.printf("| %s |\n", strings.Join(cells, " | ")) }

func (w *writer) code(s string) string { return code(short(s, w.cell)) }

func (w *writer) write() {
	w.printf("%s\n### Penstock %s: %s\n\n", Marker, w.Command, w.code(w.Of))
	w.summary()
	w.changes()
	w.diagnostics()
	if w.brief() {
		w.ended()
		return
	}
	pipelines := w.outline.Pipelines
	for i := range pipelines[:min(len(pipelines), w.pipelines)] {
		if w.full() {
			return
		}
		w.pipeline(&pipelines[i])
	}
	if n := len(pipelines) - w.pipelines; n > 0 {
		w.printf("\n%s more.\n", count(n, "pipeline"))
		w.left = true
	}
	if w.Plan != nil {
		w.warnings()
		w.ending()
	}
	w.ended()
}

// brief reports a comment on findings alone.
func (w *writer) brief() bool { return w.Command == "validate" }

func (w *writer) ended() {
	if w.left {
		w.printf("\n<sub>Cut to what a comment can hold; <code>--html</code> and <code>--json</code> have all of it.</sub>\n")
	}
}

// summary is the line that is read first.
func (w *writer) summary() {
	errors, warnings := 0, 0
	for _, d := range w.Diagnostics {
		if d.Severity == "error" {
			errors++
		} else {
			warnings++
		}
	}
	if errors > 0 {
		w.printf("> [!CAUTION]\n> **%s**: nothing can be run.\n", count(errors, "error"))
		return
	}
	tables := 0
	for i := range w.outline.Pipelines {
		for _, t := range w.outline.Pipelines[i].Tables {
			tables += len(t.Tables)
		}
	}
	parts := []string{count(len(w.outline.Pipelines), "pipeline"), count(tables, "table")}
	if n := max(warnings, len(w.outline.Warnings)); n > 0 {
		parts = append(parts, count(n, "warning"))
	}
	w.printf("**%s**\n", strings.Join(parts, " · "))
}

// changes lists what is otherwise than in an older plan: what a reviewer of a
// change looks for.
func (w *writer) changes() {
	if w.Baseline == "" || w.Plan == nil {
		return
	}
	if len(w.Changes) == 0 {
		w.printf("\nNothing is otherwise than in %s.\n", w.code(w.Baseline))
		return
	}
	w.printf("\n#### Otherwise than in %s\n\n", w.code(w.Baseline))
	for _, c := range w.Changes[:min(len(w.Changes), 2*w.findings)] {
		w.printf("- %s\n", code(short(c, w.prose)))
	}
	if n := len(w.Changes) - 2*w.findings; n > 0 {
		w.printf("- and %s more\n", count(n, "change"))
		w.left = true
	}
}

// diagnostics lists errors before warnings. The warnings of a plan stand behind
// its tables.
func (w *writer) diagnostics() {
	var list []diag.Record
	for _, severity := range []string{"error", "warning"} {
		for _, d := range w.Diagnostics {
			if d.Severity == severity && (severity == "error" || w.Plan == nil || w.brief()) {
				list = append(list, d)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	w.printf("\n| | place | finding |\n|---|---|---|\n")
	for _, d := range list[:min(len(list), w.findings)] {
		text := "<b>" + prose(short(d.Summary, w.prose)) + "</b>"
		if d.Detail != "" {
			text += "<br>" + prose(short(d.Detail, w.prose))
		}
		for _, f := range d.Fixes {
			text += "<br><i>" + prose(short(f.Title, w.prose)) + "</i>"
		}
		w.row(icon(d.Severity)+" "+code(string(d.Code)), w.code(fmt.Sprintf("%s:%d:%d", d.Range.Filename, d.Range.Start.Line, d.Range.Start.Column)), text)
	}
	if n := len(list) - w.findings; n > 0 {
		w.row("", "", count(n, "finding")+" more")
		w.left = true
	}
}

func icon(severity string) string {
	if severity == "error" {
		return "❌"
	}
	return "⚠️"
}

func (w *writer) warnings() {
	list := w.outline.Warnings
	if len(list) == 0 {
		return
	}
	w.printf("\n#### Warnings\n\n")
	for _, f := range list[:min(len(list), w.findings)] {
		w.printf("- ⚠️ %s %s: %s", code(f.Code), w.code(f.On()), prose(short(f.Summary, w.prose)))
		if f.Detail != "" {
			w.printf("<br>%s", prose(short(f.Detail, w.prose)))
		}
		w.printf("\n")
	}
	if n := len(list) - w.findings; n > 0 {
		w.printf("- and %s more\n", count(n, "warning"))
		w.left = true
	}
}

func (w *writer) ending() {
	list := w.outline.Unchecked
	if len(list) > 0 {
		w.printf("\n<details><summary>Not checked, since nothing was connected to</summary>\n\n")
		for _, f := range list[:min(len(list), 2*w.findings)] {
			w.printf("- %s: %s\n", w.code(f.Name), prose(f.Value))
		}
		w.printf("\n</details>\n")
	}
	switch missing := w.outline.Missing; {
	case len(missing) > 0:
		w.printf("\nThis build plans and can&#39;t run yet: %s\n", w.code(short(strings.Join(missing, ", "), 10*w.cell)))
	case w.Run != "":
		w.printf("\nNext: %s\n", code(short(w.Run, 400)))
	}
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
