package change

import (
	"time"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Op is what a change does.
type Op uint8

const (
	Insert Op = iota + 1
	Update
	Delete
	Truncate
)

func (o Op) String() string {
	switch o {
	case Insert:
		return "insert"
	case Update:
		return "update"
	case Delete:
		return "delete"
	case Truncate:
		return "truncate"
	}
	return "unknown"
}

// Image is one side of the changes of a batch, before or after, in columns. A
// value is absent (not in the change: an unchanged LOB, a partial image), NULL,
// or a value.
type Image struct {
	Rows   *batch.Batch
	Absent []batch.Bitmap // a bitmap a column, 1 = absent; nil = nothing is absent in that column
}

// Batch is changes of one table in commit order. Change i has operation Ops[i]
// and position Positions[i]; its images are row i of Before and After, where
// the operation has them.
type Batch struct {
	Table     *schema.Table
	Ops       []Op
	Positions []Position
	Committed []time.Time // commit time at the source
	Before    Image
	After     Image
	Resume    Resume // reading from here sees everything after the last change
}
