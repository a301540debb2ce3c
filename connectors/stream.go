package connectors

import (
	"context"
	"time"

	"penstock/internal/change"
	"penstock/internal/schema"
)

// ChangeReader reads a source's log. Read is called by one goroutine; Confirm
// may be called by another at the same time.
type ChangeReader interface {
	// Source names what is read (a system and its timeline), so that another
	// database, or the same one restored, is told from it.
	Source() string
	// Read returns the next batch of committed changes, in commit order. It waits
	// until there is one, or until it knows that the source has nothing up to a
	// later point: then the batch has no changes and a later Through. The batch
	// is the caller's to release.
	Read(ctx context.Context) (*change.Batch, error)
	// Confirm tells the source that nobody will ask for what lies before r.
	Confirm(ctx context.Context, r change.Resume) error
	Close() error
}

// Checkpoint is a lane's row in the target: how far it is.
type Checkpoint struct {
	Lane     int
	Epoch    int64
	Source   string // ChangeReader.Source of what its position is in; "" before the first run
	Position change.Position
	Resume   change.Resume
	Changes  int64 // applied so far, a running count
	Commit   int64 // commit time of the last one, microseconds since 1970
	Digest   string
}

// ApplyTarget is a target's side of a stream: its checkpoint rows and what is
// done to several of them at once. It is opened for one pipeline, whose claim
// this process has. Advance and Serial share a connection: once it is lost the
// next of them fails with a Transient error, and never reconnects in silence,
// because rows that a restarted target has forgotten would be moved past.
type ApplyTarget interface {
	// Checkpoints makes the rows that are missing, at start, and returns all of
	// the pipeline's, by lane, with the epochs of this process's claim.
	Checkpoints(ctx context.Context, lanes int, start Checkpoint) ([]Checkpoint, error)
	// OpenApply returns a lane with a connection of its own.
	OpenApply(ctx context.Context, l Lane) (ChangeApplier, error)
	// Advance moves the rows of idle lanes forward to a position up to which they
	// have nothing, in one statement, each only where its epoch is the given one
	// and its position lies before. It returns the lanes that were moved.
	Advance(ctx context.Context, lanes []Checkpoint, to Checkpoint) ([]int, error)
	// Serial does changes that concern several lanes, in commit order, and moves
	// those lanes' rows, in one transaction.
	Serial(ctx context.Context, s Section) error
	// Flushed returns the least position over all lanes' rows with its resume,
	// once the target can't lose it any more.
	Flushed(ctx context.Context) (Checkpoint, error)
}

// Lane is one lane as the target sees it.
type Lane struct {
	At     Checkpoint    // where it stands
	Tables []StreamTable // that it may get changes of
	Mode   string        // "merge", "array", "row", "append"
	Loose  bool          // an insert may find its row, an update or delete may miss it
}

// StreamTable is a table of a stream: where the images of a source table go.
type StreamTable struct {
	Source  *schema.Table // what the images' columns are
	Target  schema.Name
	Columns []TargetColumn // one for each column of Source
	Key     []int          // columns; empty: every change is appended
	Rank    int            // lower for a table that others refer to
}

// Section is a run of changes of one source transaction that concern several
// lanes: rows that get other keys, or a truncate. Their lanes have applied all
// that lies before it.
type Section struct {
	Lanes []Checkpoint // where they stand, in lane order
	To    Checkpoint   // where they stand after it; To.Changes is counted at the first of them
	// Changes are in commit order. They are done as a set: a key that is left names
	// the row that stood there before the section, else the first one that came
	// there in it and has not left, for in id = id + 1 each new key is taken.
	Changes []Ref
	Tables  []StreamTable
}

// Ref is a change of a batch.
type Ref struct {
	Batch *change.Batch
	Index int
}

// Change is the change that the Ref is of.
func (r Ref) Change() *change.Change { return &r.Batch.Changes[r.Index] }

// ChangeApplier is a lane: it belongs to one goroutine.
type ChangeApplier interface {
	// Apply does the net changes and moves the lane's row from where it stands to
	// to, in one transaction, each count compared before the commit. Where it
	// fails with a Transient error nobody knows whether it committed: Reclaim
	// tells. A Conflict names the key.
	Apply(ctx context.Context, n *change.Net, from, to Checkpoint) (Applied, error)
	// Reclaim opens the lane's connection anew, ends the one before it at the
	// server, raises the epoch of the lane's row and returns the row; it may be
	// done again when nobody knows whether it was. A lane that another claim has
	// is an error of class Fenced.
	Reclaim(ctx context.Context) (Checkpoint, error)
	Close() error
}

// Applied is what a transaction of a lane did.
type Applied struct {
	Net      int64 // net changes
	Rows     int64 // rows touched
	Repaired int64 // net changes that found another row than a strict lane would have taken
	Took     time.Duration
}
