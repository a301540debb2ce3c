package oracletest

import (
	"regexp"
	"strconv"
	"strings"
)

// tryTable is a statement that asks whether a table may be read.
var tryTable = regexp.MustCompile(`^SELECT 1 FROM "([^"]+)"\."([^"]+)"( AS OF SCN :scn)? WHERE 1 = 0$`)

// withheld is the error of a user who lacks a right on a table, as Oracle tells
// it: what may not be read is not there.
func (s *Server) withheld(t *Table, asOf bool) *Error {
	switch {
	case t == nil, s.Withheld["SELECT ON "+t.Owner+"."+t.Name]:
		return &Error{942, "table or view does not exist"}
	case asOf && s.Withheld["FLASHBACK ON "+t.Owner+"."+t.Name]:
		return &Error{1031, "insufficient privileges"}
	}
	return nil
}

// run answers a statement: a SELECT of one of the tables, or one of those below,
// to the letter.
func (c *session) run(sql string, binds [][]byte) (*result, *Error) {
	for name := range c.server.Denied {
		if strings.Contains(strings.ToUpper(sql), name) {
			return nil, &Error{942, "table or view does not exist"}
		}
	}
	d := c.server.DB
	switch sql {
	case sqlSession:
		return &result{}, nil
	case sqlPoint:
		return rows("CURRENT_SCN# CON_DBID# RESETLOGS_CHANGE##", []any{int64(d.SCN()), d.DBID, d.Resetlogs}), nil
	case sqlNow:
		return rows("GET_SYSTEM_CHANGE_NUMBER#", []any{int64(d.SCN())}), nil
	case sqlDual:
		return rows("1#", []any{1}), nil
	case sqlVersion:
		return rows("VERSION", []any{c.server.Version}), nil
	case sqlUndo:
		return rows("VALUE", []any{strconv.Itoa(c.server.Limits.Undo)}), nil
	case sqlBlocks, sqlSees, sqlSettings:
		return rows("1#"), nil
	case sqlLimits:
		l := c.server.Limits
		return rows("NAME USED# LIMIT", []any{"PROCESSES", l.Used, strconv.Itoa(l.Processes)}, []any{"SESSIONS", l.Used, strconv.Itoa(l.Processes*3/2 + 22)}), nil
	case sqlMine:
		if l := c.server.Limits; l.SessionsPerUser > 0 {
			return rows("LIMIT", []any{strconv.Itoa(l.SessionsPerUser)}), nil
		}
		return rows("LIMIT", []any{"UNLIMITED"}), nil
	case sqlExtents:
		return d.extents(binds), nil
	case sqlTables:
		return d.catalogTables(), nil
	case sqlViews:
		return d.catalogViews(), nil
	case sqlColumns:
		return d.catalogColumns(), nil
	case sqlKeys:
		return d.catalogKeys(), nil
	case sqlIndexes:
		return d.catalogIndexes(), nil
	case sqlSent:
		return rows("VALUE#", []any{c.total}), nil
	case sqlRandom:
		return rows("TEXT", []any{printable(3240)}), nil
	}
	switch {
	case strings.Contains(sql, "sys.nls_session_parameters"): // go-ora asks at every login
		out := make([][]byte, 13)
		for i := range out {
			out[i] = []byte("BINARY")
		}
		return &result{out: out}, nil
	case tryTable.MatchString(sql):
		m := tryTable.FindStringSubmatch(sql)
		d.mu.RLock()
		defer d.mu.RUnlock()
		if e := c.server.withheld(d.find(m[1], m[2]), m[3] != ""); e != nil {
			return nil, e
		}
		return rows("1#"), nil
	case strings.Contains(sql, "ora_hash(sys_guid())"):
		if res := noise(sql, binds); res != nil {
			return res, nil
		}
	case strings.Contains(sql, " AS OF SCN "):
		return c.selectRows(sql, binds)
	}
	return nil, c.server.unknown(sql)
}

// rows is a result of fixed rows. Names of number columns end in #, which a
// name that ends so itself doubles.
func rows(names string, all ...[]any) *result {
	res := &result{}
	for _, n := range strings.Fields(names) {
		k := column{name: n, kind: typeVarchar, size: 4000, chars: 4000, nullable: true}
		if name, ok := strings.CutSuffix(n, "#"); ok {
			k = column{name: name, kind: typeNumber, size: 22, scale: -127, nullable: true}
		}
		res.columns = append(res.columns, k)
	}
	i := 0
	res.next = func() ([][]byte, *Error) {
		if i == len(all) {
			return nil, nil
		}
		row := make([][]byte, len(res.columns))
		for j, v := range all[i] {
			switch v := v.(type) {
			case int:
				row[j] = Int(int64(v))
			case int64:
				row[j] = Int(v)
			case uint32:
				row[j] = Int(int64(v))
			case string:
				if v != "" {
					row[j] = []byte(v)
				}
			}
		}
		i++
		return row, nil
	}
	return res
}

// extents are those of a table's segments, in the order of ROWIDs. An extent of a
// segment without rows is none: segments are created with their first row.
func (d *Database) extents(binds [][]byte) *result {
	var out [][]any
	d.mu.RLock()
	defer d.mu.RUnlock()
	if len(binds) == 2 {
		if t := d.find(string(binds[0]), string(binds[1])); t != nil && !t.View && !t.IOT && t.Cluster == "" {
			for _, s := range t.segments {
				for _, e := range sortedExtents(s.extents) {
					out = append(out, []any{s.object, e.file, e.block, e.blocks})
				}
			}
		}
	}
	return rows("DATA_OBJECT_ID# RELATIVE_FNO# BLOCK_ID# BLOCKS#", out...)
}

func (d *Database) catalogTables() *result {
	var out [][]any
	for _, t := range d.sorted() {
		if t.View {
			continue
		}
		var count, blocks, width, analyzed, iot any
		if t.Analyzed > 0 {
			count, blocks, width, analyzed = t.Analyzed, (t.Analyzed+int64(t.RowsPerBlock)-1)/int64(t.RowsPerBlock), 64, "2026-11-21 02:00:14"
		}
		if t.IOT {
			iot = "IOT"
		}
		out = append(out, []any{t.Owner, t.Name, count, blocks, width, analyzed, iot, t.Cluster, "NO"})
	}
	return rows("OWNER TABLE_NAME NUM_ROWS# BLOCKS# AVG_ROW_LEN# LAST_ANALYZED IOT_TYPE CLUSTER_NAME EXTERNAL", out...)
}

func (d *Database) catalogViews() *result {
	var out [][]any
	for _, t := range d.sorted() {
		if t.View {
			out = append(out, []any{t.Owner, t.Name})
		}
	}
	return rows("OWNER VIEW_NAME", out...)
}

func (d *Database) catalogColumns() *result {
	var out [][]any
	for _, t := range d.sorted() {
		for _, f := range t.fields {
			if f.Hidden {
				continue
			}
			out = append(out, append([]any{t.Owner, t.Name, f.Name}, f.dictionary()...))
		}
	}
	return rows("OWNER TABLE_NAME COLUMN_NAME DATA_TYPE DATA_TYPE_OWNER DATA_LENGTH# DATA_PRECISION# DATA_SCALE# CHAR_LENGTH# CHAR_USED NULLABLE IDENTITY_COLUMN VIRTUAL_COLUMN", out...)
}

// dictionary is a column's type as the dictionary takes it apart.
func (f field) dictionary() []any {
	word, owner := f.word, any(nil)
	var length, precision, scale, chars, used any
	length = 22
	switch f.word {
	case "NUMBER":
		if len(f.args) > 0 && f.args[0] != "*" {
			precision = f.arg(0, 0)
		}
		if len(f.args) > 0 {
			scale = f.arg(1, 0)
		}
	case "FLOAT":
		precision = f.arg(0, 126)
	case "VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR":
		length, chars, used = f.column.size, f.arg(0, 1), "C"
		if len(f.args) == 1 && !strings.Contains(f.args[0], "CHAR") && !f.column.national {
			length, used = f.arg(0, 1), "B"
		}
	case "RAW", "UROWID":
		length = f.arg(0, 4000)
	case "XMLTYPE":
		owner = "SYS"
	case "SDO_GEOMETRY":
		owner = "MDSYS"
	default:
		word = f.Type
	}
	nullable, virtual := "Y", "NO"
	if f.NotNull {
		nullable = "N"
	}
	if f.Virtual {
		virtual = "YES"
	}
	return []any{word, owner, length, precision, scale, chars, used, nullable, "NO", virtual}
}

func (d *Database) catalogKeys() *result {
	var out [][]any
	for _, t := range d.sorted() {
		if t.View {
			continue
		}
		for _, c := range t.PrimaryKey {
			out = append(out, []any{t.Owner, t.Name, t.Name + "_PK", "P", c, nil, nil, nil})
		}
		if owner, name, ok := strings.Cut(t.References, "."); ok {
			for _, c := range t.PrimaryKey {
				out = append(out, []any{t.Owner, t.Name, t.Name + "_FK", "R", c, owner, name, name + "_PK"})
			}
		}
		for _, u := range t.Unique {
			for _, c := range u {
				out = append(out, []any{t.Owner, t.Name, t.Name + "_" + u[0] + "_UK", "U", c, nil, nil, nil})
			}
		}
	}
	return rows("OWNER TABLE_NAME CONSTRAINT_NAME CONSTRAINT_TYPE COLUMN_NAME R_OWNER R_TABLE_NAME R_CONSTRAINT_NAME", out...)
}

func (d *Database) catalogIndexes() *result {
	var out [][]any
	for _, t := range d.sorted() {
		for _, u := range t.Unique {
			for _, c := range u {
				out = append(out, []any{t.Owner, t.Name, t.Name + "_" + u[0] + "_UK", "UNIQUE", c})
			}
		}
	}
	return rows("TABLE_OWNER TABLE_NAME INDEX_NAME UNIQUENESS COLUMN_NAME", out...)
}
