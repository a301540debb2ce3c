// Package synthetic is a source of made-up rows: any number of them, the same
// on every machine, with no server and no file (docs/synthetic.md has the
// formula).
package synthetic

import (
	"context"
	"fmt"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/internal/units"
)

// Config is a synthetic source block: its tables.
type Config struct {
	Tables []Table `spec:"table,block" json:"table" doc:"A table of made-up rows; the label is its name."`
}

// Table is a table block. Its name, and nothing else of the spec, leaves the
// rows as they are when it changes.
type Table struct {
	Name   string `spec:",label" json:"name" example:"big_table"`
	Preset string `spec:"preset,required" oneof:"big_table firenibble firenibble_cdc" json:"preset" doc:"Columns and the formula of each." example:"big_table"`
	Rows   int64  `spec:"rows,required" min:"0" json:"rows" doc:"Rows of each table." example:"1000"`
	Seed   int64  `spec:"seed" default:"1" json:"seed" doc:"Another seed makes other rows."`
	Tables int    `spec:"tables" min:"1" json:"tables,omitempty" doc:"Makes this many tables, named by the label and a number from 1."`
}

// Definition is the connector.
func Definition() *connectors.Definition {
	return &connectors.Definition{
		Kind:    "synthetic",
		Summary: "made-up rows, the same on every machine, for trials, demos and load tests",
		Types:   types{},
		Source: &connectors.SourceDef{
			Config:       func() any { return &Config{} },
			Check:        check,
			Capabilities: connectors.SourceCapabilities{Durable: true, Frozen: true, Values: connectors.Values{FirstYear: 1, LastYear: 9999}},
			Splits:       splits,
			Local:        local,
			Explain:      explainer{},
			Open:         open,
		},
	}
}

// Bounds that no use needs to pass: they keep a slip of the keyboard from
// filling the memory with tables, and sums of rows and bytes inside 64 bits.
const (
	maxTables = 10_000
	maxRows   = 1_000_000_000_000_000
)

// check finds numbers out of bounds and two blocks that make a table of one
// name. Names are compared as they are: the names rule finds a table by its
// exact name first.
func check(config any) []connectors.Problem {
	var out []connectors.Problem
	maker := map[string]string{} // table to the label that makes it
	for _, t := range config.(*Config).Tables {
		if t.Rows > maxRows {
			out = append(out, connectors.Problem{Path: "table." + t.Name + ".rows", Detail: fmt.Sprintf("a table has at most %s rows", units.Count(maxRows))})
		}
		if t.Tables > maxTables {
			out = append(out, connectors.Problem{Path: "table." + t.Name + ".tables", Detail: fmt.Sprintf("a block makes at most %s tables", units.Count(maxTables))})
			continue
		}
		for n := 1; n <= t.count(); n++ {
			name := t.name(n)
			if other, ok := maker[name]; ok {
				detail := fmt.Sprintf("two table blocks are labelled %q; give one of them another name", t.Name)
				if other != t.Name {
					detail = fmt.Sprintf("it makes a table %s, and so does table %q; give one of them another name", name, other)
				}
				out = append(out, connectors.Problem{Path: "table." + t.Name, Detail: detail})
				break
			}
			maker[name] = t.Name
		}
	}
	return out
}

// splits: row numbers can be sought, so a split by key would gain nothing.
func splits(*schema.Table) []connectors.SplitKind {
	return []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitNone}
}

// source needs no connection: it is its tables.
type source struct{ tables []*table }

var _ connectors.Source = (*source)(nil)

func open(_ context.Context, config any, _ connectors.Env) (connectors.Source, error) {
	tables, err := expand(config.(*Config))
	if err != nil {
		return nil, err
	}
	return &source{tables}, nil
}

// Catalog gives the tables with their exact row counts.
func (s *source) Catalog(context.Context) (*schema.Catalog, error) { return catalogOf(s.tables), nil }

// Snapshot gives the tables. The point of an earlier run is accepted while some
// table is still the same as at that point: points are a table's own.
func (s *source) Snapshot(_ context.Context, o connectors.SnapshotOptions) (connectors.Snapshot, error) {
	if o.At != nil && !s.has(o.At) {
		return nil, &connectors.Error{
			Op: "open snapshot", Position: o.At, Class: connectors.LostPosition,
			Hint: "A table's preset, rows or seed changed since the load began: put it back, or load the table anew with --reload.",
			Err:  fmt.Errorf("no table of this source has the rows of that point (%s)", string(o.At)),
		}
	}
	return &snapshot{s.tables}, nil
}

// Close has nothing to close.
func (s *source) Close() error { return nil }
