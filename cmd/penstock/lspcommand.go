package main

import (
	"errors"

	"penstock/cmd/penstock/lsp"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

func (a *app) lspCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors on standard input and output",
		Long: `Speak the Language Server Protocol on standard input and output: diagnostics while
you write, their fixes, completion of blocks, settings, tables and columns, and what
each means, for HCL and YAML. Nothing is connected to: tables and columns come from
recorded catalogs and local files.`,
		Example: `  penstock lsp`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			vars, err := a.variables()
			if err != nil {
				return err
			}
			err = lsp.Serve(cmd.Context(), a.stdin, a.stdout, lsp.Options{
				Registry: a.registry, Version: buildVersion(),
				Lang: lang.Options{Vars: vars, VarFiles: a.varFiles, LookupEnv: a.lookupEnv, Connectors: planner.Connectors(a.registry)},
			})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return exitError(runtime.ExitFailed)
			}
			return err
		},
	}
}
