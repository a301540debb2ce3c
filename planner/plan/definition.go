package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"penstock/connectors"
	"penstock/internal/schema"
)

// definition is what decides a table's rows, and nothing else: its digest is
// the same whatever workers, memory, hosts, commit sizes and statistics are.
// Types are ours, not the databases' spelling of them, so that a table which a
// run created has the digest it was planned with when it is read back.
type definition struct {
	From       string             `json:"from"`
	To         string             `json:"to"`
	Mode       string             `json:"mode"`
	Source     schema.Name        `json:"source"`
	Target     schema.Name        `json:"target"`
	Read       []definitionRead   `json:"read"`
	Filter     string             `json:"filter,omitempty"`
	Columns    []definitionColumn `json:"columns"`
	Key        []string           `json:"key,omitempty"`
	Range      definitionRange    `json:"range"`
	OnNUL      string             `json:"on_nul"`
	OnInvalid  string             `json:"on_invalid_text"`
	Operations []string           `json:"operations,omitempty"`
}

type definitionRead struct {
	Name   string      `json:"name"`
	Native string      `json:"native"`
	Type   schema.Type `json:"type"`
}

type definitionColumn struct {
	Name   string      `json:"name"`
	Type   schema.Type `json:"type"`
	Source string      `json:"source,omitempty"`
	Value  string      `json:"value,omitempty"`
	Lossy  bool        `json:"lossy,omitempty"`
}

// definitionRange leaves the count out when it is "auto", for it follows the
// workers then, and in a stream, whose lanes have a digest of their own: a load
// stores what it decided with its edges.
type definitionRange struct {
	By    []string             `json:"by,omitempty"`
	Count int                  `json:"count,omitempty"`
	Split connectors.SplitKind `json:"split"`
}

// Definition is the JSON of what decides the rows of t, a table of p. It is
// kept with the table's state, so that a later run can name what has changed.
func (p *Pipeline) Definition(t *Table) json.RawMessage {
	d := definition{
		From: p.Source, To: p.Target, Mode: p.Mode, Source: t.Source, Target: t.Target,
		Filter: t.Filter, Key: t.Key, OnNUL: t.OnNUL, OnInvalid: t.OnInvalid, Operations: t.Operations,
		Range: definitionRange{By: t.Range.By, Split: t.Range.Split},
	}
	if !t.Range.Auto && p.Mode == "snapshot" {
		d.Range.Count = t.Range.Count
	}
	for _, r := range t.Read {
		d.Read = append(d.Read, definitionRead{r.Name, r.Native, r.Type})
	}
	for _, c := range t.Columns {
		d.Columns = append(d.Columns, definitionColumn{c.Name, c.Type, c.Source, c.Value, c.Decision == string(schema.FitLossy)})
	}
	b, err := compact(d)
	if err != nil {
		panic("plan: " + err.Error()) // strings, numbers and booleans only
	}
	return b
}

// DigestOf is the digest of t's Definition: "sha256:" and 64 hexadecimal digits.
func (p *Pipeline) DigestOf(t *Table) string {
	sum := sha256.Sum256(p.Definition(t))
	return "sha256:" + hex.EncodeToString(sum[:])
}
