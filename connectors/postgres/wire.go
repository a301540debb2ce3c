package postgres

import (
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// form is how a value is written in PostgreSQL's binary format.
type form uint8

const (
	formNone form = iota // only as the text that the type's own input function reads
	formBool
	formInt2
	formInt4
	formInt8
	formOID
	formFloat4
	formFloat8
	formNumeric
	formDate
	formTime
	formTimestamp
	formBytes // the octets as they are: texts, bytea, json
	formUUID
	formJSONB // a version octet, then the text
)

// wire is a type of the server as values are sent to it.
type wire struct {
	name string // the server's own word, quoted where it has to be: int4, "char"
	form form
	oid  uint32 // of the type; 0: arrays of it are sent as arrays of text
}

var wires = map[string]wire{
	"boolean": {"bool", formBool, 16}, "bool": {"bool", formBool, 16},
	"smallint": {"int2", formInt2, 21}, "int2": {"int2", formInt2, 21}, "smallserial": {"int2", formInt2, 21}, "serial2": {"int2", formInt2, 21},
	"integer": {"int4", formInt4, 23}, "int": {"int4", formInt4, 23}, "int4": {"int4", formInt4, 23}, "serial": {"int4", formInt4, 23}, "serial4": {"int4", formInt4, 23},
	"bigint": {"int8", formInt8, 20}, "int8": {"int8", formInt8, 20}, "bigserial": {"int8", formInt8, 20}, "serial8": {"int8", formInt8, 20},
	"oid":  {"oid", formOID, 26},
	"real": {"float4", formFloat4, 700}, "float4": {"float4", formFloat4, 700},
	"double precision": {"float8", formFloat8, 701}, "float8": {"float8", formFloat8, 701},
	"numeric": {"numeric", formNumeric, 1700}, "decimal": {"numeric", formNumeric, 1700},
	"text":              {"text", formBytes, 25},
	"character varying": {"varchar", formBytes, 1043}, "varchar": {"varchar", formBytes, 1043},
	"character": {"bpchar", formBytes, 1042}, "char": {"bpchar", formBytes, 1042}, "bpchar": {"bpchar", formBytes, 1042},
	`"char"`: {`"char"`, formNone, 18}, "name": {"name", formBytes, 19},
	"bytea": {"bytea", formBytes, 17},
	"date":  {"date", formDate, 1082},
	"time":  {"time", formTime, 1083}, "time without time zone": {"time", formTime, 1083},
	"timestamp": {"timestamp", formTimestamp, 1114}, "timestamp without time zone": {"timestamp", formTimestamp, 1114},
	"timestamptz": {"timestamptz", formTimestamp, 1184}, "timestamp with time zone": {"timestamptz", formTimestamp, 1184},
	"uuid": {"uuid", formUUID, 2950},
	"json": {"json", formBytes, 114}, "jsonb": {"jsonb", formJSONB, 3802},
	// In quotes bit is a type of any length; without, it is bit(1).
	"bit": {`pg_catalog."bit"`, formNone, 0}, "bit varying": {"varbit", formNone, 0}, "varbit": {"varbit", formNone, 0},
	"time with time zone": {"timetz", formNone, 0}, "timetz": {"timetz", formNone, 0},
}

// wireOf finds the wire type of a column. Lengths and digits are the column's:
// the server applies them when it stores a value, and a cast to them would cut
// texts without an error.
func wireOf(native string) wire {
	if kind, name, ok := named(native); ok {
		if kind == "enum " { // its binary form is its text
			return wire{name: name, form: formBytes}
		}
		return wire{name: name}
	}
	n, err := connectors.SplitType(native)
	if err != nil {
		return wire{name: native}
	}
	word := plain(n.Word)
	switch {
	case word == "float":
		typ, _ := types{}.Parse(native) // of 24 bits and less it is a real
		if typ.Kind == schema.Float32 {
			word = "real"
		} else {
			word = "float8"
		}
	case strings.HasPrefix(word, "interval"):
		return wire{name: "interval"}
	case strings.HasSuffix(word, "]"): // of any dimensions
		return wire{name: wireOf(strings.TrimRight(word, "[]0123456789")).name + "[]"}
	}
	if w, ok := wires[word]; ok {
		return w
	}
	return wire{name: word}
}

// typeSQL is a column's type as SQL writes it.
func typeSQL(native string) string {
	_, name, _ := named(native)
	return name
}
