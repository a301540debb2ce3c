package postgres

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// types maps the data types of PostgreSQL, as format_type() writes them and as
// people do.
type types struct{}

var _ connectors.Types = types{}

var simple = map[string]schema.Type{
	"boolean": schema.Of(schema.Bool), "bool": schema.Of(schema.Bool),
	"smallint": schema.Of(schema.Int16), "int2": schema.Of(schema.Int16), "smallserial": schema.Of(schema.Int16), "serial2": schema.Of(schema.Int16),
	"integer": schema.Of(schema.Int32), "int": schema.Of(schema.Int32), "int4": schema.Of(schema.Int32), "serial": schema.Of(schema.Int32), "serial4": schema.Of(schema.Int32),
	"bigint": schema.Of(schema.Int64), "int8": schema.Of(schema.Int64), "bigserial": schema.Of(schema.Int64), "serial8": schema.Of(schema.Int64),
	"oid":  schema.Of(schema.Int64), // 32 bits without a sign
	"real": schema.Of(schema.Float32), "float4": schema.Of(schema.Float32),
	"double precision": schema.Of(schema.Float64), "float8": schema.Of(schema.Float64),
	"text": schema.Of(schema.Text), "citext": schema.Of(schema.Text), "name": {Kind: schema.Text, Length: maxName}, `"char"`: {Kind: schema.Text, Length: 4}, // an octet past ASCII is written \351, since version 16
	"bytea": schema.Of(schema.Bytes),
	"date":  schema.Of(schema.Date),
	"uuid":  schema.Of(schema.UUID),
	"json":  schema.Of(schema.JSON), "jsonb": schema.Of(schema.JSON),
}

// written are the types that travel as the text in which PostgreSQL writes and
// reads them.
var written = map[string]bool{
	"xml": true, "bit": true, "bit varying": true, "varbit": true, "inet": true, "cidr": true, "macaddr": true, "macaddr8": true,
	"xid": true, "xid8": true, "cid": true, "tid": true, "pg_snapshot": true, "txid_snapshot": true, "int2vector": true, "oidvector": true, "aclitem": true, "refcursor": true, "money": true,
	"regclass": true, "regcollation": true, "regconfig": true, "regdictionary": true, "regnamespace": true, "regoper": true, "regoperator": true, "regproc": true, "regprocedure": true, "regrole": true, "regtype": true,
	"interval": true, "time with time zone": true, "timetz": true, "tsvector": true, "tsquery": true, "pg_lsn": true, "jsonpath": true, "ltree": true,
	"point": true, "line": true, "lseg": true, "box": true, "path": true, "polygon": true, "circle": true, "hstore": true,
	"int4range": true, "int8range": true, "numrange": true, "tsrange": true, "tstzrange": true, "daterange": true,
	"int4multirange": true, "int8multirange": true, "nummultirange": true, "tsmultirange": true, "tstzmultirange": true, "datemultirange": true,
}

// kinds are the words that a catalog puts before the name of a type that is not
// built in: all values of it travel as text.
var kinds = []string{"enum ", "composite ", "range ", "type "}

// named takes the word for what it is off a type that is not built in. name is
// as SQL writes it.
func named(native string) (kind, name string, ok bool) {
	for _, k := range kinds {
		if name, ok := strings.CutPrefix(native, k); ok && strings.TrimSpace(name) != "" {
			return k, strings.TrimSpace(name), true
		}
	}
	return "", native, false
}

// Parse reads a type. An array travels as its text, {1,2}.
func (types) Parse(native string) (schema.Type, error) {
	if _, _, ok := named(native); ok {
		return schema.Of(schema.Text), nil
	}
	n, err := connectors.SplitType(native)
	if err != nil {
		return schema.Type{}, err
	}
	n.Word = plain(n.Word)
	if strings.HasSuffix(n.Word, "]") {
		return schema.Of(schema.Text), nil
	}
	switch n.Word {
	case "numeric", "decimal":
		return n.Decimal(schema.Of(schema.Decimal), 1000, -1000, 1000)
	case "float":
		bits, err := n.Int(53, 1, 53)
		if bits <= 24 {
			return schema.Of(schema.Float32), err
		}
		return schema.Of(schema.Float64), err
	case "character varying", "varchar":
		length, err := n.Int(0, 1, maxLength)
		return schema.Type{Kind: schema.Text, Length: length}, err
	case "character", "char":
		length, err := n.Int(1, 1, maxLength)
		return schema.Type{Kind: schema.Text, Length: length, Fixed: true}, err
	case "bpchar":
		length, err := n.Int(0, 1, maxLength)
		return schema.Type{Kind: schema.Text, Length: length, Fixed: length > 0}, err
	case "time", "time without time zone":
		digits, err := n.Int(6, 0, 6)
		return schema.Type{Kind: schema.Time, Precision: digits}, err
	case "timestamp", "timestamp without time zone":
		digits, err := n.Int(6, 0, 6)
		return schema.Type{Kind: schema.Timestamp, Precision: digits}, err
	case "timestamptz", "timestamp with time zone":
		digits, err := n.Int(6, 0, 6)
		return schema.Type{Kind: schema.TimestampTZ, Precision: digits}, err
	}
	if word, _, _ := strings.Cut(n.Word, " "); written[n.Word] || word == "interval" { // interval day to second
		return schema.Of(schema.Text), nil
	}
	if t, ok := simple[n.Word]; ok {
		if len(n.Args) > 0 {
			return schema.Type{}, fmt.Errorf("%s takes nothing in brackets", n.Word)
		}
		return t, nil
	}
	return schema.Type{}, fmt.Errorf("%s is no built-in type of PostgreSQL: a domain is recorded by its base type, an enum as \"enum name\", any other as \"type name\"", native)
}

// plain is a type's word in lower case and without the schema of built-in types.
// What is in quotes stands as it is.
func plain(word string) string {
	if strings.Contains(word, `"`) {
		return word
	}
	return strings.TrimPrefix(strings.ToLower(word), "pg_catalog.")
}

// maxLength is the longest declared character type.
const maxLength = 10_485_760

// Render names the type of a column for every value of t; the digits of a
// second past the sixth have no place in PostgreSQL, which Fit calls lossy.
func (types) Render(t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Bool:
		return "boolean", nil
	case schema.Int16:
		return "smallint", nil
	case schema.Int32:
		return "integer", nil
	case schema.Int64:
		return "bigint", nil
	case schema.Float32:
		return "real", nil
	case schema.Float64:
		return "double precision", nil
	case schema.Decimal:
		return renderDecimal(t)
	case schema.Text:
		switch {
		case t.Length == 0 || t.Length > maxLength:
			return "text", nil
		case t.Fixed:
			return fmt.Sprintf("char(%d)", t.Length), nil
		}
		return fmt.Sprintf("varchar(%d)", t.Length), nil
	case schema.Bytes:
		return "bytea", nil
	case schema.Date:
		return "date", nil
	case schema.Time:
		return timed("time", t.Precision), nil
	case schema.Timestamp:
		return timed("timestamp", t.Precision), nil
	case schema.TimestampTZ:
		return timed("timestamptz", t.Precision), nil
	case schema.UUID:
		return "uuid", nil
	case schema.JSON:
		// jsonb would drop duplicate keys, their order and the digits of long numbers.
		return "json", nil
	}
	return "", fmt.Errorf("there is no type of PostgreSQL for %s", t)
}

// renderDecimal takes an integer where its digits always fit: it compares and
// indexes several times faster than numeric. NUMBER(19) does not fit a bigint.
func renderDecimal(t schema.Type) (string, error) {
	t = t.Normal()
	switch {
	case t.Precision == 0:
		return "numeric", nil
	case t.Scale == 0 && t.Precision <= 4:
		return "smallint", nil
	case t.Scale == 0 && t.Precision <= 9:
		return "integer", nil
	case t.Scale == 0 && t.Precision <= 18:
		return "bigint", nil
	case t.Precision > 1000:
		return "numeric", nil
	}
	return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale), nil
}

func timed(word string, digits int) string {
	if digits >= 6 {
		return word
	}
	return fmt.Sprintf("%s(%d)", word, digits)
}
