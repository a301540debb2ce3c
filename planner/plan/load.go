package plan

import (
	"bytes"
	"encoding/json"
	"fmt"

	"penstock/connectors"
	"penstock/internal/schema"
)

// Endpoint returns the endpoint of this id, or nil.
func (p *Plan) Endpoint(id string) *Endpoint {
	for i := range p.Endpoints {
		if p.Endpoints[i].ID == id {
			return &p.Endpoints[i]
		}
	}
	return nil
}

// Settings reads the endpoint's config into the connector's struct.
func (e *Endpoint) Settings(into any) error {
	dec := json.NewDecoder(bytes.NewReader(e.Config))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the plan's settings of %s: %w", e.ID, err)
	}
	return nil
}

// BareLoad is table t of p as its target sees it, without the statements.
func (p *Pipeline) BareLoad(t *Table) connectors.Load {
	l := t.Facts()
	l.Definition = string(p.Definition(t))
	return l
}

// Facts are what the statements of a table's load are written from.
func (t *Table) Facts() connectors.Load {
	l := connectors.Load{
		Source: t.Source.String(), Table: t.Target, Key: t.Key, Create: t.Create,
		Existing: connectors.Existing(t.Existing), Mode: t.Apply.Mode, Indexes: t.Apply.Indexes, Encoded: t.Encoded, Digest: t.Digest,
		Objects: t.Objects, Incoming: t.Incoming, ReferredBy: t.ReferredBy, Computed: t.Computed, Comment: t.Comment,
		Columns: make([]connectors.TargetColumn, 0, len(t.Columns)),
	}
	for _, c := range t.Columns {
		l.Columns = append(l.Columns, connectors.TargetColumn{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable, Numbered: c.Numbered, Follows: c.Follows,
			Default: c.Default, Sequence: c.Sequence, Comment: c.Comment})
	}
	return l
}

// loading is the statement that takes rows, among those of a chunk: the one
// with a repeat count.
func loading(statements []connectors.Statement) string {
	for _, s := range statements {
		if s.Rows > 0 {
			return s.SQL
		}
	}
	return ""
}

func texts(statements []connectors.Statement) []string {
	var out []string
	for _, s := range statements {
		out = append(out, s.SQL)
	}
	return out
}

// ReadColumns are the source columns that are read, as the row expressions of the
// table see them: in batch order.
func (t *Table) ReadColumns() []schema.Column {
	out := make([]schema.Column, len(t.Read))
	for i, r := range t.Read {
		out[i] = schema.Column{Name: r.Name, Native: r.Native, Type: r.Type, Nullable: r.Nullable}
	}
	return out
}

// ReadNames are the names of the source columns that are read, in batch order.
func (t *Table) ReadNames() []string {
	out := make([]string, len(t.Read))
	for i, r := range t.Read {
		out[i] = r.Name
	}
	return out
}

// ReadSpecial says of each column that is read whether infinity and NaN are.
func (t *Table) ReadSpecial() []bool {
	out := make([]bool, len(t.Read))
	for i, r := range t.Read {
		out[i] = r.Special
	}
	return out
}

// SourceSplit is how the source is asked to cut the table. Under a hash split
// it cuts one scan into chunks, whose rows the engine deals to the ranges.
func (t *Table) SourceSplit() connectors.Split {
	s := connectors.Split{Kind: t.Range.Split, By: t.Range.By, Count: t.Range.Count, ChunkRows: t.Chunk.Rows}
	if t.Range.Split == connectors.SplitHash {
		s.Kind, s.Count = t.Range.Scan, 1
	}
	if s.Kind != connectors.SplitKey {
		s.By = nil
	}
	return s
}
