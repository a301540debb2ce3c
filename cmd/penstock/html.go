package main

import (
	"bytes"

	"penstock/planner/plan"
	"penstock/planner/plan/page"

	"github.com/spf13/cobra"
)

// htmlFlag gives a command --html.
func htmlFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "html", "", "write the plan to `FILE` as one page for a browser, which loads nothing else")
	mustComplete(cmd.MarkFlagFilename("html", "html"))
}

// writePage writes the page of a plan, where one is asked for and there is one.
func writePage(path string, p *plan.Plan, o page.Options) error {
	if path == "" || p == nil {
		return nil
	}
	var b bytes.Buffer
	if err := page.Write(&b, p, o); err != nil {
		return err
	}
	return writeByRename("--html", path, b.Bytes())
}
