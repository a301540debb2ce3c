// Package plan is the plan's form: plain data that a person reviews as text,
// a machine as JSON, and the runner carries out.
package plan

import (
	"encoding/json"

	"penstock/connectors"
	"penstock/internal/schema"
)

// FormatVersion is the plan format this build writes and runs.
const FormatVersion = 1

// Plan is everything a run does. The same spec and catalogs give the same
// bytes on any machine; it holds no secret, no time and no path of this machine.
type Plan struct {
	FormatVersion int        `json:"format_version"`
	Pipelines     []Pipeline `json:"pipelines"`
	Endpoints     []Endpoint `json:"endpoints"`
	Warnings      []Warning  `json:"warnings,omitempty"`
}

// Endpoint is a source or target that the plan uses.
type Endpoint struct {
	ID        string          `json:"id"` // source.erp
	Connector string          `json:"connector"`
	Config    json.RawMessage `json:"config"` // the connector's own config struct; secrets as references
	TLS       string          `json:"tls,omitempty"`
	TLSCA     string          `json:"tls_ca,omitempty"`
	Throttle  int64           `json:"throttle_bytes_per_second,omitempty"`
	Catalog   string          `json:"catalog,omitempty"` // the checked-in file, as written in the spec
	Probe     string          `json:"probe,omitempty"`   // a probe result that the spec names, as written
	Checks    []Check         `json:"checks,omitempty"`  // what only a connection can tell
	Built     bool            `json:"built"`             // false: this build plans it and can't run it
}

// Check is a live check, by name: what an offline plan has not looked at.
type Check struct {
	Name  string `json:"name"`
	About string `json:"about"` // what it looks at, a clause
}

// Warning is a finding that does not stop the plan. It names its object, not a
// place in a file: a plan knows no spec file.
type Warning struct {
	Code    string `json:"code"`
	Object  string `json:"object,omitempty"`
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
}

// Pipeline is one pipeline of the plan.
type Pipeline struct {
	Name   string `json:"name"`
	Source string `json:"source"` // an endpoint's id
	Target string `json:"target"`
	Mode   string `json:"mode"`

	Workers int   `json:"workers"`
	Memory  int64 `json:"memory_bytes"`
	// Of streams only.
	Order         string `json:"order,omitempty"` // "key", "table", "commit"
	Start         string `json:"start,omitempty"` // mode cdc: "now" or a position
	Collisions    string `json:"collisions,omitempty"`
	SchemaChanges string `json:"schema_changes,omitempty"`

	Delivery string `json:"delivery,omitempty"` // the promise, in fixed words
	Report   string `json:"report_every"`
	Holds    string `json:"source_holds,omitempty"` // what the source keeps for a load, and for how long

	Resources Resources `json:"resources"`
	BadRows   BadRows   `json:"bad_rows"`
	Tables    []Table   `json:"tables"`
	Stages    []Stage   `json:"stages"`
}

// Resources are what a run of the pipeline takes.
type Resources struct {
	SourceConnections int   `json:"source_connections"`
	TargetConnections int   `json:"target_connections"`
	Readers           int   `json:"readers"`
	Writers           int   `json:"writers"`
	Finishers         int   `json:"finishers,omitempty"` // connections that make indexes, at most; tables are finished one after another
	Goroutines        int   `json:"goroutines"`          // ours, at most; drivers have their own
	Slots             int   `json:"slots"`               // chunks in memory at once: 2 x workers + 2
	SlotBytes         int64 `json:"slot_bytes"`          // a chunk's share of memory
	MemoryBound       int64 `json:"memory_bound_bytes"`  // rows in memory, at most
}

// BadRows says what happens to rows that can't go in.
type BadRows struct {
	Action string `json:"action"` // "stop", "discard"
	File   string `json:"file,omitempty"`
	Limit  int64  `json:"limit,omitempty"` // 0 = no limit
	Values bool   `json:"values,omitempty"`
}

// Table is one table of a pipeline.
type Table struct {
	Source schema.Name `json:"source"`
	Target schema.Name `json:"target"`
	// Digest is of the fields that decide the table's rows (Definition).
	Digest string `json:"digest"`

	Read     []Read                      `json:"read"` // source columns that are read, in batch order
	Filter   string                      `json:"filter,omitempty"`
	Columns  []Column                    `json:"columns"`                  // target columns, in order
	Key      []string                    `json:"key,omitempty"`            // target columns that identify a row
	Computed []connectors.ComputedColumn `json:"computed,omitempty"`       // columns of a table that the run creates which the target computes
	Left     []string                    `json:"left_to_target,omitempty"` // columns of a target table that is there and computes them, as the source does
	Comment  string                      `json:"comment,omitempty"`        // on a table that the run creates

	Range      Range           `json:"range"`
	Chunk      Chunk           `json:"chunk"`
	Existing   string          `json:"existing"`
	Create     bool            `json:"create"`
	Apply      Apply           `json:"apply"`
	Objects    []schema.Object `json:"objects,omitempty"`     // of the target table: made after the rows, or staying where they are
	Incoming   []schema.Object `json:"incoming,omitempty"`    // foreign keys to this table that other tables of the pipeline carry
	Carried    []string        `json:"carried,omitempty"`     // what comes of the source's, beside columns, NOT NULL and the primary key
	ReferredBy []schema.Name   `json:"referred_by,omitempty"` // target tables whose foreign keys refer to this one
	Encoded    bool            `json:"encoded,omitempty"`     // rows are passed on as the source encodes them
	Decoded    string          `json:"decoded,omitempty"`     // why not, between two ends of one connector
	Commit     *Commit         `json:"commit,omitempty"`
	Route      *Route          `json:"route,omitempty"`   // of a stream: which lanes take its changes
	Options    json.RawMessage `json:"options,omitempty"` // the target connector's own block
	OnNUL      string          `json:"on_nul"`
	OnInvalid  string          `json:"on_invalid_text"`
	Operations []string        `json:"operations,omitempty"`
	NotCarried []string        `json:"not_carried,omitempty"` // what the source has and the target will not get
	Dropped    []string        `json:"dropped,omitempty"`     // source columns left out by the spec
	Estimates  *Estimates      `json:"estimates,omitempty"`   // outside every digest
}

// Read is a source column that is read.
type Read struct {
	Name     string      `json:"name"`
	Native   string      `json:"native"`
	Type     schema.Type `json:"type"`
	Nullable bool        `json:"nullable,omitempty"`
	Special  bool        `json:"special,omitempty"` // infinity and NaN are read: all that takes the column has them
}

// Column is a target column and where its values come from.
type Column struct {
	Name      string           `json:"name"`
	Native    string           `json:"native"`
	Type      schema.Type      `json:"type"`
	Nullable  bool             `json:"nullable,omitempty"`
	Numbered  bool             `json:"numbered,omitempty"` // the target numbers it by itself where no value is given
	Source    string           `json:"source,omitempty"`   // a source column; "" for a computed one
	Value     string           `json:"value,omitempty"`    // a row expression, in canonical form
	ValueType *schema.Type     `json:"value_type,omitempty"`
	New       bool             `json:"new,omitempty"`      // the source has no such column
	Follows   bool             `json:"follows,omitempty"`  // numbered by both sides: the target's sequence goes on from the source's
	Default   string           `json:"default,omitempty"`  // of a column that the run creates
	Sequence  *schema.Sequence `json:"sequence,omitempty"` // likewise: what numbers it
	Comment   string           `json:"comment,omitempty"`  // likewise
	Decision  string           `json:"decision"`           // "exact", "checked", "lossy"
	Reason    string           `json:"reason,omitempty"`
	Special   bool             `json:"special,omitempty"` // it takes infinity and NaN, also from a text
}

// Range is how a table is split. Bounds come from data and are not in a plan.
type Range struct {
	By    []string             `json:"by,omitempty"` // source columns, where the split reads them
	Count int                  `json:"count"`
	Auto  bool                 `json:"auto,omitempty"` // count was "auto"
	Split connectors.SplitKind `json:"split"`          // resolved, never "auto"
	// Scan is how the source is cut under a hash split, whose rows the engine
	// deals to the ranges; empty for every other split.
	Scan connectors.SplitKind `json:"scan,omitempty"`
	Why  string               `json:"why,omitempty"`
}

// Chunk is the size of a chunk and, where its edges can't be fixed, the unit
// that a restart repeats.
type Chunk struct {
	Rows     int64  `json:"rows"`
	RowBytes int    `json:"estimated_row_bytes"`
	Restart  string `json:"restart_unit,omitempty"` // "chunk" or "range"
}

// Apply is how rows and changes enter the target.
type Apply struct {
	Mode    string `json:"mode,omitempty"`
	Changes string `json:"changes,omitempty"`
	Indexes string `json:"indexes,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Route is how a stream deals a table's changes to lanes.
type Route struct {
	// Ranges is what keys are dealt to by hash; 0 is as many as there are lanes.
	Ranges int `json:"ranges,omitempty"`
	// Alone is set where the table's changes go to one lane whatever their keys;
	// tables with one word here share it.
	Alone string `json:"alone,omitempty"`
	Rank  int    `json:"rank,omitempty"` // in a lane: lower for a table that others refer to
	Why   string `json:"why,omitempty"`
}

// Commit bounds a stream's transactions.
type Commit struct {
	Rows  int64  `json:"rows,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
	Every string `json:"every,omitempty"`
}

// Estimates come from statistics and decide nothing.
type Estimates struct {
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes,omitempty"`
	Chunks int64  `json:"chunks,omitempty"`
	From   string `json:"from"` // "counted", "statistics of 2026-11-20"
}

// StageKind is what a stage does. The runner refuses a kind it does not know.
type StageKind string

const (
	StagePrepare StageKind = "prepare" // DDL, emptying, edges; without a table: the spec's before_load
	StageExtract StageKind = "extract" // a table's ranges, or one log
	StageApply   StageKind = "apply"   // the target's writers or lanes
	StageFinish  StageKind = "finish"  // indexes, constraints, sequences; without a table: the spec's after_load
)

// Ids of the stages of a stream, and what comes before and after all tables.
const (
	BeforeLoad   = "before_load"
	PrepareLog   = "prepare log" // what the source's log is read by
	ApplyLoad    = "apply"
	AfterLoad    = "after_load"
	ExtractLog   = "extract log"
	ApplyChanges = "apply changes"
)

// Stage is a box of the plan. A stage that feeds another (With) has ended when
// what it fed is committed: a table's finish comes after its extract, and need
// not wait for the rows of other tables.
type Stage struct {
	ID         string                 `json:"id"` // unique in the pipeline: "extract big_table"
	Kind       StageKind              `json:"kind"`
	Table      string                 `json:"table,omitempty"` // Table.Source as text
	After      []string               `json:"after,omitempty"` // ids of stages that must have ended
	With       []string               `json:"with,omitempty"`  // ids of stages it feeds or is fed by while both run
	Parallel   int                    `json:"parallel"`
	Ranges     int                    `json:"ranges,omitempty"`
	Lanes      int                    `json:"lanes,omitempty"`
	Statements []connectors.Statement `json:"statements,omitempty"`
	Loads      []TableStatements      `json:"loads,omitempty"`     // apply: one chunk of each table, from begin to commit
	NotBuilt   bool                   `json:"not_built,omitempty"` // the connector's statements are not built yet
}

// TableStatements are the statements of one table in a stage of many.
type TableStatements struct {
	Table      string                 `json:"table"` // Table.Source as text
	Statements []connectors.Statement `json:"statements"`
}
