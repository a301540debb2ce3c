package oracle

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"penstock/connectors"
	"penstock/internal/change"
)

const (
	sqlPoint = "SELECT current_scn, con_dbid, resetlogs_change# FROM v$database"
	// sqlNow needs EXECUTE on DBMS_FLASHBACK where V$DATABASE may not be seen.
	sqlNow = "SELECT dbms_flashback.get_system_change_number FROM dual"
)

// point is an SCN of a database's incarnation.
type point struct {
	scn       uint64
	dbid      uint64 // 0 where the user may not see V$DATABASE: then nobody compares
	resetlogs uint64
}

// snapshotPoint marks a position that stands behind every change committed at
// its SCN: changes have a smaller octet there.
const snapshotPoint = 0xFF

// position is the SCN, what puts it behind the changes of that SCN, and whose
// SCN it is.
func (p point) position() change.Position {
	b := binary.BigEndian.AppendUint64(nil, p.scn)
	b = append(b, snapshotPoint)
	b = binary.BigEndian.AppendUint64(b, p.dbid)
	return binary.BigEndian.AppendUint64(b, p.resetlogs)
}

func parsePoint(b change.Position) (point, error) {
	if len(b) != 25 || b[8] != snapshotPoint {
		return point{}, &connectors.Error{Class: connectors.LostPosition, Err: fmt.Errorf("%s is no point of an Oracle database", b), Hint: "Load the tables anew with --reload."}
	}
	return point{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[9:]), binary.BigEndian.Uint64(b[17:])}, nil
}

// readPoint asks for the SCN of now, and for the database's identity.
func readPoint(ctx context.Context, c *conn) (p point, err error) {
	err = c.all(ctx, sqlPoint, 3, func(row []driver.Value) (err error) {
		for i, to := range []*uint64{&p.scn, &p.dbid, &p.resetlogs} {
			if *to, err = unsigned(row[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || c.bad {
		return p, err
	}
	// V$DATABASE is hidden from this user, or says more than it may know.
	if e := c.all(ctx, sqlNow, 1, func(row []driver.Value) (err error) {
		p.scn, err = unsigned(row[0])
		return err
	}); e != nil {
		return p, &connectors.Error{Op: "read the SCN", Class: connectors.Permission, Err: errors.Join(err, e), Hint: "A DBA can allow it: GRANT SELECT ON SYS.V_$DATABASE TO the user (or EXECUTE ON SYS.DBMS_FLASHBACK)."}
	}
	return p, nil
}

// again checks that an earlier point is one of this database. Whether its undo is
// still there is found out by reading.
func (p point) again(now point) error {
	lost := func(format string, args ...any) error {
		return &connectors.Error{Class: connectors.LostPosition, Err: fmt.Errorf(format, args...), Hint: "Connect to the database that the load began with, or load its tables anew with --reload."}
	}
	switch {
	case p.dbid != 0 && now.dbid != 0 && p.dbid != now.dbid:
		return lost("the load began on the database with DBID %d, this one's is %d", p.dbid, now.dbid)
	case p.dbid != 0 && now.dbid != 0 && p.resetlogs != now.resetlogs:
		return lost("the database was opened with RESETLOGS since the load began")
	case p.scn > now.scn:
		return lost("the load reads at SCN %d, and the database is at %d", p.scn, now.scn)
	}
	return nil
}

// unsigned reads a whole NUMBER, which the driver gives as text.
func unsigned(v driver.Value) (uint64, error) {
	s, _ := v.(string)
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("the database answered %v where a whole number was asked for", v)}
	}
	return n, nil
}
