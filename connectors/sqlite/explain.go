package sqlite

import (
	"fmt"
	"strings"

	"penstock/connectors"
)

// explainer writes the statements that the run executes.
type explainer struct{}

// Prepare creates the table where it is absent, then empties it or makes sure
// that it is empty. A SELECT among them must give no row.
func (explainer) Prepare(t connectors.Load) []connectors.Statement {
	var out []connectors.Statement
	if t.Create {
		out = append(out, connectors.Statement{SQL: createTable(t), Comment: "the table, with its key", Locks: "write"})
	}
	name := quote(t.Table.Name)
	switch t.Existing {
	case connectors.ExistingTruncate:
		out = append(out, connectors.Statement{SQL: "DELETE FROM " + name, Comment: "existing = truncate", Locks: "write"})
	case connectors.ExistingAppend:
	default:
		out = append(out, connectors.Statement{SQL: "SELECT 1 FROM " + name + " LIMIT 1", Comment: "existing = error: a row stops the run"})
	}
	return out
}

func createTable(t connectors.Load) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", quote(t.Table.Name))
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  %s %s", quote(c.Name), c.Native)
		if !c.Nullable {
			b.WriteString(" NOT NULL")
		}
	}
	if len(t.Key) > 0 {
		fmt.Fprintf(&b, ",\n  PRIMARY KEY (%s)", quoteList(t.Key))
	}
	b.WriteString("\n)")
	return b.String()
}

// Insert is one chunk, from its first statement to its commit.
func (explainer) Insert(t connectors.Load) []connectors.Statement {
	rows := 1
	if t.Mode != "row" {
		rows = statementRows(len(t.Columns))
	}
	return []connectors.Statement{
		{SQL: "BEGIN IMMEDIATE", Locks: "write"},
		{SQL: selectMarker, Comment: "still this run's, and pending"},
		{SQL: insertRow(t), Rows: rows},
		{SQL: markDone, Comment: "the marker, with its rows"},
		{SQL: "COMMIT"},
	}
}

// insertRow is the loading statement with one row. OR ABORT: a table may say
// that conflicting rows are ignored or replaced, which would lose them unseen.
func insertRow(t connectors.Load) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return fmt.Sprintf("INSERT OR ABORT INTO %s (%s) VALUES %s", quote(t.Table.Name), quoteList(names), tuple(len(names)))
}

func tuple(n int) string { return "(" + strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + ")" }

// Finish needs nothing: columns, NOT NULL and the key come with the table.
func (explainer) Finish(connectors.Load) []connectors.Statement { return nil }

// Read is the statement of a chunk.
func (explainer) Read(x connectors.Extract) []connectors.Statement {
	q := newRead(x)
	comment := ""
	if len(q.by) > 0 {
		comment = "the first chunk leaves out :lo, the last one :hi"
	}
	return []connectors.Statement{{SQL: q.statement(true, true), Comment: comment}}
}

// quote makes an identifier of any name. SQLite doubles the quotation mark.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}
