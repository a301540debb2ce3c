package firebolt

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// types maps the data types of Firebolt, as information_schema and its result
// headers write them.
type types struct{}

var _ connectors.Types = types{}

var simple = map[string]schema.Type{
	"BOOLEAN": schema.Of(schema.Bool), "BOOL": schema.Of(schema.Bool),
	"INTEGER": schema.Of(schema.Int32), "INT": schema.Of(schema.Int32),
	"BIGINT": schema.Of(schema.Int64), "LONG": schema.Of(schema.Int64),
	"REAL":  schema.Of(schema.Float32),
	"FLOAT": schema.Of(schema.Float64), "DOUBLE": schema.Of(schema.Float64), "DOUBLE PRECISION": schema.Of(schema.Float64),
	"TEXT": schema.Of(schema.Text), "STRING": schema.Of(schema.Text), "VARCHAR": schema.Of(schema.Text),
	"BYTEA": schema.Of(schema.Bytes),
	"DATE":  schema.Of(schema.Date), "PGDATE": schema.Of(schema.Date),
	"TIMESTAMP": schema.Of(schema.Timestamp), "TIMESTAMPNTZ": schema.Of(schema.Timestamp),
	"TIMESTAMPTZ": schema.Of(schema.TimestampTZ),
	"JSON":        schema.Of(schema.JSON),
}

// maxDigits is the precision of the largest NUMERIC.
const maxDigits = 38

// Parse reads a type.
func (types) Parse(native string) (schema.Type, error) {
	n, err := connectors.SplitType(native)
	if err != nil {
		return schema.Type{}, err
	}
	n.Word = strings.TrimSuffix(strings.ToUpper(n.Word), " NULL")
	switch n.Word {
	case "NUMERIC", "DECIMAL":
		return n.Decimal(schema.Type{Kind: schema.Decimal, Precision: maxDigits, Scale: 9}, maxDigits, 0, maxDigits)
	case "ARRAY", "STRUCT", "GEOGRAPHY":
		return schema.Type{}, fmt.Errorf("%s can't be written: leave the column out", native)
	}
	t, ok := simple[n.Word]
	if !ok {
		return schema.Type{}, fmt.Errorf("%s is no type of Firebolt: there are BOOLEAN, INTEGER, BIGINT, NUMERIC(p,s), REAL, DOUBLE PRECISION, TEXT, BYTEA, DATE, TIMESTAMP, TIMESTAMPTZ and JSON", native)
	}
	if len(n.Args) > 0 {
		return schema.Type{}, fmt.Errorf("%s takes nothing in brackets", n.Word)
	}
	return t, nil
}

// Render names the type of a column for every value of t. There are no short
// integers, no time of day and no UUID; a type without a length limit stands
// for those with one. Digits of a second past the sixth have no place, which
// Fit calls lossy, and a floating decimal is a double, which Fit calls checked.
func (types) Render(t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Bool:
		return "BOOLEAN", nil
	case schema.Int16, schema.Int32:
		return "INTEGER", nil
	case schema.Int64:
		return "BIGINT", nil
	case schema.Float32:
		return "REAL", nil
	case schema.Float64:
		return "DOUBLE PRECISION", nil
	case schema.Decimal:
		return renderDecimal(t)
	case schema.Text, schema.Time, schema.UUID, schema.JSON:
		return "TEXT", nil
	case schema.Bytes:
		return "BYTEA", nil
	case schema.Date:
		return "DATE", nil
	case schema.Timestamp:
		return "TIMESTAMP", nil
	case schema.TimestampTZ:
		return "TIMESTAMPTZ", nil
	}
	return "", fmt.Errorf("there is no type of Firebolt for %s", t)
}

func renderDecimal(t schema.Type) (string, error) {
	if t.Floating {
		return "DOUBLE PRECISION", nil // every value is tested by its shortest decimal
	}
	if t.Precision == 0 {
		return "", fmt.Errorf("a number without a declared precision may need more digits than any type of Firebolt has: write `type = \"NUMERIC(38,9)\"` with the scale that its values need, which tests every value, `type = \"DOUBLE PRECISION\"` for 15 to 17 digits, or `type = \"TEXT\"`")
	}
	t = t.Normal()
	switch {
	case t.Precision > maxDigits:
		return "", fmt.Errorf("%s has more than the %d digits of a NUMERIC: write `type = \"NUMERIC(38,%d)\"`, which tests every value, or `type = \"TEXT\"`", t, maxDigits, min(t.Scale, maxDigits))
	case t.Scale == 0 && t.Precision <= 9:
		return "INTEGER", nil
	case t.Scale == 0 && t.Precision <= 18:
		return "BIGINT", nil
	}
	return fmt.Sprintf("NUMERIC(%d,%d)", t.Precision, t.Scale), nil
}
