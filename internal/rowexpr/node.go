package rowexpr

import (
	"regexp"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"penstock/internal/schema"
)

// kind is what a node does.
type kind uint8

const (
	kColumn kind = iota
	kConst
	kNot
	kAnd
	kOr
	kCompare
	kIsNull // neg: is not NULL
	kIn     // neg: not in; args[0] is looked for in args[1:]
	kMatches
	kArith // fn is the operator
	kNegate
	kConcat
	kCoalesce
	kCond
	kSlice // lo and hi are the bounds
	kCall  // fn is the name
	kCast  // implicit: prints as its argument
)

// node is a part of a checked expression. Types are resolved, literals have
// taken the type of what they meet.
type node struct {
	kind kind
	typ  schema.Type // Kind Invalid: nil, which has no type yet
	null bool        // may be NULL
	args []*node

	name string // kColumn: the catalog's spelling
	fn   string // kArith, kCall
	cmp  mask   // kCompare
	neg  bool
	lo   int64 // kSlice
	hi   int64
	re   *regexp.Regexp // kMatches
	lit  literal        // kConst
	text string         // kConst: how it is printed

	span     span64 // what settle finds
	ownFault bool   // may make a row bad by itself
	fallible bool   // it, or a part of it
}

// literal is a constant of a node's type. A NULL constant has null set.
type literal struct {
	null  bool
	b     bool
	i     int64 // integers, dates (days), times (microseconds)
	nanos int16
	f     float64
	d     decimal128.Num // of the type's scale
	s     string         // text; canonical text of a decimal beyond 38 digits; 16 octets of a uuid
}

// mask says which outcomes of a comparison are true: bit 0 less, 1 equal, 2 greater.
type mask uint8

const (
	less    mask = 1
	equal   mask = 2
	greater mask = 4
)

var masks = map[string]mask{"==": equal, "!=": less | greater, "<": less, "<=": less | equal, ">": greater, ">=": greater | equal}

func (m mask) String() string {
	for s, v := range masks {
		if v == m {
			return s
		}
	}
	return "?"
}

// holds reports whether an outcome (-1, 0, 1) is among those of m, as 0 or 1.
func (m mask) holds(outcome int) uint8 { return uint8(m>>(outcome+1)) & 1 }

// wide reports a decimal that does not fit decimal128: it lies in memory as text.
func wide(t schema.Type) bool {
	return t.Kind == schema.Decimal && t.Storage() == schema.StoreBytes
}

// kindName is a type as a message says it.
func kindName(t schema.Type) string {
	switch t.Kind {
	case schema.Invalid:
		return "nil"
	case schema.Bool:
		return "a condition"
	case schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64, schema.Decimal:
		return "a number"
	case schema.Text:
		return "text"
	case schema.Bytes:
		return "bytes"
	case schema.Date:
		return "a date"
	case schema.Time:
		return "a time of day"
	case schema.Timestamp:
		return "a timestamp"
	case schema.TimestampTZ:
		return "a timestamp with time zone"
	case schema.UUID:
		return "a uuid"
	case schema.JSON:
		return "JSON"
	}
	return t.String()
}
