package oracletest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Formats of times that package oracle writes.
const (
	dateFormat      = "SYYYY-MM-DD HH24:MI:SS"
	timestampFormat = "SYYYY-MM-DD HH24:MI:SS.FF9"
)

// selectRows answers a SELECT of a table.
func (c *session) selectRows(sql string, binds [][]byte) (*result, *Error) {
	q, err := parseSelect(sql)
	if err != nil {
		e := c.server.unknown(sql)
		e.Text = fmt.Sprintf("%s (%v)", e.Text, err)
		return nil, e
	}
	d := c.server.DB
	d.mu.RLock()
	defer d.mu.RUnlock()
	t := d.find(q.owner, q.name)
	if e := c.server.withheld(t, true); e != nil {
		return nil, e
	}
	r := &reading{db: d, t: t, q: q, binds: binds}
	if len(binds) == 0 {
		return nil, &Error{1008, "not all variables bound"}
	}
	r.scn = uint64(numberInt(binds[0]))
	if e := r.compile(); e != nil {
		return nil, e
	}
	if e := d.readable(t, r.scn); e != nil {
		return nil, e
	}
	r.place()
	if len(q.order) > 0 || q.step {
		r.sort()
	}
	if q.count {
		n := int64(0)
		for r.row() != nil {
			n++
		}
		done := false
		return &result{columns: r.columns, next: func() ([][]byte, *Error) {
			if done {
				return nil, nil
			}
			done = true
			return [][]byte{Int(n)}, nil
		}}, nil
	}
	step := int64(1)
	if q.step {
		step = numberInt(binds[len(binds)-1])
	}
	n := int64(0)
	return &result{columns: r.columns, next: func() ([][]byte, *Error) {
		d.mu.RLock()
		defer d.mu.RUnlock()
		if e := d.readable(t, r.scn); e != nil {
			return nil, e
		}
		for {
			x := r.row()
			if x == nil {
				return nil, nil
			}
			n++
			if q.step && (n == 1 || (n-1)%step != 0) {
				continue
			}
			return r.values(x), nil
		}
	}}, nil
}

// reading is a SELECT that is being answered.
type reading struct {
	db      *Database
	t       *Table
	q       *query
	binds   [][]byte
	scn     uint64
	columns []column
	items   []func(*row) []byte
	plain   bool // the items are the columns as they are
	lists   [][]*row
}

// values are a row's items.
func (r *reading) values(x *row) [][]byte {
	if r.plain {
		return x.values
	}
	out := make([][]byte, len(r.items))
	for i, f := range r.items {
		out[i] = f(x)
	}
	return out
}

// compile looks the columns up.
func (r *reading) compile() *Error {
	r.plain = len(r.q.items) == len(r.t.fields)
	for i, o := range r.q.items {
		k, f, e := r.item(o)
		if e != nil {
			return e
		}
		if o.function != "" || o.null || o.rowid || i >= len(r.t.fields) || o.column != r.t.fields[i].Name || k.national {
			r.plain = false
		}
		r.columns, r.items = append(r.columns, k), append(r.items, f)
	}
	if r.q.count {
		r.columns = append(r.columns, column{name: "COUNT(*)", kind: typeNumber, size: 22})
	}
	for _, n := range r.q.order {
		if r.index(n) < 0 {
			return invalid(n)
		}
	}
	return r.check(r.q.where)
}

func (r *reading) check(c *condition) *Error {
	if c == nil {
		return nil
	}
	for _, k := range c.kids {
		if e := r.check(k); e != nil {
			return e
		}
	}
	if len(c.kids) == 0 && !c.left.rowid && r.index(c.left.column) < 0 {
		return invalid(c.left.column)
	}
	if c.left.rowid && (r.t.IOT || r.t.View) {
		return &Error{1445, "cannot select ROWID from, or sample, a join view without a key-preserved table"}
	}
	return nil
}

func invalid(name string) *Error {
	return &Error{904, fmt.Sprintf("%q: invalid identifier", name)}
}

func (r *reading) index(name string) int {
	return slices.IndexFunc(r.t.fields, func(f field) bool { return f.Name == name })
}

// item is an expression with the description of its values. What a driver could
// not read is refused here: it has to be asked for through a function.
func (r *reading) item(o operand) (column, func(*row) []byte, *Error) {
	if o.null {
		return column{name: "NULL", kind: typeVarchar, size: 1, chars: 1, nullable: true}, func(*row) []byte { return nil }, nil
	}
	i := r.index(o.column)
	if i < 0 {
		return column{}, nil, invalid(o.column)
	}
	f := r.t.fields[i]
	of := func(k column, make func([]byte) []byte) (column, func(*row) []byte, *Error) {
		k.name, k.nullable = o.column, true
		return k, func(x *row) []byte {
			if v := x.values[i]; v != nil {
				return make(v)
			}
			return nil
		}, nil
	}
	same := func(v []byte) []byte { return v }
	text := column{kind: typeVarchar, size: 4000, chars: 4000}
	fits := func(words ...string) bool { return slices.Contains(words, f.word) }
	switch o.function {
	case "":
		switch {
		case f.column.kind == 0 || f.column.kind == typeTimestampTZ || f.column.kind == typeLocal:
			break
		case f.column.national:
			return of(f.column, utf16be)
		default:
			return of(f.column, same)
		}
	case "SYS_EXTRACT_UTC":
		if fits("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH LOCAL TIME ZONE") {
			return of(column{kind: typeTimestamp, scale: 9, size: 11}, func(v []byte) []byte { return v[:11] })
		}
	case "TO_CHAR":
		switch {
		case o.format == "" && fits("INTERVAL YEA", "INTERVAL DAY"):
			return of(text, same)
		case o.format == dateFormat && fits("DATE"):
			return of(text, func(v []byte) []byte { return []byte(clockText(v, false)) })
		case o.format == timestampFormat && fits("TIMESTAMP"):
			return of(text, func(v []byte) []byte { return []byte(clockText(v, true)) })
		}
	case "DBMS_LOB.GETLENGTH":
		if fits("CLOB", "NCLOB", "BLOB") {
			return of(column{kind: typeNumber, size: 22, scale: -127}, func(v []byte) []byte {
				if f.word == "BLOB" {
					return Int(int64(len(v)))
				}
				return Int(int64(len(utf16be(v)) / 2))
			})
		}
	case "XMLSERIALIZE", "JSON_SERIALIZE", "FROM_VECTOR":
		if (map[string]string{"XMLSERIALIZE": "XMLTYPE", "JSON_SERIALIZE": "JSON", "FROM_VECTOR": "VECTOR"})[o.function] == f.word {
			return of(column{kind: typeClob, size: 4000}, same)
		}
	case "CASE":
		if fits("BOOLEAN") {
			return of(column{kind: typeNumber, size: 22}, func(v []byte) []byte {
				if strings.EqualFold(string(v), "TRUE") {
					return Int(1)
				}
				return Int(0)
			})
		}
	case "ROWIDTOCHAR":
		if fits("ROWID") {
			return of(column{kind: typeVarchar, size: 18, chars: 18}, same)
		}
	case "CAST":
		if fits("UROWID") {
			return of(text, same)
		}
	case "RAWTOHEX":
		if fits("RAW") {
			return of(text, func(v []byte) []byte { return []byte(strings.ToUpper(hex.EncodeToString(v))) })
		}
	}
	return column{}, nil, &Error{932, fmt.Sprintf("inconsistent datatypes: the wire double does not give %s %s through %q", f.Type, o.column, o.function)}
}

// place finds the rows that a range of ROWIDs begins at, where there is one: a
// range of another segment than those of the table is empty.
func (r *reading) place() {
	lo, hi, ranged := r.span(r.q.where)
	for _, s := range r.t.segments {
		rows := s.rows
		if ranged {
			from := sort.Search(len(rows), func(i int) bool { return !rows[i].address.less(lo) })
			to := sort.Search(len(rows), func(i int) bool { return hi.less(rows[i].address) })
			rows = rows[from:max(from, to)]
		}
		r.lists = append(r.lists, rows)
	}
}

func (r *reading) span(c *condition) (lo, hi rowid, ok bool) {
	if c == nil || c.op != "BETWEEN" || !c.left.rowid {
		return lo, hi, false
	}
	lo, okLo := parseRowid(string(r.bound(c.right)))
	hi, okHi := parseRowid(string(r.bound(c.last)))
	if !okLo || !okHi || lo.object != hi.object {
		return rowid{object: 1}, rowid{}, true // none: ranges over several segments are nobody's business
	}
	return lo, hi, true
}

// row is the next row that the statement gives.
func (r *reading) row() *row {
	for len(r.lists) > 0 {
		rows := r.lists[0]
		if len(rows) == 0 {
			r.lists = r.lists[1:]
			continue
		}
		x := rows[0]
		r.lists[0] = rows[1:]
		if died := x.died.Load(); x.born > r.scn || died != 0 && died <= r.scn || !r.holds(r.q.where, x) {
			continue
		}
		return x
	}
	return nil
}

// sort puts the rows into the order that is asked for.
func (r *reading) sort() {
	var all []*row
	for x := r.row(); x != nil; x = r.row() {
		all = append(all, x)
	}
	cols := make([]int, len(r.q.order))
	for i, n := range r.q.order {
		cols[i] = r.index(n)
	}
	slices.SortStableFunc(all, func(a, b *row) int {
		for i, c := range cols {
			x, y := a.values[c], b.values[c]
			switch {
			case x == nil && y == nil:
			case x == nil || y == nil:
				first := r.q.nulls[i]
				if (x == nil) == first {
					return -1
				}
				return 1
			default:
				if k := bytes.Compare(x, y); k != 0 {
					return k
				}
			}
		}
		return 0
	})
	r.lists, r.q = [][]*row{all}, &query{items: r.q.items, step: r.q.step}
}

// holds reports whether a condition is true; unknown is not.
func (r *reading) holds(c *condition, x *row) bool {
	if c == nil {
		return true
	}
	switch c.op {
	case "AND":
		return r.holds(c.kids[0], x) && r.holds(c.kids[1], x)
	case "OR":
		return r.holds(c.kids[0], x) || r.holds(c.kids[1], x)
	}
	if c.left.rowid {
		return true // span has seen to it
	}
	v := x.values[r.index(c.left.column)]
	switch c.op {
	case "NULL":
		return v == nil
	case "NOT NULL":
		return v != nil
	}
	with := r.bound(c.right)
	if v == nil || with == nil {
		return false
	}
	k := bytes.Compare(v, with)
	switch c.op {
	case "<":
		return k < 0
	case "<=":
		return k <= 0
	case ">":
		return k > 0
	case ">=":
		return k >= 0
	case "=":
		return k == 0
	}
	return false
}

// bound is the value of a bind, as values of the table are kept.
func (r *reading) bound(o operand) []byte {
	if o.bind >= len(r.binds) {
		return nil
	}
	v := r.binds[o.bind]
	switch o.function {
	case "TO_NUMBER":
		return Number(string(v))
	case "TO_DATE", "TO_TIMESTAMP":
		c, err := parseClock(strings.TrimPrefix(string(v), " "))
		if err != nil {
			return nil
		}
		if o.function == "TO_DATE" {
			return c.date()
		}
		return c.timestamp()
	case "HEXTORAW":
		b, _ := hex.DecodeString(string(v))
		return b
	}
	return v
}
