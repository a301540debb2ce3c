package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// following holds the tables of a stream against what the log says of them.
type following struct {
	source *source
	home   string
	tables map[string]*followedTable // by schema and name, a zero octet between them
	oids   map[uint32]*followedTable
	types  map[typeAt]string
	binary bool
}

// followedTable is a table as it was planned.
type followedTable struct {
	connectors.ChangeTable
	oid uint32
}

// typeAt is a type with its digits or length.
type typeAt struct {
	oid    uint32
	typmod int32
}

const selectFollowed = `SELECT c.oid, a.atttypid, a.atttypmod, ` + typeName + `
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_type t ON t.oid = a.atttypid WHERE c.oid = to_regclass($1)`

// follow reads what the tables are called by in the log.
func (s *source) follow(ctx context.Context, c *pgconn.PgConn, st connectors.ChangeStream) (*following, error) {
	f := &following{source: s, home: s.config.Schema, tables: map[string]*followedTable{}, oids: map[uint32]*followedTable{}, types: map[typeAt]string{}, binary: true}
	for _, t := range st.Tables {
		n := t.Table.Name
		if n.Schema == "" {
			n.Schema = f.home
		}
		of := &followedTable{ChangeTable: t}
		if _, err := query(ctx, c, selectFollowed, func(r [][]byte) error {
			of.oid = uint32(number(r[0]))
			f.types[typeAt{uint32(number(r[1])), int32(number(r[2]))}] = string(r[3])
			return nil
		}, full(f.home, n)); err != nil {
			return nil, err
		}
		if of.oid == 0 {
			return nil, &connectors.Error{Class: connectors.Schema, Table: t.Table.Name.String(), Err: errors.New("the source has no such table any more")}
		}
		f.tables[n.Schema+"\x00"+n.Name], f.oids[of.oid] = of, of
		for i := range t.Table.Columns { // one form is asked for, for all of them
			f.binary = f.binary && wireOf(t.Table.Columns[i].Native).form != formNone
		}
	}
	return f, nil
}

// relation finds the table of a Relation message, and refuses one that is not
// what was planned.
func (f *following) relation(m relationMessage) (*logTable, error) {
	name := schema.Name{Schema: m.space, Name: m.name}
	byName, byOID := f.tables[m.space+"\x00"+m.name], f.oids[m.id]
	switch {
	case byName == nil && byOID == nil:
		return newLogTable(m, nil, nil, slices.Repeat([]int{-1}, len(m.columns))), nil
	case byName == nil:
		return nil, f.changed(byOID, fmt.Sprintf("it is called %s", name))
	case byOID != byName:
		return nil, f.changed(byName, "it was dropped and made anew")
	}
	t := byName.Table
	if err := f.learn(m); err != nil {
		return nil, err
	}
	e := &connectors.TableChanged{Table: t.Name}
	columns := make([]int, len(m.columns))
	seen := make([]bool, len(t.Columns))
	for i, c := range m.columns {
		native := f.types[typeAt{c.typ, c.typmod}]
		columns[i] = slices.IndexFunc(t.Columns, func(have schema.Column) bool { return have.Name == c.name })
		switch at := columns[i]; {
		case at >= 0:
			seen[at] = true
			if planned := t.Columns[at].Native; native != planned && !sameType(native, planned) {
				e.Other = append(e.Other, fmt.Sprintf("column %s is %s, and was %s", c.name, orElse(native, "of a type that is gone"), planned))
			}
		case slices.Contains(byName.Others, c.name):
		default:
			e.Added = append(e.Added, schema.Column{Name: c.name, Native: native, Nullable: true})
		}
	}
	for i, ok := range seen {
		switch {
		case ok:
		case t.Columns[i].Generated != "":
			e.Other = append(e.Other, fmt.Sprintf("column %s is computed at the source, and is not in the log", t.Columns[i].Name))
		default:
			e.Other = append(e.Other, fmt.Sprintf("column %s is gone", t.Columns[i].Name))
		}
	}
	if len(e.Added) > 0 {
		if err := f.describe(m.id, e.Added); err != nil {
			return nil, err
		}
	}
	if len(e.Added) > 0 || len(e.Other) > 0 {
		return nil, f.refused(e)
	}
	r := newLogTable(m, t, byName.Special, columns)
	if m.identity != 'f' {
		for _, k := range byName.Key {
			if at := slices.IndexFunc(m.columns, func(c relationColumn) bool { return c.name == k }); len(r.key) > 0 && !m.columns[at].key {
				return nil, f.changed(byName, fmt.Sprintf("its replica identity has no column %s, which the pipeline's key has", k))
			}
		}
	}
	return r, nil
}

func (f *following) changed(t *followedTable, what string) error {
	return f.refused(&connectors.TableChanged{Table: t.Table.Name, Other: []string{what}})
}

// refused is the error of a table that is not as it was planned.
func (f *following) refused(e *connectors.TableChanged) error {
	hint := "Plan again with the table as it is now, and begin anew: " + anew + "."
	if e.Addable() {
		hint = "Add such columns at the target, record the source's catalog again where the spec names one, and run again."
	}
	return &connectors.Error{Op: "read the log", Class: connectors.Schema, Err: e, Hint: hint}
}

// sameType compares what two names of a type mean.
func sameType(a, b string) bool {
	x, err1 := types{}.Parse(a)
	y, err2 := types{}.Parse(b)
	return a != "" && err1 == nil && err2 == nil && x == y && wireOf(a) == wireOf(b)
}

const selectTypes = `SELECT a.atttypid, a.atttypmod, ` + typeName + ` FROM (SELECT $1::oid AS atttypid, $2::int AS atttypmod) a JOIN pg_type t ON t.oid = a.atttypid`

// learn asks the server for the types of a relation that are not known yet. It
// takes a session for a moment: that of the log can't be asked while it streams.
func (f *following) learn(m relationMessage) error {
	var unknown []typeAt
	for _, c := range m.columns {
		at := typeAt{c.typ, c.typmod}
		if _, ok := f.types[at]; !ok && !slices.Contains(unknown, at) {
			unknown = append(unknown, at)
		}
	}
	if unknown == nil {
		return nil
	}
	return f.ask(func(ctx context.Context, c *pgconn.PgConn) error {
		for _, at := range unknown {
			f.types[at] = "" // a type that was dropped since
			if _, err := query(ctx, c, selectTypes, func(r [][]byte) error { f.types[at] = string(r[2]); return nil }, int64(at.oid), int64(at.typmod)); err != nil {
				return err
			}
		}
		return nil
	})
}

const selectAdded = `SELECT a.attnotnull OR t.typnotnull, coalesce(pg_get_expr(d.adbin, d.adrelid), '') FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1::oid AND a.attname = $2 AND NOT a.attisdropped`

// describe says of new columns what a Relation message does not.
func (f *following) describe(table uint32, added []schema.Column) error {
	return f.ask(func(ctx context.Context, c *pgconn.PgConn) error {
		for i := range added {
			col := &added[i]
			var err error
			if col.Type, err = (types{}).Parse(col.Native); err != nil {
				col.Type, col.Problem = schema.Type{}, err.Error()
			}
			if _, err := query(ctx, c, selectAdded, func(r [][]byte) error { col.Nullable, col.Default = !isTrue(r[0]), string(r[1]); return nil }, int64(table), col.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// ask runs each on a session of its own.
func (f *following) ask(each func(context.Context, *pgconn.PgConn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	c, err := f.source.server.connect(ctx, roleSource, nil)
	if err != nil {
		return err
	}
	defer closeNow(c)
	return each(ctx, c)
}

// askTime bounds a question to the catalog.
const askTime = rollbackTime

// changeExplainer writes the statements of a stream.
type changeExplainer struct{}

var _ connectors.ChangeExplainer = changeExplainer{}

// Prepare makes the publication, then the slot.
func (changeExplainer) Prepare(config any, s connectors.ChangeStream, follows bool) []connectors.Statement {
	c := config.(*SourceConfig)
	snapshot, comment := "nothing", "the source keeps its log from here on"
	if follows {
		snapshot, comment = "export", "the source keeps its log from here on, and this is the state in which rows are read"
	}
	return []connectors.Statement{
		{SQL: c.createPublication(s), Comment: "where it is absent; else it is checked", Locks: "SHARE UPDATE EXCLUSIVE"},
		{SQL: c.markPublication(s.Pipeline)},
		{SQL: createSlot(c.slotOf(s.Pipeline), snapshot, 0), Comment: "a command of the replication protocol; " + comment + "; with FAILOVER from PostgreSQL 17 on"},
	}
}

// Drop takes both away.
func (changeExplainer) Drop(config any, s connectors.ChangeStream) []connectors.Statement {
	c := config.(*SourceConfig)
	return []connectors.Statement{
		{SQL: dropSlot(c.slotOf(s.Pipeline)), Comment: "its reader is ended first; until it is dropped the source keeps its log for it"},
		{SQL: dropPublication(c, s), Comment: "where Penstock made it", Locks: "ACCESS EXCLUSIVE"},
	}
}

// ParsePosition reads 16/B374D848, or a position in hexadecimal.
func (changeExplainer) ParsePosition(text string) (change.Position, error) {
	if strings.Contains(text, "/") {
		lsn, err := parseLSN(text)
		return lsnPosition(lsn), err
	}
	p, err := hex.DecodeString(text)
	if err == nil {
		_, err = positionLSN(p)
	}
	if err != nil {
		return nil, fmt.Errorf("%q is no place in PostgreSQL's log: write it as pg_current_wal_lsn() does, 16/B374D848", text)
	}
	return p, nil
}

// FormatPosition writes the commit record's place, and that of the change.
func (changeExplainer) FormatPosition(p change.Position) string {
	lsn, err := positionLSN(p)
	if err != nil {
		return p.String()
	}
	s := formatLSN(lsn)
	if len(p) == positionBytes {
		at, _ := resumeLSN(change.Resume(p[8:16]))
		s += " change " + formatLSN(at)
	}
	return s
}
