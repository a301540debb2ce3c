package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// types maps the data types of the Oracle SQL Language Reference. Names are as
// DBA_TAB_COLUMNS composes them, in any case.
type types struct{}

var _ connectors.Types = types{}

// simple are the types whose brackets, where they may have any, say nothing
// about the values.
var simple = map[string]schema.Type{
	"BINARY_FLOAT":  schema.Of(schema.Float32),
	"BINARY_DOUBLE": schema.Of(schema.Float64),
	// ANSI names of NUMBERs with a binary precision. They are exact decimals:
	// FLOAT(126) has up to 38 digits, more than a double.
	"FLOAT":            {Kind: schema.Decimal, Floating: true},
	"REAL":             {Kind: schema.Decimal, Floating: true},
	"DOUBLE PRECISION": {Kind: schema.Decimal, Floating: true},
	"INTEGER":          {Kind: schema.Decimal, Precision: 38},
	"INT":              {Kind: schema.Decimal, Precision: 38},
	"SMALLINT":         {Kind: schema.Decimal, Precision: 38},
	"DATE":             {Kind: schema.Timestamp}, // has a time of day, to the second
	"LONG":             schema.Of(schema.Text),
	"CLOB":             schema.Of(schema.Text),
	"NCLOB":            schema.Of(schema.Text),
	"XMLTYPE":          schema.Of(schema.Text),
	"VECTOR":           schema.Of(schema.Text), // read as its text
	"ROWID":            {Kind: schema.Text, Length: 18},
	"LONG RAW":         schema.Of(schema.Bytes),
	"BLOB":             schema.Of(schema.Bytes),
	"JSON":             schema.Of(schema.JSON),
	"BOOLEAN":          schema.Of(schema.Bool),
	// Read by TO_CHAR: an interval is not a number of seconds.
	"INTERVAL YEAR TO MONTH": schema.Of(schema.Text),
	"INTERVAL DAY TO SECOND": schema.Of(schema.Text),
}

// refused are the types that have no value outside of the database, and what
// can be done.
var refused = map[string]string{
	"BFILE":             "it points at a file of the server: leave the column out, or read a view that loads it into a BLOB",
	"SDO_GEOMETRY":      "read a view that writes it with SDO_UTIL.TO_WKTGEOMETRY, or leave the column out",
	"SDO_TOPO_GEOMETRY": "leave the column out",
	"ANYDATA":           "read a view that casts it to one type, or leave the column out",
	"ANYTYPE":           "leave the column out",
	"ANYDATASET":        "leave the column out",
	"URITYPE":           "read a view that gives its getUrl(), or leave the column out",
}

// Parse reads a type.
func (types) Parse(native string) (schema.Type, error) {
	n, err := connectors.SplitType(native)
	if err != nil {
		return schema.Type{}, err
	}
	word := word(n)
	switch word {
	case "NUMBER", "DECIMAL", "NUMERIC", "DEC":
		return parseNumber(word, n)
	case "VARCHAR2", "NVARCHAR2", "VARCHAR":
		length, err := characters(n, 0)
		return schema.Type{Kind: schema.Text, Length: length}, err
	case "CHAR", "NCHAR", "CHARACTER":
		length, err := characters(n, 1)
		return schema.Type{Kind: schema.Text, Length: length, Fixed: true}, err
	case "RAW":
		length, err := n.Int(0, 1, 32767)
		if length == 0 && err == nil {
			err = fmt.Errorf("RAW needs a length, as in RAW(16)")
		}
		return schema.Type{Kind: schema.Bytes, Length: length}, err
	case "UROWID": // so many octets, whose text is longer
		_, err := n.Int(4000, 1, 4000)
		return schema.Of(schema.Text), err
	case "TIMESTAMP":
		digits, err := n.Int(6, 0, 9)
		return schema.Type{Kind: schema.Timestamp, Precision: digits}, err
	case "TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH LOCAL TIME ZONE":
		digits, err := n.Int(6, 0, 9)
		return schema.Type{Kind: schema.TimestampTZ, Precision: digits}, err
	}
	if t, ok := simple[word]; ok {
		return t, nil
	}
	if why, ok := refused[word]; ok {
		return schema.Type{}, fmt.Errorf("%s can't be read: %s", native, why)
	}
	return schema.Type{}, fmt.Errorf("%s is no built-in type of Oracle: objects, collections and references can't be read; read a view that spells out their attributes, or leave the column out", native)
}

// parseNumber reads NUMBER, NUMBER(p), NUMBER(p,s) and NUMBER(*,s). The scale
// may lie outside of the digits: NUMBER(5,-2) counts hundreds, NUMBER(3,5) is
// below 0.01. Oracle's own synonyms have scale 0 where NUMBER has none.
func parseNumber(word string, n connectors.NativeType) (schema.Type, error) {
	absent := schema.Of(schema.Decimal)
	if word != "NUMBER" {
		absent.Precision = 38
	}
	if len(n.Args) == 2 && n.Args[0] == "*" {
		n.Args = []string{"38", n.Args[1]}
	}
	if len(n.Args) == 1 && n.Args[0] == "*" {
		return schema.Of(schema.Decimal), nil
	}
	return n.Decimal(absent, 38, -84, 127)
}

// characters reads 50, 50 CHAR or 50 BYTE. A length in bytes bounds the
// characters too.
func characters(n connectors.NativeType, absent int) (int, error) {
	if len(n.Args) == 1 {
		number, unit, _ := strings.Cut(n.Args[0], " ")
		if u := strings.ToUpper(strings.TrimSpace(unit)); u == "CHAR" || u == "BYTE" {
			n.Args = []string{number}
		}
	}
	length, err := n.Int(absent, 1, 32767)
	if err == nil && length == 0 {
		err = fmt.Errorf("%s needs a length, as in %s(50)", n.Word, n.Word)
	}
	return length, err
}

// Render names the type of a column for every value of t.
func (types) Render(t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Bool:
		return "NUMBER(1)", nil // BOOLEAN came with version 23
	case schema.Int16:
		return "NUMBER(5)", nil
	case schema.Int32:
		return "NUMBER(10)", nil
	case schema.Int64:
		return "NUMBER(19)", nil
	case schema.Float32:
		return "BINARY_FLOAT", nil
	case schema.Float64:
		return "BINARY_DOUBLE", nil
	case schema.Decimal:
		switch {
		case t.Precision > 38:
			return "", fmt.Errorf("%s has more than the 38 digits of a NUMBER: write `type = \"NUMBER\"`, which tests every value, or `type = \"VARCHAR2(%d)\"`", t, t.Precision+2)
		case t.Floating:
			return "FLOAT(126)", nil
		case t.Precision == 0:
			return "NUMBER", nil
		case t.Scale == 0:
			return fmt.Sprintf("NUMBER(%d)", t.Precision), nil
		}
		return fmt.Sprintf("NUMBER(%d,%d)", t.Precision, t.Scale), nil
	case schema.Text:
		switch {
		case t.Length == 0 || t.Length > 4000:
			return "CLOB", nil
		case t.Fixed && t.Length <= 2000:
			return "CHAR(" + strconv.Itoa(t.Length) + " CHAR)", nil
		}
		return "VARCHAR2(" + strconv.Itoa(t.Length) + " CHAR)", nil
	case schema.Bytes:
		if t.Length == 0 || t.Length > 2000 {
			return "BLOB", nil
		}
		return fmt.Sprintf("RAW(%d)", t.Length), nil
	case schema.Date:
		return "DATE", nil
	case schema.Time:
		return "VARCHAR2(18 CHAR)", nil // there is no time of day without a date
	case schema.Timestamp:
		if t.Precision == 0 {
			return "DATE", nil
		}
		return fmt.Sprintf("TIMESTAMP(%d)", t.Precision), nil
	case schema.TimestampTZ:
		return fmt.Sprintf("TIMESTAMP(%d) WITH TIME ZONE", t.Precision), nil
	case schema.UUID:
		return "RAW(16)", nil
	case schema.JSON:
		return "CLOB", nil // JSON came with version 21
	}
	return "", fmt.Errorf("there is no type of Oracle for %s", t)
}

// remarks are how values are read that are not simply what they were.
var remarks = map[string]string{
	"INTERVAL YEAR TO MONTH":   "read as its text, +01-02",
	"INTERVAL DAY TO SECOND":   "read as its text, +01 02:03:04.5",
	"XMLTYPE":                  "read as its text",
	"VECTOR":                   "read as its text",
	"ROWID":                    "read as its text, which names another row once this one has moved",
	"UROWID":                   "read as its text, which names another row once this one has moved",
	"TIMESTAMP WITH TIME ZONE": "the instant is kept, the offset or region that it was written with is not",
}

func remark(native string) string {
	n, err := connectors.SplitType(native)
	if err != nil {
		return ""
	}
	return remarks[word(n)]
}

// word is a type's name in capitals and without the schema of built-in types.
func word(n connectors.NativeType) string {
	w := strings.ToUpper(n.Word)
	for _, owner := range []string{"SYS.", "PUBLIC.", "MDSYS."} {
		w = strings.TrimPrefix(w, owner)
	}
	return w
}
