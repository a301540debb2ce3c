package oracle

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"

	"penstock/internal/schema"
)

// The dictionary is read through ALL_ views: what the user may not see is not
// there. Schemas that come with the database are left out.
const (
	sqlTables = `SELECT t.owner, t.table_name, t.num_rows, t.blocks, t.avg_row_len,
  TO_CHAR(t.last_analyzed, 'YYYY-MM-DD HH24:MI:SS'), t.iot_type, t.cluster_name, NVL2(x.table_name, 'YES', 'NO')
FROM all_tables t
  JOIN all_users u ON u.username = t.owner AND u.oracle_maintained = 'N'
  LEFT JOIN all_external_tables x ON x.owner = t.owner AND x.table_name = t.table_name
WHERE t.temporary = 'N' AND t.nested = 'NO' AND t.secondary = 'N' AND t.dropped = 'NO'
  AND (t.iot_type IS NULL OR t.iot_type = 'IOT')
ORDER BY t.owner, t.table_name`

	sqlViews = `SELECT v.owner, v.view_name
FROM all_views v JOIN all_users u ON u.username = v.owner AND u.oracle_maintained = 'N'
ORDER BY v.owner, v.view_name`

	sqlColumns = `SELECT c.owner, c.table_name, c.column_name, c.data_type, c.data_type_owner, c.data_length,
  c.data_precision, c.data_scale, c.char_length, c.char_used, c.nullable, c.identity_column, c.virtual_column
FROM all_tab_cols c JOIN all_users u ON u.username = c.owner AND u.oracle_maintained = 'N'
WHERE c.hidden_column = 'NO'
ORDER BY c.owner, c.table_name, c.column_id`

	sqlKeys = `SELECT c.owner, c.table_name, c.constraint_name, c.constraint_type, k.column_name, r.owner, r.table_name, r.constraint_name
FROM all_constraints c
  JOIN all_users u ON u.username = c.owner AND u.oracle_maintained = 'N'
  JOIN all_cons_columns k ON k.owner = c.owner AND k.constraint_name = c.constraint_name AND k.table_name = c.table_name
  LEFT JOIN all_constraints r ON r.owner = c.r_owner AND r.constraint_name = c.r_constraint_name
WHERE c.constraint_type IN ('P', 'U', 'R') AND c.status = 'ENABLED' AND c.validated = 'VALIDATED'
ORDER BY c.owner, c.table_name, c.constraint_name, k.position`

	sqlIndexes = `SELECT i.table_owner, i.table_name, i.index_name, i.uniqueness, k.column_name
FROM all_indexes i
  JOIN all_users u ON u.username = i.table_owner AND u.oracle_maintained = 'N'
  JOIN all_ind_columns k ON k.index_owner = i.owner AND k.index_name = i.index_name
WHERE i.index_type = 'NORMAL' AND NOT EXISTS (SELECT 1 FROM all_constraints c
  WHERE c.owner = i.table_owner AND c.table_name = i.table_name AND c.constraint_type = 'P' AND c.index_name = i.index_name)
ORDER BY i.table_owner, i.table_name, i.index_name, k.column_position`
)

// dictionary is a catalog that is being read.
type dictionary struct {
	tables []schema.Table
	at     map[schema.Name]int
}

func (d *dictionary) add(t schema.Table) {
	if quotable(t.Name.Schema) && quotable(t.Name.Name) {
		d.at[t.Name] = len(d.tables)
		d.tables = append(d.tables, t)
	}
}

func (d *dictionary) find(owner, name string) *schema.Table {
	if i, ok := d.at[schema.Name{Schema: owner, Name: name}]; ok {
		return &d.tables[i]
	}
	return nil
}

func readCatalog(ctx context.Context, c *conn) (*schema.Catalog, error) {
	d := &dictionary{at: map[schema.Name]int{}}
	for _, s := range []struct {
		sql   string
		width int
		take  func(row []driver.Value) error
	}{{sqlTables, 9, d.table}, {sqlViews, 2, d.view}, {sqlColumns, 13, d.column}, {sqlKeys, 8, d.key}, {sqlIndexes, 5, d.index}} {
		if err := c.all(ctx, s.sql, s.width, s.take); err != nil {
			return nil, err
		}
	}
	d.finish()
	return &schema.Catalog{Kind: "oracle", Tables: d.tables}, nil
}

func text(v driver.Value) string { s, _ := v.(string); return s }

func whole(v driver.Value) int64 { n, _ := strconv.ParseInt(text(v), 10, 64); return n }

func (d *dictionary) table(row []driver.Value) error {
	t := schema.Table{Name: schema.Name{Schema: text(row[0]), Name: text(row[1])}, Storage: storageHeap}
	switch {
	case text(row[8]) == "YES":
		t.Storage = storageExternal
	case text(row[6]) == "IOT":
		t.Storage = storageIOT
	case row[7] != nil:
		t.Storage = storageCluster
	}
	if row[2] != nil {
		t.Stats = &schema.Statistics{Rows: whole(row[2]), Bytes: whole(row[2]) * whole(row[4]), Analyzed: text(row[5])}
	}
	d.add(t)
	return nil
}

func (d *dictionary) view(row []driver.Value) error {
	d.add(schema.Table{Name: schema.Name{Schema: text(row[0]), Name: text(row[1])}, View: true})
	return nil
}

func (d *dictionary) column(row []driver.Value) error {
	t := d.find(text(row[0]), text(row[1]))
	if t == nil {
		return nil // of a synonym, a cluster or a table that is no one's to read
	}
	c := schema.Column{Name: text(row[2]), Native: nativeType(row), Nullable: text(row[10]) == "Y", Identity: text(row[11]) == "YES"}
	if text(row[12]) == "YES" {
		c.Generated = "virtual"
	}
	var err error
	if c.Type, err = (types{}).Parse(c.Native); err != nil {
		c.Problem = err.Error()
	}
	if !quotable(c.Name) {
		c.Type, c.Problem = schema.Type{}, "its name can't be quoted"
	}
	t.Columns = append(t.Columns, c)
	return nil
}

// nativeType composes a type of what ALL_TAB_COLS takes apart.
func nativeType(row []driver.Value) string {
	name, owner := text(row[3]), text(row[4])
	switch name {
	case "NUMBER":
		switch {
		case row[6] != nil && row[7] != nil && whole(row[7]) != 0:
			return fmt.Sprintf("NUMBER(%d,%d)", whole(row[6]), whole(row[7]))
		case row[6] != nil:
			return fmt.Sprintf("NUMBER(%d)", whole(row[6]))
		case row[7] != nil:
			return fmt.Sprintf("NUMBER(*,%d)", whole(row[7]))
		}
		return name
	case "FLOAT":
		return fmt.Sprintf("FLOAT(%d)", whole(row[6]))
	case "VARCHAR2", "CHAR":
		if text(row[9]) == "C" {
			return fmt.Sprintf("%s(%d CHAR)", name, whole(row[8]))
		}
		return fmt.Sprintf("%s(%d)", name, whole(row[5]))
	case "NVARCHAR2", "NCHAR":
		return fmt.Sprintf("%s(%d)", name, whole(row[8]))
	case "RAW", "UROWID":
		return fmt.Sprintf("%s(%d)", name, whole(row[5]))
	}
	if owner != "" {
		return owner + "." + name
	}
	return name
}

func (d *dictionary) key(row []driver.Value) error {
	t := d.find(text(row[0]), text(row[1]))
	if t == nil {
		return nil
	}
	name, column := text(row[2]), text(row[4])
	switch text(row[3]) {
	case "P":
		if t.PrimaryKey == nil {
			t.PrimaryKey = &schema.Key{Name: name}
		}
		t.PrimaryKey.Columns = append(t.PrimaryKey.Columns, column)
	case "U":
		if n := len(t.Unique); n == 0 || t.Unique[n-1].Name != name {
			t.Unique = append(t.Unique, schema.Key{Name: name})
		}
		k := &t.Unique[len(t.Unique)-1]
		k.Columns = append(k.Columns, column)
	case "R":
		to := schema.Name{Schema: text(row[5]), Name: text(row[6])}
		if to.Name == "" {
			return nil // of a table that the user may not see
		}
		if n := len(t.ForeignKeys); n == 0 || t.ForeignKeys[n-1].Name != name {
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{Name: name, References: to, ToColumns: []string{text(row[7])}})
		}
		k := &t.ForeignKeys[len(t.ForeignKeys)-1]
		k.Columns = append(k.Columns, column)
	}
	return nil
}

func (d *dictionary) index(row []driver.Value) error {
	t := d.find(text(row[0]), text(row[1]))
	if t == nil {
		return nil
	}
	name := text(row[2])
	if n := len(t.Indexes); n == 0 || t.Indexes[n-1].Name != name {
		t.Indexes = append(t.Indexes, schema.Index{Name: name, Unique: text(row[3]) == "UNIQUE"})
	}
	x := &t.Indexes[len(t.Indexes)-1]
	x.Columns = append(x.Columns, text(row[4]))
	return nil
}

// finish turns the keys that foreign keys refer to into their columns.
func (d *dictionary) finish() {
	for i := range d.tables {
		for j := range d.tables[i].ForeignKeys {
			k := &d.tables[i].ForeignKeys[j]
			key := k.ToColumns[0]
			k.ToColumns = nil
			to := d.find(k.References.Schema, k.References.Name)
			if to == nil {
				continue
			}
			if to.PrimaryKey != nil && to.PrimaryKey.Name == key {
				k.ToColumns = to.PrimaryKey.Columns
			}
			for _, u := range to.Unique {
				if u.Name == key {
					k.ToColumns = u.Columns
				}
			}
		}
	}
}
