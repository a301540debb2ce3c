package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// streamOf is the stream of a pipeline, as a plan's checks know it: with the
// tables' own keys.
func streamOf(u connectors.Use) connectors.ChangeStream {
	s := connectors.ChangeStream{Pipeline: u.Pipeline}
	for _, x := range u.Reads {
		s.Tables = append(s.Tables, connectors.ChangeTable{Table: x.Table, Key: x.Table.DefaultKey()})
	}
	return s
}

// followable tells what keeps the tables of a stream from being followed: the
// server's settings, the tables' identities, a publication or a slot that is there.
func (c *SourceConfig) followable(ctx context.Context, conn *pgconn.PgConn, u connectors.Use) ([]connectors.Finding, error) {
	s := streamOf(u)
	out, err := c.logFindings(ctx, conn, u.Pipeline)
	if err != nil {
		return nil, err
	}
	more, err := c.identities(ctx, conn, s)
	if err != nil {
		return nil, err
	}
	out = append(out, more...)
	p, err := c.readPublication(ctx, conn, u.Pipeline)
	if err != nil {
		return nil, err
	}
	have, err := readSlot(ctx, conn, c.slotOf(u.Pipeline))
	if err != nil {
		return nil, err
	}
	if p.there && (have.there || !p.ours) { // else a run adds what is lacking
		out = append(out, p.findings(c, s)...)
	}
	if t := have.trouble(); have.there && t != "" {
		out = append(out, connectors.Finding{Class: connectors.LostPosition, Warning: !have.lost(), What: strings.ToUpper(t[:1]) + t[1:] + "."})
	}
	return out, nil
}

// selectIdentity gives for a table, or each partition of one, what the log tells
// of a row that is updated or deleted.
const selectIdentity = `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relreplident, c.relpersistence, c.relkind,
  coalesce((SELECT string_agg(quote_ident(a.attname), ',') FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = c.oid AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident ELSE false END), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass($1) OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass($1)) WHERE isleaf)`

// identities tells of tables whose updates and deletes could not be followed. A
// table that has no identity must not be published at all: the server then
// refuses every update and delete of it, of anybody.
func (c *SourceConfig) identities(ctx context.Context, conn *pgconn.PgConn, s connectors.ChangeStream) (out []connectors.Finding, err error) {
	for _, t := range s.Tables {
		name, there := full(c.Schema, t.Table.Name), false
		if _, err := query(ctx, conn, selectIdentity, func(r [][]byte) error {
			there = true
			if f := identity(t, r); f != nil {
				out = append(out, *f)
			}
			return nil
		}, name); err != nil {
			return nil, err
		}
		if !there {
			out = append(out, connectors.Finding{Class: connectors.Schema, What: fmt.Sprintf("There is no table %s.", t.Table.Name)})
		}
	}
	return out, nil
}

// identity judges one table or partition.
func identity(t connectors.ChangeTable, r [][]byte) *connectors.Finding {
	name, how, persistence, kind, columns := string(r[0]), string(r[1]), string(r[2]), string(r[3]), splitIdents(string(r[4]))
	mend := []string{"ALTER TABLE " + name + " REPLICA IDENTITY FULL"}
	switch {
	case kind == "p": // its partitions are looked at
		return nil
	case kind != "r":
		return &connectors.Finding{Class: connectors.Schema, What: fmt.Sprintf("%s is no table of its own: the log holds no changes of it. Follow the tables that it is made of.", name)}
	case persistence != "p":
		return &connectors.Finding{Class: connectors.Schema, What: fmt.Sprintf("Table %s is unlogged or temporary: the log holds no changes of it.", name), Mend: []string{"ALTER TABLE " + name + " SET LOGGED"}}
	case how == "f":
		return nil
	case len(columns) == 0:
		return &connectors.Finding{Class: connectors.Schema, Mend: mend,
			What: fmt.Sprintf("Table %s has no replica identity: once it is published the server refuses every UPDATE and DELETE of it. With a unique index over columns that are not null, REPLICA IDENTITY USING INDEX costs less log than FULL.", name)}
	}
	for _, k := range t.Key {
		if !slices.Contains(columns, k) {
			return &connectors.Finding{Class: connectors.Schema, Mend: mend,
				What: fmt.Sprintf("The replica identity of %s is (%s), and the pipeline's key has column %s: deletes and changes of the key could not be told by it.", name, strings.Join(columns, ", "), k)}
		}
	}
	return nil
}

const serverLog = `SELECT current_setting('wal_level'), pg_is_in_recovery(),
  current_setting('max_replication_slots')::int - (SELECT count(*) FROM pg_replication_slots), current_setting('max_wal_senders')::int - (SELECT count(*) FROM pg_stat_replication),
  current_setting('max_replication_slots'), current_setting('max_wal_senders'), EXISTS (SELECT 1 FROM pg_replication_slots WHERE slot_name = $1)`

// logFindings tells what keeps the server from giving its log.
func (c *SourceConfig) logFindings(ctx context.Context, conn *pgconn.PgConn, pipeline string) (out []connectors.Finding, err error) {
	_, err = query(ctx, conn, serverLog, func(r [][]byte) error {
		if l := string(r[0]); l != "logical" {
			out = append(out, connectors.Finding{Class: connectors.Schema, What: "wal_level is " + l + ": the log does not hold what a reader needs. It takes a restart of the server.", Mend: []string{"ALTER SYSTEM SET wal_level = logical"}})
		}
		if isTrue(r[1]) {
			out = append(out, connectors.Finding{Class: connectors.Schema, What: "The server is a standby. Follow the primary."})
		}
		if number(r[2]) <= 0 && !isTrue(r[6]) {
			out = append(out, connectors.Finding{Class: connectors.Schema, What: "All max_replication_slots = " + string(r[4]) + " are taken, and a stream takes one. Drop one that nobody reads (pg_replication_slots), or raise the setting, which takes effect when the server is started again.",
				Mend: []string{fmt.Sprintf("ALTER SYSTEM SET max_replication_slots = %d", number(r[4])+1)}})
		}
		if number(r[3]) <= 0 && !isTrue(r[6]) {
			out = append(out, connectors.Finding{Class: connectors.Transient, What: "All max_wal_senders = " + string(r[5]) + " are taken. A setting that is raised takes effect when the server is started again.",
				Mend: []string{fmt.Sprintf("ALTER SYSTEM SET max_wal_senders = %d", number(r[5])+1)}})
		}
		return nil
	}, c.slotOf(pipeline))
	return out, err
}
