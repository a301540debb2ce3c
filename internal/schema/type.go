// Package schema holds names, columns, keys and the one type system that every
// connector maps its own types to and from.
package schema

import (
	"fmt"
	"strconv"
)

// Kind is what a value is, whatever a database calls it.
type Kind uint8

const (
	Invalid     Kind = iota
	Bool             // true, false
	Int16            // -2^15 .. 2^15-1
	Int32            // -2^31 .. 2^31-1
	Int64            // -2^63 .. 2^63-1
	Float32          // IEEE 754 binary32
	Float64          // IEEE 754 binary64
	Decimal          // exact; Precision digits of which Scale after the point; Precision 0 = not declared
	Text             // UTF-8; Length characters, 0 = unbounded
	Bytes            // octets; Length octets, 0 = unbounded
	Date             // days, no time of day
	Time             // time of day, microseconds
	Timestamp        // date and time without zone, microseconds
	TimestampTZ      // an instant, microseconds since 1970-01-01T00:00:00Z
	UUID             // 16 octets
	JSON             // a JSON text
)

var kindNames = [...]string{
	Invalid: "invalid", Bool: "boolean", Int16: "int16", Int32: "int32", Int64: "int64",
	Float32: "float32", Float64: "float64", Decimal: "decimal", Text: "text", Bytes: "bytes",
	Date: "date", Time: "time", Timestamp: "timestamp", TimestampTZ: "timestamptz", UUID: "uuid", JSON: "json",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind" + strconv.Itoa(int(k))
}

// MarshalText makes a Kind readable in plans and catalogs.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, n := range kindNames {
		if n == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("unknown kind %q", b)
}

// Type is a kind with its limits.
type Type struct {
	Kind      Kind `json:"kind"`
	Precision int  `json:"precision,omitempty"` // Decimal: digits, 0 = not declared. Times: digits of a second, 0-9
	Scale     int  `json:"scale,omitempty"`     // Decimal: digits after the point, may be negative
	Length    int  `json:"length,omitempty"`    // Text: characters; Bytes: octets; 0 = unbounded
	Fixed     bool `json:"fixed,omitempty"`     // Text, Bytes: padded to Length
	// Floating says of a Decimal without precision that it was declared by binary
	// digits, as Oracle's FLOAT(126): its values are exact decimals, and a double
	// is what a target without such decimals has for it.
	Floating bool `json:"floating,omitempty"`
}

// Of returns the unlimited type of a kind; times get microseconds.
func Of(k Kind) Type {
	switch k {
	case Time, Timestamp, TimestampTZ:
		return Type{Kind: k, Precision: 6}
	}
	return Type{Kind: k}
}

func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		switch {
		case t.Floating:
			return "floating decimal"
		case t.Precision == 0:
			return "decimal"
		case t.Scale == 0:
			return fmt.Sprintf("decimal(%d)", t.Precision)
		}
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case Text, Bytes:
		s := t.Kind.String()
		if t.Fixed {
			s = "fixed " + s
		}
		if t.Length > 0 {
			s += "(" + strconv.Itoa(t.Length) + ")"
		}
		return s
	case Time, Timestamp, TimestampTZ:
		if t.Precision != 6 {
			return fmt.Sprintf("%s(%d)", t.Kind, t.Precision)
		}
	}
	return t.Kind.String()
}

// IsInteger reports Int16, Int32 and Int64.
func (t Type) IsInteger() bool { return t.Kind >= Int16 && t.Kind <= Int64 }

// IsFloat reports Float32 and Float64.
func (t Type) IsFloat() bool { return t.Kind == Float32 || t.Kind == Float64 }

// IsNumber reports integers, floats and decimals.
func (t Type) IsNumber() bool { return t.Kind >= Int16 && t.Kind <= Decimal }

// Storage is how the values of a type lie in memory (internal/batch).
type Storage uint8

const (
	StoreInt     Storage = iota + 1 // int64: integers, Date (days), Time and Timestamp(TZ) (microseconds)
	StoreFloat                      // float64
	StoreBool                       // bitmap
	StoreDecimal                    // decimal128 of the type's scale
	StoreBytes                      // offsets and bytes: Text, Bytes, UUID, JSON, and Decimal beyond 38 digits as canonical text
)

// Storage says how values of t lie in memory.
func (t Type) Storage() Storage {
	switch t.Kind {
	case Bool:
		return StoreBool
	case Int16, Int32, Int64, Date, Time, Timestamp, TimestampTZ:
		return StoreInt
	case Float32, Float64:
		return StoreFloat
	case Decimal:
		if t.Precision >= 1 && t.Precision <= 38 && t.Scale >= 0 && t.Scale <= t.Precision {
			return StoreDecimal
		}
		return StoreBytes
	}
	return StoreBytes
}

// IntRange is the smallest and the largest value of an integer kind.
func (k Kind) IntRange() (lo, hi int64) {
	switch k {
	case Int16:
		return -1 << 15, 1<<15 - 1
	case Int32:
		return -1 << 31, 1<<31 - 1
	}
	return -1 << 63, 1<<63 - 1
}

// EstimatedBytes is what one value takes in memory where statistics say nothing:
// half of a declared length, 32 for unbounded text.
func (t Type) EstimatedBytes() int {
	switch t.Storage() {
	case StoreBool:
		return 1
	case StoreDecimal:
		return 16
	case StoreBytes:
		switch {
		case t.Kind == UUID:
			return 20
		case t.Kind == Decimal:
			return 4 + 24
		case t.Fixed && t.Length > 0:
			return 4 + t.Length
		case t.Length > 0:
			return 4 + min(t.Length+1, 4096)/2
		}
		return 4 + 32
	}
	return 8
}
