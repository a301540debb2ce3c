package oracletest

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// Column is a column of a table.
type Column struct {
	Name    string
	Type    string // as DBA_TAB_COLUMNS would compose it: NUMBER(5), VARCHAR2(50 CHAR), TIMESTAMP(6)
	NotNull bool
	Hidden  bool // invisible to SELECT *
	Virtual bool // computed; its values are given like all others
}

// Part is a segment of a table: the table itself, a partition or a subpartition.
type Part struct {
	Partition    string
	Subpartition string
	Files        []uint32 // relative numbers of the files that its extents alternate between; none: file 4
	Bigfile      bool     // one file, whose blocks have numbers of 32 bits
	FirstBlock   uint32   // where its first extent lies; 0: wherever there is room
}

// Table is a table or a view.
type Table struct {
	Owner, Name  string
	View         bool
	IOT          bool // rows have no ROWID of blocks
	Cluster      string
	Columns      []Column
	PrimaryKey   []string
	Unique       [][]string
	References   string // "OWNER.NAME": the primary key is a foreign key to that table's as well
	Parts        []Part // none: one segment
	RowsPerBlock int    // 0: 20
	ExtentBlocks uint32 // 0: 8
	Analyzed     int64  // NUM_ROWS of the statistics; 0: there are none

	segments []*segment
	altered  uint64 // SCN of the last change of the definition
	fields   []field
}

// segment is a part with its rows.
type segment struct {
	Part
	object  uint32 // DATA_OBJECT_ID
	extents []extent
	rows    []*row // by address
	filled  int    // blocks that have rows, over all extents
	slot    int    // rows in the last of them
}

type extent struct{ file, block, blocks uint32 }

// row is a version of a row. Rows never change: an update is a new version.
type row struct {
	address rowid
	born    uint64
	died    atomic.Uint64 // 0: lives
	values  [][]byte
}

// rowid is where a row lies, in the order of ROWIDs.
type rowid struct {
	object uint32
	block  uint32 // file and block in one, as the database keeps it
	slot   uint16
}

func (a rowid) less(b rowid) bool {
	if a.object != b.object {
		return a.object < b.object
	}
	if a.block != b.block {
		return a.block < b.block
	}
	return a.slot < b.slot
}

const rowidDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// parseRowid reads the 18 digits to the base of 64: object 6, file 3, block 6,
// row 3. A block number of 32 bits spreads over file and block.
func parseRowid(text string) (rowid, bool) {
	if len(text) != 18 {
		return rowid{}, false
	}
	part := func(s string) (v uint64) {
		for i := range len(s) {
			d := strings.IndexByte(rowidDigits, s[i])
			if d < 0 {
				return 1 << 63
			}
			v = v<<6 | uint64(d)
		}
		return v
	}
	object, file, block, slot := part(text[:6]), part(text[6:9]), part(text[9:15]), part(text[15:])
	if object > 1<<32-1 || file > 1023 || block > 1<<22-1 || slot > 1<<15-1 {
		return rowid{}, false
	}
	return rowid{uint32(object), uint32(file<<22 | block), uint16(slot)}, true
}

// String writes what parseRowid reads.
func (a rowid) String() string {
	digits := func(v uint64, n int) string {
		out := make([]byte, n)
		for i := n - 1; i >= 0; i-- {
			out[i] = rowidDigits[v&63]
			v >>= 6
		}
		return string(out)
	}
	return digits(uint64(a.object), 6) + digits(uint64(a.block>>22), 3) + digits(uint64(a.block&(1<<22-1)), 6) + digits(uint64(a.slot), 3)
}

// field is a column as its values are described on the wire.
type field struct {
	Column
	word   string // the type without brackets
	args   []string
	column column
}

func (t *Table) prepare() error {
	for _, c := range t.Columns {
		f := field{Column: c}
		open, close := strings.IndexByte(c.Type, '('), strings.IndexByte(c.Type, ')')
		f.word = c.Type
		if open >= 0 && close > open {
			f.word = strings.TrimSpace(c.Type[:open]) + c.Type[close+1:]
			f.args = strings.Split(c.Type[open+1:close], ",")
		}
		if strings.HasPrefix(c.Type, "INTERVAL ") {
			f.word = strings.Join(strings.Fields(c.Type)[:2], " ")[:len("INTERVAL DAY")]
		}
		k, err := f.describe()
		if err != nil {
			return fmt.Errorf("%s.%s, column %s: %w", t.Owner, t.Name, c.Name, err)
		}
		k.name, k.nullable = c.Name, !c.NotNull
		f.column = k
		t.fields = append(t.fields, f)
	}
	return nil
}

// arg is the i-th argument of the type as a number.
func (f field) arg(i, absent int) int {
	if i >= len(f.args) {
		return absent
	}
	digits, _, _ := strings.Cut(strings.TrimSpace(f.args[i]), " ")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return absent
	}
	return n
}

func (f field) describe() (column, error) {
	switch f.word {
	case "NUMBER":
		k := column{kind: typeNumber, size: 22, precision: byte(f.arg(0, 0)), scale: f.arg(1, 0)}
		if len(f.args) == 0 {
			k.scale = -127
		}
		return k, nil
	case "FLOAT":
		return column{kind: typeNumber, size: 22, precision: byte(f.arg(0, 126)), scale: -127}, nil
	case "VARCHAR2":
		return column{kind: typeVarchar, size: 4 * f.arg(0, 1), chars: f.arg(0, 1)}, nil
	case "NVARCHAR2":
		return column{kind: typeVarchar, size: 2 * f.arg(0, 1), chars: f.arg(0, 1), national: true}, nil
	case "CHAR":
		return column{kind: typeChar, size: 4 * f.arg(0, 1), chars: f.arg(0, 1)}, nil
	case "NCHAR":
		return column{kind: typeChar, size: 2 * f.arg(0, 1), chars: f.arg(0, 1), national: true}, nil
	case "DATE":
		return column{kind: typeDate, size: 7}, nil
	case "TIMESTAMP":
		return column{kind: typeTimestamp, scale: f.arg(0, 6), size: 11}, nil
	case "TIMESTAMP WITH TIME ZONE":
		return column{kind: typeTimestampTZ, scale: f.arg(0, 6), size: 13}, nil
	case "TIMESTAMP WITH LOCAL TIME ZONE":
		return column{kind: typeLocal, scale: f.arg(0, 6), size: 11}, nil
	case "BINARY_FLOAT":
		return column{kind: typeFloat, size: 4}, nil
	case "BINARY_DOUBLE":
		return column{kind: typeDouble, size: 8}, nil
	case "RAW":
		return column{kind: typeRaw, size: f.arg(0, 1)}, nil
	case "LONG":
		return column{kind: typeLong}, nil
	case "LONG RAW":
		return column{kind: typeLongRaw}, nil
	case "CLOB":
		return column{kind: typeClob, size: 4000}, nil
	case "NCLOB":
		return column{kind: typeClob, size: 4000, national: true}, nil
	case "BLOB":
		return column{kind: typeBlob, size: 4000}, nil
	case "INTERVAL YEA", "INTERVAL DAY", "XMLTYPE", "JSON", "VECTOR", "BOOLEAN", "ROWID", "UROWID", "BFILE", "SDO_GEOMETRY":
		return column{}, nil // only through a function
	}
	return column{}, fmt.Errorf("the double has no type %s", f.Type)
}

// encode makes a value of text: a plain decimal, a time as parseClock reads it,
// hexadecimal for octets, TRUE or FALSE, anything else as it is. Text that is
// empty is NULL, but for LOBs, which can be empty.
func (f field) encode(text string) ([]byte, error) {
	lob := f.word == "CLOB" || f.word == "NCLOB" || f.word == "BLOB"
	if text == "" && !lob {
		return nil, nil
	}
	switch f.word {
	case "NUMBER", "FLOAT":
		return Number(text), nil
	case "DATE":
		c, err := parseClock(text)
		return c.date(), err
	case "TIMESTAMP":
		c, err := parseClock(text)
		return c.timestamp(), err
	case "TIMESTAMP WITH LOCAL TIME ZONE":
		c, err := parseClock(text)
		return c.utc().timestamp(), err
	case "TIMESTAMP WITH TIME ZONE":
		c, err := parseClock(text)
		return c.zoned(), err
	case "BINARY_FLOAT":
		v, err := strconv.ParseFloat(text, 32)
		return binaryFloat(float32(v)), err
	case "BINARY_DOUBLE":
		v, err := strconv.ParseFloat(text, 64)
		return binaryDouble(v), err
	case "RAW", "LONG RAW", "BLOB":
		v, err := hex.DecodeString(text)
		if v == nil {
			v = []byte{}
		}
		return v, err
	case "CHAR", "NCHAR":
		return fmt.Appendf(nil, "%-*s", f.arg(0, 1), text), nil
	}
	return []byte(text), nil
}
