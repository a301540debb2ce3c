// Package all is the list of connectors that a penstock program has.
package all

import (
	"penstock/connectors"
	"penstock/connectors/delimited"
	"penstock/connectors/firebolt"
	"penstock/connectors/kafka"
	"penstock/connectors/oracle"
	"penstock/connectors/postgres"
	"penstock/connectors/sqlite"
	"penstock/connectors/sqlserver"
	"penstock/connectors/synthetic"
)

// Registry returns every connector of this build.
func Registry() *connectors.Registry {
	return connectors.NewRegistry(
		delimited.Definition(),
		firebolt.Definition(),
		kafka.Definition(),
		oracle.Definition(),
		postgres.Definition(),
		sqlite.Definition(),
		sqlserver.Definition(),
		synthetic.Definition(),
	)
}
