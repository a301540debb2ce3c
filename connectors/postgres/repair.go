package postgres

import (
	"context"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// openLoaded opens a target to be read from. The server holds every value to its
// column's type, so that the types of a source are those of its columns.
func (p patience) openLoaded(ctx context.Context, config any, env connectors.Env) (connectors.Source, error) {
	c := config.(*TargetConfig)
	return p.openSource(ctx, &SourceConfig{Connection: c.Connection, Schema: c.Schema}, env)
}

// dialect writes repairs.
var dialect = connectors.Dialect{
	Table:    quoteName,
	Column:   quote,
	Literal:  literalOf,
	Same:     same,
	RowID:    "ctid",
	Numbered: " OVERRIDING SYSTEM VALUE",
}

// literalOf leaves the type of a literal to the column that it stands for: a
// number with a point would be numeric, which compares with a real as a double.
func literalOf(c connectors.TargetColumn, text string) string {
	if c.Type.IsInteger() || c.Type.Kind == schema.Bool {
		return text
	}
	if k := c.Type.Kind; (k == schema.Date || k == schema.Timestamp || k == schema.TimestampTZ) && !strings.HasSuffix(text, "infinity") {
		text = string(beforeChrist([]byte(text), 0))
	}
	return literal(text)
}

// same compares with = where it can, which an index serves, and by text where
// the type may have no equality.
func same(c connectors.TargetColumn, column, value string) string {
	switch f := wireOf(c.Native).form; {
	case value == "NULL":
		return column + " IS NULL"
	case c.Type.Kind == schema.JSON || f == formNone:
		return column + "::text = " + value
	}
	return column + " = " + value
}
