package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"penstock/connectors"
	"penstock/planner/plan"
)

// PipelineStatus is how far a pipeline is, as anybody who can read its target sees it.
type PipelineStatus struct {
	Pipeline string             `json:"pipeline"`
	Source   string             `json:"source"`
	Target   string             `json:"target"`
	Mode     string             `json:"mode"`
	Holder   *connectors.Holder `json:"holder,omitempty"` // who has it; nobody where absent
	Tables   []TableStatus      `json:"tables"`
	Stream   *StreamStatus      `json:"stream,omitempty"` // where it has checkpoints
	Exit     int                `json:"exit"`
	Error    *ErrorResult       `json:"error,omitempty"`
}

// TableStatus is how far a table's load is.
type TableStatus struct {
	Table      string `json:"table"` // the source's
	State      string `json:"state"` // "loaded", "unfinished"
	Rows       int64  `json:"rows"`  // of chunks that are committed
	Chunks     int    `json:"chunks"`
	ChunksDone int    `json:"chunks_done"`
	UpdatedAt  string `json:"updated_at"` // when that was written
}

// StreamStatus is how far a stream is.
type StreamStatus struct {
	Position string       `json:"position"`                     // of the lane furthest behind, as the source's people write it
	Changes  int64        `json:"changes"`                      // applied, by all runs
	Applied  time.Time    `json:"committed_at_source,omitzero"` // of the last change applied
	End      string       `json:"end,omitempty"`                // of the source's log
	Behind   int64        `json:"behind_bytes"`                 // of log between the two
	Kept     int64        `json:"kept_bytes"`                   // of log that the source keeps for the stream
	Reader   string       `json:"reader,omitempty"`             // who reads it
	Trouble  string       `json:"trouble,omitempty"`            // why it can't be read, or soon can't be
	Lanes    []LaneResult `json:"lanes"`
}

// Status reads how far a plan's pipelines are, from their targets and sources. It
// changes nothing and claims nothing.
func Status(ctx context.Context, pn *plan.Plan, o Options) []PipelineStatus {
	out := []PipelineStatus{}
	for i := range pn.Pipelines {
		p := &pipeline{plan: &pn.Pipelines[i], o: &o, choice: &choice{plan: &pn.Pipelines[i]}}
		s := PipelineStatus{Pipeline: p.plan.Name, Source: p.plan.Source, Target: p.plan.Target, Mode: p.plan.Mode, Tables: []TableStatus{}}
		err := p.status(ctx, pn, &s)
		s.Error, s.Exit = errorResult(err), ExitCode(err)
		out = append(out, s)
	}
	return out
}

func (p *pipeline) status(ctx context.Context, pn *plan.Plan, s *PipelineStatus) (err error) {
	ends, err := p.find(pn)
	if err != nil {
		return err
	}
	if err := p.open(ctx, ends); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		p.work = &work{}
		err = errors.Join(err, p.close(ctx))
	}()
	state, err := p.target.State(ctx)
	if err != nil {
		return err
	}
	s.Holder = state.Holder
	for _, name := range slices.Sorted(maps.Keys(state.Tables)) {
		t := state.Tables[name]
		x := TableStatus{Table: name, State: "unfinished", Chunks: len(t.Chunks), UpdatedAt: t.UpdatedAt}
		if t.Loaded {
			x.State = "loaded"
		}
		for _, c := range t.Chunks {
			if c.Done {
				x.ChunksDone++
				x.Rows += c.Rows
			}
		}
		s.Tables = append(s.Tables, x)
	}
	if len(state.Lanes) == 0 {
		return nil
	}
	return p.streamStatus(ctx, state.Lanes, s)
}

func (p *pipeline) streamStatus(ctx context.Context, lanes []connectors.Checkpoint, s *PipelineStatus) error {
	at := hindmost(lanes)
	x := &StreamStatus{Position: p.place(at.Position)}
	last := int64(0)
	for _, c := range lanes {
		x.Changes += c.Changes
		last = max(last, c.Commit)
		x.Lanes = append(x.Lanes, LaneResult{Lane: c.Lane, Position: p.place(c.Position), Changes: c.Changes})
	}
	if last > 0 {
		x.Applied = time.UnixMicro(last).UTC()
	}
	s.Stream = x
	source, ok := p.source.(connectors.ChangeSource)
	if !ok {
		return nil
	}
	log, err := source.ChangesStatus(ctx, connectors.ChangeStream{Pipeline: p.plan.Name}, at.Position)
	if err != nil {
		return fmt.Errorf("look at the log of %s: %w", p.plan.Source, err)
	}
	x.End, x.Behind, x.Kept, x.Reader, x.Trouble = p.place(log.End), log.Behind, log.Kept, log.Reader, log.Trouble
	return nil
}
