package postgres

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// explainer writes the statements that the run executes.
type explainer struct{}

var _ connectors.TargetExplainer = explainer{}

// deferred reports a load whose key is made after its rows.
func deferred(t connectors.Load) bool { return t.Create && t.Indexes == "defer" && len(t.Key) > 0 }

// notBuilt stands for the statements of a load that this build can't carry out:
// indexes that are there are not yet dropped and made again.
func notBuilt(t connectors.Load) []connectors.Statement {
	if t.Create || t.Indexes != "defer" {
		return nil
	}
	return []connectors.Statement{{SQL: connectors.NotBuilt, Comment: `indexes = "defer" of a table that is there; indexes = "keep" runs`}}
}

// Prepare creates the table where it is absent, then empties it or makes sure
// that it is empty. A SELECT among them must give no row.
func (explainer) Prepare(t connectors.Load) []connectors.Statement {
	if s := notBuilt(t); s != nil {
		return s
	}
	var out []connectors.Statement
	if t.Create {
		comment := "the table, with its key"
		if deferred(t) {
			comment = "the table; its key comes after its rows"
		}
		out = append(out, connectors.Statement{SQL: createTable(t), Comment: comment})
	}
	name := quoteName(t.Table)
	switch t.Existing {
	case connectors.ExistingTruncate:
		out = append(out, connectors.Statement{SQL: "TRUNCATE TABLE " + name, Comment: "existing = truncate", Locks: "ACCESS EXCLUSIVE"})
	case connectors.ExistingAppend:
	default:
		out = append(out, connectors.Statement{SQL: "SELECT 1 FROM " + name + " LIMIT 1", Comment: "existing = error: a row stops the run", Locks: "ACCESS SHARE"})
	}
	return out
}

func createTable(t connectors.Load) string {
	key := map[string]bool{}
	for _, k := range t.Key {
		key[k] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", quoteName(t.Table))
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  %s %s", quote(c.Name), typeSQL(c.Native))
		if !c.Nullable || key[c.Name] {
			b.WriteString(" NOT NULL")
		}
	}
	if len(t.Key) > 0 && !deferred(t) {
		fmt.Fprintf(&b, ",\n  CONSTRAINT %s PRIMARY KEY (%s)", quote(keyName(t)), quoteList(t.Key))
	}
	b.WriteString("\n)")
	return b.String()
}

// keyName is the name that PostgreSQL itself would give the key.
func keyName(t connectors.Load) string {
	const suffix = "_pkey"
	name := t.Table.Name
	for len(name) > maxName-len(suffix) {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return name + suffix
}

// Insert is one chunk, from its first statement to its commit.
func (explainer) Insert(t connectors.Load) []connectors.Statement {
	return []connectors.Statement{
		{SQL: "BEGIN"},
		{SQL: selectMarker, Comment: "still this run's, and pending", Locks: "the marker's row"},
		insertRows(t),
		{SQL: markDone, Comment: "the marker, with its rows"},
		{SQL: "COMMIT"},
	}
}

// insertRows is the statement that takes rows.
func insertRows(t connectors.Load) connectors.Statement {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	into := fmt.Sprintf("%s (%s)", quoteName(t.Table), quoteList(names))
	s := connectors.Statement{Rows: 1, Locks: "ROW EXCLUSIVE"}
	switch t.Mode {
	case "array":
		s.SQL, s.Rows = insertArrays(into, t.Columns), batch.DefaultRows
		s.Comment = "prepared; a parameter is a column's values"
	case "row":
		params := make([]string, len(names))
		for i := range params {
			params[i] = fmt.Sprintf("$%d", i+1)
		}
		s.SQL = fmt.Sprintf("INSERT INTO %s OVERRIDING SYSTEM VALUE VALUES (%s)", into, strings.Join(params, ", "))
		s.Comment = fmt.Sprintf("prepared; %d are on their way at once", pipelineRows)
	default:
		format := "binary"
		if !t.Encoded && !newEncoder(t.Columns).binary() {
			format = "text"
		}
		s.SQL = fmt.Sprintf("COPY %s FROM STDIN (FORMAT %s)", into, format)
		s.Comment = fmt.Sprintf("once for each %d MiB of the chunk", copyBytes>>20)
	}
	return s
}

// insertArrays casts only what has no binary form of its own.
func insertArrays(into string, columns []connectors.TargetColumn) string {
	var params, as, out []string
	for i, c := range columns {
		w, name := wireOf(c.Native), fmt.Sprintf("c%d", i+1)
		params = append(params, fmt.Sprintf("$%d::%s[]", i+1, w.element().name))
		as = append(as, name)
		if w.element().oid != w.oid {
			name += "::" + w.name
		}
		out = append(out, name)
	}
	return fmt.Sprintf("INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT %s FROM unnest(%s) AS u(%s)", into, strings.Join(out, ", "), strings.Join(params, ", "), strings.Join(as, ", "))
}

// Finish makes the key of a table whose rows came first, and the statistics of
// every table.
func (explainer) Finish(t connectors.Load) []connectors.Statement {
	if s := notBuilt(t); s != nil {
		return s
	}
	var out []connectors.Statement
	name := quoteName(t.Table)
	if deferred(t) {
		key := quote(keyName(t))
		out = append(out,
			connectors.Statement{SQL: fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)", key, name, quoteList(t.Key)), Comment: "left out where the table has its key", Locks: "SHARE"},
			connectors.Statement{SQL: fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY USING INDEX %s", name, key, key), Comment: "likewise", Locks: "ACCESS EXCLUSIVE"})
	}
	for _, c := range t.Columns {
		if c.Numbered {
			out = append(out, connectors.Statement{SQL: moveSequence(name, c.Name), Comment: "the sequence goes on after the greatest value, and never back"})
		}
	}
	return append(out, connectors.Statement{SQL: "ANALYZE " + name, Comment: "statistics for the planner of the server", Locks: "SHARE UPDATE EXCLUSIVE"})
}

// moveSequence sets the sequence that a column owns; where it owns none, or its
// sequence is past the rows, it does nothing.
func moveSequence(table, column string) string {
	text := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	sequence := fmt.Sprintf("pg_get_serial_sequence(%s, %s)", text(table), text(column))
	return fmt.Sprintf("SELECT setval(%s, m) FROM (SELECT max(%s) AS m FROM %s) AS t WHERE m > coalesce(pg_sequence_last_value(%s), 0)", sequence, quote(column), table, sequence)
}

// quote makes an identifier of any name.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteName is a table's name; without a schema it is in that of the target.
func quoteName(n schema.Name) string {
	if n.Schema == "" {
		return quote(n.Name)
	}
	return quote(n.Schema) + "." + quote(n.Name)
}

func quoteList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}
