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
		{SQL: "write rows under a temporary name, in the folder .penstock: " + strings.Join(names, ", "), Rows: 1},
		{SQL: "flush them to the disk"},
		{SQL: "rename them", Comment: "still this run's, and pending"},
		{SQL: "note that the chunk is done", Comment: "the marker; without it the rows are removed and written anew"},
		{SQL: "behind a range's last chunk: write its file from the rows of its chunks, flush it, rename it " + t.Table.Name + "-LOAD-RANGE", Comment: "LOAD counts the loads of the table"},
		{SQL: "note that the range has its file, and remove those rows", Comment: "without the note the file is removed and written anew"},
	}
}

// Finish has nothing to show: what files are left to be made is shown with the
// chunks.
func (explainer) Finish(connectors.Load) []connectors.Statement { return nil }
