package main

import (
	"context"
	"fmt"
	"log/slog"

	"penstock/runtime"

	"github.com/spf13/cobra"
)

// undoDocument is what undo writes.
type undoDocument struct {
	head
	Pipelines []runtime.Undone `json:"pipelines"`
}

func (a *app) undoCommand() *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use:   "undo SPEC",
		Short: "Put back the indexes that an unfinished load dropped",
		Long: `Put back what loads with indexes = "defer" have dropped at the target and not
made again, without loading. The target's journal, penstock_ddl, says what that
is. Rows stay as they are, and a run goes on with the load afterwards.

Where nothing is to be put back it says so and exits with 0.`,
		Example: `  penstock undo shop.hcl
  penstock undo shop.hcl --only shop.orders`,
		Args:              one("a SPEC", "penstock undo shop.hcl"),
		ValidArgsFunction: complete("hcl", "yaml", "yml"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.undo(cmd.Context(), args[0], only) },
	}
	cmd.Flags().StringArrayVar(&only, "only", nil, "put back only what this `PIPELINE[.TABLE]` dropped, a table always with its pipeline; may be repeated")
	return cmd
}

func (a *app) undo(ctx context.Context, path string, only []string) error {
	c, p, err := a.pipelines(ctx, "undo", path, only)
	if err != nil {
		return err
	}
	done := runtime.Undo(ctx, p, runtime.Options{Registry: a.registry, Only: only, Dir: c.spec.Dir,
		Secrets: a.secrets(c.spec.Dir, c.spec), Log: slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	d := undoDocument{newHead("undo"), done}
	code := runtime.ExitOK
	for _, u := range done {
		for _, o := range u.Objects {
			fmt.Fprintf(a.stderr, "%s: %s %s of %s is back\n", u.Pipeline, o.Kind, o.Name, o.Table)
		}
		switch {
		case u.Error != nil:
			d.Errored = true
			fmt.Fprintf(a.stderr, "%s: %s\n", u.Pipeline, u.Error.Message)
		case len(u.Objects) == 0:
			fmt.Fprintf(a.stderr, "%s: nothing to put back at %s\n", u.Pipeline, u.Target)
		}
		code = runtime.Worst(code, u.Exit)
	}
	if a.json {
		if err := a.writeJSON(d); err != nil {
			return err
		}
	}
	if code != runtime.ExitOK {
		return exitError(code)
	}
	return nil
}
