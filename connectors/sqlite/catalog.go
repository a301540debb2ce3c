package sqlite

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"penstock/internal/schema"

	lite "modernc.org/sqlite/lib"
)

// How a table can be sought, in SQLite's words.
const (
	storageRowid        = "rowid"
	storageWithoutRowid = "without rowid"
)

// localCatalog reads a file that may not exist: that is an empty catalog.
// Nothing is created.
func localCatalog(ctx context.Context, path string, busy time.Duration) (*schema.Catalog, error) {
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return &schema.Catalog{Kind: Kind}, nil
	}
	c, err := openReader(ctx, path, timeout(busy))
	if err != nil {
		return nil, err
	}
	defer c.close()
	return readCatalog(ctx, c)
}

// Catalog reads the target's tables; a file that is not there yet has none.
func (t *target) Catalog(ctx context.Context) (*schema.Catalog, error) {
	return localCatalog(ctx, t.path, t.config.BusyTimeout)
}

// readCatalog reads all tables and views in one transaction.
func readCatalog(ctx context.Context, c *conn) (*schema.Catalog, error) {
	if !c.inTransaction() {
		if err := c.exec(ctx, "BEGIN"); err != nil {
			return nil, err
		}
		defer func() { _ = c.rollback() }()
	}
	type entry struct {
		name, kind, sql string
		withoutRowid    bool
	}
	var entries []entry
	if _, err := c.query(ctx, `SELECT l.name, l.type, l.wr, s.sql FROM pragma_table_list AS l JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY l.name`, nil, func(s *stmt) error {
		if !isStateTable(s.text(0)) {
			entries = append(entries, entry{s.text(0), s.text(1), s.text(3), s.int(2) != 0})
		}
		return nil
	}); err != nil {
		return nil, at("read the catalog", "", err)
	}
	stats, err := readStats(ctx, c)
	if err != nil {
		return nil, at("read the catalog", "", err)
	}
	cat := &schema.Catalog{Kind: Kind}
	for _, e := range entries {
		t := schema.Table{Name: schema.Name{Name: e.name}, View: e.kind == "view"}
		switch {
		case e.kind != "table": // a virtual table may have no rowid that can be sought
		case e.withoutRowid:
			t.Storage = storageWithoutRowid
		default:
			t.Storage = storageRowid
		}
		if err := readTable(ctx, c, &t, e.sql); err != nil {
			return nil, at("read the catalog of", e.name, err)
		}
		if n, ok := stats[e.name]; ok {
			t.Stats = &schema.Statistics{Rows: n}
		} else if t.Storage == storageRowid {
			if err := estimateRows(ctx, c, &t); err != nil {
				return nil, at("read the catalog of", e.name, err)
			}
		}
		cat.Tables = append(cat.Tables, t)
	}
	return cat, nil
}

// readStats reads the row counts that ANALYZE left, where it ever ran.
func readStats(ctx context.Context, c *conn) (map[string]int64, error) {
	stats, there := map[string]int64{}, false
	if _, err := c.query(ctx, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'", nil, func(*stmt) error { there = true; return nil }); err != nil || !there {
		return stats, err
	}
	_, err := c.query(ctx, "SELECT tbl, stat FROM sqlite_stat1 WHERE stat IS NOT NULL", nil, func(s *stmt) error {
		first, _, _ := strings.Cut(s.text(1), " ")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			// A partial index counts fewer rows than its table has.
			stats[s.text(0)] = max(n, stats[s.text(0)])
		}
		return nil
	})
	return stats, err
}

// estimateRows takes the span of rowids for the count: exact for a table that
// was only ever filled, too much where rows were deleted or keys are sparse.
func estimateRows(ctx context.Context, c *conn, t *schema.Table) error {
	rowid := rowidOf(t)
	if rowid == "" {
		return nil
	}
	lo, hi, some, err := rowidSpan(ctx, c, t.Name.Name, rowid)
	if err != nil {
		return err
	}
	t.Stats = &schema.Statistics{}
	if some {
		// Keys over the whole of 64 bits say nothing of the count.
		if span := uint64(hi) - uint64(lo) + 1; span != 0 && span < 1<<40 {
			t.Stats.Rows = int64(span)
		} else {
			t.Stats = nil
		}
	}
	return nil
}

func rowidSpan(ctx context.Context, c *conn, table, rowid string) (lo, hi int64, some bool, err error) {
	// Two statements: each is one seek; min and max in one are a scan.
	for i, f := range []string{"min", "max"} {
		_, err = c.query(ctx, "SELECT "+f+"("+rowid+") FROM "+quote(table), nil, func(s *stmt) error {
			some = s.storage(0) != lite.SQLITE_NULL
			if i == 0 {
				lo = s.int(0)
			} else {
				hi = s.int(0)
			}
			return nil
		})
		if err != nil {
			return 0, 0, false, err
		}
	}
	return lo, hi, some, nil
}

// rowidOf is a name by which the table's rowid can be read: one of SQLite's
// three that no column has taken, or "" when there is none left.
func rowidOf(t *schema.Table) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if t.Find(name) == nil {
			return name
		}
	}
	return ""
}

func readTable(ctx context.Context, c *conn, t *schema.Table, sql string) error {
	name := t.Name.Name
	def := parseDefinition(sql)
	type part struct {
		pos int64
		col string
	}
	var key []part
	notNull := map[string]bool{}
	if _, err := c.query(ctx, `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid`, []any{name}, func(s *stmt) error {
		hidden := s.int(5)
		if hidden == 1 { // of a virtual table: not part of SELECT *
			return nil
		}
		col := schema.Column{Name: s.text(0), Native: s.text(1), Nullable: s.int(2) == 0, Default: s.text(3)}
		if hidden > 1 {
			// SQLite appends these words to the declared type.
			col.Native = strings.TrimSpace(strings.TrimSuffix(col.Native, "GENERATED ALWAYS"))
			if col.Generated = def.generated[strings.ToLower(col.Name)]; col.Generated == "" {
				col.Generated = "?"
			}
		}
		var err error
		if col.Type, err = (types{}).Parse(col.Native); err != nil {
			col.Type, col.Problem = schema.Type{}, err.Error()
		}
		if pk := s.int(4); pk > 0 {
			key = append(key, part{pk, col.Name})
		}
		notNull[col.Name] = s.int(2) != 0
		t.Columns = append(t.Columns, col)
		return nil
	}); err != nil {
		return err
	}
	if len(key) > 0 {
		t.PrimaryKey = &schema.Key{Columns: make([]string, len(key))}
		for _, k := range key {
			t.PrimaryKey.Columns[k.pos-1] = k.col
		}
		// In a rowid table a primary key does not imply NOT NULL, except for
		// the one column that is the rowid itself.
		alias := len(key) == 1 && strings.EqualFold(t.Column(key[0].col).Native, "INTEGER")
		for _, k := range key {
			if alias || t.Storage == storageWithoutRowid {
				t.Column(k.col).Nullable = false
			}
		}
		if alias {
			t.Column(key[0].col).Identity = def.autoincrement
		}
	}
	if t.View {
		return nil
	}
	if err := readIndexes(ctx, c, t); err != nil {
		return err
	}
	return readForeignKeys(ctx, c, t)
}

func readIndexes(ctx context.Context, c *conn, t *schema.Table) error {
	type index struct {
		name, origin    string
		unique, partial bool
		columns         []string
		sql             string
	}
	var list []index
	if _, err := c.query(ctx, `SELECT l.name, l.origin, l."unique", l.partial, s.sql FROM pragma_index_list(?) AS l LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = l.name ORDER BY l.name`,
		[]any{t.Name.Name}, func(s *stmt) error {
			list = append(list, index{name: s.text(0), origin: s.text(1), unique: s.int(2) != 0, partial: s.int(3) != 0, sql: s.text(4)})
			return nil
		}); err != nil {
		return err
	}
	for _, x := range list {
		whole := true
		if _, err := c.query(ctx, "SELECT name FROM pragma_index_info(?) ORDER BY seqno", []any{x.name}, func(s *stmt) error {
			if s.storage(0) == lite.SQLITE_NULL { // an expression
				whole = false
				return nil
			}
			x.columns = append(x.columns, s.text(0))
			return nil
		}); err != nil {
			return err
		}
		if x.unique && !x.partial && whole && x.origin != "pk" {
			t.Unique = append(t.Unique, schema.Key{Name: x.name, Columns: x.columns})
		}
		if x.origin == "c" {
			t.Indexes = append(t.Indexes, schema.Index{Name: x.name, Unique: x.unique, Columns: x.columns, Definition: x.sql})
		}
	}
	return nil
}

func readForeignKeys(ctx context.Context, c *conn, t *schema.Table) error {
	last := int64(-1)
	_, err := c.query(ctx, `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq`, []any{t.Name.Name}, func(s *stmt) error {
		if id := s.int(0); id != last {
			last = id
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{References: schema.Name{Name: s.text(1)}})
		}
		k := &t.ForeignKeys[len(t.ForeignKeys)-1]
		k.Columns = append(k.Columns, s.text(2))
		if s.storage(3) != lite.SQLITE_NULL { // NULL: the other table's primary key
			k.ToColumns = append(k.ToColumns, s.text(3))
		}
		return nil
	})
	return err
}
