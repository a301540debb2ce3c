package main

import "github.com/spf13/cobra"

// authoring is the commands for who writes specs.
func (a *app) authoring() []*cobra.Command {
	return []*cobra.Command{a.explainCommand(), a.fmtCommand(), a.initCommand(), a.lspCommand(), a.schemaCommand()}
}
