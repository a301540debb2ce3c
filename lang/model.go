// Package lang reads specs, in HCL and in YAML, into one typed model in which
// every node keeps the bytes it came from.
package lang

import (
	"time"

	"penstock/internal/diag"
	"penstock/internal/units"

	"github.com/hashicorp/hcl/v2"
)

// Spec is a decoded spec: one file, or a directory of them merged.
type Spec struct {
	Path      string            // as given to Load
	Dir       string            // the folder that relative paths in it are relative to
	Files     map[string][]byte // what was read, by the file name used in ranges
	Range     hcl.Range         // the first byte of the first file
	Endpoints []*Endpoint       // in the order of the files
	Pipelines []*Pipeline       // in the order of the files
	// Partial is set where a file has errors in its syntax: what could be read
	// stands here, and whatever else is wrong may follow from what could not.
	Partial   bool
	versioned bool
	// Sensitive says where the values of sensitive variables come from, by
	// variable name; resolved only when connecting.
	Sensitive map[string]func() (string, bool)
}

// Role is on which side of a pipeline an endpoint stands.
type Role string

const (
	Source Role = "source"
	Target Role = "target"
)

// Endpoint returns the endpoint of this role and name, or nil.
func (s *Spec) Endpoint(role Role, name string) *Endpoint {
	for _, e := range s.Endpoints {
		if e.Role == role && e.Name.V == name {
			return e
		}
	}
	return nil
}

// Value is a setting with the bytes it came from. Where it was not written,
// Set is false and Range is the enclosing block's header.
type Value[T any] struct {
	V     T
	Range hcl.Range
	Set   bool
}

// Text is a string that still knows where each of its bytes came from.
type Text struct {
	Value[string]
	at func(from, to int) hcl.Range // byte offsets of V to the source
}

// Sub is the range in the source of the bytes from..to of V.
func (t Text) Sub(from, to int) hcl.Range {
	if t.at == nil {
		return t.Range
	}
	return t.at(from, to)
}

// Endpoint is a source or a target block. Its connector's own settings stay a
// body until Decode.
type Endpoint struct {
	Role     Role
	Kind     Value[string]
	Name     Value[string]
	DefRange hcl.Range // the block's header

	Catalog  Value[string]
	Probe    Value[string]
	TLS      Value[string] // "verify" or "off"
	TLSCA    Value[string]
	Names    Value[string]     // target: "lower" or "keep"; unset: the connector's default
	Throttle Value[units.Rate] // source

	body *body
}

// Decode reads the connector's own settings into a pointer to its config
// struct, by the rules of Decoder. Unknown and mistyped settings are
// diagnostics at their bytes.
func (e *Endpoint) Decode(config any) (*Decoded, diag.List) { return e.body.decode(config) }

// Pipeline is a pipeline block.
type Pipeline struct {
	Name     Value[string]
	DefRange hcl.Range

	From Ref
	To   Ref

	Mode          Value[string] // "snapshot", "cdc", "snapshot+cdc"
	Workers       Value[int]
	Memory        Value[units.Size]
	Order         Value[string] // "key", "table", "commit"
	Collisions    Value[string] // "error", "repair"
	SchemaChanges Value[string] // "stop", "add_nullable"
	Start         Value[string]
	BeforeLoad    []Text
	AfterLoad     []Text
	BadRows       BadRows
	ReportEvery   Value[time.Duration]
	Tables        []*Table // each already carries what the defaults block says
}

// Ref is a reference to an endpoint: source.erp.
type Ref struct {
	Role  Role
	Name  string
	Range hcl.Range
	Set   bool
}

// BadRows is the bad_rows block.
type BadRows struct {
	Action Value[string] // "stop", "discard"
	File   Value[string]
	Limit  Value[int64]
	Values Value[bool]
	Range  hcl.Range
}

// Table is a table block: one table, or all that a pattern or list gives.
type Table struct {
	Label    Text
	DefRange hcl.Range

	Tables        Value[[]Text]
	Exclude       []Text
	Expect        Value[int]
	To            Template
	Key           Value[[]Text]
	Filter        Text
	Operations    Value[[]string]
	Existing      Value[string]   // "error", "truncate", "append"
	Carry         Value[[]string] // "indexes", "foreign_keys", "defaults", "comments"
	OnNUL         Value[string]   // "reject", "strip", "replace"
	OnInvalidText Value[string]

	Split   Split
	Apply   Apply
	Commit  Commit
	Columns []*Column
	Options map[string]*TableOptions // the target's own block for this table, by connector kind
}

// Split is the range block.
type Split struct {
	By    Value[[]Text]
	Count Value[int]    // 0 = "auto"
	Kind  Value[string] // "auto", "blocks", "key", "hash", "none"
	Range hcl.Range
}

// Apply is the apply block.
type Apply struct {
	Mode    Value[string] // "copy", "array", "row"; unset: the target's fastest
	Changes Value[string] // "merge", "array", "row", "append"
	Indexes Value[string] // "keep", "defer"
	Range   hcl.Range
}

// Commit is the commit block.
type Commit struct {
	Rows  Value[int64]
	Bytes Value[units.Size]
	Every Value[time.Duration]
	Range hcl.Range
}

// Column is a column block.
type Column struct {
	Label      Text
	DefRange   hcl.Range
	To         Text
	Type       Text
	Value      Text // a row expression
	Drop       Value[bool]
	AcceptLoss Value[bool]
}

// TableOptions is a connector's own block inside a table.
type TableOptions struct {
	Kind     string
	DefRange hcl.Range
	body     *body
}

// Decode reads the block into a pointer to the connector's options struct.
func (o *TableOptions) Decode(config any) (*Decoded, diag.List) { return o.body.decode(config) }
