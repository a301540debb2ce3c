package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// CatalogVersion is the format_version of catalog files that this build reads and writes.
const CatalogVersion = 1

// Catalog is what an endpoint has: live, or recorded in a checked-in file.
type Catalog struct {
	Kind   string // the connector that wrote it
	Tables []Table
}

// catalogFile is the form on disk. Statistics stand apart, keyed by table, so
// that a new row count does not disturb a review of the structure.
type catalogFile struct {
	FormatVersion int                    `json:"format_version"`
	Kind          string                 `json:"kind"`
	Tables        []Table                `json:"tables"`
	Statistics    map[string]*Statistics `json:"statistics,omitempty"`
}

// ParseCatalog reads a catalog file. parse turns a native type into ours; a
// type that it refuses leaves the column Invalid, with the reason in
// Column.Problem: it matters only to a pipeline that reads the column.
func ParseCatalog(src []byte, kind string, parse func(native string) (Type, error)) (*Catalog, error) {
	var f catalogFile
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if f.FormatVersion != CatalogVersion {
		return nil, fmt.Errorf("format_version is %d, this penstock reads %d", f.FormatVersion, CatalogVersion)
	}
	if f.Kind != kind {
		return nil, fmt.Errorf("it is a catalog of %s, not of %s", f.Kind, kind)
	}
	for i := range f.Tables {
		t := &f.Tables[i]
		for j := range t.Columns {
			c := &t.Columns[j]
			typ, err := parse(c.Native)
			if err != nil {
				typ, c.Problem = Type{}, err.Error()
			}
			c.Type = typ
		}
		t.Stats = f.Statistics[t.Name.String()]
	}
	return &Catalog{Kind: f.Kind, Tables: f.Tables}, nil
}

// Marshal writes the catalog in its stable form: tables sorted by name,
// columns in their own order.
func (c *Catalog) Marshal() ([]byte, error) {
	f := catalogFile{FormatVersion: CatalogVersion, Kind: c.Kind, Tables: append([]Table{}, c.Tables...), Statistics: map[string]*Statistics{}}
	sort.Slice(f.Tables, func(i, j int) bool { return f.Tables[i].Name.String() < f.Tables[j].Name.String() })
	for _, t := range f.Tables {
		if t.Stats != nil {
			f.Statistics[t.Name.String()] = t.Stats
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // definitions hold < and >
	enc.SetIndent("", "  ")
	err := enc.Encode(f)
	return b.Bytes(), err
}

// Find returns the table of this name by the names rule: exact, else without
// regard to case when exactly one table has it.
func (c *Catalog) Find(n Name) *Table {
	var found *Table
	for i := range c.Tables {
		t := &c.Tables[i]
		if t.Name == n {
			return t
		}
	}
	for i := range c.Tables {
		t := &c.Tables[i]
		if strings.EqualFold(t.Name.Schema, n.Schema) && strings.EqualFold(t.Name.Name, n.Name) {
			if found != nil {
				return nil
			}
			found = t
		}
	}
	return found
}
