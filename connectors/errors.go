package connectors

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"penstock/internal/change"
)

// Class is what the engine acts on. A connector gives every error one.
type Class uint8

const (
	Fatal        Class = iota // unknown: stop
	Transient                 // trying again can help: a lost connection, a deadlock, a busy file
	Data                      // these rows can't go in
	Permission                // authentication, TLS or a missing grant
	Schema                    // the table is not what the plan says
	LostPosition              // the source has forgotten the point, or it is another source
	Conflict                  // rows are there that must not be
	Held                      // another run owns the pipeline
	Fenced                    // another run took the pipeline from this one
	Mismatch                  // a count differs from what was sent
	Full                      // disk or memory bound reached
	Denied                    // this user may not use a local file or folder
)

var classNames = [...]string{"fatal", "transient", "data", "permission", "schema", "lost position", "conflict", "held", "fenced", "count mismatch", "full", "denied"}

func (c Class) String() string { return classNames[c] }

// Error is an error for an operator: where it happened, of what class it is,
// and what to do.
type Error struct {
	Op       string // what was being done: "copy chunk 3 of 64"
	Table    string
	Position change.Position
	Class    Class
	Hint     string // what to do, a whole sentence; may be empty
	Err      error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Table != "" {
		if e.Op != "" {
			b.WriteString(" ")
		}
		b.WriteString(e.Table)
	}
	if e.Position != nil {
		fmt.Fprintf(&b, " at %s", e.Position)
	}
	if e.Err != nil {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(". ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of the outermost Error in err's chain; Fatal when there
// is none. A cancelled context is Fatal too: nobody retries it.
func ClassOf(err error) Class {
	if errors.Is(err, context.Canceled) {
		return Fatal
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Fatal
}
