package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"

	"github.com/sijms/go-ora/v2/network"
)

// sourceChecks follow Oracle's documentation of each view. What only a DBA may
// look at is left out for whom it is hidden: nothing that a plan needs is asked
// of those views.
var sourceChecks = []connectors.Check[connectors.Source]{
	onSource("version", "12.2 or later", false, version),
	onSource("privileges", "what plan --grants lists", false, privileges),
	onSource("undo", "that it is kept as long as an earlier run took, where the user may see the setting", true, undo),
	onSource("connections", "room for those of the plan", true, room),
}

func onSource(name, about string, momentary bool, f func(context.Context, *conn, *source, connectors.Use) ([]connectors.Finding, error)) connectors.Check[connectors.Source] {
	return connectors.Check[connectors.Source]{Name: name, About: about, Momentary: momentary, Run: func(ctx context.Context, e connectors.Source, u connectors.Use) ([]connectors.Finding, error) {
		s := e.(*source)
		c, err := s.server.connect(ctx, dictionaryFetch)
		if err != nil {
			return nil, err
		}
		defer c.close()
		out, err := f(ctx, c, s, u)
		return out, s.server.at("check "+name+" of", err)
	}}
}

const sqlVersion = "SELECT version FROM product_component_version WHERE product LIKE 'Oracle%'"

// version refuses servers whose dictionary lacks what is asked of it.
func version(ctx context.Context, c *conn, _ *source, _ connectors.Use) (out []connectors.Finding, err error) {
	err = c.all(ctx, sqlVersion, 1, func(row []driver.Value) error {
		v := text(row[0])
		first, rest, _ := strings.Cut(v, ".")
		second, _, _ := strings.Cut(rest, ".")
		major, err := strconv.Atoi(first)
		minor, _ := strconv.Atoi(second)
		if err == nil && (major < 12 || major == 12 && minor < 2) {
			out = append(out, connectors.Finding{Class: connectors.Fatal, What: "The database is Oracle " + v + "; Penstock needs 12.2 or later."})
		}
		return nil
	})
	return out, err
}

const sqlSeesExtents = "SELECT 1 FROM dba_extents WHERE 1 = 0"

// probeSQL reads nothing of a table: whether the user may, the database says as
// it parses the statement.
func probeSQL(n schema.Name, asOf string) string {
	return "SELECT 1 FROM " + tableName(n) + asOf + " WHERE 1 = 0"
}

// privileges tries what the load will do. The dictionary can't be asked: a right
// may come by a role, by a right to any table, or by being the owner.
func privileges(ctx context.Context, c *conn, s *source, u connectors.Use) (out []connectors.Finding, err error) {
	who := user(s.server.config.User)
	lacks := func(what, grant string) {
		out = append(out, connectors.Finding{Class: connectors.Permission, What: fmt.Sprintf("The user %s may not %s.", s.server.config.User, what), Mend: []string{"GRANT " + grant + " TO " + who}})
	}
	now, err := readPoint(ctx, c)
	if connectors.ClassOf(err) == connectors.Permission {
		lacks("read the current SCN", "SELECT ON SYS.V_$DATABASE")
	} else if err != nil {
		return nil, err
	}
	blocks := false
	for _, x := range u.Reads {
		n := x.Table.Name
		blocks = blocks || x.Split.Kind == connectors.SplitBlocks
		ok, err := c.may(ctx, probeSQL(n, ""))
		if err != nil {
			return out, err
		}
		if !ok {
			lacks("read "+n.String(), "SELECT, FLASHBACK ON "+tableName(n))
			continue
		}
		if now.scn == 0 { // told above
			continue
		}
		if ok, err = c.may(ctx, probeSQL(n, " AS OF SCN :scn"), int64(now.scn)); err != nil {
			return out, err
		}
		if !ok {
			lacks("read "+n.String()+" as of an SCN", "FLASHBACK ON "+tableName(n))
		}
	}
	if blocks {
		ok, err := c.may(ctx, sqlSeesExtents)
		if err != nil {
			return out, err
		}
		if !ok {
			lacks("see where the blocks of tables are; range { split = \"key\" } does without", "SELECT ON SYS.DBA_EXTENTS")
		}
	}
	return out, nil
}

// may reports whether the database runs a statement for this user.
func (c *conn) may(ctx context.Context, sql string, binds ...driver.Value) (bool, error) {
	q, err := c.query(ctx, sql, 1, binds...)
	if err == nil {
		err = q.next(ctx, func([]driver.Value) (bool, error) { return true, nil })
		q.close(ctx)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return true, nil
	}
	var o *network.OracleError
	if errors.As(err, &o) && isAnswer(err) {
		switch o.ErrCode {
		case 942, 1031, 41900: // no such table for this user; insufficient privileges
			return false, nil
		}
	}
	return false, failure(err)
}

const (
	sqlSeesLimits = "SELECT 1 FROM v$resource_limit WHERE 1 = 0"
	sqlLimits     = "SELECT UPPER(resource_name), current_utilization, TRIM(limit_value) FROM v$resource_limit WHERE resource_name IN ('processes', 'sessions') ORDER BY 1"
	sqlMine       = "SELECT TRIM(limit) FROM user_resource_limits WHERE resource_name = 'SESSIONS_PER_USER'"
)

// room compares the plan's connections with what the user's profile and, where
// the user may see it, the instance have left. The session that asks is given
// back before a run.
func room(ctx context.Context, c *conn, s *source, u connectors.Use) (out []connectors.Finding, err error) {
	if err := c.all(ctx, sqlMine, 1, func(row []driver.Value) error {
		if n, err := strconv.Atoi(text(row[0])); err == nil && n < u.Connections {
			out = append(out, connectors.Finding{Warning: true, What: fmt.Sprintf("The plan takes %d connections, and the profile of %s allows %d (SESSIONS_PER_USER). Lower `workers`, or have a DBA raise it in the profile.", u.Connections, s.server.config.User, n)})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	seen, err := c.may(ctx, sqlSeesLimits)
	if err != nil || !seen {
		return out, err
	}
	err = c.all(ctx, sqlLimits, 3, func(row []driver.Value) error {
		used := whole(row[1])
		limit, err := strconv.ParseInt(text(row[2]), 10, 64)
		if free := limit - used + 1; err == nil && free < int64(u.Connections) {
			name := text(row[0])
			out = append(out, connectors.Finding{Warning: true,
				What: fmt.Sprintf("The plan takes %d connections, and the instance has room for %d now (%s = %d). Lower `workers`, or raise it, which takes effect when the instance is started again.", u.Connections, max(0, free), name, limit),
				Mend: []string{fmt.Sprintf("ALTER SYSTEM SET %s = %d SCOPE = SPFILE", name, limit+int64(u.Connections)-free)}})
		}
		return nil
	})
	return out, err
}

const (
	sqlSeesSettings = "SELECT 1 FROM v$parameter WHERE 1 = 0"
	sqlUndo         = "SELECT value FROM v$parameter WHERE name = 'undo_retention'"
)

// undo holds the retention against the time that the load took before. Without
// an earlier run there is nothing to hold it against.
func undo(ctx context.Context, c *conn, _ *source, u connectors.Use) (out []connectors.Finding, err error) {
	if u.Took == 0 {
		return nil, nil
	}
	seen, err := c.may(ctx, sqlSeesSettings)
	if err != nil || !seen {
		return nil, err
	}
	err = c.all(ctx, sqlUndo, 1, func(row []driver.Value) error {
		kept, err := strconv.ParseInt(text(row[0]), 10, 64)
		if need := int64(u.Took.Seconds()) + 1; err == nil && kept < need {
			out = append(out, connectors.Finding{Warning: true,
				What: fmt.Sprintf("Undo is kept for %d s (undo_retention), and an earlier run took %d s: one that reads longer than undo is kept may end with ORA-01555.", kept, need),
				Mend: []string{fmt.Sprintf("ALTER SYSTEM SET UNDO_RETENTION = %d", need)}})
		}
		return nil
	})
	return out, err
}
