package postgres

import (
	"context"
	"fmt"
	"maps"

	"penstock/connectors"
	"penstock/internal/schema"
)

// source is an open source. It keeps no session of its own: a catalog is read
// on one that ends with it, and a snapshot has its own.
type source struct {
	server *server
	config SourceConfig
}

var _ connectors.Source = (*source)(nil)

// openSource connects once, so that what is wrong with the connection is told
// before anything else happens.
func (p patience) openSource(ctx context.Context, config any, env connectors.Env) (connectors.Source, error) {
	c := *config.(*SourceConfig)
	if c.Schema == "" {
		c.Schema = "public"
	}
	s, err := newServer(c.Connection, p, env)
	if err != nil {
		return nil, err
	}
	maps.Copy(s.settings, sourceSettings)
	s.settings["search_path"] = quote(c.Schema)
	conn, err := s.connect(ctx, roleSource, nil)
	if err != nil {
		return nil, err
	}
	closeNow(conn)
	return &source{server: s, config: c}, nil
}

// sourceSettings are those of every session that reads, beside or in place of
// those of every session.
var sourceSettings = map[string]string{
	"default_transaction_read_only": "on",
	// Rows that a policy hides would be missing at the target without a word;
	// with this, reading such a table is an error.
	"row_security": "off",
	// A reader is idle inside its transaction while its batches wait for room,
	// and the holder of the snapshot for as long as the load takes.
	"idle_in_transaction_session_timeout": "0",
	// A holder whose machine is gone would keep old rows from being vacuumed.
	"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3",
	"synchronize_seqscans": "off", // a table that is read whole comes in its order
}

// Catalog reads the tables and views of the database.
func (s *source) Catalog(ctx context.Context) (*schema.Catalog, error) {
	c, err := s.server.connect(ctx, roleSource, nil)
	if err != nil {
		return nil, err
	}
	defer closeNow(c)
	cat, err := readCatalog(ctx, c, s.config.Schema, sourceTables)
	if err != nil {
		return nil, s.server.at("read the catalog of", err)
	}
	return cat, nil
}

func (s *source) Close() error { return nil }

// placeOf names a database: a pipeline into its own source is refused.
func placeOf(c Connection) string { return fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database) }
