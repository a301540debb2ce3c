package postgres

import (
	"context"
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// need is something that the user must be allowed to do: as a statement that
// grants it, and as the expression by which the server says whether it is.
// Grants and the check of privileges are made of the same needs.
type need struct {
	what  string // "insert into public.t"
	has   string // an SQL expression: true when the user may
	grant string
	space string // the schema that it is about, which may not be there
}

// full is a name with its schema, as SQL.
func full(home string, n schema.Name) string {
	if n.Schema == "" {
		n.Schema = home
	}
	return quote(n.Schema) + "." + quote(n.Name)
}

func connectNeed(c Connection) need {
	return need{what: "connect to database " + c.Database, has: "true", grant: fmt.Sprintf("GRANT CONNECT ON DATABASE %s TO %s", quote(c.Database), quote(c.User))}
}

func schemaNeed(user, space, privilege string) need {
	what := map[string]string{"USAGE": "use schema ", "CREATE": "create tables in schema "}[privilege] + space
	return need{what: what, space: space,
		has:   fmt.Sprintf("coalesce((SELECT has_schema_privilege(oid, '%s') FROM pg_namespace WHERE nspname = %s), false)", privilege, literal(space)),
		grant: fmt.Sprintf("GRANT %s ON SCHEMA %s TO %s", privilege, quote(space), quote(user))}
}

// tableNeed is true for a table that is not there: who makes it owns it.
func tableNeed(user, table, privilege string) need {
	return need{what: strings.ToLower(privilege) + " " + table,
		has:   fmt.Sprintf("coalesce(has_table_privilege(to_regclass(%s), '%s'), true)", literal(table), privilege),
		grant: fmt.Sprintf("GRANT %s ON %s TO %s", privilege, table, quote(user))}
}

// targetNeeds are what a load takes. stateThere leaves out the making of
// Penstock's own tables; offline it is false.
func targetNeeds(c *TargetConfig, u connectors.Use, stateThere bool) []need {
	out := []need{connectNeed(c.Connection)}
	names := []schema.Name{{}}
	for _, l := range u.Loads {
		names = append(names, l.Table)
	}
	spaces := connectors.Schemas(c.Schema, names)
	for _, s := range spaces {
		out = append(out, schemaNeed(c.User, s, "USAGE"))
	}
	for i, s := range spaces {
		makes := i == 0 && !stateThere
		for _, l := range u.Loads {
			makes = makes || l.Create && !u.State.Knows(l) && connectors.Schemas(c.Schema, []schema.Name{l.Table})[0] == s
		}
		if makes {
			out = append(out, schemaNeed(c.User, s, "CREATE"))
		}
	}
	if stateThere {
		for _, t := range stateNames() {
			for _, p := range []string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
				out = append(out, tableNeed(c.User, full(c.Schema, schema.Name{Name: t}), p))
			}
		}
	}
	for _, l := range u.Loads {
		out = append(out, loadNeeds(c, l, u.Durable)...)
	}
	if c.Triggers == "skip" {
		out = append(out, need{what: "set session_replication_role", has: "has_parameter_privilege('session_replication_role', 'SET')",
			grant: "GRANT SET ON PARAMETER session_replication_role TO " + quote(c.User)})
	}
	return out
}

// stateNames are the names of Penstock's own tables.
func stateNames() []string {
	var out []string
	for _, s := range stateTables {
		if rest, ok := strings.CutPrefix(s, "CREATE TABLE IF NOT EXISTS "); ok {
			name, _, _ := strings.Cut(rest, " ")
			out = append(out, name)
		}
	}
	return out
}

// loadNeeds are those of one table that is there.
func loadNeeds(c *TargetConfig, l connectors.Load, durable bool) []need {
	if l.Create {
		return nil // the user's own
	}
	table := full(c.Schema, l.Table)
	out := []need{tableNeed(c.User, table, "INSERT"), tableNeed(c.User, table, "SELECT")}
	// A load whose point dies with its session is emptied and begun anew.
	if l.Existing == connectors.ExistingTruncate || l.Existing == connectors.ExistingError && !durable {
		out = append(out, tableNeed(c.User, table, "TRUNCATE"))
	}
	if l.Indexes == "defer" {
		out = append(out, need{what: "be the owner of " + table + ", whose indexes are dropped and made again",
			has:   fmt.Sprintf("coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(%s)), true)", literal(table)),
			grant: fmt.Sprintf("ALTER TABLE %s OWNER TO %s", table, quote(c.User))})
	}
	for _, col := range l.Columns {
		if col.Numbered {
			sequence := fmt.Sprintf("pg_get_serial_sequence(%s, %s)", literal(table), literal(col.Name))
			out = append(out, need{what: "move the sequence of " + table + "." + col.Name,
				has:   fmt.Sprintf("coalesce(has_sequence_privilege(%s, 'UPDATE') AND has_sequence_privilege(%s, 'USAGE'), true)", sequence, sequence),
				grant: fmt.Sprintf("DO $$ BEGIN EXECUTE 'GRANT USAGE, UPDATE ON SEQUENCE ' || %s || %s; END $$", sequence, literal(" TO "+quote(c.User)))})
		}
	}
	return out
}

// sourceNeeds are what reading takes.
func sourceNeeds(c *SourceConfig, u connectors.Use) []need {
	out := []need{connectNeed(c.Connection)}
	var names []schema.Name
	for _, x := range u.Reads {
		names = append(names, x.Table.Name)
	}
	for _, s := range connectors.Schemas(c.Schema, names) {
		out = append(out, schemaNeed(c.User, s, "USAGE"))
	}
	for _, x := range u.Reads {
		out = append(out, tableNeed(c.User, full(c.Schema, x.Table.Name), "SELECT"))
		if x.Table.Storage == storagePartitioned {
			out = append(out, partitionsNeed(c.User, full(c.Schema, x.Table.Name)))
		}
	}
	if u.Stream {
		out = append(out, need{what: "use a replication slot", has: "(SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user)", grant: "ALTER ROLE " + quote(c.User) + " REPLICATION"}, publishNeed(c, u))
	}
	return out
}

// partitionsNeed is for the partitions of a table: each is read by itself, and a
// right to the table is none to them. Which they are, only the server knows.
func partitionsNeed(user, table string) need {
	return need{what: "select the partitions of " + table,
		has: fmt.Sprintf("coalesce((SELECT bool_and(has_table_privilege(relid, 'SELECT')) FROM pg_partition_tree(to_regclass(%s)) WHERE isleaf), true)", literal(table)),
		grant: fmt.Sprintf("DO $$ DECLARE part regclass; BEGIN FOR part IN SELECT relid FROM pg_partition_tree(to_regclass(%s)) WHERE isleaf LOOP EXECUTE 'GRANT SELECT ON ' || part || %s; END LOOP; END $$",
			literal(table), literal(" TO "+quote(user)))}
}

// publishNeed is true where the publication is there: only the owner of tables
// can publish them, so a DBA makes it for a user that is not.
func publishNeed(c *SourceConfig, u connectors.Use) need {
	s := streamOf(u)
	oids := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		oids[i] = "to_regclass(" + literal(full(c.Schema, t.Table.Name)) + ")"
	}
	name := c.publicationOf(u.Pipeline)
	return need{what: "publish the tables as " + name,
		has: fmt.Sprintf("EXISTS (SELECT 1 FROM pg_publication WHERE pubname = %s) OR has_database_privilege(current_database(), 'CREATE') AND coalesce((SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class WHERE oid = ANY (ARRAY[%s]::oid[])), true)",
			literal(name), strings.Join(oids, ", ")),
		grant: c.createPublication(s)}
}

// grants writes needs as statements, those of one kind and object together.
func grants(needs []need) []connectors.Statement {
	var out []connectors.Statement
	for _, n := range needs {
		last := len(out) - 1
		if last >= 0 {
			// GRANT a ON x TO u; GRANT b ON x TO u: one statement.
			p, rest, ok := strings.Cut(strings.TrimPrefix(n.grant, "GRANT "), " ON ")
			lp, lrest, lok := strings.Cut(strings.TrimPrefix(out[last].SQL, "GRANT "), " ON ")
			if ok && lok && rest == lrest && strings.HasPrefix(n.grant, "GRANT ") {
				out[last].SQL = "GRANT " + lp + ", " + p + " ON " + rest
				continue
			}
		}
		out = append(out, connectors.Statement{SQL: n.grant})
	}
	return out
}

// lacking asks the server for needs and gives those that are not so. What lies
// in a schema can't be asked for without the use of it, so where a schema is
// lacking it is all that is told.
func lacking(ctx context.Context, c *pgconn.PgConn, needs []need) ([]need, error) {
	var spaces, rest []need
	for _, n := range needs {
		if n.space != "" {
			spaces = append(spaces, n)
		} else {
			rest = append(rest, n)
		}
	}
	for _, list := range [][]need{spaces, rest} {
		if out, err := unmet(ctx, c, list); err != nil || out != nil {
			return out, err
		}
	}
	return nil, nil
}

func unmet(ctx context.Context, c *pgconn.PgConn, needs []need) ([]need, error) {
	has := make([]string, len(needs))
	for i, n := range needs {
		has[i] = n.has
	}
	var out []need
	_, err := query(ctx, c, "SELECT "+strings.Join(has, ", "), func(r [][]byte) error {
		for i, v := range r {
			if !isTrue(v) {
				out = append(out, needs[i])
			}
		}
		return nil
	})
	return out, err
}
