package connectors

import (
	"slices"

	"penstock/internal/schema"
)

// Carrying is a table of a pipeline as TargetDef.Carry sees it: what the source
// has, and what of it the target gets.
type Carrying struct {
	Kind    string        // the source's connector: whose SQL the definitions are in
	Source  *schema.Table // as the source has it
	Target  schema.Name
	There   *schema.Table // the target table where it is there; nil: the run creates it
	Columns []CarryColumn // of the target, those that it computes by itself included
	Key     []string      // the primary key that the run makes, in target names
	What    []string      // of "indexes", "foreign_keys", "defaults", "comments"
	// Partial says why rows of the source may be missing in the target, a clause;
	// "" = they don't.
	Partial string
	Fold    func(name string) string // the target's `names`
	// Taken are the names that relations of the target have, by schema; Carry adds
	// those that it gives. A schema that names without one mean is "".
	Taken map[schema.Name]bool
	// Sequences are the target's sequences by the source's, of the whole pipeline;
	// Carry adds those that it has made.
	Sequences map[schema.Name]schema.Name
	// Other is the pipeline's table of this source; nil: it has none.
	Other func(source schema.Name) *Carrying
}

// CarryColumn is a target column and where its values come from.
type CarryColumn struct {
	Name, Native string
	Source       *schema.Column // nil: it is new
	Value        bool           // computed by a row expression
	Computed     bool           // computed by the target
}

// Same reports a column that holds what the source's holds, as the same type.
func (c CarryColumn) Same() bool { return !c.Value && c.Source != nil && c.Native == c.Source.Native }

// Carries reports what the spec asks for.
func (c *Carrying) Carries(what string) bool { return slices.Contains(c.What, what) }

// Column is the target column that has this source column's values, or nil.
func (c *Carrying) Column(source string) *CarryColumn {
	for i := range c.Columns {
		if x := &c.Columns[i]; x.Source != nil && x.Source.Name == source {
			return x
		}
	}
	return nil
}

// Carried is what a table that the run creates gets beside columns, NOT NULL and
// primary key.
type Carried struct {
	Objects   []schema.Object             // made after the rows; a primary key among them says how the table's is made
	Defaults  map[string]string           // by target column, in the target's SQL
	Sequences map[string]*schema.Sequence // likewise: what numbers it
	Comments  map[string]string           // likewise; "" is the table itself
	Made      []string                    // all of these in words, but the primary key
	Missing   []string                    // what the source has and the target does not get, with the reason where it was asked for
}

// ComputedColumn is a column of a table that the run creates whose values the
// target computes.
type ComputedColumn struct {
	Name       string `json:"name"`
	Native     string `json:"native"`
	Nullable   bool   `json:"nullable,omitempty"`
	Expression string `json:"expression"`        // in the target's SQL
	Before     int    `json:"before"`            // how many of the load's columns stand before it
	Comment    string `json:"comment,omitempty"` // on it
	Source     string `json:"source"`            // the source's column
}
