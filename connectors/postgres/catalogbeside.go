package postgres

import (
	"context"
	"fmt"
	"strings"

	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// Queries of what columns and tables have beside types and keys; %s is as in
// those of the catalog. They run with a search path in which the server names
// all that is not its own with a schema: a text without a dot between two names
// means the same in every database.
const (
	catalogDefaults = `SELECT c.oid, a.attname, pg_get_expr(d.adbin, d.adrelid), a.attgenerated <> ''
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE %s`

	// The sequence of an identity column depends on it internally; one that a
	// default draws from, the default depends on. What a default makes of the
	// number is its own affair: such a column is not numbered by the sequence alone.
	catalogSequences = `SELECT c.oid, a.attname, a.attidentity, sn.nspname, s.relname, format_type(q.seqtypid, NULL), q.seqstart, q.seqincrement, q.seqmin, q.seqmax, q.seqcache, q.seqcycle,
  EXISTS (SELECT 1 FROM pg_depend o WHERE o.classid = 'pg_class'::regclass AND o.objid = s.oid AND o.refclassid = 'pg_class'::regclass AND o.refobjid = c.oid AND o.refobjsubid = a.attnum AND o.deptype = 'a'),
  CASE WHEN has_sequence_privilege(s.oid, 'USAGE, SELECT') THEN pg_sequence_last_value(s.oid) END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef e ON e.adrelid = c.oid AND e.adnum = a.attnum AND pg_get_expr(e.adbin, e.adrelid) ~ '^nextval\(''([^'']|'''')*''::regclass\)$'
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND (e.oid IS NULL AND a.attidentity <> '' AND d.classid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.refobjsubid = a.attnum AND d.deptype = 'i'
  OR d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid)
JOIN pg_class s ON s.relkind = 'S' AND s.oid = CASE WHEN e.oid IS NULL THEN d.objid ELSE d.refobjid END
JOIN pg_namespace sn ON sn.oid = s.relnamespace JOIN pg_sequence q ON q.seqrelid = s.oid WHERE %s`

	catalogComments = `SELECT c.oid, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE obj_description(c.oid, 'pg_class') IS NOT NULL AND %s`

	catalogColumnOther = `SELECT c.oid, a.attname, o.what FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid, LATERAL (
  SELECT 1 AS ord, 'domain ' || format_type(t.oid, NULL) AS what WHERE t.typtype = 'd'
  UNION ALL SELECT 2, 'collation ' || quote_ident(l.collname) FROM pg_collation l WHERE l.oid = a.attcollation AND a.attcollation <> t.typcollation
  UNION ALL SELECT 3, 'storage ' || CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'x' THEN 'EXTENDED' ELSE 'MAIN' END WHERE a.attstorage <> t.typstorage AND c.relkind <> 'v'
  UNION ALL SELECT 4, 'compression ' || CASE a.attcompression WHEN 'l' THEN 'lz4' ELSE 'pglz' END WHERE a.attcompression <> ''
  UNION ALL SELECT 5, 'statistics target ' || a.attstattarget WHERE a.attstattarget >= 0
  UNION ALL SELECT 6, 'option ' || x FROM unnest(a.attoptions) AS x) AS o
WHERE %s ORDER BY c.oid, a.attnum, o.ord, o.what`

	catalogTableOther = `SELECT c.oid, o.what FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, LATERAL (
  SELECT 1 AS ord, 'definition of the view: its rows go into a table' AS what WHERE c.relkind IN ('v', 'm')
  UNION ALL SELECT 1, 'partitioning by ' || pg_get_partkeydef(c.oid) || ': it becomes one table' WHERE c.relkind = 'p'
  UNION ALL SELECT 2, 'inheritance from ' || p.relname FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhparent WHERE h.inhrelid = c.oid AND NOT c.relispartition
  UNION ALL SELECT 2, 'inheritance by ' || p.relname || ': each table''s own rows come with it' FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhrelid WHERE h.inhparent = c.oid AND c.relkind = 'r'
  UNION ALL SELECT 3, 'check constraint ' || k.conname FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
  UNION ALL SELECT 4, 'trigger ' || g.tgname FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal
  UNION ALL SELECT 5, 'rule ' || w.rulename FROM pg_rewrite w WHERE w.ev_class = c.oid AND w.rulename <> '_RETURN'
  UNION ALL SELECT 6, 'policy ' || y.polname FROM pg_policy y WHERE y.polrelid = c.oid
  UNION ALL SELECT 6, 'row level security' WHERE c.relrowsecurity
  UNION ALL SELECT 7, 'statistics ' || x.stxname FROM pg_statistic_ext x WHERE x.stxrelid = c.oid
  UNION ALL SELECT 8, 'parameter ' || x FROM unnest(c.reloptions) AS x WHERE c.relkind <> 'v'
  UNION ALL SELECT 8, 'UNLOGGED' WHERE c.relpersistence = 'u'
  UNION ALL SELECT 8, 'tablespace ' || s.spcname FROM pg_tablespace s WHERE s.oid = c.reltablespace
  UNION ALL SELECT 8, 'replica identity ' || CASE c.relreplident WHEN 'f' THEN 'FULL' WHEN 'n' THEN 'NOTHING' ELSE 'USING INDEX' END WHERE c.relreplident IN ('f', 'i') OR c.relreplident = 'n' AND c.relkind IN ('r', 'p')) AS o
WHERE %s ORDER BY c.oid, o.ord, o.what`
)

// beside reads what the catalog holds beside types and keys.
func (r *reading) beside(ctx context.Context, c *pgconn.PgConn, which string) error {
	reads := []struct {
		sql  string
		each func(t *schema.Table, v [][]byte) error
	}{{catalogDefaults, r.defaultOf}, {catalogSequences, r.sequence}, {catalogComments, r.comment}}
	if which == sourceTables {
		reads = append(reads, []struct {
			sql  string
			each func(t *schema.Table, v [][]byte) error
		}{{catalogColumnOther, r.columnOther}, {catalogTableOther, r.tableOther}}...)
	}
	return qualified(ctx, c, r.own, func() error {
		for _, q := range reads {
			if _, err := query(ctx, c, strings.Replace(q.sql, "%s", which, 1), func(v [][]byte) error {
				if t := r.of(v[0]); t != nil {
					return q.each(t, v)
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *reading) defaultOf(t *schema.Table, v [][]byte) error {
	c := t.Column(string(v[1]))
	if isTrue(v[3]) {
		c.Generated = string(v[2])
	} else {
		c.Default = string(v[2])
	}
	return nil
}

func (r *reading) sequence(t *schema.Table, v [][]byte) error {
	c := t.Column(string(v[1]))
	s := &schema.Sequence{Name: r.name(v[3], v[4]), Type: string(v[5]), Start: number(v[6]), Increment: number(v[7]), Min: number(v[8]), Max: number(v[9]),
		Cache: number(v[10]), Cycle: isTrue(v[11]), Owned: isTrue(v[12])}
	switch string(v[2]) {
	case "a":
		s.Identity = schema.IdentityAlways
	case "d":
		s.Identity = schema.IdentityByDefault
	}
	if v[13] != nil {
		last := number(v[13])
		s.Last = &last
	}
	c.Sequence = s
	return nil
}

func (r *reading) comment(t *schema.Table, v [][]byte) error {
	t.Comment = string(v[1])
	return nil
}

func (r *reading) columnOther(t *schema.Table, v [][]byte) error {
	c := t.Column(string(v[1]))
	if c == nil {
		return fmt.Errorf("the catalog tells of a column %s of %s that it does not have", v[1], t.Name)
	}
	c.Other = append(c.Other, string(v[2]))
	return nil
}

func (r *reading) tableOther(t *schema.Table, v [][]byte) error {
	t.Other = append(t.Other, string(v[1]))
	return nil
}
