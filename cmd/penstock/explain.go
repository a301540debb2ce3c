package main

import (
	"fmt"
	"io"
	"strings"

	"penstock/internal/diag"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain the code of a diagnostic",
		Long: `Explain what a diagnostic means, with a fragment of a spec that gives it and the
fragment mended. Without a code, list them all.`,
		Example: `  penstock explain PEN0520
  penstock explain 520
  penstock explain --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return one("a CODE", "penstock explain PEN0520")(c, args)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var out []string
			for _, d := range diag.Codes() {
				out = append(out, string(d.Code)+"\t"+d.Title)
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			docs := diag.Codes()
			if len(args) == 1 {
				d, near, ok := diag.Find(args[0])
				if !ok {
					s := fmt.Sprintf("there is no diagnostic %q", args[0])
					if len(near) > 0 {
						s += "; did you mean " + strings.Join(near, " or ") + "?"
					}
					return &runtime.UsageError{Text: s + fmt.Sprintf(" (%s explain lists them all)", a.program)}
				}
				docs = []diag.Doc{d}
			}
			switch {
			case a.json:
				return a.writeJSON(explained{newHead("explain"), docs})
			case len(args) == 0:
				for _, d := range docs {
					if _, err := fmt.Fprintf(a.stdout, "%s  %s\n", d.Code, d.Title); err != nil {
						return err
					}
				}
				return nil
			}
			return explain(a.stdout, docs[0], reportWidth)
		},
	}
}

// explained is what explain writes.
type explained struct {
	head
	Codes []diag.Doc `json:"codes"` // the one asked for, or all
}

// explain writes a code for people.
func explain(w io.Writer, d diag.Doc, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n%s\n", d.Code, d.Title, wrap(d.Meaning, width, "", ""))
	for _, part := range []struct{ head, text string }{{"This gives it:", d.Bad}, {"Mended:", d.Good}} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n\n", part.head)
		for line := range strings.Lines(strings.TrimRight(part.text, "\n") + "\n") {
			b.WriteString("    " + line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
