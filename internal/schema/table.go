package schema

import (
	"slices"
	"strings"
)

// Name is a table's name at an endpoint. Schema is empty where there are none.
type Name struct {
	Schema string `json:"schema,omitempty"`
	Name   string `json:"name"`
}

func (n Name) String() string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}

// Column is a column of a table.
type Column struct {
	Name      string `json:"name"`
	Native    string `json:"type"` // as the database writes it: NUMBER(5), character varying(50)
	Type      Type   `json:"-"`    // what the connector makes of Native
	Nullable  bool   `json:"nullable,omitempty"`
	Default   string `json:"default,omitempty"`   // as SQL text
	Identity  bool   `json:"identity,omitempty"`  // numbered by the database
	Generated string `json:"generated,omitempty"` // expression of a computed column
	Comment   string `json:"comment,omitempty"`
	// Sequence is what numbers it, where the database tells.
	Sequence *Sequence `json:"sequence,omitempty"`
	// Other is what else the column has that no field here holds, in words: a
	// collation, a storage. Nothing carries it. Only catalogs of sources have it.
	Other   []string `json:"other,omitempty"`
	Problem string   `json:"-"` // why Native has no Type
	// Apart is set for a column whose value can lie apart from its row: a change that
	// leaves it as it is may come without it.
	Apart bool `json:"apart,omitempty"`
	// Loose is set for a column whose collation takes different texts for equal.
	Loose bool `json:"loose,omitempty"`
}

// Key is a primary or unique key.
type Key struct {
	Name    string   `json:"name,omitempty"`
	Columns []string `json:"columns"`
}

// Index is an index that is not the primary key.
type Index struct {
	Name       string   `json:"name"`
	Unique     bool     `json:"unique,omitempty"`
	Columns    []string `json:"columns"`
	Definition string   `json:"definition,omitempty"` // the statement that makes it, where the database tells
}

// ForeignKey refers to another table of the same endpoint.
type ForeignKey struct {
	Name       string   `json:"name,omitempty"`
	Columns    []string `json:"columns"`
	References Name     `json:"references"`
	ToColumns  []string `json:"to_columns,omitempty"`
}

// Table is a table, or a view, with what the planner needs to know of it.
type Table struct {
	Name        Name         `json:"name"`
	View        bool         `json:"view,omitempty"`
	Columns     []Column     `json:"columns"`
	PrimaryKey  *Key         `json:"primary_key,omitempty"`
	Unique      []Key        `json:"unique,omitempty"`
	Indexes     []Index      `json:"indexes,omitempty"`
	ForeignKeys []ForeignKey `json:"foreign_keys,omitempty"`
	Comment     string       `json:"comment,omitempty"`
	// Objects are the same indexes and constraints as their database defines
	// them, in the order in which they can be made again: of a source what `carry`
	// copies, of a target what a load can put off.
	Objects []Object `json:"objects,omitempty"`
	// Other is as Column.Other, of the table: its checks, how it is partitioned.
	Other []string `json:"other,omitempty"`
	// Storage is how the source can be sought, in the connector's own word:
	// "heap", "iot", "rowid", "without rowid". Empty where it does not matter.
	Storage string `json:"storage,omitempty"`
	// Log is what the source's log of changes holds of the table; nil: not known.
	Log   *Log        `json:"log,omitempty"`
	Stats *Statistics `json:"-"` // kept apart, so that a new row count changes no digest
}

// Log is what a log of changes holds of a table's rows beside their new images.
type Log struct {
	// Old are the columns of an update's or a delete's old image; empty: those
	// changes can't be followed.
	Old []string `json:"old"`
}

// Holds reports that old images have all of the columns.
func (l *Log) Holds(columns []string) bool {
	for _, c := range columns {
		if !slices.Contains(l.Old, c) {
			return false
		}
	}
	return true
}

// Statistics are estimates. They never decide which rows are read.
type Statistics struct {
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes,omitempty"`
	Analyzed string `json:"analyzed,omitempty"` // when, as the database says it
	Exact    bool   `json:"exact,omitempty"`    // counted, not estimated
}

// Column returns the column of exactly this name, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Find returns the column of this name by the names rule: an exact match, else
// a match without regard to case when exactly one column has it.
func (t *Table) Find(name string) *Column {
	if c := t.Column(name); c != nil {
		return c
	}
	var found *Column
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, name) {
			if found != nil {
				return nil
			}
			found = &t.Columns[i]
		}
	}
	return found
}

// DefaultKey is what identifies a row when a spec does not say: the primary
// key, else the first unique key whose columns are all not null, else nil.
func (t *Table) DefaultKey() []string {
	if t.PrimaryKey != nil {
		return t.PrimaryKey.Columns
	}
	for _, k := range t.Unique {
		ok := len(k.Columns) > 0
		for _, c := range k.Columns {
			if col := t.Column(c); col == nil || col.Nullable {
				ok = false
			}
		}
		if ok {
			return k.Columns
		}
	}
	return nil
}

// EstimatedRowBytes is what a row takes in memory: by statistics where they
// know, else by the columns' types.
func (t *Table) EstimatedRowBytes() int {
	n := 0
	for i := range t.Columns {
		n += t.Columns[i].Type.EstimatedBytes()
	}
	return max(n, 8)
}
