package connectors

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// ChangeSource is a source whose log of changes can be followed. A Source is one
// exactly where SourceCapabilities.CDC is set.
//
// A stream that follows no load calls PrepareChanges, makes its checkpoint rows
// at the start that it returns, and then OpenChanges. One that follows a load
// gives the same ChangeStream to Snapshot (SnapshotOptions.Follow), which prepares
// by itself so that the log is kept from the very point at which rows are read;
// when every table is loaded its checkpoint rows are made at StartAt of the least
// of the tables' points, and changes at or before a table's own point are left
// out (StreamTable.After). Every later run has checkpoint rows and only opens.
type ChangeSource interface {
	Source
	// PrepareChanges makes at the source what its log is read by (a publication, a
	// slot), or checks what is there; it is done again at will. It returns where a
	// stream without checkpoint rows begins: at s.Start, or without one at what the
	// source keeps already, else now.
	PrepareChanges(ctx context.Context, s ChangeStream) (Checkpoint, error)
	// StartAt is the checkpoint of a stream that begins at p, for rows that are to
	// be made: Source, Position and Resume.
	StartAt(ctx context.Context, p change.Position) (Checkpoint, error)
	// OpenChanges reads the log from at on. The pipeline must be claimed: a session
	// of its own that still reads, of a former owner or of one that was lost, is
	// ended. Where the source has discarded what lies behind at, or is another
	// one, the error is of class LostPosition.
	OpenChanges(ctx context.Context, s ChangeStream, at Checkpoint) (ChangeReader, error)
	// Now is a position that lies behind every change that is committed when it is
	// called, and that a reader comes to even where nothing is changed any more.
	Now(ctx context.Context) (change.Position, error)
	// ChangesStatus looks at what the source keeps for the stream, of which at is
	// the checkpoint that is furthest behind. It changes nothing.
	ChangesStatus(ctx context.Context, s ChangeStream, at change.Position) (ChangesStatus, error)
	// DropChanges takes away what PrepareChanges made: ChangeExplainer.Drop says
	// what. What is gone already is no error.
	DropChanges(ctx context.Context, s ChangeStream) error
}

// ChangeStream is what is followed of a source.
type ChangeStream struct {
	Pipeline string
	Tables   []ChangeTable
	// Start is where the first run begins; nil = now. A source that keeps its log
	// for a reader alone can only start where that reader was made.
	Start change.Position
	// Keep is set for the snapshot of a load that goes on after a crash, when tables
	// were loaded at an earlier point: what keeps the log from there stays, and
	// this snapshot has a later point. Otherwise it is made anew, from this one.
	Keep bool
}

// ChangeTable is a table that is followed.
type ChangeTable struct {
	Table *schema.Table // its columns are those of the images
	Key   []string      // columns that identify a row; nil: only inserts and truncates can be applied
	// Special is as Extract.Special, by the columns of Table.
	Special []bool
	// Others are further columns of the table, which the plan leaves out: that
	// they are in the log is no change of the table.
	Others []string
}

// ChangesStatus is what a source keeps for a stream.
type ChangesStatus struct {
	End    change.Position // of the log, now
	Behind int64           // bytes of log between the stream's checkpoint and End
	Kept   int64           // bytes of log that the source does not discard because of the stream
	Reader string          // who reads, for people; "" = nobody
	// Trouble is why the log can't be read any more, or soon can't be, with what to
	// do; "" = it can.
	Trouble string
}

// TableChanged is in the chain of an error of class Schema that Read ends with
// when a table has another form from there on. All that lies before was read
// and is good; a reader that is opened with the new form goes on behind it.
type TableChanged struct {
	Table schema.Name
	Added []schema.Column // columns that are new; in rows from before they are NULL, or the default
	Other []string        // what else is different, for people; empty: columns were added and nothing else
}

func (e *TableChanged) Error() string {
	parts := slices.Clone(e.Other)
	for _, c := range e.Added {
		null := ""
		if !c.Nullable {
			null = " not null"
		}
		if c.Default != "" {
			null += " default " + c.Default
		}
		parts = append(parts, fmt.Sprintf("column %s %s%s is new", c.Name, c.Native, null))
	}
	return fmt.Sprintf("table %s is not as it was planned: %s", e.Table, strings.Join(parts, "; "))
}

// Addable reports that the new form differs by new columns alone that are NULL in
// every row from before.
func (e *TableChanged) Addable() bool {
	for _, c := range e.Added {
		if !c.Nullable || c.Default != "" || c.Problem != "" {
			return false
		}
	}
	return len(e.Other) == 0
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
	// After is the point at which the table's rows were loaded: changes at or
	// before it are in them, and the router leaves them out. nil: none are.
	After change.Position
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
