package sqlserver

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// grants are what reading takes: each table, and for changes the captured rows
// and the state of the capture. They follow Microsoft's documentation of each
// function and view; a gating role of a capture instance is the DBA's to name.
func grants(config any, u connectors.Use) []connectors.Statement {
	c := config.(*SourceConfig)
	var out []connectors.Statement
	give := func(what, comment string) {
		out = append(out, connectors.Statement{SQL: fmt.Sprintf("GRANT %s TO %s", what, quoted(c.User)), Comment: comment})
	}
	give("CONNECT", "for a user of the database, made for the login")
	for _, x := range u.Reads {
		give("SELECT ON "+tableName(x.Table.Name), "")
	}
	if u.Stream {
		give("SELECT ON SCHEMA::[cdc]", "the captured changes; the user must also be in the gating role of each capture instance that has one")
		give("VIEW DATABASE STATE", "how far the capture is")
	}
	return out
}

// quoted is an identifier: a closing bracket in it is doubled.
func quoted(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

func tableName(n schema.Name) string {
	if n.Schema == "" {
		return quoted(n.Name)
	}
	return quoted(n.Schema) + "." + quoted(n.Name)
}
