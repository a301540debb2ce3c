package sqlite

import (
	"context"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// loaded is a target's file as a source.
type loaded struct{ connectors.Source }

func openLoaded(ctx context.Context, config any, env connectors.Env) (connectors.Source, error) {
	c := config.(*TargetConfig)
	s, err := openSource(ctx, &SourceConfig{Path: c.Path, BusyTimeout: c.BusyTimeout}, env)
	if err != nil {
		return nil, err
	}
	return loaded{s}, nil
}

// Catalog gives columns types that take what others have stored there: SQLite
// holds nobody to a length, a precision or a number of bits.
func (s loaded) Catalog(ctx context.Context) (*schema.Catalog, error) {
	c, err := s.Source.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	for i := range c.Tables {
		for k := range c.Tables[i].Columns {
			col := &c.Tables[i].Columns[k]
			if col.Type = col.Type.Unlimited(); col.Type.Kind == schema.Float32 {
				col.Type = schema.Of(schema.Float64) // which is what SQLite stores
			}
		}
	}
	return c, nil
}

// dialect writes repairs.
var dialect = connectors.Dialect{
	Table:   func(n schema.Name) string { return quote(n.Name) },
	Column:  quote,
	Literal: literal,
	Same:    same,
	RowID:   "_rowid_",
}

// literal is a value as it was bound when it was loaded (bindingOf).
func literal(c connectors.TargetColumn, text string) string {
	switch bindingOf(c.Type) {
	case bindInt:
		return text
	case bindFloat:
		switch text {
		case "Infinity":
			return "9e999"
		case "-Infinity":
			return "-9e999"
		}
		return text
	case bindBool:
		if text == "true" {
			return "1"
		}
		return "0"
	case bindBlob:
		return "X'" + strings.TrimPrefix(text, `\x`) + "'"
	}
	if strings.ContainsRune(text, 0) { // a literal would end there
		const digits = "0123456789abcdef"
		var b strings.Builder
		b.WriteString("CAST(X'")
		for i := range len(text) {
			b.WriteByte(digits[text[i]>>4])
			b.WriteByte(digits[text[i]&15])
		}
		return b.String() + "' AS TEXT)"
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// same is exact also where the column's collation is not.
func same(c connectors.TargetColumn, column, literal string) string {
	if c.Type.Kind == schema.Text {
		return column + " IS " + literal + " COLLATE BINARY"
	}
	return column + " IS " + literal
}
