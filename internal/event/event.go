// Package event holds the typed events of a run, from which bars, lines, JSON,
// metrics and pages are all drawn.
package event

import "time"

// Event is something that happened in a run. Its JSON form has `event` and
// `time` beside the fields here (Envelope).
type Event interface{ Name() string }

// Sink takes events. Emit is called from many goroutines and must not block long.
type Sink interface{ Emit(Event) }

// SinkFunc makes a function a Sink.
type SinkFunc func(Event)

// Emit calls f.
func (f SinkFunc) Emit(e Event) { f(e) }

// Discard is a sink that drops events.
var Discard Sink = SinkFunc(func(Event) {})

// PipelineStarted comes when a pipeline is claimed and its state is read.
type PipelineStarted struct {
	Pipeline string `json:"pipeline"`
	Epoch    int64  `json:"epoch"`
	Tables   int    `json:"tables"`
	Resumed  bool   `json:"resumed"` // an earlier run left something unfinished
}

// TableStarted comes when a table's edges are fixed and before its first chunk.
type TableStarted struct {
	Pipeline   string `json:"pipeline"`
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	Point      string `json:"point,omitempty"` // where its rows are read at
	Chunks     int    `json:"chunks"`
	Done       int    `json:"chunks_done"`   // by earlier runs
	Rows       int64  `json:"rows_done"`     // by earlier runs
	Expected   int64  `json:"rows_expected"` // rows to read, estimate; 0 = unknown
}

// ChunkRead comes when a batch was read and went through filter and expressions.
type ChunkRead struct {
	Pipeline string `json:"pipeline"`
	Table    string `json:"table"`
	Range    int    `json:"range"`
	Chunk    int    `json:"chunk"`
	Read     int64  `json:"rows_read"`
	Filtered int64  `json:"rows_filtered"` // left out by the filter
	Bytes    int64  `json:"bytes"`
}

// ChunkCommitted comes when a chunk and its marker are durable.
type ChunkCommitted struct {
	Pipeline string        `json:"pipeline"`
	Table    string        `json:"table"`
	Range    int           `json:"range"`
	Chunk    int           `json:"chunk"`
	Read     int64         `json:"rows_read"`
	Rows     int64         `json:"rows"`
	Bad      int64         `json:"bad_rows"`
	Bytes    int64         `json:"bytes"`
	Took     time.Duration `json:"took_ns"` // begin to commit
}

// Retrying comes before a transient error is tried again.
type Retrying struct {
	Pipeline string        `json:"pipeline"`
	Table    string        `json:"table,omitempty"`
	Chunk    int           `json:"chunk,omitempty"`
	Attempt  int           `json:"attempt"`
	In       time.Duration `json:"in_ns"`
	Error    string        `json:"error"`
}

// TableLoaded comes when a table is finished, or was before.
type TableLoaded struct {
	Pipeline string `json:"pipeline"`
	Table    string `json:"table"`
	Rows     int64  `json:"rows"`
	Bad      int64  `json:"bad_rows"`
	Already  string `json:"already,omitempty"` // when an earlier run loaded it
}

// Notice is a line for people: why a table was begun anew, what a drain waits for.
type Notice struct {
	Pipeline string `json:"pipeline,omitempty"`
	Text     string `json:"text"`
}

// PipelineFinished comes at a pipeline's end, whatever its outcome.
type PipelineFinished struct {
	Pipeline string `json:"pipeline"`
	Exit     int    `json:"exit"`
	Error    string `json:"error,omitempty"`
}

func (PipelineStarted) Name() string  { return "pipeline_started" }
func (TableStarted) Name() string     { return "table_started" }
func (ChunkRead) Name() string        { return "chunk_read" }
func (ChunkCommitted) Name() string   { return "chunk_committed" }
func (Retrying) Name() string         { return "retrying" }
func (TableLoaded) Name() string      { return "table_loaded" }
func (Notice) Name() string           { return "notice" }
func (PipelineFinished) Name() string { return "pipeline_finished" }

// LaneCommitted comes when a lane's changes and its position are durable.
type LaneCommitted struct {
	Pipeline string        `json:"pipeline"`
	Lane     int           `json:"lane"`                // its number, from 0
	Changes  int64         `json:"changes"`             // read from the log
	Net      int64         `json:"net_changes"`         // left of them, one a key
	Rows     int64         `json:"rows"`                // touched at the target
	Repaired int64         `json:"repaired,omitempty"`  // found another row than they should have
	Position string        `json:"position"`            // of its last change, in the source's order
	Commit   time.Time     `json:"committed_at_source"` // of the last change
	Took     time.Duration `json:"took_ns"`             // begin to commit
}

// Name is the event's word in JSON.
func (LaneCommitted) Name() string { return "lane_committed" }
