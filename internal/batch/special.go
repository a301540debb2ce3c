package batch

import (
	"math"

	"penstock/internal/schema"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Infinity and MinusInfinity are the days of a Date and the microseconds of a
// Timestamp or TimestampTZ that lie after and before all others. They compare as
// they should. A source gives them only where the plan says that the target
// has them (connectors.Extract.Special): any other would write a year.
const (
	Infinity      = math.MaxInt64
	MinusInfinity = math.MinInt64
)

// NaN is the decimal128 that is no number. It lies past the 38 digits that a
// decimal has, and a source gives it as it gives Infinity. A decimal that lies as
// text has the word.
var NaN = decimal128.New(math.MinInt64, 0)

// IsSpecial reports whether row i of a date, time or decimal128 column is
// infinite or no number. It says nothing of a NULL.
func IsSpecial(c *Column, i int) bool {
	switch c.Type.Kind {
	case schema.Date, schema.Timestamp, schema.TimestampTZ:
		return infinite(c.Ints[i])
	case schema.Decimal:
		return c.store == schema.StoreDecimal && c.Decimals[i] == NaN
	}
	return false
}

func infinite(v int64) bool { return v == Infinity || v == MinusInfinity }

// appendInfinite writes them as PostgreSQL does.
func appendInfinite(dst []byte, v int64) []byte {
	if v < 0 {
		dst = append(dst, '-')
	}
	return append(dst, "infinity"...)
}

// AppendSpecial appends the special value that s names to a column whose target
// has such values, and reports whether it did.
func AppendSpecial(dst *Column, s []byte) bool {
	v, ok := parseSpecial(s)
	if !ok {
		return false
	}
	nan := math.IsNaN(v)
	switch dst.Type.Kind {
	case schema.Date, schema.Timestamp, schema.TimestampTZ:
		switch {
		case nan:
			return false
		case v > 0:
			dst.AppendInt(Infinity)
		default:
			dst.AppendInt(MinusInfinity)
		}
		return true
	case schema.Decimal:
		switch {
		case nan && dst.store == schema.StoreDecimal:
			dst.AppendDecimal(NaN)
		case nan:
			dst.AppendString("NaN")
		default:
			return false
		}
		return true
	}
	return false
}
