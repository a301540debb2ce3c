package connectors

import (
	"context"
	"time"

	"penstock/internal/schema"
)

// Check is a live check: it asks an open endpoint, and changes nothing there. An
// offline plan lists its name among what was not checked.
type Check[Endpoint any] struct {
	Name  string // "privileges"
	About string // what it looks at, a clause
	// Momentary is set for what is true of this moment only, such as rows in a
	// table: a run does not ask, since its own steps decide it when it counts.
	Momentary bool
	Run       func(ctx context.Context, e Endpoint, u Use) ([]Finding, error)
}

// Use is what one pipeline of a plan does with an endpoint.
type Use struct {
	Pipeline    string
	Connections int
	Durable     bool // the source's point outlives its session
	Stream      bool // the pipeline follows the source's log
	// Took is how long an earlier load of the pipeline from the same folder took; 0:
	// there is none to go by.
	Took time.Duration
	// Of a source.
	Reads []Extract
	// Of a target, as the plan has them.
	Loads []Load
	State State // what the target remembers of the pipeline
}

// Finding is what a live check found wrong, or worth reading.
type Finding struct {
	Warning bool     // the run may go on
	Class   Class    // an error's: it gives the exit code
	What    string   // whole sentences
	Mend    []string // statements, or commands, that mend it, as they are to be run
}

// Unfinished reports a load that a run would go on with, or begin anew.
func (s State) Unfinished(l Load) bool {
	t := s.Tables[l.Source]
	return t != nil && !t.Loaded && t.Digest == l.Digest
}

// Knows reports a load whose rows are in the target by an earlier run.
func (s State) Knows(l Load) bool { return s.Tables[l.Source] != nil }

// Schemas are the schemas of names, each once, in their order; home stands for
// a name without one.
func Schemas(home string, names []schema.Name) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range names {
		s := n.Schema
		if s == "" {
			s = home
		}
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
