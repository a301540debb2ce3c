package runtime

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"penstock/connectors"
	"penstock/internal/secret"
)

// ResultsVersion is the format_version of run_results.json.
const ResultsVersion = 1

// Results is the report of a run, written at its end in every case.
type Results struct {
	FormatVersion int               `json:"format_version"`
	Started       time.Time         `json:"started"`
	Ended         time.Time         `json:"ended"`
	Exit          int               `json:"exit"`
	Error         *ErrorResult      `json:"error,omitempty"` // where no pipeline was begun
	Pipelines     []*PipelineResult `json:"pipelines"`
}

// PipelineResult is one pipeline's outcome.
type PipelineResult struct {
	Name    string    `json:"name"`
	Source  string    `json:"source"`
	Target  string    `json:"target"`
	Epoch   int64     `json:"epoch,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Exit    int       `json:"exit"`
	Drained bool      `json:"drained,omitempty"` // cut short by a drain: run it again to go on
	// Cancelled is set when the context ended the pipeline.
	Cancelled bool           `json:"cancelled,omitempty"`
	Error     *ErrorResult   `json:"error,omitempty"`
	Delivery  string         `json:"delivery,omitempty"`
	Tables    []*TableResult `json:"tables"`
	Stream    *StreamResult  `json:"stream,omitempty"` // where changes were followed
	// OneState is false when tables were read at different points of one source.
	OneState bool        `json:"one_state"`
	Held     []string    `json:"held_at_source,omitempty"` // what each snapshot kept there while it was read
	Discards string      `json:"discards,omitempty"`       // the file of rows set aside
	Idle     IdleSeconds `json:"idle"`
}

// IdleSeconds is how long workers waited, summed over workers.
type IdleSeconds struct {
	Readers float64 `json:"readers_seconds"` // for memory or for a writer
	Writers float64 `json:"writers_seconds"` // for rows
	// Share is how much of the workers' time, from the first chunk's begin to the
	// last one's commit, was after a worker's own last commit: 0.05 is 5%.
	Share   float64        `json:"share"`
	Workers []WorkerResult `json:"workers,omitempty"` // those that write
}

// WorkerResult is what one worker did.
type WorkerResult struct {
	Chunks int     `json:"chunks"`         // what it took, each a chunk or the parts of one stretch
	Waited float64 `json:"waited_seconds"` // for rows, before its last chunk
	Idle   float64 `json:"idle_seconds"`   // from its last commit to the last one of all
	Missed int     `json:"missed"`         // chunks that others committed after its last one
}

// TableResult is one table's outcome. Rows of this run and of earlier ones
// stand apart.
type TableResult struct {
	Name       string        `json:"name"`
	Target     string        `json:"target"`
	Action     string        `json:"action"` // "begin", "continue", "restart", "complete", "loaded"
	State      string        `json:"state"`  // "loaded", "unfinished", "not begun"
	Generation int           `json:"generation,omitempty"`
	Point      string        `json:"point,omitempty"`
	Chunks     int           `json:"chunks"`
	ChunksDone int           `json:"chunks_done"`
	Read       int64         `json:"rows_read"` // by this run
	Filtered   int64         `json:"rows_filtered"`
	Rows       int64         `json:"rows_loaded"`
	Bad        int64         `json:"rows_bad"`
	Bytes      int64         `json:"bytes"`
	Before     int64         `json:"rows_loaded_before"` // by earlier runs of this generation
	BadBefore  int64         `json:"rows_bad_before,omitempty"`
	Retries    int           `json:"retries,omitempty"`
	Ranges     []RangeResult `json:"ranges,omitempty"`
	Seconds    float64       `json:"seconds"`
	LoadedAt   string        `json:"loaded_at,omitempty"`
	FirstBad   []string      `json:"first_bad_rows,omitempty"` // a few, for the report
}

// RangeResult is one range's rows in this run.
type RangeResult struct {
	Range int   `json:"range"`
	Rows  int64 `json:"rows_loaded"`
}

// StreamResult is what a run did with a source's changes.
type StreamResult struct {
	From        string       `json:"from"`                    // where the lane furthest behind stood, as the source's people write positions
	Position    string       `json:"position"`                // where it stands
	Read        int64        `json:"operations_read"`         // of the log, by this run
	Changes     int64        `json:"changes"`                 // of them, applied; the others are in the target already, or are not for it
	Net         int64        `json:"net_changes"`             // left of those, one a key and commit
	Rows        int64        `json:"rows_applied"`            // touched at the target
	Repaired    int64        `json:"rows_repaired,omitempty"` // that were not as they should have been
	Commits     int64        `json:"commits"`                 // transactions of the target
	BehindBytes int64        `json:"behind_bytes"`            // of log, when it was last looked at
	LagSeconds  float64      `json:"lag_seconds"`             // age of the last change applied, while there were more
	Lanes       []LaneResult `json:"lanes"`
}

// LaneResult is where a lane stands.
type LaneResult struct {
	Lane     int    `json:"lane"`     // from 0
	Position string `json:"position"` // where it stands
	Changes  int64  `json:"changes"`  // by all runs
}

// ErrorResult is an error for people and for scripts.
type ErrorResult struct {
	Class   string `json:"class"`
	Table   string `json:"table,omitempty"`
	Message string `json:"message"`
}

func errorResult(err error) *ErrorResult {
	if err == nil {
		return nil
	}
	r := &ErrorResult{Class: connectors.ClassOf(err).String(), Message: secret.Scrub(err.Error())}
	var e *connectors.Error
	if errors.As(err, &e) {
		r.Table = e.Table
	}
	return r
}

func (r *Results) fail(err error) {
	r.Error, r.Exit, r.Ended = errorResult(err), ExitCode(err), time.Now().UTC()
}

// Rank sets Exit to the worst of the pipelines' exit codes.
func (r *Results) Rank() {
	codes := []int{ExitOK}
	if r.Error != nil {
		codes = append(codes, r.Exit)
	}
	for _, p := range r.Pipelines {
		codes = append(codes, p.Exit)
	}
	r.Exit = Worst(codes...)
}

// Write puts the results into a file by rename, with the folders above it.
func (r *Results) Write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".run_results-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(b, '\n'))
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
