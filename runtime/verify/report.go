package verify

import (
	"encoding/json"
	"time"

	"penstock/connectors"
	"penstock/runtime"
)

// Ranges is how many ranges each side's rows are dealt to, by the hash of their
// keys: the same ranges whatever the databases' order and collation are. More
// would cost each reader memory, fewer would make each differing one larger.
const Ranges = 4096

// Report is what a comparison found.
type Report struct {
	Started   time.Time            `json:"started"`
	Ended     time.Time            `json:"ended"`
	Exit      int                  `json:"exit"`      // exit code: the worst of the pipelines'
	Err       *runtime.ErrorResult `json:"-"`         // where nothing was compared
	Pipelines []*Pipeline          `json:"pipelines"` // in the plan's order
}

// Pipeline is one pipeline's part of a report.
type Pipeline struct {
	Name   string               `json:"name"`
	Source string               `json:"source"`
	Target string               `json:"target"`
	Exit   int                  `json:"exit"`
	Error  *runtime.ErrorResult `json:"error,omitempty"` // why it was not compared to its end
	Tables []*Table             `json:"tables"`
}

// State is how a table compares.
type State string

const (
	NotCompared State = "not compared" // the error of the pipeline says why
	Equal       State = "equal"
	Differs     State = "differs"
	Absent      State = "absent" // the target has no such table
)

// Table is one table's comparison. Counts are exact whatever the limit of
// listed rows is.
type Table struct {
	Name   string   `json:"name"`
	Target string   `json:"target"`
	Key    []string `json:"key,omitempty"`   // target columns; none: rows are compared as a multiset
	State  State    `json:"state"`           // "equal", "differs", "absent" (the target has no such table), "not compared"
	Load   Load     `json:"load"`            // what the target remembers of its load
	Notes  []string `json:"notes,omitempty"` // what to know before the counts are read

	SourceSide Side `json:"source_side"` // as a run would load it
	TargetSide Side `json:"target_side"` // as it is stored

	Ranges    int   `json:"ranges"`           // that keys are dealt to by their hash
	Differing int   `json:"ranges_differing"` // of those, where counts or sums are not equal
	Missing   int64 `json:"missing"`          // rows of the source that the target lacks
	Extra     int64 `json:"extra"`            // rows of the target that the source lacks
	Different int64 `json:"different"`        // keys on both sides, with other values

	Rows    []*Row   `json:"rows"`              // those listed, by key
	LeftOut int64    `json:"rows_left_out"`     // found, counted and not listed
	Fix     []string `json:"fix_sql,omitempty"` // of the rows listed, in the order to run them
	Seconds float64  `json:"seconds"`           // from the first row read to the last
}

// Load is what the target remembers of the table's load.
type Load struct {
	State      string   `json:"state"` // "loaded", "unfinished", "never"
	Generation int      `json:"generation,omitempty"`
	At         string   `json:"at,omitempty"`      // when that state was written
	Point      string   `json:"point,omitempty"`   // where its rows were read
	Changed    []string `json:"changed,omitempty"` // what decides its rows and is not what it was then
}

// Side is what was read of one side.
type Side struct {
	Point    string   `json:"point,omitempty"`          // where it was read now; none: it has no points
	Rows     int64    `json:"rows"`                     // compared
	Filtered int64    `json:"rows_filtered,omitempty"`  // left out by the filter
	Bad      int64    `json:"rows_bad,omitempty"`       // source: no run would load them; target: they can't be read
	FirstBad []string `json:"first_bad_rows,omitempty"` // a few of them
}

// Kind is what is wrong with a row.
type Kind string

const (
	MissingRow   Kind = "missing"
	ExtraRow     Kind = "extra"
	DifferentRow Kind = "different"
)

// Row is a row that was found to differ.
type Row struct {
	Kind Kind    `json:"kind"`           // "missing" at the target, "extra" there, "different"
	Key  []Value `json:"key,omitempty"`  // none in a table without a key
	Hash string  `json:"hash,omitempty"` // of a row without a key: xxh3-128, 32 hexadecimal digits
	// Those that differ; of a row that one side alone has, those beside its key, and
	// only where values are asked for.
	Columns []Difference `json:"columns,omitempty"`

	sole           bool // its key has no other row on either side
	source, target []connectors.Cell
	changed        []int
}

// Value is a column's value.
type Value struct {
	Column string `json:"column"` // of the target
	Value  *Text  `json:"value"`  // canonical text, or null
}

// Difference is a column of a row on both sides. The values are only there
// where they are asked for: they may be personal data.
type Difference struct {
	Column string `json:"column"`           // of the target
	Source *Text  `json:"source,omitempty"` // canonical text, or null
	Target *Text  `json:"target,omitempty"` // likewise
}

// Text is a value as canonical text, or NULL, which JSON writes as null.
type Text connectors.Cell

// MarshalJSON writes a string or null.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Null {
		return []byte("null"), nil
	}
	return json.Marshal(t.Text)
}
