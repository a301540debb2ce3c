package kafka

import (
	"penstock/connectors"
	"penstock/internal/schema"
)

// types has Penstock's own names: a record has no types of its own. Decimals
// and whole numbers beyond 15 digits are written as JSON texts, since a reader
// would take a JSON number for a double.
type types struct{}

var _ connectors.Types = types{}

// Parse reads a type.
func (types) Parse(native string) (schema.Type, error) { return schema.ParseType(native) }

// Render names a type: a record takes every value.
func (types) Render(t schema.Type) (string, error) { return t.String(), nil }

// exactDigits is how many digits of a number survive a reader that takes it for
// a double.
const exactDigits = 15

// remark tells of numbers that are no JSON numbers.
func remark(_ string, t schema.Type) string {
	n := t.Normal()
	if t.Kind == schema.Int64 || t.Kind == schema.Decimal && (t.Precision == 0 || n.Precision > exactDigits) {
		return "written as a JSON text, since readers take a JSON number for a double"
	}
	return ""
}
