package oracle

import (
	"fmt"
	"strings"

	"penstock/connectors"
)

// logViews are what following the log reads, beside the packages of LogMiner.
var logViews = []string{
	"V_$DATABASE", "V_$THREAD", "V_$LOG", "V_$LOGFILE", "V_$LOG_HISTORY", "V_$ARCHIVED_LOG", "V_$ARCHIVE_DEST_STATUS",
	"V_$LOGMNR_LOGS", "V_$LOGMNR_CONTENTS", "V_$LOGMNR_PARAMETERS", "V_$TRANSACTION",
}

// grants are what reading takes: each table as of an SCN, the SCN itself, and
// for block ranges where the table's extents are. They follow Oracle's
// documentation of each view and clause.
func grants(config any, u connectors.Use) []connectors.Statement {
	c := config.(*SourceConfig)
	var out []connectors.Statement
	give := func(what, comment string) {
		out = append(out, connectors.Statement{SQL: fmt.Sprintf("GRANT %s TO %s", what, user(c.User)), Comment: comment})
	}
	give("CREATE SESSION", "")
	blocks := false
	for _, x := range u.Reads {
		give("SELECT, FLASHBACK ON "+tableName(x.Table.Name), "")
		blocks = blocks || x.Split.Kind == connectors.SplitBlocks
	}
	if !u.Stream {
		give("SELECT ON SYS.V_$DATABASE", "the current SCN")
	}
	if blocks {
		give("SELECT ON SYS.DBA_EXTENTS", "where a table's blocks are; without it, split by key")
	}
	if u.Stream {
		give("LOGMINING", "LogMiner and its packages")
		for _, v := range logViews {
			give("SELECT ON SYS."+v, "")
		}
		if strings.HasPrefix(strings.ToUpper(c.User), "C##") {
			give("SET CONTAINER", "a common user reads the log of the whole container database")
		}
	}
	return out
}

// user is a user's name as SQL: quoted where it is not one that Oracle folds.
func user(name string) string {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$#") == ""
	if plain && name != "" && !strings.ContainsAny(name[:1], "0123456789_$#") {
		return name
	}
	return `"` + name + `"`
}
