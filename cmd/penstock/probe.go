package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

// probing are the flags of probe.
type probing struct {
	compat, streams string
	period, rampup  time.Duration
	fetch           int
}

func (a *app) probeCommand() *cobra.Command {
	var p probing
	cmd := &cobra.Command{
		Use:   "probe SPEC ENDPOINT",
		Short: "Measure the network to a source",
		Long: `Connect to a source of a spec and measure what comes through from it: logins,
round trips, and rows of nearly 16 kB that the server makes without a table. More
connections are tried until they gain less than 5 %: the number that did is the
knee, where workers are best.

--compat netthroughput measures as the program of that name in Oracle's RWP*Load
Simulator does: its query, 8 rows an answer, one stream unless --streams says
otherwise, its counting and its division by the nominal period.

Standard output gets a table, or a document with --json, which a block can name
as probe = "FILE" for plans to cite.`,
		Example: `  penstock probe shop.hcl source.erp
  penstock probe shop.hcl source.erp --streams 1,2,4 --period 20s --json > probe.json
  penstock probe shop.hcl source.erp --compat netthroughput --streams 2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("probe takes a SPEC and an ENDPOINT of it, for example: penstock probe shop.hcl source.erp")
			}
			return nil
		},
		ValidArgsFunction: a.completeEndpoint,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.probe(cmd.Context(), args[0], args[1], p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.compat, "compat", "", "measure as another program does: `netthroughput`")
	f.StringVar(&p.streams, "streams", "auto", "how many connections at once: `NUMBERS` with commas between them, or auto")
	f.DurationVar(&p.period, "period", 0, "how long each number of streams is measured (default 10s; netthroughput 60s)")
	f.DurationVar(&p.rampup, "rampup", 0, "netthroughput: how long streams may take to be ready (default 5s)")
	f.IntVar(&p.fetch, "fetch", 0, "`ROWS` of an answer (default 64; netthroughput 8)")
	mustComplete(cmd.RegisterFlagCompletionFunc("compat", cobra.FixedCompletions([]string{connectors.NetThroughput}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// options reads the flags.
func (p probing) options() (connectors.ProbeOptions, error) {
	o := connectors.ProbeOptions{Compat: p.compat, Period: p.period, Rampup: p.rampup, Fetch: p.fetch}
	if p.compat != "" && p.compat != connectors.NetThroughput {
		return o, &runtime.UsageError{Text: fmt.Sprintf("--compat %q: there is netthroughput", p.compat)}
	}
	if p.period < 0 || p.rampup < 0 || p.fetch < 0 || p.fetch > 32767 || p.fetch == 25 {
		return o, &runtime.UsageError{Text: "--period and --rampup can't be negative, and --fetch is 1 to 32767 (and not 25, by which the driver means another number)"}
	}
	if p.streams == "auto" {
		return o, nil
	}
	for _, s := range strings.Split(p.streams, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 || n > 1024 {
			return o, &runtime.UsageError{Text: fmt.Sprintf("--streams %q: write auto, or numbers from 1 to 1024 with commas between them", p.streams)}
		}
		o.Streams = append(o.Streams, n)
	}
	return o, nil
}

// probed is what probe writes.
type probed struct {
	document
	Endpoint string `json:"endpoint"`
	*connectors.Probe
}

func (a *app) probe(ctx context.Context, path, id string, p probing) error {
	o, err := p.options()
	if err != nil {
		return err
	}
	c, err := a.load(path)
	if err != nil {
		return err
	}
	var ends []planner.End
	if !c.diag.HasErrors() {
		ends = planner.Ends(c.spec, a.registry, planner.Options{})
	}
	if ends == nil { // a setting is wrong: compiling says which
		if !c.diag.HasErrors() {
			a.plan(ctx, c, planner.Options{})
		}
		if err := a.report("probe", path, "", c); err != nil {
			return err
		}
		return exitError(runtime.ExitSpec)
	}
	end, err := findEnd(ends, id)
	if err != nil {
		return err
	}
	if end.Role != lang.Source || end.Definition.Source.Probe == nil {
		return &runtime.UsageError{Text: fmt.Sprintf("%s can't be probed: oracle sources can", end.ID)}
	}
	tell := func(r connectors.ProbeRun) {
		if a.json {
			fmt.Fprintf(a.stderr, "%s: %.3f GB/s\n", plural(r.Streams, "stream"), r.Logical)
		}
	}
	res, err := end.Definition.Source.Probe(ctx, end.Config, a.env(c.spec, end, ""), o, tell)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(probed{newDocument("probe"), end.ID, res})
	}
	return a.probeTable(end.ID, res)
}

// probeTable is the form for people.
func (a *app) probeTable(id string, p *connectors.Probe) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: login %.1f ms, ping %.2f ms (p99 %.2f), SELECT 1 FROM dual %.2f ms\n", id, p.ConnectMillis, p.PingMillis, p.PingMillis99, p.StatementMillis)
	fmt.Fprintf(&b, "rows of %d octets, %d an answer\n\n", p.RowBytes, p.Fetch)
	b.WriteString("streams  logical GB/s  physical GB/s  wire GB/s  a stream GB/s      query p50/p99 ms  client CPU\n")
	for _, r := range p.Runs {
		physical := "      -"
		if r.Sent > 0 {
			physical = fmt.Sprintf("%7.3f", r.Physical)
		}
		fmt.Fprintf(&b, "%7d  %12.3f  %13s  %9.3f  %6.3f to %6.3f   %7.1f /%7.1f  %8.0f %%\n", r.Streams, r.Logical, physical, r.Wire, r.Slowest, r.Fastest, r.QueryP50, r.QueryP99, r.ClientCPU)
	}
	b.WriteByte('\n')
	for _, r := range p.Runs {
		if r.Unreliable != "" {
			fmt.Fprintf(&b, "Unreliable: %s\n", r.Unreliable)
		}
	}
	last := p.Runs[len(p.Runs)-1]
	if p.Knee > 0 {
		fmt.Fprintf(&b, "More than %s gained less than 5 %%: that many workers make the most of this network.\n", plural(p.Knee, "stream"))
	}
	fmt.Fprintf(&b, "At %s, %s.\n", plural(last.Streams, "stream"), last.Verdict)
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "Note: %s.\n", n)
	}
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}
