package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// logSettings are what a slot takes of the server, with what is left of it now. A
// slot that is there already takes none.
const logSettings = `SELECT current_setting('wal_level'),
  current_setting('max_replication_slots')::int, (SELECT count(*) FROM pg_replication_slots),
  current_setting('max_wal_senders')::int, (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'),
  EXISTS (SELECT 1 FROM pg_replication_slots WHERE slot_name = $1)`

// followable tells what keeps a pipeline from following the source's log.
func followable(ctx context.Context, c *pgconn.PgConn, s *source, u connectors.Use) (out []connectors.Finding, err error) {
	if !u.Stream {
		return nil, nil
	}
	slot := s.config.Slot
	if slot == "" {
		slot = "penstock_" + u.Pipeline
	}
	_, err = query(ctx, c, logSettings, func(r [][]byte) error {
		if level := string(r[0]); level != "logical" {
			out = append(out, connectors.Finding{Class: connectors.Fatal, What: fmt.Sprintf("wal_level is %s: the log lacks what a stream is read from. The server takes another level when it is started again.", level),
				Mend: []string{"ALTER SYSTEM SET wal_level = 'logical'"}})
		}
		for i, setting := range []string{"max_replication_slots", "max_wal_senders"} {
			limit, used := number(r[1+2*i]), number(r[2+2*i])
			if used < limit || i == 0 && isTrue(r[5]) {
				continue
			}
			out = append(out, connectors.Finding{Class: connectors.Fatal, What: fmt.Sprintf("All of %s = %d are in use, and a stream takes one. Drop one that nobody reads, or raise the setting, which takes effect when the server is started again.", setting, limit),
				Mend: []string{fmt.Sprintf("ALTER SYSTEM SET %s = %d", setting, used+1)}})
		}
		return nil
	}, slot)
	if err != nil {
		return nil, err
	}
	for _, f := range []func(context.Context, *pgconn.PgConn, *source, connectors.Use) ([]connectors.Finding, error){identities, published} {
		more, err := f(ctx, c, s, u)
		if err != nil {
			return out, err
		}
		out = append(out, more...)
	}
	return out, nil
}

const replicaIdentity = `SELECT c.relreplident, EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
FROM pg_class c WHERE c.oid = to_regclass($1) AND c.relkind = 'r'`

// identities tells of tables whose updates and deletes would fail at the source
// once they are published: nothing says which row they are of.
func identities(ctx context.Context, c *pgconn.PgConn, s *source, u connectors.Use) (out []connectors.Finding, err error) {
	for _, x := range u.Reads {
		table := full(s.config.Schema, x.Table.Name)
		if _, err := query(ctx, c, replicaIdentity, func(r [][]byte) error {
			identity, primary := string(r[0]), isTrue(r[1])
			if identity == "f" || identity == "i" || identity == "d" && primary {
				return nil
			}
			to := "FULL"
			if primary {
				to = "DEFAULT"
			}
			out = append(out, connectors.Finding{Class: connectors.Schema, What: fmt.Sprintf("Table %s has no replica identity: its updates and deletes would fail at the source while a publication has it.", x.Table.Name),
				Mend: []string{"ALTER TABLE " + table + " REPLICA IDENTITY " + to}})
			return nil
		}, table); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const (
	findPublication = "SELECT puballtables FROM pg_publication WHERE pubname = $1"
	inPublication   = "SELECT 1 FROM pg_publication_tables WHERE pubname = $1 AND schemaname = $2 AND tablename = $3"
	mayPublish      = "SELECT has_database_privilege(current_database(), 'CREATE') AND NOT EXISTS (SELECT 1 FROM unnest($1::text[]) t JOIN pg_class c ON c.oid = to_regclass(t) WHERE NOT pg_has_role(c.relowner, 'USAGE'))"
)

// published tells what the publication lacks. A user who may makes it.
func published(ctx context.Context, c *pgconn.PgConn, s *source, u connectors.Use) ([]connectors.Finding, error) {
	name := s.config.Publication
	if name == "" {
		name = "penstock_" + u.Pipeline
	}
	var tables []string
	for _, x := range u.Reads {
		tables = append(tables, full(s.config.Schema, x.Table.Name))
	}
	there, all := false, false
	if _, err := query(ctx, c, findPublication, func(r [][]byte) error { there, all = true, isTrue(r[0]); return nil }, name); err != nil || all {
		return nil, err
	}
	lacking := slices.Clone(tables)
	if there {
		lacking = nil
		for i, x := range u.Reads {
			has := false
			space := x.Table.Name.Schema
			if space == "" {
				space = s.config.Schema
			}
			if _, err := query(ctx, c, inPublication, func([][]byte) error { has = true; return nil }, name, space, x.Table.Name.Name); err != nil {
				return nil, err
			}
			if !has {
				lacking = append(lacking, tables[i])
			}
		}
	}
	if len(lacking) == 0 {
		return nil, nil
	}
	may := false
	if _, err := query(ctx, c, mayPublish, func(r [][]byte) error { may = isTrue(r[0]); return nil }, arrayOf(tables)); err != nil || may {
		return nil, err
	}
	list := strings.Join(lacking, ", ")
	f := connectors.Finding{Class: connectors.Permission, What: fmt.Sprintf("There is no publication %s, and the user %s may not make it: that takes CREATE on the database and the ownership of its tables.", name, s.config.User),
		Mend: []string{"CREATE PUBLICATION " + quote(name) + " FOR TABLE " + list}}
	if there {
		f.What = fmt.Sprintf("The publication %s lacks %s, and the user %s may not add to it.", name, list, s.config.User)
		f.Mend = []string{"ALTER PUBLICATION " + quote(name) + " ADD TABLE " + list}
	}
	return []connectors.Finding{f}, nil
}

// arrayOf writes texts as an array's text.
func arrayOf(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(t) + `"`
	}
	return "{" + strings.Join(out, ",") + "}"
}
