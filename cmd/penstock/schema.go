package main

import (
	"penstock/lang"
	"penstock/planner"

	"github.com/spf13/cobra"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of specs in YAML",
		Long: `Print the JSON Schema (2020-12) of specs in YAML, for editors and linters. It knows
blocks, settings, words and units; what tables and columns there are, and what fits
together, only validate and plan can tell.`,
		Example: `  penstock schema > penstock.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b, err := lang.JSONSchema(planner.Connectors(a.registry))
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(b)
			return err
		},
	}
}
