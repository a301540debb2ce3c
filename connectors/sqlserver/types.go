package sqlserver

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// types maps the data types of Transact-SQL, written as sys.types names them
// with the brackets that a CREATE TABLE would have.
type types struct{}

var _ connectors.Types = types{}

var simple = map[string]schema.Type{
	"bit":              schema.Of(schema.Bool),
	"tinyint":          schema.Of(schema.Int16), // 0 to 255
	"smallint":         schema.Of(schema.Int16),
	"int":              schema.Of(schema.Int32),
	"integer":          schema.Of(schema.Int32),
	"bigint":           schema.Of(schema.Int64),
	"real":             schema.Of(schema.Float32),
	"double precision": schema.Of(schema.Float64),
	"money":            {Kind: schema.Decimal, Precision: 19, Scale: 4},
	"smallmoney":       {Kind: schema.Decimal, Precision: 10, Scale: 4},
	"text":             schema.Of(schema.Text),
	"ntext":            schema.Of(schema.Text),
	"xml":              schema.Of(schema.Text),
	"sysname":          {Kind: schema.Text, Length: 128},
	"image":            schema.Of(schema.Bytes),
	// A counter of the database in eight octets, not a time.
	"rowversion":       {Kind: schema.Bytes, Length: 8, Fixed: true},
	"timestamp":        {Kind: schema.Bytes, Length: 8, Fixed: true},
	"date":             schema.Of(schema.Date),
	"datetime":         {Kind: schema.Timestamp, Precision: 3}, // 1/300 s, which its text rounds to milliseconds
	"smalldatetime":    {Kind: schema.Timestamp},
	"uniqueidentifier": schema.Of(schema.UUID),
	"json":             schema.Of(schema.JSON),
}

var refused = map[string]string{
	"sql_variant": "each row has a type of its own: read a view that casts it to one, or leave the column out",
	"hierarchyid": "read a view that gives its ToString(), or leave the column out",
	"geometry":    "read a view that gives its ToString() (STAsText() leaves out Z and M), and its STSrid where rows differ in it, or leave the column out",
	"geography":   "read a view that gives its ToString() (STAsText() leaves out Z and M), and its STSrid where rows differ in it, or leave the column out",
	"vector":      "read a view that casts it to nvarchar(max), or leave the column out",
	"cursor":      "it is no type of a column",
	"table":       "it is no type of a column",
}

// remarks are how values are read that are not simply what they were.
var remarks = map[string]string{
	"datetimeoffset":   "the instant is kept, the offset that it was written with is not",
	"datetime":         "counted in 1/300 s, and read in milliseconds as its text has them",
	"rowversion":       "the number that the row has at the source; the target does not count it on",
	"timestamp":        "the number that the row has at the source; the target does not count it on",
	"uniqueidentifier": "octets in the order of its text; SQL Server sorts by the last ones first",
	"xml":              "read as its text",
}

func remark(native string) string {
	n, err := connectors.SplitType(native)
	if err != nil {
		return ""
	}
	return remarks[strings.TrimPrefix(strings.ToLower(n.Word), "sys.")]
}

// Parse reads a type.
func (types) Parse(native string) (schema.Type, error) {
	n, err := connectors.SplitType(native)
	if err != nil {
		return schema.Type{}, err
	}
	n.Word = strings.TrimPrefix(strings.ToLower(n.Word), "sys.")
	switch n.Word {
	case "decimal", "numeric", "dec":
		return n.Decimal(schema.Type{Kind: schema.Decimal, Precision: 18}, 38, 0, 38)
	case "float":
		bits, err := n.Int(53, 1, 53)
		if bits <= 24 {
			return schema.Of(schema.Float32), err
		}
		return schema.Of(schema.Float64), err
	case "varchar", "nvarchar", "char varying", "national char varying":
		length, err := length(n, 8000)
		return schema.Type{Kind: schema.Text, Length: length}, err
	case "char", "nchar", "character":
		length, err := n.Int(1, 1, 8000)
		return schema.Type{Kind: schema.Text, Length: length, Fixed: true}, err
	case "varbinary":
		length, err := length(n, 8000)
		return schema.Type{Kind: schema.Bytes, Length: length}, err
	case "binary":
		length, err := n.Int(1, 1, 8000)
		return schema.Type{Kind: schema.Bytes, Length: length, Fixed: true}, err
	case "time":
		digits, err := n.Int(7, 0, 7)
		return schema.Type{Kind: schema.Time, Precision: digits}, err
	case "datetime2":
		digits, err := n.Int(7, 0, 7)
		return schema.Type{Kind: schema.Timestamp, Precision: digits}, err
	case "datetimeoffset":
		digits, err := n.Int(7, 0, 7)
		return schema.Type{Kind: schema.TimestampTZ, Precision: digits}, err
	}
	if t, ok := simple[n.Word]; ok {
		if len(n.Args) > 0 {
			return schema.Type{}, fmt.Errorf("%s takes nothing in brackets", n.Word)
		}
		return t, nil
	}
	if why, ok := refused[n.Word]; ok {
		return schema.Type{}, fmt.Errorf("%s can't be read: %s", native, why)
	}
	return schema.Type{}, fmt.Errorf("%s is no built-in type of SQL Server: types made with CREATE TYPE are recorded by the type they stand for", native)
}

// length reads n or max; without either it is 1, as in a column's definition.
func length(n connectors.NativeType, most int) (int, error) {
	if len(n.Args) == 1 && strings.EqualFold(n.Args[0], "max") {
		return 0, nil
	}
	return n.Int(1, 1, most)
}

// Render names the type of a column for every value of t. Text is nvarchar: a
// varchar holds what its collation's code page has.
func (types) Render(t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Bool:
		return "bit", nil
	case schema.Int16:
		return "smallint", nil
	case schema.Int32:
		return "int", nil
	case schema.Int64:
		return "bigint", nil
	case schema.Float32:
		return "real", nil
	case schema.Float64:
		return "float(53)", nil
	case schema.Decimal:
		return renderDecimal(t)
	case schema.Text:
		switch {
		case t.Length == 0 || t.Length > 4000:
			return "nvarchar(max)", nil
		case t.Fixed:
			return fmt.Sprintf("nchar(%d)", t.Length), nil
		}
		return fmt.Sprintf("nvarchar(%d)", t.Length), nil
	case schema.Bytes:
		switch {
		case t.Length == 0 || t.Length > 8000:
			return "varbinary(max)", nil
		case t.Fixed:
			return fmt.Sprintf("binary(%d)", t.Length), nil
		}
		return fmt.Sprintf("varbinary(%d)", t.Length), nil
	case schema.Date:
		return "date", nil
	case schema.Time:
		return fmt.Sprintf("time(%d)", min(t.Precision, 7)), nil
	case schema.Timestamp:
		return fmt.Sprintf("datetime2(%d)", min(t.Precision, 7)), nil
	case schema.TimestampTZ:
		return fmt.Sprintf("datetimeoffset(%d)", min(t.Precision, 7)), nil
	case schema.UUID:
		return "uniqueidentifier", nil
	case schema.JSON:
		return "nvarchar(max)", nil
	}
	return "", fmt.Errorf("there is no type of SQL Server for %s", t)
}

func renderDecimal(t schema.Type) (string, error) {
	if t.Floating {
		return "float(53)", nil
	}
	if t.Precision == 0 {
		return "", fmt.Errorf("a decimal without precision has no type of SQL Server: write `type = \"decimal(38,9)\"` with the scale that its values need, or `type = \"nvarchar(200)\"`")
	}
	t = t.Normal()
	if t.Precision > 38 {
		return "", fmt.Errorf("%s has more than 38 digits: write `type = \"decimal(38,%d)\"`, which tests every value, or `type = \"nvarchar(%d)\"`", t, min(t.Scale, 38), t.Precision+2)
	}
	return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale), nil
}
