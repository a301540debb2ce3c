package sqlite

import (
	"fmt"
	"math"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// types maps declared types. SQLite reads a declaration only for its affinity
// (does it contain INT, CHAR, TEXT, BLOB, REAL ...), so the names that Render
// writes do two things at once: DECIMAL_TEXT(38,0) keeps decimals as text,
// which numeric affinity would round to a double, and reads back as decimal(38).
type types struct{}

// declared lists declarations by their word, in upper case. A length or
// precision in brackets follows from the kind.
var declared = map[string]schema.Type{
	"BOOLEAN": schema.Of(schema.Bool), "BOOL": schema.Of(schema.Bool),

	"TINYINT": schema.Of(schema.Int16), "SMALLINT": schema.Of(schema.Int16), "INT2": schema.Of(schema.Int16),
	"INT4": schema.Of(schema.Int32), "MEDIUMINT": schema.Of(schema.Int32),
	// SQLite keeps 64 bits whatever it is called, and INT and INTEGER are what
	// people write for that.
	"INT": schema.Of(schema.Int64), "INTEGER": schema.Of(schema.Int64), "BIGINT": schema.Of(schema.Int64), "INT8": schema.Of(schema.Int64),

	"FLOAT4": schema.Of(schema.Float32),
	"REAL":   schema.Of(schema.Float64), "DOUBLE": schema.Of(schema.Float64), "DOUBLE PRECISION": schema.Of(schema.Float64), "FLOAT": schema.Of(schema.Float64), "FLOAT8": schema.Of(schema.Float64),

	"DECIMAL_TEXT": schema.Of(schema.Decimal), "DECIMAL": schema.Of(schema.Decimal), "NUMERIC": schema.Of(schema.Decimal), "NUMBER": schema.Of(schema.Decimal),

	"TEXT": schema.Of(schema.Text), "VARCHAR": schema.Of(schema.Text), "NVARCHAR": schema.Of(schema.Text), "VARYING CHARACTER": schema.Of(schema.Text), "CHARACTER VARYING": schema.Of(schema.Text), "CLOB": schema.Of(schema.Text), "VARCHAR2": schema.Of(schema.Text), "NVARCHAR2": schema.Of(schema.Text),
	"CHAR": {Kind: schema.Text, Fixed: true}, "CHARACTER": {Kind: schema.Text, Fixed: true}, "NCHAR": {Kind: schema.Text, Fixed: true}, "NATIVE CHARACTER": {Kind: schema.Text, Fixed: true},

	"BLOB": schema.Of(schema.Bytes), "VARBINARY": schema.Of(schema.Bytes), "BYTEA": schema.Of(schema.Bytes),
	"BINARY": {Kind: schema.Bytes, Fixed: true}, "FIXED_BLOB": {Kind: schema.Bytes, Fixed: true},

	"DATE_TEXT": schema.Of(schema.Date), "DATE": schema.Of(schema.Date),
	"TIME_TEXT": schema.Of(schema.Time), "TIME": schema.Of(schema.Time),
	"TIMESTAMP_TEXT": schema.Of(schema.Timestamp), "TIMESTAMP": schema.Of(schema.Timestamp), "DATETIME": schema.Of(schema.Timestamp), "DATETIME2": schema.Of(schema.Timestamp),
	"TIMESTAMPTZ_TEXT": schema.Of(schema.TimestampTZ), "TIMESTAMPTZ": schema.Of(schema.TimestampTZ), "TIMESTAMP WITH TIME ZONE": schema.Of(schema.TimestampTZ), "DATETIMEOFFSET": schema.Of(schema.TimestampTZ),

	"UUID_TEXT": schema.Of(schema.UUID), "UUID": schema.Of(schema.UUID), "GUID": schema.Of(schema.UUID), "UNIQUEIDENTIFIER": schema.Of(schema.UUID),
	"JSON_TEXT": schema.Of(schema.JSON), "JSON": schema.Of(schema.JSON),
}

// Parse reads a declared type.
func (types) Parse(native string) (schema.Type, error) {
	if strings.TrimSpace(native) == "" {
		return schema.Type{}, fmt.Errorf("the column has no declared type, so it may hold anything: read it through a view with CAST, or leave it out")
	}
	n, err := connectors.SplitType(native)
	if err != nil {
		return schema.Type{}, err
	}
	t, ok := declared[strings.ToUpper(n.Word)]
	if !ok {
		return schema.Type{}, fmt.Errorf("%q is not a type known here: known are INTEGER, REAL, NUMERIC(p,s), TEXT, VARCHAR(n), BLOB, BOOLEAN, DATE, TIME, DATETIME, TIMESTAMP, UUID, JSON and their usual synonyms", native)
	}
	switch t.Kind {
	case schema.Decimal:
		return n.Decimal(t, maxDigits, -maxDigits, maxDigits)
	case schema.Text, schema.Bytes:
		t.Length, err = n.Int(0, 1, math.MaxInt32)
		// CHAR without a length is not padded to anything.
		t.Fixed = t.Fixed && t.Length > 0
	case schema.Time, schema.Timestamp, schema.TimestampTZ:
		t.Precision, err = n.Int(t.Precision, 0, 9)
	}
	// What stands behind other words, INTEGER(11) or DOUBLE(10,2), is a display
	// width, which SQLite ignores.
	return t, err
}

// maxDigits is far beyond any database's decimals; it keeps slips out.
const maxDigits = 1000

// Render declares a column for every value of t.
func (types) Render(t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Bool:
		return "BOOLEAN", nil
	case schema.Int16:
		return "INT2", nil
	case schema.Int32:
		return "INT4", nil
	case schema.Int64:
		// Exactly this word makes a single key column the table's own tree: one
		// less to write for every row.
		return "INTEGER", nil
	case schema.Float32:
		return "FLOAT4", nil
	case schema.Float64:
		return "REAL", nil
	case schema.Decimal:
		switch {
		case t.Precision == 0:
			return "DECIMAL_TEXT", nil
		case t.Precision > maxDigits:
			return "", fmt.Errorf("%s has more than %d digits: write type = \"DECIMAL_TEXT\"", t, maxDigits)
		}
		return fmt.Sprintf("DECIMAL_TEXT(%d,%d)", t.Precision, t.Scale), nil
	case schema.Text:
		return sized(map[bool]string{true: "CHAR", false: "VARCHAR"}[t.Fixed], "TEXT", t.Length), nil
	case schema.Bytes:
		return sized(map[bool]string{true: "FIXED_BLOB", false: "BLOB"}[t.Fixed], "BLOB", t.Length), nil
	case schema.Date:
		return "DATE_TEXT", nil
	case schema.Time:
		return timed("TIME_TEXT", t.Precision), nil
	case schema.Timestamp:
		return timed("TIMESTAMP_TEXT", t.Precision), nil
	case schema.TimestampTZ:
		return timed("TIMESTAMPTZ_TEXT", t.Precision), nil
	case schema.UUID:
		return "UUID_TEXT", nil
	case schema.JSON:
		return "JSON_TEXT", nil
	}
	return "", fmt.Errorf("there is no SQLite type for %s", t)
}

func sized(word, unbounded string, n int) string {
	if n == 0 {
		return unbounded
	}
	return fmt.Sprintf("%s(%d)", word, n)
}

func timed(word string, digits int) string {
	if digits == 6 {
		return word
	}
	return fmt.Sprintf("%s(%d)", word, digits)
}

// affinity is what SQLite makes of a declaration: it decides how values are
// converted on their way into the column.
type affinity uint8

const (
	affinityBlob affinity = iota
	affinityText
	affinityNumeric
	affinityInteger
	affinityReal
)

// affinityOf follows the five rules, in their order, of SQLite's "Determination
// Of Column Affinity" (sqlite.org/datatype3.html).
func affinityOf(native string) affinity {
	s := strings.ToUpper(native)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return affinityInteger
	case has("CHAR", "CLOB", "TEXT"):
		return affinityText
	case s == "" || has("BLOB"):
		return affinityBlob
	case has("REAL", "FLOA", "DOUB"):
		return affinityReal
	}
	return affinityNumeric
}

// storable says why values of t would change on their way into a column
// declared as native; nil when they would not.
func storable(native string, t schema.Type) error {
	a := affinityOf(native)
	switch t.Kind {
	case schema.Bool, schema.Int16, schema.Int32, schema.Int64:
		if a == affinityText {
			return fmt.Errorf("a column declared %s keeps text, and %s would become text", native, t)
		}
	case schema.Float32, schema.Float64:
		if a == affinityText || a == affinityInteger {
			return fmt.Errorf("a column declared %s would change values of %s", native, t)
		}
	case schema.Decimal:
		// SQLite turns a numeric text into a double where the first 15 digits survive.
		if a != affinityText && a != affinityBlob && (t.Precision == 0 || t.Precision > 15) {
			return fmt.Errorf("a column declared %s rounds decimals beyond 15 digits: declare it DECIMAL_TEXT", native)
		}
	case schema.Text:
		if a != affinityText && a != affinityBlob {
			return fmt.Errorf("a column declared %s turns texts such as 007 into numbers", native)
		}
	}
	return nil
}

// remark tells what becomes of numbers that are kept as text.
func remark(native string, t schema.Type) string {
	if t.Kind != schema.Decimal || affinityOf(native) != affinityText {
		return ""
	}
	if t.Precision >= 1 && t.Precision <= 15 {
		return fmt.Sprintf("kept as text, which SQLite compares and sorts as text; type = %q makes it a number", fmt.Sprintf("NUMERIC(%d,%d)", t.Precision, t.Scale))
	}
	return "kept as text, digit for digit, which SQLite compares and sorts as text"
}
