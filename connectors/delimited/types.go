package delimited

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// types has the common words of SQL databases, and Penstock's own: a file has
// no types. Values are written and read as internal/batch's canonical text.
type types struct{}

var _ connectors.Types = types{}

// words are the SQL words for our kinds, the one that Render writes first.
var words = []struct {
	word string
	kind schema.Kind
}{
	{"boolean", schema.Bool}, {"bool", schema.Bool},
	{"smallint", schema.Int16},
	{"integer", schema.Int32}, {"int", schema.Int32},
	{"bigint", schema.Int64},
	{"real", schema.Float32},
	{"double precision", schema.Float64}, {"double", schema.Float64},
	{"numeric", schema.Decimal}, {"number", schema.Decimal},
	{"varchar", schema.Text}, {"char", schema.Text}, {"string", schema.Text},
	{"bytea", schema.Bytes}, {"binary", schema.Bytes},
	{"timestamp with time zone", schema.TimestampTZ},
	{"timestamp without time zone", schema.Timestamp},
}

// Parse reads a type.
func (types) Parse(native string) (schema.Type, error) {
	n, err := connectors.SplitType(strings.ToLower(native))
	if err != nil {
		return schema.Type{}, err
	}
	word := n.Word
	for _, w := range words {
		if w.word == word {
			word = w.kind.String()
			break
		}
	}
	if n.Word == "char" && len(n.Args) > 0 {
		word = "fixed text"
	}
	if len(n.Args) > 0 {
		word += "(" + strings.Join(n.Args, ",") + ")"
	}
	t, err := schema.ParseType(word)
	if err != nil {
		return t, fmt.Errorf("%q is no type of a column: there are boolean, smallint, integer, bigint, numeric(p,s), real, double precision, text, varchar(n), char(n), bytea, date, time, timestamp, timestamptz, uuid and json", native)
	}
	return t, nil
}

// Render names the type: a file takes every value.
func (types) Render(t schema.Type) (string, error) {
	t.Floating = false // text takes any number of digits
	s := t.String()
	switch {
	case t.Kind == schema.Text && t.Fixed:
		return fmt.Sprintf("char(%d)", t.Length), nil
	case t.Kind == schema.Text && t.Length > 0:
		return fmt.Sprintf("varchar(%d)", t.Length), nil
	case t.Kind == schema.Text || t.Fixed:
		return s, nil
	}
	for _, w := range words {
		if w.kind == t.Kind && w.kind <= schema.Bytes {
			return w.word + strings.TrimPrefix(s, t.Kind.String()), nil
		}
	}
	return s, nil
}
