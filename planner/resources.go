package planner

import (
	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/units"
	"penstock/planner/plan"
)

// A chunk is at most this many rows: few enough that a retry repeats little,
// many enough that a transaction costs nothing a row.
const maxChunkRows = 100_000

// A slot, the share of memory that one chunk may take, must hold a batch: 64
// KiB are enough that the cost of a batch is small beside that of its rows, and
// sixteen rows where the rows are wide.
const (
	minSlotBytes = 64 << 10
	minSlotRows  = 16
)

// slots is how many chunks are in memory at once: each worker carries one and
// another is filled for it meanwhile, one is being cut and one handed over.
func slots(workers int) int { return 2*workers + 2 }

// share divides the pipeline's memory among its slots.
func (c *compiler) share(p *pipeline) {
	n := slots(p.out.Workers)
	p.slot = p.out.Memory / int64(n)
	if p.slot >= minSlotBytes {
		return
	}
	at := p.spec.Memory.Range
	if !p.spec.Memory.Set {
		at = p.spec.Workers.Range
	}
	c.diags.Errorf(diag.MemoryTooSmall, at, "Memory too small for one batch a worker",
		"%s shared by 2 x %d workers + 2 = %d chunks is %s each; a batch needs %s. Give at least %s, or fewer workers.",
		units.Size(p.out.Memory), p.out.Workers, n, units.Size(p.slot), units.Size(minSlotBytes), roundUp(int64(n)*minSlotBytes))
}

// chunk is how many rows a chunk of the table has.
func (t *table) chunk() {
	row := 0
	for _, r := range t.out.Read {
		row += r.Type.EstimatedBytes()
	}
	for _, c := range t.out.Columns {
		if c.Value != "" {
			row += c.Type.EstimatedBytes() // computed columns are memory of their own
		}
	}
	row = max(row, 8)
	t.out.Chunk = plan.Chunk{RowBytes: row, Restart: "chunk"}
	if t.slot >= minSlotBytes && t.slot < int64(row)*minSlotRows {
		n := slots(t.pipeline.out.Workers)
		at := t.pipeline.spec.Memory.Range
		t.errorf(diag.MemoryTooSmall, at, "chunk", "Memory too small for the rows of "+t.src.Name.String(),
			"A row of %s takes about %s, and a chunk's share of `memory` is %s: it must hold %d rows. Give at least %s, or fewer workers.",
			t.src.Name, units.Size(row), units.Size(t.slot), minSlotRows, roundUp(int64(n)*int64(row)*minSlotRows))
		return
	}
	t.out.Chunk.Rows = min(maxChunkRows, max(1, t.slot/int64(row)))
	if t.out.Range.Split == connectors.SplitNone {
		t.out.Chunk.Restart = "range"
	}
}

// roundUp is the next whole MiB, a number that a person would write.
func roundUp(bytes int64) units.Size {
	return (units.Size(bytes) + units.MiB - 1) / units.MiB * units.MiB
}

// resources is what a run of the pipeline takes.
func (p *pipeline) resources() plan.Resources {
	workers := p.out.Workers
	r := plan.Resources{Slots: slots(workers), SlotBytes: p.slot, MemoryBound: p.slot * int64(slots(workers))}
	if p.loads {
		for _, t := range p.out.Tables {
			r.Readers += p.readers(&t)
		}
		r.Readers = min(workers, r.Readers)
		r.Writers = p.writers()
	}
	if p.stream {
		r.Readers = max(r.Readers, 1)
		r.Writers = max(r.Writers, min(workers, p.lanes()))
	}
	// The catalog, the snapshot and the claim hold a connection beside the
	// readers and writers: one a side. A chunk that is tried again and no longer
	// in memory is read on one more, whoever writes it. What is in files or in
	// this process has none.
	if !p.source.local() {
		r.SourceConnections = r.Readers + 2
	}
	if !p.target.local() {
		r.TargetConnections = r.Writers + 1
	}
	// A goroutine a reader and a writer; the pipeline's own, one that hears a
	// drain, one that waits for the writers, and one for the finishing steps.
	r.Goroutines = r.Readers + r.Writers + 4
	return r
}

// finishing adds what the finishing steps take: tables are finished one after
// another, beside rows that are still loaded, each on connections of its own
// with a goroutine each.
func (p *pipeline) finishing() {
	r := &p.out.Resources
	for _, s := range p.out.Stages {
		if s.Kind == plan.StageFinish && s.Table != "" && len(s.Statements) > 0 && !p.target.local() {
			r.Finishers = max(r.Finishers, s.Parallel)
		}
	}
	if r.Finishers > 0 {
		r.TargetConnections += r.Finishers
		r.Goroutines += r.Finishers
	}
}

// readers is how many read one table at once.
func (p *pipeline) readers(t *plan.Table) int {
	if t.Range.Split == connectors.SplitNone {
		return 1
	}
	return p.out.Workers
}

// writers is how many chunks are committed at once.
func (p *pipeline) writers() int {
	if p.caps.Writers > 0 {
		return min(p.caps.Writers, p.out.Workers)
	}
	return p.out.Workers
}

// lanes is how many orders the stream has.
func (p *pipeline) lanes() int {
	switch p.caps.Lanes {
	case connectors.LanesKeys:
		switch p.out.Order {
		case "commit":
			return 1
		case "table":
			return max(1, min(p.out.Workers, len(p.out.Tables)))
		}
		return p.out.Workers
	case connectors.LanesTable:
		if p.out.Order == "commit" {
			return 1
		}
		return len(p.out.Tables)
	}
	return 1
}
