package synthetic

import (
	"fmt"
	"regexp"
	"strconv"

	"penstock/connectors"
	"penstock/internal/schema"
)

// types are the names that presets and checked-in catalogs use: the common
// words of SQL databases.
type types struct{}

var _ connectors.Types = types{}

var (
	plain = map[string]schema.Type{
		"bigint": schema.Of(schema.Int64), "integer": schema.Of(schema.Int32), "double": schema.Of(schema.Float64),
		"timestamp": schema.Of(schema.Timestamp), "date": schema.Of(schema.Date),
	}
	varchar = regexp.MustCompile(`^varchar\(([1-9][0-9]{0,8})\)$`)
	numeric = regexp.MustCompile(`^numeric\(([1-9][0-9]?)(?:,([0-9]{1,2}))?\)$`)
)

const known = "bigint, integer, varchar(n), numeric(p,s) up to 38 digits, double, timestamp, date"

// Parse reads one of the known names.
func (types) Parse(native string) (schema.Type, error) {
	if t, ok := plain[native]; ok {
		return t, nil
	}
	if m := varchar.FindStringSubmatch(native); m != nil {
		return schema.Type{Kind: schema.Text, Length: number(m[1])}, nil
	}
	if m := numeric.FindStringSubmatch(native); m != nil {
		if t := (schema.Type{Kind: schema.Decimal, Precision: number(m[1]), Scale: number(m[2])}); t.Precision <= 38 && t.Scale <= t.Precision {
			return t, nil
		}
	}
	return schema.Type{}, fmt.Errorf("%q is no type of a synthetic table; there are %s", native, known)
}

// Render names the type that holds every value of t.
func (types) Render(t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Int16, schema.Int32:
		return "integer", nil
	case schema.Int64:
		return "bigint", nil
	case schema.Float32, schema.Float64:
		return "double", nil
	case schema.Date:
		return "date", nil
	case schema.Timestamp:
		if t.Precision <= 6 {
			return "timestamp", nil
		}
	case schema.Text:
		if t.Length > 0 && !t.Fixed {
			return fmt.Sprintf("varchar(%d)", t.Length), nil
		}
	case schema.Decimal:
		if t.Storage() == schema.StoreDecimal {
			return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale), nil
		}
	}
	return "", fmt.Errorf("a synthetic table has no type for %s; there are %s", t, known)
}

// number reads digits that a pattern has bounded; an absent group is 0.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
