package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"penstock/internal/units"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

// statusDocument is what status writes.
type statusDocument struct {
	head
	Pipelines []runtime.PipelineStatus `json:"pipelines"`
}

func (a *app) statusCommand() *cobra.Command {
	var only []string
	var watch time.Duration
	cmd := &cobra.Command{
		Use:   "status SPEC",
		Short: "Tell how far pipelines are",
		Long: `Tell how far pipelines are and who runs them, from any machine that reaches their
databases: tables and lanes from what the targets remember, how much log is not
applied yet from the sources. It changes nothing, and can be asked beside a run.`,
		Example: `  penstock status replica.hcl
  penstock status replica.hcl --watch 5s --json`,
		Args:              one("a SPEC", "penstock status replica.hcl"),
		ValidArgsFunction: complete("hcl", "yaml", "yml"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.status(cmd.Context(), args[0], only, watch) },
	}
	cmd.Flags().StringArrayVar(&only, "only", nil, "only this `PIPELINE`; may be repeated")
	cmd.Flags().DurationVar(&watch, "watch", 0, "tell again after each `INTERVAL`, until a signal")
	return cmd
}

func (a *app) status(ctx context.Context, path string, only []string, watch time.Duration) error {
	c, p, err := a.pipelines(ctx, "status", path, only)
	if err != nil {
		return err
	}
	o := runtime.Options{Registry: a.registry, Dir: c.spec.Dir, Secrets: a.secrets(c.spec.Dir, c.spec), Log: slog.New(slog.DiscardHandler)}
	for {
		d := statusDocument{newHead("status"), runtime.Status(ctx, p, o)}
		code := runtime.ExitOK
		for _, s := range d.Pipelines {
			code = runtime.Worst(code, s.Exit)
			d.Errored = d.Errored || s.Error != nil
			if !a.json {
				writeStatus(a.stdout, s)
			}
		}
		if a.json {
			if err := a.writeJSON(d); err != nil {
				return err
			}
		}
		if watch > 0 {
			select {
			case <-time.After(watch):
				continue
			case <-ctx.Done():
			}
		}
		if code != runtime.ExitOK {
			return exitError(code)
		}
		return nil
	}
}

// writeStatus writes a pipeline for people.
func writeStatus(w io.Writer, s runtime.PipelineStatus) {
	held := "nobody runs it"
	if h := s.Holder; h != nil {
		held = fmt.Sprintf("run by process %d on %s since %s", h.PID, h.Host, h.Since)
		if !h.Living {
			held += ", which is gone"
		}
	}
	fmt.Fprintf(w, "%s   %s -> %s   %s; %s\n", s.Pipeline, s.Source, s.Target, s.Mode, held)
	for _, t := range s.Tables {
		fmt.Fprintf(w, "  %s   %s, %s", t.Table, t.State, plural64(t.Rows, "row"))
		if t.State != "loaded" {
			fmt.Fprintf(w, ", %d of %s", t.ChunksDone, plural(t.Chunks, "chunk"))
		}
		fmt.Fprintln(w)
	}
	if x := s.Stream; x != nil {
		fmt.Fprintf(w, "  changes   %s applied by %s, up to %s", units.Count(x.Changes), plural(len(x.Lanes), "lane"), x.Position)
		if !x.Applied.IsZero() {
			fmt.Fprintf(w, ", committed %s", x.Applied.Format(time.RFC3339))
		}
		fmt.Fprintf(w, "\n  log       %s not applied; the source keeps %s\n", units.Size(x.Behind), units.Size(x.Kept))
		if x.Trouble != "" {
			fmt.Fprintf(w, "  trouble   %s\n", x.Trouble)
		}
	}
	if s.Error != nil {
		fmt.Fprintf(w, "  error: %s\n", s.Error.Message)
	}
}
