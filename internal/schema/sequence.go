package schema

import "fmt"

// Sequence is what numbers a column: the one of an identity column, or the one
// that its default draws from.
type Sequence struct {
	Name      Name   `json:"name"`
	Identity  string `json:"identity,omitempty"` // "always", "by default"; "" = the column's default draws from it
	Owned     bool   `json:"owned,omitempty"`    // it goes with the column
	Type      string `json:"type,omitempty"`     // native: bigint, integer, smallint
	Start     int64  `json:"start"`              // its first number
	Increment int64  `json:"increment"`          // below zero: it counts down
	Min       int64  `json:"min"`                // least number; it and max 0: the type's bounds
	Max       int64  `json:"max"`                // greatest number
	Cache     int64  `json:"cache"`              // how many a session takes at once
	Cycle     bool   `json:"cycle,omitempty"`    // begins again at its end
	// Last is the number that it has given last, nil before the first. It is kept
	// apart from the structure, as statistics are.
	Last *int64 `json:"-"`
}

// Kinds of identity.
const (
	IdentityAlways    = "always"
	IdentityByDefault = "by default"
)

// describe is everything but where it stands, for differences.
func (s *Sequence) describe() string {
	if s == nil {
		return ""
	}
	kind := s.Identity
	if kind == "" {
		kind = "sequence"
	}
	return fmt.Sprintf("%s %s %s from %d by %d in %d to %d, cache %d, cycle %v, owned %v", kind, s.Name, s.Type, s.Start, s.Increment, s.Min, s.Max, s.Cache, s.Cycle, s.Owned)
}
