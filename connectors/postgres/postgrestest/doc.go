// Package postgrestest runs a real PostgreSQL server for tests: a cluster of
// its own in a temporary folder, reached by a unix socket alone.
package postgrestest
