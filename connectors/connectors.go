// Package connectors is what the engine asks of any database: interfaces, the
// registry, capabilities and error classes. Each connector is a folder below.
package connectors

import (
	"context"
	"log/slog"

	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/internal/secret"
)

// Env is what an endpoint is opened with, beside its config.
type Env struct {
	Dir      string // relative paths are relative to this folder
	Pipeline string // the pipeline it is opened for
	TLS      string // "verify" or "off"
	TLSCA    string // a file of certificates, as written; "" = the system's
	Secrets  secret.Resolver
	Log      *slog.Logger
	// Connections is how many sessions the plan takes of it, at most; 0: not known.
	Connections int
	// Tell is given what a person should hear while a run goes on, a wait for
	// somebody else's lock for one; by several goroutines. May be nil.
	Tell func(text string)
}

// Source is an open source. It may be used by many goroutines.
type Source interface {
	// Catalog reads tables, columns, keys and statistics.
	Catalog(ctx context.Context) (*schema.Catalog, error)
	// Snapshot begins a consistent read for the tables of a pipeline.
	Snapshot(ctx context.Context, o SnapshotOptions) (Snapshot, error)
	Close() error
}

// SnapshotOptions says how a snapshot will be read.
type SnapshotOptions struct {
	Readers int             // OpenChunk readers that are open at once, at most
	At      change.Position // a point kept from an earlier run, for a durable source; nil = now
	// Tables are those that will be read, as far as they are known: a source whose
	// tables can be emptied or rewritten under a snapshot locks them first.
	Tables []*schema.Table
	// Follow is the stream that begins where this snapshot's rows are read: the
	// source keeps its log from there. nil: none does. Only for a ChangeSource.
	Follow *ChangeStream
	// Told is given, once, what the snapshot keeps at the source, for people. May be nil.
	Told func(held string)
}

// Snapshot is a consistent view of a source. OpenChunk may be called by many
// goroutines; each reader belongs to one. Close comes after every reader's.
type Snapshot interface {
	// Position is the point at which the table's rows are read: the greatest
	// position whose change is in the rows.
	Position(t *schema.Table) (change.Position, error)
	// Durable reports whether the same point can be read again after a restart.
	Durable() bool
	// Split cuts the table. Every row belongs to exactly one chunk, whatever is
	// inserted while it runs; chunks are in the order of the split, numbered
	// from 1, and their ranges ascend from 1 to s.Count at most.
	Split(ctx context.Context, t *schema.Table, s Split) ([]ranges.Chunk, error)
	// OpenChunk reads the rows of a chunk in the split's order. A chunk's Part
	// and Parts are the engine's concern: the reader gives all rows from Lo to Hi.
	OpenChunk(ctx context.Context, x Extract, c ranges.Chunk) (RowReader, error)
	Close() error
}

// SplitKind is how a table is cut.
type SplitKind string

const (
	SplitBlocks SplitKind = "blocks" // what the source can seek to: ROWID or ctid blocks, bytes, row numbers
	SplitKey    SplitKind = "key"    // bounds of key columns
	SplitHash   SplitKind = "hash"   // one scan, rows dealt to ranges by our hash
	SplitNone   SplitKind = "none"   // one range, one chunk
)

// Split says how a table is to be cut. Kind is never SplitHash here: the engine
// fans the rows of another split out by itself.
type Split struct {
	Kind      SplitKind
	By        []string // SplitKey: columns, in order
	Count     int      // ranges
	ChunkRows int64    // rows of a chunk, at most, by estimate
}

// Extract says what to read of a table.
type Extract struct {
	Table     *schema.Table
	Columns   []string // names in the source; the columns of the batches, in order
	Statement string   // the text in the plan, with :lo and :hi; "" for a source without statements
	Split     Split
	// Encoded asks for rows as the source encodes them, undecoded
	// (batch.Builder.AddEncoded): all columns go as they are into a target of the
	// same connector, and nothing looks at them.
	Encoded bool
	// Special says of which columns infinity and NaN may be given (batch.Infinity,
	// batch.NaN): what takes them has such values. Of others they are bad rows.
	// nil: of none.
	Special []bool
	// Bad is told of each row that the source holds and a batch can't: the
	// reader leaves it out and goes on, or ends with the error that Bad returns.
	// nil: such a row is an error of class Data.
	Bad func(BadRow) error
}

// TakesSpecial reports whether infinity and NaN may be given of column i.
func (x *Extract) TakesSpecial(i int) bool { return x.Special != nil && x.Special[i] }

// BadRow is a row that could not be read, for people.
type BadRow struct {
	Place  string // where it stands, as exactly as the source knows: "orders.csv:17:5"
	Column string // "" when the row itself is what is wrong
	Reason string // without any value of the row
	Detail string // the reason with the value, for a spec that asks for values; "" = Reason says it all
}

func (b BadRow) String() string {
	s := b.Place
	if b.Column != "" {
		s += ", column " + b.Column
	}
	return s + ": " + b.Reason
}

// RowReader reads the rows of one chunk.
type RowReader interface {
	// Read appends rows to b until it is full or the chunk ends. At the end it
	// returns io.EOF, alone: rows and io.EOF never come together. The caller
	// owns b. A row that can't be read goes to Extract.Bad, before Read returns.
	Read(ctx context.Context, b *batch.Builder) error
	Close() error
}

// Target is an open target, opened for one pipeline. Its state lives where its
// rows go.
type Target interface {
	Catalog(ctx context.Context) (*schema.Catalog, error)
	// Claim takes the pipeline for this process: it raises the epoch of all
	// that is pending, so that a former owner can commit nothing more. A living
	// owner is an error of class Held that names it.
	Claim(ctx context.Context, o Owner) (Claim, error)
	// State reads what earlier runs of the pipeline have done.
	State(ctx context.Context) (State, error)
	// Begin starts a table's generation, in one transaction: creates or checks
	// the table, does what Existing says, forgets the markers of earlier
	// generations and stores the chunks as pending.
	Begin(ctx context.Context, t Load, s Start) error
	// OpenLoad returns a writer with a connection of its own.
	OpenLoad(ctx context.Context, t Load) (BulkWriter, error)
	// Finish makes the indexes and constraints that were put off, runs the table's
	// finishing statements and marks it loaded. It does nothing when that was done
	// before; after a crash at any point it goes on where it stopped.
	Finish(ctx context.Context, t Load) error
	// Undo puts back what the pipeline dropped for loads of one source table and
	// has not made again (State.Dropped), on as many connections as builders at
	// once, and leaves rows and markers as they are. It returns what it put back,
	// also beside an error. The pipeline must be claimed.
	Undo(ctx context.Context, source string, builders int) ([]Dropped, error)
	// Script runs a spec's own statements (before_load, after_load) in one
	// transaction with a record that they ran for this generation of the
	// pipeline; it does nothing when the record is there.
	Script(ctx context.Context, s Script) error
	// Release gives the claim back. The epoch stays.
	Release(ctx context.Context) error
	Close() error
}

// Script is a spec's own statements.
type Script struct {
	Name       string // "before_load", "after_load"
	Generation int    // rises with every table that is begun: a later load runs them again
	Statements []string
}

// Owner is who claims a pipeline.
type Owner struct {
	Run     string `json:"run"`     // a random id of this process's run
	Host    string `json:"host"`    // where it runs
	Boot    string `json:"boot"`    // the kernel's boot id
	PID     int    `json:"pid"`     // its process there
	Started string `json:"started"` // process start, RFC 3339
}

// Claim is a pipeline held.
type Claim struct {
	Epoch int64
}

// State is what a target remembers of a pipeline, by source table name.
type State struct {
	Tables  map[string]*TableState
	Dropped []Dropped // what its journal says is still to be made again
	// Lanes are the checkpoint rows of its stream, by lane, as they stood when they
	// were read; nil: it has none.
	Lanes  []Checkpoint
	Holder *Holder // nil: nobody has it
}

// Holder is who has a pipeline.
type Holder struct {
	Owner
	Epoch  int64  `json:"epoch"`
	Since  string `json:"since"`  // RFC 3339
	Living bool   `json:"living"` // false: a run may take the pipeline from it
}

// Dropped is an index or a constraint that a load put off: it was dropped, or
// not yet made, and the target's journal holds how to make it.
type Dropped struct {
	Source string // Load.Source
	Table  string // the target table, as the target names it
	Object schema.Object
}

// TableState is a row of penstock_table with its chunks.
type TableState struct {
	Generation int
	Digest     string
	Definition string          // JSON of what the digest is taken of, so that a change can be named
	Point      change.Position // where its rows are read at
	Loaded     bool            // every chunk done and the table finished
	Created    bool            // Start.Created of its generation
	UpdatedAt  string
	Chunks     []ChunkState // by id
}

// ChunkState is a row of penstock_chunk.
type ChunkState struct {
	ranges.Chunk
	Done    bool
	Rows    int64
	BadRows int64
}

// Start is a table's new generation.
type Start struct {
	Generation int
	Point      change.Position
	Chunks     []ranges.Chunk
	// Restart is set when an unfinished generation is begun anew: the rows of
	// the earlier one are emptied whatever Existing says of a first run.
	Restart bool
	// Created is set when the load makes the table, now or in an earlier
	// generation. It is kept with the state: a later plan takes such a table for
	// absent, as the plan that made it did.
	Created bool
	// Positions are the numbers that the source's sequences have given last, by
	// target column (TargetColumn.Follows).
	Positions map[string]int64
}

// Existing says what to do with rows that are already in the target table.
type Existing string

const (
	ExistingError    Existing = "error"
	ExistingTruncate Existing = "truncate"
	ExistingAppend   Existing = "append"
)

// Load is one table as the target sees it: what the plan decided.
type Load struct {
	Source   string // the source table's name: its name in the state tables
	Table    schema.Name
	Columns  []TargetColumn   // the columns of the batches, in order
	Key      []string         // target column names; nil = none
	Computed []ComputedColumn // of a table that the run creates: the target computes them
	Comment  string           // on a table that the run creates
	Create   bool             // the table is absent in the plan's catalog and the run creates it
	Existing Existing
	Mode     string // "copy", "array", "row"
	Indexes  string // "keep", "defer"
	Encoded  bool   // batches hold rows as the connector's own source encodes them
	// Digest is of what decides the table's rows; Definition is the JSON that it
	// is taken of. Both are stored with the table's state.
	Digest     string
	Definition string
	// Objects are indexes and constraints of a table that is there: what is
	// dropped before the rows and made again after them, and what stays (Keep). Of
	// a table that the run creates they are what `carry` makes after the rows.
	Objects []schema.Object
	// Incoming are foreign keys of other tables to this one that `carry` makes: a
	// load that empties a table which is loaded takes them away for its time.
	Incoming []schema.Object
	// ReferredBy are the tables whose foreign keys refer to this one.
	ReferredBy []schema.Name
	Builders   int      // how many of them are made at once, at most; 0 = one
	Prepare    []string // statements of the plan, in order, as they run
	Insert     string   // the loading statement of the plan; "" where there is none
	Finish     []string
}

// TargetColumn is a column that rows are loaded into.
type TargetColumn struct {
	Name     string
	Native   string
	Type     schema.Type
	Nullable bool
	Numbered bool // the target numbers the column by itself
	Follows  bool // the source numbers it too: the target's sequence goes on from there
	// Of a table that the run creates:
	Default  string           // in the target's SQL
	Sequence *schema.Sequence // what numbers it
	Comment  string
}

// Marker is what a chunk's transaction records with its rows.
type Marker struct {
	Table      string // Load.Source
	Generation int
	Chunk      int
	BadRows    int64 // at commit: rows set aside
}

// BulkWriter loads chunks, one after another. It belongs to one goroutine.
type BulkWriter interface {
	// Begin opens the chunk's transaction by locking its pending marker. done
	// reports that the chunk was committed before: nothing is open then. A
	// marker that is gone or of another epoch is an error of class Fenced.
	Begin(ctx context.Context, m Marker) (done bool, err error)
	// Write adds the selected rows. The batch is the caller's again at return.
	Write(ctx context.Context, b *batch.Batch, sel batch.Selection) error
	// WriteEach adds the selected rows as Write does, but for those that the
	// target refuses: it tells bad of each, by its row of the batch, leaves it
	// out and goes on, or ends with the error that bad returns. It is how the
	// engine loads a chunk again of which Write or Commit has failed with class
	// Data, and it may cost more a row. What it has added is known to be good
	// when it returns: constraints that are checked at a commit are looked at.
	// Isolate does it for a target that can take back a part of a transaction.
	WriteEach(ctx context.Context, b *batch.Batch, sel batch.Selection, bad func(row int32, why *Refusal) error) error
	// Commit marks the chunk done and commits, in one transaction. It returns
	// the rows that are in the target by it.
	Commit(ctx context.Context, m Marker) (int64, error)
	// Abort throws the open transaction away. It may be called at any time.
	Abort() error
	Close() error
}
