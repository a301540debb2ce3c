package delimited

import (
	"fmt"
	"strings"

	"penstock/connectors"
)

// explainer writes the lines that stand for statements: there is no SQL here.
type explainer struct{}

var (
	_ connectors.SourceExplainer = explainer{}
	_ connectors.TargetExplainer = explainer{}
)

// Read says which records an extract reads.
func (explainer) Read(x connectors.Extract) []connectors.Statement {
	columns := strings.Join(x.Columns, ", ")
	if x.Split.Kind == connectors.SplitNone {
		return []connectors.Statement{{SQL: fmt.Sprintf("all records of the files of %s: %s", x.Table.Name, columns), Comment: "one file after another, in the order of their names"}}
	}
	return []connectors.Statement{{
		SQL:     fmt.Sprintf("records from :lo to :hi of the files of %s: %s", x.Table.Name, columns),
		Comment: "file, byte and line; found at the ends of records, outside of quotes; :hi is not included",
	}}
}

// Prepare says what becomes of files that are there.
func (explainer) Prepare(t connectors.Load) []connectors.Statement {
	name := t.Table.Name
	switch t.Existing {
	case connectors.ExistingTruncate:
		return []connectors.Statement{{SQL: "remove the files of " + name, Comment: "existing = truncate"}}
	case connectors.ExistingAppend:
		return nil
	}
	return []connectors.Statement{{SQL: "look for files of " + name, Comment: "existing = error: a file stops the run"}}
}

// Insert is one chunk, from its first step to its commit.
func (explainer) Insert(t connectors.Load) []connectors.Statement {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return []connectors.Statement{
		{SQL: "write a file under a temporary name: " + strings.Join(names, ", "), Rows: 1},
		{SQL: "flush it to the disk"},
		{SQL: "rename it " + t.Table.Name + "-LOAD-RANGE-CHUNK", Comment: "LOAD counts the loads of the table; still this run's, and pending"},
		{SQL: "note that the chunk is done", Comment: "the marker, with its rows; without it the file is removed and written anew"},
	}
}

// Finish needs nothing: every file is whole.
func (explainer) Finish(connectors.Load) []connectors.Statement { return nil }
