package oracletest

// The statements that package oracle sends, word for word: one that is changed
// there has to be changed here, with what it means.
const (
	sqlSession  = "ALTER SESSION SET TIME_ZONE = '+00:00' NLS_CALENDAR = 'GREGORIAN' NLS_NUMERIC_CHARACTERS = '.,' NLS_SORT = 'BINARY' NLS_COMP = 'BINARY'"
	sqlPoint    = "SELECT current_scn, con_dbid, resetlogs_change# FROM v$database"
	sqlNow      = "SELECT dbms_flashback.get_system_change_number FROM dual"
	sqlDual     = "SELECT 1 FROM dual"
	sqlSent     = "SELECT s.value FROM v$mystat s JOIN v$statname n ON n.statistic# = s.statistic# WHERE n.name = 'bytes sent via SQL*Net to client'"
	sqlVersion  = "SELECT version FROM product_component_version WHERE product LIKE 'Oracle%'"
	sqlBlocks   = "SELECT 1 FROM dba_extents WHERE 1 = 0"
	sqlSees     = "SELECT 1 FROM v$resource_limit WHERE 1 = 0"
	sqlLimits   = "SELECT UPPER(resource_name), current_utilization, TRIM(limit_value) FROM v$resource_limit WHERE resource_name IN ('processes', 'sessions') ORDER BY 1"
	sqlSettings = "SELECT 1 FROM v$parameter WHERE 1 = 0"
	sqlUndo     = "SELECT value FROM v$parameter WHERE name = 'undo_retention'"
	sqlMine     = "SELECT TRIM(limit) FROM user_resource_limits WHERE resource_name = 'SESSIONS_PER_USER'"
	sqlRandom   = "SELECT dbms_random.string('p', 3240) FROM dual"

	sqlExtents = `SELECT o.data_object_id, e.relative_fno, e.block_id, e.blocks
FROM dba_extents e LEFT JOIN all_objects o
  ON o.owner = e.owner AND o.object_name = e.segment_name AND o.object_type = e.segment_type
  AND NVL(o.subobject_name, '-') = NVL(e.partition_name, '-')
WHERE e.owner = :owner AND e.segment_name = :name
  AND e.segment_type IN ('TABLE', 'TABLE PARTITION', 'TABLE SUBPARTITION')
ORDER BY o.data_object_id, e.relative_fno, e.block_id`

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

// Dictionary are the statements that read no table of the user's.
func Dictionary() []string {
	return []string{sqlPoint, sqlNow, sqlDual, sqlVersion, sqlBlocks, sqlSees, sqlLimits, sqlMine, sqlSettings, sqlUndo, sqlSent, sqlRandom, sqlExtents, sqlTables, sqlViews, sqlColumns, sqlKeys, sqlIndexes}
}
