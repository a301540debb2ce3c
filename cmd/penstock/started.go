package main

import (
	"time"

	"penstock/planner/plan"
)

// runStarted is the first JSON line of a run that has a plan.
type runStarted struct {
	FormatVersion int      `json:"format_version"` // of the lines
	Version       string   `json:"version"`        // of this program
	Pipelines     []string `json:"pipelines"`      // those of the plan
}

func (runStarted) Name() string { return "run_started" }

func (a *app) writeStarted(p *plan.Plan) {
	if !a.json {
		return
	}
	e := runStarted{FormatVersion: documentVersion, Version: buildVersion(), Pipelines: []string{}}
	for _, l := range p.Pipelines {
		e.Pipelines = append(e.Pipelines, l.Name)
	}
	a.writeEvent(time.Now(), e)
}
