package connectors

import (
	"context"
	"fmt"
	"slices"

	"penstock/internal/change"
	"penstock/internal/schema"
)

// Definition is one connector: all that is known of it without connecting.
type Definition struct {
	Kind    string // the word in the spec
	Summary string // one line for docs and completion
	Types   Types
	// Twin names the type of a new target column for a column of this connector's
	// own: the same one, with what it says beyond Types; "" = as Types.Render. May be nil.
	Twin func(native string) string
	// Passes reports whether a value of the source's type, as the source encodes
	// it, is what the target takes for its column octet for octet, once schema.Fit
	// says exact: rows of such columns can be passed on undecoded. nil: never.
	Passes func(source, target string) bool
	// Special reports a type that has infinity (a date, a timestamp) or NaN (a
	// decimal) among its values, and is read and written with it. nil: none has.
	Special func(native string) bool
	Source  *SourceDef // nil: it is never a source
	Target  *TargetDef // nil: it is never a target
}

// Types maps a connector's own type names to ours and back.
type Types interface {
	// Parse reads a native type, as catalogs and `column { type = ... }` write it.
	Parse(native string) (schema.Type, error)
	// Render names the native type of a new column that holds every value of t,
	// or the nearest one where schema.Fit then says what is tested or lost: a
	// float for a floating decimal, six digits of a second for nine. An error says
	// why there is none and which could be written instead.
	Render(t schema.Type) (native string, err error)
}

// SourceDef is a connector's source side.
type SourceDef struct {
	// Config returns a pointer to a fresh config struct, with `spec` tags. It
	// marshals to JSON for the plan; secrets in it are references.
	Config func() any
	// Check adds what the tags can't say: relations between settings. May be nil.
	Check        func(config any) []Problem
	Capabilities SourceCapabilities
	// Splits lists how a table can be cut, the one that `auto` takes first.
	Splits func(t *schema.Table) []SplitKind
	// Remark is how values of a type are read where they are not simply what they
	// were, a clause: an interval is its text; "" for nothing. May be nil.
	Remark func(native string) string
	// Place is as TargetDef.Place.
	Place func(config any, env Env) string
	// Local gives the catalog without connecting anywhere, in files at most. It
	// is nil for a source that has to be connected to.
	Local func(ctx context.Context, config any, env Env) (*schema.Catalog, error)
	// Live are the checks of an open source.
	Live []Check[Source]
	// Grants are the statements by which a DBA gives the user of the config
	// exactly what u takes. nil: not known.
	Grants func(config any, u Use) []Statement
	// Explain writes the statements; nil: not built yet.
	Explain SourceExplainer
	// Changes writes what following the log does at the source; nil where
	// Capabilities.CDC is not set, or it is not built yet.
	Changes ChangeExplainer
	// LogAll is the statement by which old images of a table hold all columns; "" or
	// nil: there is none.
	LogAll func(config any, t schema.Name) string
	// Open connects; nil: not built yet.
	Open func(ctx context.Context, config any, env Env) (Source, error)
	// Probe measures the way to the source, and tells of each run when it is done;
	// nil: it can't be probed.
	Probe func(ctx context.Context, config any, env Env, o ProbeOptions, tell func(ProbeRun)) (*Probe, error)
}

// SourceCapabilities are facts of a source known without connecting.
type SourceCapabilities struct {
	CDC     bool // has a log of changes
	Durable bool // a snapshot's point can be read again after a restart
	// Holds is what the source keeps for a load and for how long, a clause; "" for
	// nothing.
	Holds  string
	Frozen bool // its tables never change while the source is the same, so they are of one state whenever they were read
	Values Values
}

// Values say of an endpoint's dates, times and numbers what their types don't.
type Values struct {
	// FirstYear and LastYear bound dates and timestamps, as astronomers count: 0 is
	// 1 BC. Both zero: there is every year that Penstock holds.
	FirstYear, LastYear int
	Infinite            bool // of a source: dates and timestamps may be infinity
	NaN                 bool // floats may be NaN
	NaNDecimals         bool // of a source: decimals of declared digits may be NaN
}

// TargetDef is a connector's target side.
type TargetDef struct {
	Config func() any
	Check  func(config any) []Problem
	// Options returns a pointer to the struct of the connector's own block in a
	// table; nil: it has none.
	Options      func() any
	Capabilities TargetCapabilities
	// SplitName takes a target name in a spec apart.
	SplitName func(name string) (schema.Name, error)
	// Home is the schema that names without one mean: it is left out of the names
	// in plans, as the catalog leaves it out. nil, or "": there is none.
	Home func(config any) string
	// Storable says why values of t would change in a column declared as native,
	// where Types.Parse can't tell; nil when they would not. May be nil itself.
	Storable func(native string, t schema.Type) error
	// Takes says what becomes of values of type from in a column declared as
	// native where native says more than its Type: an inet is a text to Penstock,
	// and takes few of them. source is the source's type where that is this same
	// connector's, else "". FitExact and "": the types tell all. May be nil.
	Takes func(native string, from schema.Type, source string) (schema.FitClass, string)
	// Remark is what a reader of the target has to know of values of t in a
	// column declared as native, a clause; "" for nothing. May be nil.
	Remark func(native string, t schema.Type) string
	// Place names where the target is, equal for two endpoints of one place, so
	// that a pipeline into its own source is refused. nil: unknown.
	Place func(config any, env Env) string
	// Local gives the catalog without connecting; a missing file is an empty
	// catalog and is not created. nil: the target is a server. A plan does not ask
	// for it: where the spec names no catalog file, a target is planned as empty.
	Local func(ctx context.Context, config any, env Env) (*schema.Catalog, error)
	// Objects are the indexes and constraints of a table that is there which
	// `indexes = "defer"` puts off, and those that stay, with the reason. nil: the
	// target puts off none.
	Objects func(t *schema.Table) []schema.Object
	// Carry says what a table that the run creates gets of its source's by `carry`,
	// and what it does not get. nil: nothing is carried, and the planner lists it.
	Carry func(c *Carrying) Carried
	// Compute gives the expression of a column that the target computes as the
	// source does, in the target's SQL; "" and why where it can't. c has the
	// columns that the expression may name. nil: it can't.
	Compute func(c *Carrying, column *schema.Column) (expression, why string)
	// Live are the checks of an open target.
	Live []Check[Target]
	// Grants is as SourceDef.Grants.
	Grants func(config any, u Use) []Statement
	// Own are the statements that make Penstock's own tables, for a DBA who makes
	// them: with what has to come before any DDL. nil: there are none.
	Own     func(config any) []Statement
	Explain TargetExplainer
	// Stream writes how a stream's changes enter; nil: not built yet.
	Stream StreamExplainer
	Open   func(ctx context.Context, config any, env Env) (Target, error)
	// Read opens the target to be read from: its tables as a source has them, cut
	// by what SourceDef.Splits says of them, their columns of types that hold what
	// may be stored there. A reader gives values as they are stored, untrimmed and
	// unpadded. nil: it can't be read back.
	Read func(ctx context.Context, config any, env Env) (Source, error)
	// Dialect is what repairs are written in; nil: there is no SQL.
	Dialect *Dialect
}

// TargetCapabilities are facts of a target known without connecting.
type TargetCapabilities struct {
	Writers   int      // chunk transactions at once; 0 = as many as workers
	Modes     []string // apply.mode, the fastest first
	Changes   []string // apply.changes, the default first
	Lanes     Lanes    // what has one checkpoint and one order in a stream
	Names     string   // default of `names`: "lower" or "keep"
	Carry     []string // of "indexes" "foreign_keys" "defaults" "comments": what it can make for a table that the run creates
	NoScripts bool     // it runs no statements, and so no before_load and after_load
	// Delivery is the promise, in the words of the design.
	Delivery string
	// CommitRows, CommitBytes and CommitEvery are the defaults of the commit
	// block in a stream; zero: the target has no such bound.
	CommitRows  int64
	CommitBytes int64
	CommitEvery string
	Values      Values
}

// Lanes says what a lane is at a target.
type Lanes string

const (
	LanesKeys     Lanes = "keys"     // shares of the pipeline's keys, as many as workers
	LanesTable    Lanes = "table"    // one a table
	LanesPipeline Lanes = "pipeline" // one
)

// Problem is a fault in a config struct, at the setting that Path names
// (`table.big_table.rows`).
type Problem struct {
	Path   string
	Detail string
}

// Statement is a statement of a plan. The run executes SQL as it stands.
type Statement struct {
	SQL     string `json:"sql"`
	Comment string `json:"comment,omitempty"` // what it is for, for people
	Rows    int    `json:"rows,omitempty"`    // a multi-row form is shown with one row: how many the run repeats
	Locks   string `json:"locks,omitempty"`   // what it locks, in the target's own word
	Beside  bool   `json:"beside,omitempty"`  // in a finishing stage: runs beside its like, each on a connection of its own
}

// OnlyAgain begins the Comment of a statement that runs only where a table that
// the run made before is loaded again.
const OnlyAgain = "only when it is loaded again"

// NotBuilt stands in a plan where a connector has no statement to show yet. A
// stage with it plans, and the run refuses it.
const NotBuilt = "statement: not built yet"

// SourceExplainer writes a source's statements without connecting.
type SourceExplainer interface {
	Read(x Extract) []Statement
}

// ChangeExplainer writes, without connecting, what following a source's log does
// there.
type ChangeExplainer interface {
	// Prepare are the statements of PrepareChanges, in order, as they run where
	// nothing is there yet. follows: rows are loaded first.
	Prepare(config any, s ChangeStream, follows bool) []Statement
	// Drop are those of DropChanges.
	Drop(config any, s ChangeStream) []Statement
	// ParsePosition reads a place in the log as the source's own people write it,
	// or as Position.String does.
	ParsePosition(text string) (change.Position, error)
	// FormatPosition writes one for people.
	FormatPosition(p change.Position) string
}

// TargetExplainer writes a target's statements without connecting.
type TargetExplainer interface {
	Prepare(t Load) []Statement // creating and emptying, in the order they run
	Insert(t Load) []Statement  // one chunk, from its first statement to its commit
	Finish(t Load) []Statement
}

// StreamExplainer writes, without connecting, what a lane of a stream does at its
// target.
type StreamExplainer interface {
	// Begin and End are what is around the changes of a lane's transaction.
	Begin() []Statement
	End() []Statement
	// Changes are the statements for changes of one table.
	Changes(t StreamTable, mode string) []Statement
}

// Registry is the connectors of a program, by kind. It is built in one place
// (connectors/all) and passed from main.
type Registry struct {
	kinds map[string]*Definition
}

// NewRegistry panics on two connectors of one kind: a programmer's mistake.
func NewRegistry(defs ...*Definition) *Registry {
	r := &Registry{kinds: map[string]*Definition{}}
	for _, d := range defs {
		if r.kinds[d.Kind] != nil {
			panic(fmt.Sprintf("connectors: %s registered twice", d.Kind))
		}
		r.kinds[d.Kind] = d
	}
	return r
}

// Find returns the connector of a kind, or nil.
func (r *Registry) Find(kind string) *Definition { return r.kinds[kind] }

// Kinds lists the kinds, sorted.
func (r *Registry) Kinds() []string {
	out := make([]string, 0, len(r.kinds))
	for k := range r.kinds {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
