package schema

import "fmt"

// FitClass says what happens to the values of one type in a column of another.
type FitClass string

const (
	// FitExact: every value of the source type is a value of the target type.
	FitExact FitClass = "exact"
	// FitChecked: each value is tested on the way, and one that would change is a bad row.
	FitChecked FitClass = "checked"
	// FitLossy: digits, a zone or padding would go, or come, without a test.
	FitLossy FitClass = "lossy"
	// FitUndecidable: no rule picks the target type. Fit never gives it; it is
	// the planner's word where a connector's Types.Render has only choices.
	FitUndecidable FitClass = "undecidable"
	// FitNone: there is no conversion that anyone could mean.
	FitNone FitClass = "none"
)

// Widest canonical texts (internal/batch), in characters. Dates have six digits
// of a year and a sign at most.
const (
	dateWidth    = len("-290307-01-01")
	timeWidth    = len("15:04:05.000000")
	nanosWidth   = 3
	offsetWidth  = len("+00:00")
	float64Width = len("-0.0000012345678901234567")
	float32Width = len("-340282350000000000000")
	uuidWidth    = 36
)

// Fit says whether dst holds every value of src, with the reason as a clause;
// "" for exact.
func Fit(src, dst Type) (FitClass, string) {
	switch {
	case src.Kind == Invalid || dst.Kind == Invalid:
		return FitNone, "its type is not known"
	case dst.Kind == Text:
		return fitText(src, dst)
	case src.Kind == Text:
		return FitChecked, fmt.Sprintf("every text must read as %s", dst)
	case src.IsNumber() && dst.IsNumber():
		return fitNumber(src, dst)
	case src.Kind == Bool || dst.Kind == Bool:
		return fitBool(src, dst)
	case src.Kind >= Date && src.Kind <= TimestampTZ && dst.Kind >= Date && dst.Kind <= TimestampTZ:
		return fitTime(src, dst)
	case src.Kind == dst.Kind && src.Kind == Bytes:
		return fitLength(src, dst, "octets")
	case src.Kind == dst.Kind:
		return FitExact, ""
	case src.Kind == UUID && dst.Kind == Bytes:
		return fitLength(Type{Kind: Bytes, Length: 16, Fixed: true}, dst, "octets")
	case src.Kind == Bytes && dst.Kind == UUID:
		if src.Fixed && src.Length == 16 {
			return FitExact, ""
		}
		return FitChecked, "every value must have 16 octets"
	}
	return FitNone, fmt.Sprintf("%s does not convert to %s", src, dst)
}

// fitLength compares two types of the same kind that differ in their limits.
func fitLength(src, dst Type, unit string) (FitClass, string) {
	switch {
	case dst.Fixed && dst.Length > 0 && !(src.Fixed && src.Length >= dst.Length):
		return FitLossy, fmt.Sprintf("shorter values are padded to %d %s", dst.Length, unit)
	case dst.Length == 0 || src.Length > 0 && src.Length <= dst.Length:
		return FitExact, ""
	case src.Length == 0:
		return FitChecked, fmt.Sprintf("%s has no limit, every value must fit %d %s", src, dst.Length, unit)
	}
	return FitChecked, fmt.Sprintf("every value of up to %d %s must fit %d", src.Length, unit, dst.Length)
}

func fitText(src, dst Type) (FitClass, string) {
	if src.Kind == Text {
		return fitLength(src, dst, "characters")
	}
	class, why := fitLength(Type{Kind: Text, Length: textWidth(src)}, dst, "characters")
	if class == FitChecked {
		why = fmt.Sprintf("every %s written as text must fit %d characters", src, dst.Length)
	}
	return class, why
}

// textWidth is the length of the longest canonical text of a type; 0 when there is none.
func textWidth(t Type) int {
	fraction := func(n int) int {
		if t.Precision > 6 {
			return n + nanosWidth
		}
		return n
	}
	switch t.Kind {
	case Bool:
		return len("false")
	case Int16:
		return len("-32768")
	case Int32:
		return len("-2147483648")
	case Int64:
		return len("-9223372036854775808")
	case Float32:
		return float32Width
	case Float64:
		return float64Width
	case Decimal:
		if t.Precision == 0 {
			return 0
		}
		// Sign, the digits, and zeros up to the point where it lies outside of them.
		n := 1 + max(t.Precision, t.Precision-t.Scale)
		if t.Scale > 0 {
			n = 1 + max(t.Precision-t.Scale, 1) + 1 + t.Scale
		}
		return n
	case Bytes:
		if t.Length == 0 {
			return 0
		}
		return len(`\x`) + 2*t.Length
	case Date:
		return dateWidth
	case Time:
		return fraction(timeWidth)
	case Timestamp:
		return fraction(dateWidth + 1 + timeWidth)
	case TimestampTZ:
		return fraction(dateWidth + 1 + timeWidth + offsetWidth)
	case UUID:
		return uuidWidth
	}
	return 0
}

// fitNumber compares numbers. No number is ever rounded into an integer or a
// decimal: a digit that has no place makes the row bad.
func fitNumber(src, dst Type) (FitClass, string) {
	switch {
	case src.IsInteger() && dst.IsInteger():
		if src.Kind <= dst.Kind {
			return FitExact, ""
		}
	case src.IsInteger() && dst.Kind == Decimal:
		if dst.Precision == 0 || dst.Precision-dst.Scale >= intDigits(src.Kind) && dst.Scale >= 0 {
			return FitExact, ""
		}
	case src.IsInteger(): // to a float
		if src.Kind == Int16 || src.Kind == Int32 && dst.Kind == Float64 {
			return FitExact, ""
		}
		return FitChecked, fmt.Sprintf("a %s holds whole numbers of %d bits, every value must survive", dst, mantissa(dst.Kind))
	case src.IsFloat() && dst.IsFloat():
		if src.Kind <= dst.Kind {
			return FitExact, ""
		}
		return FitLossy, "it is rounded to the 24 bits of a float32"
	case src.IsFloat() && dst.Kind == Decimal:
		return FitChecked, fmt.Sprintf("every value's shortest decimal must fit %s, and NaN and infinity do not", dst)
	case src.IsFloat():
		return FitChecked, fmt.Sprintf("every value must be whole and fit %s", dst)
	case src.Kind == Decimal && dst.IsFloat():
		// Up to 15 (6) digits a decimal comes back from a float's shortest text unchanged.
		if src.Precision > 0 && src.Precision <= floatDigits(dst.Kind) && src.Scale >= -10 && src.Scale <= 20 {
			return FitExact, ""
		}
		return FitChecked, fmt.Sprintf("every value must come back from the shortest decimal of its %s", dst)
	case src.Kind == Decimal && dst.IsInteger():
		if src.Precision > 0 && src.Scale <= 0 && src.Precision-src.Scale < intDigits(dst.Kind) {
			return FitExact, ""
		}
	default: // decimals
		if dst.Precision == 0 {
			return FitExact, ""
		}
		if src.Precision > 0 && src.Scale <= dst.Scale && src.Precision-src.Scale <= dst.Precision-dst.Scale {
			return FitExact, ""
		}
	}
	if src.Kind == Decimal && src.Precision == 0 {
		return FitChecked, fmt.Sprintf("decimal without precision: every value must fit %s", dst)
	}
	return FitChecked, fmt.Sprintf("every value of %s must fit %s", src, dst)
}

// intDigits is how many decimal digits the largest value of an integer kind has.
func intDigits(k Kind) int {
	switch k {
	case Int16:
		return 5
	case Int32:
		return 10
	}
	return 19
}

func mantissa(k Kind) int {
	if k == Float32 {
		return 24
	}
	return 53
}

// floatDigits is how many decimal digits always survive a float.
func floatDigits(k Kind) int {
	if k == Float32 {
		return 6
	}
	return 15
}

// fitBool compares a boolean with what databases without booleans use instead.
func fitBool(src, dst Type) (FitClass, string) {
	switch {
	case src.Kind == dst.Kind, src.Kind == Bool && dst.IsInteger():
		return FitExact, ""
	case src.Kind == Bool && dst.Kind == Decimal && dst.Scale >= 0 && (dst.Precision == 0 || dst.Precision > dst.Scale):
		return FitExact, ""
	case dst.Kind == Bool && (src.IsInteger() || src.Kind == Decimal && src.Scale == 0):
		return FitChecked, "every value must be 0 or 1"
	}
	return FitNone, fmt.Sprintf("%s does not convert to %s", src, dst)
}

func fitTime(src, dst Type) (FitClass, string) {
	switch {
	case src.Kind == Date && dst.Kind == Date, src.Kind == Date && dst.Kind == Timestamp:
		return FitExact, ""
	case src.Kind == Timestamp && dst.Kind == Date:
		return FitChecked, "every value must be at midnight"
	case src.Kind == TimestampTZ && dst.Kind == Timestamp:
		return FitLossy, "the zone is dropped and the time in UTC kept"
	case dst.Kind == TimestampTZ && (src.Kind == Timestamp || src.Kind == Date):
		return FitLossy, "it has no zone and is taken to be in UTC"
	case src.Kind != dst.Kind:
		return FitNone, fmt.Sprintf("%s does not convert to %s", src, dst)
	case src.Precision > dst.Precision:
		return FitLossy, fmt.Sprintf("%d digits of a second are rounded to %d", src.Precision, dst.Precision)
	}
	return FitExact, ""
}

// Normal is a decimal whose scale lies within its digits and which holds the
// same values and more: decimal(5,-2) is decimal(7,0), decimal(3,5) is
// decimal(5,5). Any other type is itself.
func (t Type) Normal() Type {
	if t.Kind != Decimal || t.Precision == 0 {
		return t
	}
	if t.Scale < 0 {
		t.Precision, t.Scale = t.Precision-t.Scale, 0
	}
	t.Precision = max(t.Precision, t.Scale)
	return t
}
