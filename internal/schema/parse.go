package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseType reads what Type.String writes: int64, decimal(38,2), floating
// decimal, text(50), fixed text(3), timestamp(9). It is the type notation of endpoints that have
// none of their own.
func ParseType(s string) (Type, error) {
	word, args, err := typeArgs(s)
	if err != nil {
		return Type{}, err
	}
	word, fixed := strings.CutPrefix(word, "fixed ")
	word, floating := strings.CutPrefix(word, "floating ")
	var k Kind
	if err := k.UnmarshalText([]byte(word)); err != nil || k == Invalid {
		return Type{}, fmt.Errorf("%q is no type: there are %s", s, strings.Join(kindNames[Bool:], ", "))
	}
	t := Of(k)
	t.Fixed, t.Floating = fixed, floating
	most := 0
	switch k {
	case Decimal:
		most = 2
	case Text, Bytes, Time, Timestamp, TimestampTZ:
		most = 1
	}
	if len(args) > most {
		return Type{}, fmt.Errorf("%q: %s takes %d numbers in brackets at most", s, k, most)
	}
	if fixed && (k != Text && k != Bytes || len(args) == 0) {
		return Type{}, fmt.Errorf("%q: fixed is said of text(n) and bytes(n)", s)
	}
	if floating && (k != Decimal || len(args) > 0) {
		return Type{}, fmt.Errorf("%q: floating is said of decimal without brackets", s)
	}
	if len(args) == 0 {
		return t, nil
	}
	lo, hi := 1, 1<<30
	switch k {
	case Decimal:
		t.Precision, hi = args[0], 1000
		if len(args) == 2 {
			t.Scale = args[1]
		}
	case Text, Bytes:
		t.Length = args[0]
	default:
		t.Precision, lo, hi = args[0], 0, 9
	}
	if args[0] < lo || args[0] > hi || t.Scale < -1000 || t.Scale > 1000 {
		return Type{}, fmt.Errorf("%q: %s takes %d to %d in brackets", s, k, lo, hi)
	}
	return t, nil
}

// typeArgs takes word(1,2) apart.
func typeArgs(s string) (word string, args []int, err error) {
	word, inside, ok := strings.Cut(strings.TrimSpace(s), "(")
	word = strings.TrimSpace(word)
	if !ok {
		return word, nil, nil
	}
	inside, rest, ok := strings.Cut(inside, ")")
	if !ok || strings.TrimSpace(rest) != "" {
		return "", nil, fmt.Errorf("%q does not end with its closing bracket", s)
	}
	for _, a := range strings.Split(inside, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(a))
		if err != nil {
			return "", nil, fmt.Errorf("%q: %q is not a whole number", s, strings.TrimSpace(a))
		}
		args = append(args, n)
	}
	return word, args, nil
}
