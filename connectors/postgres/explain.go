package postgres

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// explainer writes the statements that the run executes.
type explainer struct{}

var _ connectors.TargetExplainer = explainer{}

// deferred reports a load whose key is made after its rows.
func deferred(t connectors.Load) bool { return t.Create && t.Indexes == "defer" && len(t.Key) > 0 }

// Prepare creates the table where it is absent, then empties it or makes sure
// that it is empty. A SELECT among them must give no row.
func (explainer) Prepare(t connectors.Load) []connectors.Statement {
	var out []connectors.Statement
	_, drops := drops(t)
	if len(drops) > 0 {
		out = append(out, connectors.Statement{SQL: lockTable(t), Comment: "so that what is dropped is what was read", Locks: "ACCESS EXCLUSIVE"})
	}
	for _, o := range carriedForeign(t) {
		out = append(out, dropCarried(t, o))
	}
	if t.Create {
		out = append(out, makeSequences(t)...)
		comment := "the table, with its key"
		if deferred(t) {
			comment = "the table; its key comes after its rows"
		}
		out = append(out, connectors.Statement{SQL: createTable(t), Comment: comment})
		out = append(append(out, ownSequences(t)...), commentOn(t)...)
	}
	for _, c := range t.Columns {
		if c.Follows {
			out = append(out, connectors.Statement{SQL: followSequence(t, c), Comment: "the sequence goes on from where the source's stands (:position), and never back"})
		}
	}
	name := quoteName(t.Table)
	switch t.Existing {
	case connectors.ExistingTruncate:
		comment := "existing = truncate"
		if len(t.ReferredBy) > 0 {
			comment += "; PostgreSQL refuses it while " + referrers(t.ReferredBy) + " to this table: drop those foreign keys first, or empty it by hand and append"
		}
		out = append(out, connectors.Statement{SQL: "TRUNCATE TABLE " + name, Comment: comment, Locks: "ACCESS EXCLUSIVE"})
	case connectors.ExistingAppend:
	default:
		out = append(out, connectors.Statement{SQL: "SELECT 1 FROM " + name + " LIMIT 1", Comment: "existing = error: a row stops the run", Locks: "ACCESS SHARE"})
	}
	if deferred(t) {
		out = append(out, dropAgain(t))
	}
	return append(out, drops...)
}

func lockTable(t connectors.Load) string {
	return "LOCK TABLE " + quoteName(t.Table) + " IN ACCESS EXCLUSIVE MODE"
}

func referrers(names []schema.Name) string {
	if len(names) == 1 {
		return "a foreign key of " + names[0].String() + " refers"
	}
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = n.String()
	}
	return "foreign keys of " + strings.Join(list, ", ") + " refer"
}

func createTable(t connectors.Load) string {
	key := map[string]bool{}
	for _, k := range t.Key {
		key[k] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", quoteName(t.Table))
	var lines []string
	for i, c := range t.Columns {
		lines = append(lines, computedColumns(t, i)...)
		line := quote(c.Name) + " " + typeSQL(c.Native)
		if !c.Nullable || key[c.Name] {
			line += " NOT NULL"
		}
		lines = append(lines, line+fills(c))
	}
	lines = append(lines, computedColumns(t, len(t.Columns))...)
	b.WriteString("  " + strings.Join(lines, ",\n  "))
	if len(t.Key) > 0 && !deferred(t) {
		fmt.Fprintf(&b, ",\n  CONSTRAINT %s PRIMARY KEY (%s)", quote(keyName(t)), quoteList(t.Key))
	}
	b.WriteString("\n)")
	return b.String()
}

// keyName is the key's name, where it is not the source's the one that PostgreSQL
// itself would give it.
func keyName(t connectors.Load) string {
	for _, o := range t.Objects {
		if t.Create && o.Kind == schema.ObjectPrimary {
			return o.Name
		}
	}
	return cut(t.Table.Name, "_pkey")
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
		s.SQL = insertRow(into, len(names))
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

func insertRow(into string, columns int) string {
	params := make([]string, columns)
	for i := range params {
		params[i] = fmt.Sprintf("$%d", i+1)
	}
	return fmt.Sprintf("INSERT INTO %s OVERRIDING SYSTEM VALUE VALUES (%s)", into, strings.Join(params, ", "))
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

// Finish makes what was put off, then moves sequences and gathers statistics.
func (explainer) Finish(t connectors.Load) []connectors.Statement {
	out := makes(t)
	name := quoteName(t.Table)
	for _, c := range t.Columns {
		if c.Numbered {
			out = append(out, connectors.Statement{SQL: moveSequence(name, c.Name), Comment: "the sequence goes on after the greatest value, and never back"})
		}
	}
	return append(out, connectors.Statement{SQL: "ANALYZE " + name, Comment: "statistics for the planner of the server", Locks: "SHARE UPDATE EXCLUSIVE"})
}

// followSequence moves a sequence on to where the source's stands.
func followSequence(t connectors.Load, c connectors.TargetColumn) string {
	return setSequence(quoteName(t.Table), c.Name, "SELECT "+position+"::numeric AS m, pg_sequence_last_value(s.seqrelid) AS at")
}

// moveSequence sets the sequence that numbers a column: the one in its default,
// be it the column's own or not, else the one that the column owns. Where there
// is none, or it is past the rows already, it does nothing.
func moveSequence(table, column string) string {
	return setSequence(table, column, fmt.Sprintf("SELECT CASE WHEN s.seqincrement > 0 THEN (SELECT max(%[1]s)::numeric FROM %[2]s) ELSE (SELECT min(%[1]s)::numeric FROM %[2]s) END AS m, pg_sequence_last_value(s.seqrelid) AS at", quote(column), table))
}

// setSequence sets the sequence of a column to m, where that is past at.
func setSequence(table, column, of string) string {
	text := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return fmt.Sprintf(`SELECT setval(s.seqrelid, r.m::bigint) FROM pg_sequence AS s, LATERAL (%[1]s) AS r
WHERE s.seqrelid = coalesce((SELECT d.refobjid FROM pg_attrdef AS e JOIN pg_attribute AS a ON a.attrelid = e.adrelid AND a.attnum = e.adnum JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid AND d.refclassid = 'pg_class'::regclass JOIN pg_sequence AS q ON q.seqrelid = d.refobjid WHERE e.adrelid = %[2]s::regclass AND a.attname = %[3]s LIMIT 1), pg_get_serial_sequence(%[2]s, %[3]s)::regclass::oid)
  AND r.m BETWEEN s.seqmin AND s.seqmax AND CASE WHEN r.at IS NULL THEN (r.m - s.seqstart) * s.seqincrement >= 0 ELSE (r.m - r.at) * s.seqincrement > 0 END`,
		of, text(table), text(column))
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
