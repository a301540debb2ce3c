package postgres

import (
	"context"
	"errors"
	"strings"

	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// Queries of the catalog, each over all tables that a user has; oids tie them
// together. All names come as the server keeps them.
const (
	ofUsers = `c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'`

	// What a source shows: the rows of a partition come with its table.
	sourceTables = ofUsers + ` AND NOT c.relispartition`
	targetTables = ofUsers

	catalogTables = `SELECT c.oid, n.nspname, c.relname, c.relkind, ` + ofLeaves + `,
  coalesce(to_char(greatest(s.last_analyze, s.last_autoanalyze) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), ''), c.relreplident,
  (SELECT coalesce(string_agg(quote_ident(a.attname), ',' ORDER BY k.n), '') FROM pg_index x, unnest(x.indkey) WITH ORDINALITY AS k(col, n) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.col
   WHERE x.indrelid = c.oid AND k.n <= x.indnkeyatts AND CASE c.relreplident WHEN 'd' THEN x.indisprimary WHEN 'i' THEN x.indisreplident END)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
WHERE %s ORDER BY n.nspname, c.relname`

	// The rows and pages of a partitioned table are those of its partitions.
	ofLeaves = `CASE c.relkind WHEN 'p' THEN (SELECT coalesce(CASE WHEN min(l.reltuples) < 0 THEN -1 ELSE sum(l.reltuples) END, 0)::bigint FROM pg_partition_tree(c.oid) p JOIN pg_class l ON l.oid = p.relid WHERE p.isleaf) ELSE c.reltuples::bigint END,
  CASE c.relkind WHEN 'p' THEN (SELECT coalesce(sum(l.relpages), 0)::bigint FROM pg_partition_tree(c.oid) p JOIN pg_class l ON l.oid = p.relid WHERE p.isleaf) ELSE c.relpages::bigint END * current_setting('block_size')::bigint`

	// A type as format_type writes it, for columns a of type t. A domain is told
	// by its base type, which its values travel as; of a type that is not built in
	// the word before its name says what it is, which the name alone does not.
	typeName = `(WITH RECURSIVE b(oid, typmod) AS (SELECT t.oid, a.atttypmod UNION ALL
    SELECT d.typbasetype, CASE WHEN d.typtypmod >= 0 THEN d.typtypmod ELSE b.typmod END FROM b JOIN pg_type d ON d.oid = b.oid AND d.typtype = 'd')
  SELECT CASE WHEN y.typtype = 'e' THEN 'enum ' WHEN y.typtype = 'c' THEN 'composite ' WHEN y.typnamespace = 'pg_catalog'::regnamespace OR y.typcategory = 'A' THEN ''
    WHEN y.typtype IN ('r', 'm') THEN 'range ' ELSE 'type ' END || format_type(b.oid, b.typmod)
  FROM b JOIN pg_type y ON y.oid = b.oid WHERE y.typtype <> 'd')`

	catalogColumns = `SELECT c.oid, a.attname, ` + typeName + `,
  a.attnotnull OR t.typnotnull, a.attidentity <> '' OR a.attgenerated = '' AND pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', coalesce(col_description(c.oid, a.attnum), ''),
  a.attlen < 0 AND a.attstorage IN ('e', 'x'), EXISTS (SELECT FROM pg_collation l WHERE l.oid = a.attcollation AND NOT l.collisdeterministic)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE %s ORDER BY c.oid, a.attnum`
)

// catalogTries is how often the catalog is read when what is in it is dropped
// meanwhile.
const catalogTries = 5

// readCatalog reads the tables of users in one transaction. Those of the
// schema that names without one mean have none here either. which is a condition
// on them.
func readCatalog(ctx context.Context, c *pgconn.PgConn, own, which string) (cat *schema.Catalog, err error) {
	for range catalogTries {
		// The server's functions look at what is there now, and know nothing of a
		// table that the transaction's snapshot still shows.
		var pg *pgconn.PgError
		if cat, err = readOnce(ctx, c, own, which); !errors.As(err, &pg) || pg.Code != "XX000" {
			break
		}
	}
	return cat, err
}

func readOnce(ctx context.Context, c *pgconn.PgConn, own, which string) (*schema.Catalog, error) {
	if _, err := run(ctx, c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return nil, err
	}
	defer rollback(c)
	r := reading{own: own, source: which == sourceTables, at: map[string]int{}, whole: map[string]bool{}}
	for _, q := range []struct {
		sql  string
		each func([][]byte) error
	}{{catalogTables, r.table}, {catalogColumns, r.column}} {
		if _, err := query(ctx, c, strings.Replace(q.sql, "%s", which, 1), q.each); err != nil {
			return nil, err
		}
	}
	if err := r.beside(ctx, c, which); err != nil {
		return nil, err
	}
	if err := r.objects(ctx, c, which); err != nil {
		return nil, err
	}
	return &schema.Catalog{Kind: Kind, Tables: r.tables}, nil
}

// reading is a catalog on its way.
type reading struct {
	own    string
	target bool // of a target: with what a load may put off, and what the journal holds
	tables []schema.Table
	at     map[string]int  // by oid
	source bool            // of a source: with what its log holds
	whole  map[string]bool // by oid: old images hold all columns
}

func (r *reading) name(space, name []byte) schema.Name {
	if string(space) == r.own {
		return schema.Name{Name: string(name)}
	}
	return schema.Name{Schema: string(space), Name: string(name)}
}

// of finds a table by its oid; nil for one that is not shown.
func (r *reading) of(oid []byte) *schema.Table {
	i, ok := r.at[string(oid)]
	if !ok {
		return nil
	}
	return &r.tables[i]
}

func (r *reading) table(v [][]byte) error {
	t := schema.Table{Name: r.name(v[1], v[2])}
	if t.Name.Schema == "" && isStateTable(t.Name.Name) {
		return nil
	}
	switch string(v[3]) {
	case "r":
		t.Storage = storageHeap
	case "m":
		t.Storage, t.View = storageHeap, true
	case "p":
		t.Storage = storagePartitioned
	case "f":
		t.Storage = storageForeign
	case "v":
		t.View = true
	}
	// Before the first ANALYZE there is no count: -1.
	if n := number(v[4]); n >= 0 && !t.View {
		t.Stats = &schema.Statistics{Rows: n, Bytes: number(v[5]), Analyzed: string(v[6])}
	}
	if k := string(v[3]); r.source && (k == "r" || k == "p") {
		t.Log = &schema.Log{Old: splitIdents(string(v[8]))}
		r.whole[string(v[0])] = string(v[7]) == "f"
	}
	r.at[string(v[0])] = len(r.tables)
	r.tables = append(r.tables, t)
	return nil
}

func (r *reading) column(v [][]byte) error {
	t := r.of(v[0])
	if t == nil {
		return nil
	}
	c := schema.Column{Name: string(v[1]), Native: string(v[2]), Nullable: !isTrue(v[3]), Identity: isTrue(v[4]), Comment: string(v[5])}
	var err error
	if c.Type, err = (types{}).Parse(c.Native); err != nil {
		c.Type, c.Problem = schema.Type{}, err.Error()
	}
	c.Apart, c.Loose = r.source && isTrue(v[6]), r.source && isTrue(v[7])
	if r.whole[string(v[0])] {
		t.Log.Old = append(t.Log.Old, c.Name)
	}
	t.Columns = append(t.Columns, c)
	return nil
}

// splitIdents takes a list apart as quote_ident and commas made it.
func splitIdents(s string) []string {
	var out []string
	for s != "" {
		if s[0] != '"' {
			name, rest, _ := strings.Cut(s, ",")
			out, s = append(out, name), rest
			continue
		}
		end := 1
		for ; s[end] != '"' || end+1 < len(s) && s[end+1] == '"'; end++ {
			if s[end] == '"' {
				end++
			}
		}
		out = append(out, strings.ReplaceAll(s[1:end], `""`, `"`))
		s = strings.TrimPrefix(s[end+1:], ",")
	}
	return out
}
