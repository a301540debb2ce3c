package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// Queries of indexes and constraints, for the catalog and for the transaction
// that drops them. %s says which tables: a partitioned one comes with all that
// its partitions have, for what it has is made of them.
//
// Keep names what can't be made again exactly as it is, or not by this user:
// better a slower load than a table that ends otherwise than it began.
const (
	refersFrom = "foreign key "
	refersTo   = " of another table refers to it"
	partOf     = "it is a part of "
	partOfWhat = ", of the table that this is a partition of"

	notValid    = "it is not valid"
	isExclusion = "an exclusion constraint is checked row by row"
	notEnforced = "it is not enforced"

	partOfForeign = "it is a part of a foreign key of the table that this is a partition of"

	treeOf = `WITH tree AS (
  SELECT c.oid AS root, c.oid AS rel, 0 AS level FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE %[1]s
  UNION SELECT c.oid, p.relid, p.level FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, LATERAL pg_partition_tree(c.oid) AS p WHERE c.relkind = 'p' AND %[1]s
)
`
	selectIndexes = treeOf + `SELECT t.root, t.level, n.nspname, c.relname, c.relkind = 'p', x.relname,
  coalesce(k.contype::text, ''), coalesce(pg_get_constraintdef(k.oid), ''), pg_get_indexdef(i.indexrelid),
  i.indisunique, i.indpred IS NULL AND i.indexprs IS NULL AND i.indimmediate AND i.indisvalid,
  (SELECT string_agg(quote_ident(a.attname), ',' ORDER BY o.ord) FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS o(num, ord) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = o.num WHERE o.ord <= i.indnkeyatts),
  coalesce(pn.nspname, ''), coalesce(px.relname, ''), coalesce(ts.spcname, ''),
  (SELECT coalesce(json_agg(s.sql ORDER BY s.ord), '[]') FROM (
     SELECT 1 AS ord, format('COMMENT ON INDEX %%I.%%I IS %%L', n.nspname, x.relname, obj_description(x.oid, 'pg_class')) AS sql WHERE obj_description(x.oid, 'pg_class') IS NOT NULL
     UNION ALL SELECT 2, format('COMMENT ON CONSTRAINT %%I ON %%I.%%I IS %%L', k.conname, n.nspname, c.relname, obj_description(k.oid, 'pg_constraint')) WHERE obj_description(k.oid, 'pg_constraint') IS NOT NULL
     UNION ALL SELECT 3, format('ALTER INDEX %%I.%%I ALTER COLUMN %%s SET STATISTICS %%s', n.nspname, x.relname, a.attnum, a.attstattarget) FROM pg_attribute a WHERE a.attrelid = x.oid AND a.attstattarget >= 0
     UNION ALL SELECT 4, format('ALTER TABLE %%I.%%I CLUSTER ON %%I', n.nspname, c.relname, x.relname) WHERE i.indisclustered
     UNION ALL SELECT 5, format('ALTER TABLE %%I.%%I REPLICA IDENTITY USING INDEX %%I', n.nspname, c.relname, x.relname) WHERE i.indisreplident) AS s),
  CASE
    WHEN NOT (i.indisvalid AND i.indisready AND i.indislive) THEN '` + notValid + `'
    WHEN k.contype = 'x' THEN '` + isExclusion + `'
    WHEN k.condeferrable THEN 'a deferrable key is made with its table only'
    WHEN k.oid IS NOT NULL AND m.amname <> 'btree' THEN 'its key is no btree'
    WHEN t.root = t.rel AND px.oid IS NOT NULL THEN '` + partOf + `' || px.relname || '` + partOfWhat + `'
    WHEN NOT has_schema_privilege(n.oid, 'CREATE') THEN 'the user may not make an index in schema ' || n.nspname
    WHEN ts.oid IS NOT NULL AND NOT has_tablespace_privilege(ts.oid, 'CREATE') THEN 'the user may not make it in tablespace ' || ts.spcname
    WHEN EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = x.oid AND d.deptype IN ('e', 'x')) THEN 'it belongs to an extension'
    WHEN EXISTS (SELECT 1 FROM pg_depend d WHERE d.deptype = 'n' AND (d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid OR d.refclassid = 'pg_class'::regclass AND d.refobjid = x.oid AND d.classid <> 'pg_constraint'::regclass)) THEN 'a view or a rule needs it'
    ELSE coalesce((SELECT '` + refersFrom + `' || min(f.conname) || '` + refersTo + `' FROM pg_depend d JOIN pg_constraint f ON f.oid = d.objid AND f.contype = 'f'
      WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = x.oid AND d.classid = 'pg_constraint'::regclass AND d.deptype = 'n'
        AND f.conrelid <> t.root AND NOT EXISTS (SELECT 1 FROM pg_partition_tree(t.root) AS p WHERE p.relid = f.conrelid)), '')
  END
FROM tree t JOIN pg_index i ON i.indrelid = t.rel JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
JOIN pg_class c ON c.oid = t.rel JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u', 'x')
LEFT JOIN pg_tablespace ts ON ts.oid = x.reltablespace
LEFT JOIN pg_inherits h ON h.inhrelid = x.oid LEFT JOIN pg_class px ON px.oid = h.inhparent LEFT JOIN pg_namespace pn ON pn.oid = px.relnamespace`

	// A foreign key of a partitioned table has a like one on each partition, which
	// comes and goes with it.
	selectForeign = treeOf + `SELECT t.root, t.level, n.nspname, c.relname, c.relkind = 'p', f.conname, pg_get_constraintdef(f.oid), f.convalidated, rn.nspname, r.relname,
  (SELECT string_agg(quote_ident(a.attname), ',' ORDER BY o.ord) FROM unnest(f.conkey) WITH ORDINALITY AS o(num, ord) JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = o.num),
  (SELECT string_agg(quote_ident(a.attname), ',' ORDER BY o.ord) FROM unnest(f.confkey) WITH ORDINALITY AS o(num, ord) JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = o.num),
  coalesce(format('COMMENT ON CONSTRAINT %%I ON %%I.%%I IS %%L', f.conname, n.nspname, c.relname, obj_description(f.oid, 'pg_constraint')), ''), obj_description(f.oid, 'pg_constraint') IS NOT NULL,
  coalesce((SELECT x.relname FROM pg_class x WHERE x.oid = f.conindid), ''),
  CASE
    WHEN f.conparentid <> 0 THEN '` + partOfForeign + `'
    WHEN pg_get_constraintdef(f.oid) LIKE '%% NOT ENFORCED' THEN '` + notEnforced + `'
    WHEN EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgconstraint = f.oid AND g.tgenabled <> 'O') THEN 'its triggers were switched'
    WHEN EXISTS (SELECT 1 FROM pg_constraint s WHERE s.conparentid = f.oid AND s.conrelid <> f.conrelid AND s.conname <> f.conname) THEN 'a partition has it under another name'
    WHEN NOT has_table_privilege(f.confrelid, 'REFERENCES') AND EXISTS (SELECT 1 FROM unnest(f.confkey) AS u(num) WHERE NOT has_column_privilege(f.confrelid, u.num, 'REFERENCES')) THEN 'the user may not refer to ' || r.relname
    ELSE ''
  END
FROM tree t JOIN pg_constraint f ON f.conrelid = t.rel AND f.contype = 'f'
JOIN pg_class c ON c.oid = t.rel JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class r ON r.oid = f.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
WHERE f.conparentid = 0 OR t.root = t.rel AND NOT EXISTS (SELECT 1 FROM pg_constraint s WHERE s.oid = f.conparentid AND s.conrelid = f.conrelid)`

	oneTable = "c.oid = to_regclass($1)"
)

// object is an index or constraint with what the catalog shows of it besides: a line of the
// journal, which must be enough to make it and to show it as if it were there.
type object struct {
	schema.Object
	Table     schema.Name `json:"table"`       // the one that has it, always with its schema
	Of        schema.Name `json:"of,omitzero"` // in the journal, the table that is loaded: a partition's parent
	Level     int         `json:"level"`       // 0 = the table's own; 1 and more = a partition's
	Whole     bool        `json:"whole"`       // of all rows and columns' values: a key that rows can be known by
	Unique    bool        `json:"unique,omitempty"`
	Columns   []string    `json:"columns"`
	Refers    schema.Name `json:"refers,omitzero"`
	ToColumns []string    `json:"to_columns,omitempty"`
	By        string      `json:"by_key,omitempty"` // the index that a foreign key relies on
}

// entries reads the indexes and constraints of the tables that where selects,
// by the oid of the table that they belong to, in an order in which they can be
// made. Definitions name everything with its schema, and so mean the same in
// every session.
func readObjects(ctx context.Context, c *pgconn.PgConn, own, where string, args ...any) (map[string][]object, error) {
	out := map[string][]object{}
	err := qualified(ctx, c, own, func() error {
		if _, err := query(ctx, c, fmt.Sprintf(selectIndexes, where), func(v [][]byte) error {
			e, err := indexObject(v)
			out[string(v[0])] = append(out[string(v[0])], e)
			return err
		}, args...); err != nil {
			return err
		}
		_, err := query(ctx, c, fmt.Sprintf(selectForeign, where), func(v [][]byte) error {
			out[string(v[0])] = append(out[string(v[0])], foreignObject(v))
			return nil
		}, args...)
		return err
	})
	for _, list := range out {
		inOrder(list)
		keepTogether(list)
	}
	return out, err
}

// qualified runs f in the open transaction with a search path in which the
// server must name everything with its schema.
func qualified(ctx context.Context, c *pgconn.PgConn, own string, f func() error) error {
	if _, err := run(ctx, c, "SET LOCAL search_path = ''"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	_, err := run(ctx, c, "SET LOCAL search_path = "+quote(own))
	return err
}

func indexObject(v [][]byte) (object, error) {
	e := object{Level: int(number(v[1])), Table: schema.Name{Schema: string(v[2]), Name: string(v[3])}, Unique: isTrue(v[9]), Whole: isTrue(v[10]), Columns: splitIdents(string(v[11]))}
	e.Object = schema.Object{Kind: schema.ObjectIndex, Name: string(v[5]), Definition: string(v[8]), Parent: isTrue(v[4]),
		PartOf: schema.Name{Schema: string(v[12]), Name: string(v[13])}, Tablespace: string(v[14]), Keep: string(v[16])}
	switch string(v[6]) {
	case "p":
		e.Kind, e.Constraint = schema.ObjectPrimary, string(v[7])
	case "u":
		e.Kind, e.Constraint = schema.ObjectUnique, string(v[7])
	}
	if e.Level > 0 {
		e.On = e.Table
	}
	err := json.Unmarshal(v[15], &e.Settings)
	if len(e.Settings) == 0 {
		e.Settings = nil
	}
	return e, err
}

func foreignObject(v [][]byte) object {
	e := object{Level: int(number(v[1])), Table: schema.Name{Schema: string(v[2]), Name: string(v[3])}, Refers: schema.Name{Schema: string(v[8]), Name: string(v[9])},
		Columns: splitIdents(string(v[10])), ToColumns: splitIdents(string(v[11])), By: string(v[14])}
	e.Object = schema.Object{Kind: schema.ObjectForeign, Name: string(v[5]), Definition: string(v[6]), Parent: isTrue(v[4]), Unvalidated: !isTrue(v[7]), Keep: string(v[15])}
	if e.Refers != e.Table {
		e.Needs = []schema.Name{e.Refers}
	}
	if isTrue(v[13]) {
		e.Settings = []string{string(v[12])}
	}
	if e.Level > 0 {
		e.On = e.Table
	}
	return e
}

// inOrder sorts into the order of making: what a table has before what its
// partitions have, foreign keys last.
func inOrder(list []object) {
	foreign := func(e object) int {
		if e.Kind == schema.ObjectForeign {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b object) int {
		return cmp.Or(cmp.Compare(foreign(a), foreign(b)), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Table.Schema, b.Table.Schema), cmp.Compare(a.Table.Name, b.Table.Name), cmp.Compare(a.Name, b.Name))
	})
}

// keepTogether leaves in place what an object that stays can't do without: the
// key under a foreign key, and all parts of an index of which one stays.
func keepTogether(list []object) {
	at := map[schema.Name]int{}
	for i, e := range list {
		if e.Kind != schema.ObjectForeign {
			at[e.index()] = i
		}
	}
	for _, f := range list {
		if f.Kind != schema.ObjectForeign || f.Keep == "" || f.By == "" {
			continue
		}
		if i, ok := at[schema.Name{Schema: f.Refers.Schema, Name: f.By}]; ok && list[i].Keep == "" {
			list[i].Keep = "foreign key " + f.Name + " stays and relies on it"
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range list {
			p, ok := at[list[i].PartOf]
			if !ok || list[i].PartOf.Name == "" {
				continue
			}
			for _, k := range [][2]int{{i, p}, {p, i}} {
				if from, to := &list[k[0]], &list[k[1]]; from.Keep != "" && to.Keep == "" {
					to.Keep, changed = "it is one with "+from.Name+", which stays", true
				}
			}
		}
	}
}

// index is the name of the index, which is in its table's schema.
func (e object) index() schema.Name { return schema.Name{Schema: e.Table.Schema, Name: e.Name} }
