package connectors

import (
	"fmt"
	"strconv"
	"strings"

	"penstock/internal/schema"
)

// NativeType is a database's type name taken apart: TIMESTAMP(6) WITH TIME ZONE
// is the word TIMESTAMP WITH TIME ZONE and the argument 6.
type NativeType struct {
	Word string   // without what stands in brackets, single blanks between words
	Args []string // what stands in brackets, all brackets together, split at commas
}

// SplitType takes a native type apart. Case is kept.
func SplitType(native string) (NativeType, error) {
	var t NativeType
	var word strings.Builder
	for rest := native; ; {
		before, inside, ok := strings.Cut(rest, "(")
		word.WriteString(before)
		if strings.ContainsRune(before, ')') {
			return t, fmt.Errorf("%q has a closing bracket without its opening one", native)
		}
		if !ok {
			break
		}
		args, after, ok := strings.Cut(inside, ")")
		if !ok {
			return t, fmt.Errorf("%q lacks a closing bracket", native)
		}
		for _, a := range strings.Split(args, ",") {
			t.Args = append(t.Args, strings.TrimSpace(a))
		}
		word.WriteByte(' ')
		rest = after
	}
	t.Word = strings.Join(strings.Fields(word.String()), " ")
	if t.Word == "" {
		return t, fmt.Errorf("%q is no type", native)
	}
	return t, nil
}

// Ints reads the arguments as whole numbers, of which there may be at most most.
func (t NativeType) Ints(most int) ([]int, error) {
	if len(t.Args) > most {
		return nil, fmt.Errorf("%s takes %s in brackets, not %d", t.Word, count(most, "number"), len(t.Args))
	}
	out := make([]int, len(t.Args))
	for i, a := range t.Args {
		n, err := strconv.Atoi(a)
		if err != nil {
			return nil, fmt.Errorf("%s(%s): %q is not a whole number", t.Word, strings.Join(t.Args, ","), a)
		}
		out[i] = n
	}
	return out, nil
}

// Int reads the only argument, between lo and hi; absent when there is none.
func (t NativeType) Int(absent, lo, hi int) (int, error) {
	args, err := t.Ints(1)
	if err != nil || len(args) == 0 {
		return absent, err
	}
	if args[0] < lo || args[0] > hi {
		return 0, fmt.Errorf("%s(%d): the number must be %d to %d", t.Word, args[0], lo, hi)
	}
	return args[0], nil
}

// Decimal reads precision and scale. absent is the type without arguments, and
// a lone precision has scale 0.
func (t NativeType) Decimal(absent schema.Type, maxPrecision, minScale, maxScale int) (schema.Type, error) {
	args, err := t.Ints(2)
	if err != nil || len(args) == 0 {
		return absent, err
	}
	out := schema.Type{Kind: schema.Decimal, Precision: args[0]}
	if len(args) == 2 {
		out.Scale = args[1]
	}
	if out.Precision < 1 || out.Precision > maxPrecision {
		return out, fmt.Errorf("%s(%d): the precision must be 1 to %d", t.Word, out.Precision, maxPrecision)
	}
	if out.Scale < minScale || out.Scale > maxScale {
		return out, fmt.Errorf("%s(%d,%d): the scale must be %d to %d", t.Word, out.Precision, out.Scale, minScale, maxScale)
	}
	return out, nil
}

func count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun
	case 1:
		return "one " + noun
	}
	return fmt.Sprintf("at most %d %ss", n, noun)
}

// SplitDotted takes `schema.name` or `name` apart. A part in double quotes
// keeps its dots, and a doubled quote in it is one.
func SplitDotted(name string) (schema.Name, error) {
	var parts []string
	for rest := name; ; {
		part, after, err := cutPart(rest)
		if err != nil {
			return schema.Name{}, fmt.Errorf("%q: %w", name, err)
		}
		if part == "" {
			return schema.Name{}, fmt.Errorf("%q has an empty part: write schema.name or name", name)
		}
		parts = append(parts, part)
		if after == "" {
			break
		}
		if after[0] != '.' {
			return schema.Name{}, fmt.Errorf("%q: only a dot may follow a quoted part", name)
		}
		rest = after[1:]
	}
	switch len(parts) {
	case 1:
		return schema.Name{Name: parts[0]}, nil
	case 2:
		return schema.Name{Schema: parts[0], Name: parts[1]}, nil
	}
	return schema.Name{}, fmt.Errorf("%q has %d parts: write schema.name, and put a part that holds a dot into double quotes", name, len(parts))
}

// cutPart takes the first part off, up to the dot that ends it.
func cutPart(s string) (part, after string, err error) {
	if !strings.HasPrefix(s, `"`) {
		i := strings.IndexByte(s, '.')
		if i < 0 {
			return s, "", nil
		}
		return s[:i], s[i:], nil
	}
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(s[1:i], `""`, `"`), s[i+1:], nil
	}
	return "", "", fmt.Errorf("a double quote is not closed")
}

// WordsOf is Definition.Special of a connector that keeps such values as text,
// which has room for the words infinity and NaN.
func WordsOf(t Types) func(native string) bool {
	return func(native string) bool {
		typ, err := t.Parse(native)
		switch typ.Kind {
		case schema.Date, schema.Timestamp, schema.TimestampTZ, schema.Decimal:
			return err == nil
		}
		return false
	}
}
