package postgres

import (
	"context"
	"strings"

	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// Queries of the catalog, each over all tables that a user has; oids tie them
// together. All names come as the server keeps them.
const (
	ofUsers = `c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'`

	catalogTables = `SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples::bigint, c.relpages::bigint * current_setting('block_size')::bigint,
  coalesce(to_char(greatest(s.last_analyze, s.last_autoanalyze) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
WHERE ` + ofUsers + ` ORDER BY n.nspname, c.relname`

	// A domain is told by its base type, which its values travel as.
	catalogColumns = `SELECT c.oid, a.attname,
  CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE a.atttypmod END) ELSE format_type(a.atttypid, a.atttypmod) END,
  a.attnotnull OR t.typnotnull, coalesce(pg_get_expr(d.adbin, d.adrelid), ''), a.attidentity <> '' OR a.attgenerated = '' AND pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', a.attgenerated <> '', coalesce(col_description(c.oid, a.attnum), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE ` + ofUsers + ` ORDER BY c.oid, a.attnum`
)

// readCatalog reads the tables of users in one transaction. Those of the
// schema that names without one mean have none here either.
func readCatalog(ctx context.Context, c *pgconn.PgConn, own string) (*schema.Catalog, error) {
	if _, err := run(ctx, c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return nil, err
	}
	defer rollback(c)
	r := reading{own: own, at: map[string]int{}}
	for _, q := range []struct {
		sql  string
		each func([][]byte) error
	}{{catalogTables, r.table}, {catalogColumns, r.column}} {
		if _, err := query(ctx, c, q.sql, q.each); err != nil {
			return nil, err
		}
	}
	if err := r.objects(ctx, c); err != nil {
		return nil, err
	}
	return &schema.Catalog{Kind: Kind, Tables: r.tables}, nil
}

// reading is a catalog on its way.
type reading struct {
	own    string
	tables []schema.Table
	at     map[string]int // by oid
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
	r.at[string(v[0])] = len(r.tables)
	r.tables = append(r.tables, t)
	return nil
}

func (r *reading) column(v [][]byte) error {
	t := r.of(v[0])
	if t == nil {
		return nil
	}
	c := schema.Column{Name: string(v[1]), Native: string(v[2]), Nullable: !isTrue(v[3]), Default: string(v[4]), Identity: isTrue(v[5]), Comment: string(v[7])}
	if isTrue(v[6]) {
		c.Generated, c.Default = c.Default, ""
	}
	var err error
	if c.Type, err = (types{}).Parse(c.Native); err != nil {
		c.Type, c.Problem = schema.Type{}, err.Error()
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
