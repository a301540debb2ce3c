package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"penstock/internal/diag"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
)

// planOrLive plans a spec offline, or from its endpoints with every check.
func (a *app) planOrLive(ctx context.Context, path string, connect bool) (*compiled, results, error) {
	if !connect {
		c, err := a.compile(ctx, path, planner.Options{})
		return c, results{}, err
	}
	l, err := a.compileLive(ctx, path, nil)
	if err != nil {
		return nil, results{}, err
	}
	if !l.diag.HasErrors() && !allOpen(l.ends) {
		for i := range l.ends {
			if e := &l.ends[i]; !e.CanOpen() {
				return nil, results{}, cantOpen(e)
			}
		}
	}
	r, err := a.check(ctx, l, true)
	if err != nil {
		return nil, r, err
	}
	for _, d := range l.drift {
		e := l.end(d.Endpoint)
		x := l.diag.Errorf(diag.CatalogChanged, e.At, d.Endpoint+" is not what its catalog says", "%s.", capital(d.String()))
		x.Mend = []string{fmt.Sprintf("%s catalog pull %s %s", a.program, quote(path), d.Endpoint)}
		r.exit = runtime.Worst(r.exit, runtime.ExitDrift)
	}
	l.diag = l.diag.Sorted()
	return l.compiled, r, nil
}

// notRun lists the live checks of a plan that was made offline.
func (a *app) notRun(p *plan.Plan) {
	for _, e := range p.Endpoints {
		var names []string
		for _, c := range e.Checks {
			names = append(names, c.Name)
		}
		if names != nil {
			fmt.Fprintf(a.stderr, "not checked without connecting, of %s: %s\n", e.ID, strings.Join(names, ", "))
		}
	}
}

// writeChanges says what is otherwise than in an older plan.
func writeChanges(w io.Writer, of string, list []string) error {
	if len(list) == 0 {
		_, err := fmt.Fprintf(w, "nothing is otherwise than in %s\n", of)
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "otherwise than in %s:\n", of)
	for _, s := range list {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// durationOf is how long a pipeline took by the report of its last run, where
// that was a whole load.
func durationOf(report []byte, pipeline string) (took time.Duration, at time.Time, ok bool) {
	var res runtime.Results
	if json.Unmarshal(report, &res) != nil {
		return 0, at, false
	}
	for _, p := range res.Pipelines {
		if p.Name != pipeline || p.Exit != runtime.ExitOK && p.Exit != runtime.ExitFindings {
			continue
		}
		for _, t := range p.Tables {
			if t.Action == "begin" || t.Action == "restart" {
				ok = true
			}
		}
		took, at = p.Ended.Sub(p.Started), p.Started
	}
	return took, at, ok
}
