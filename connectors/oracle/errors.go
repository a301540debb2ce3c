package oracle

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"penstock/connectors"

	"github.com/sijms/go-ora/v2/network"
)

// isAnswer reports an error that the database sent as its whole answer. After
// any other one, nothing is known of where in the stream a session stands.
func isAnswer(err error) bool {
	var o *network.OracleError
	return errors.As(err, &o) && !o.Bad()
}

// failure gives an error its class and hint.
func failure(err error) error {
	var done *connectors.Error
	if err == nil || errors.As(err, &done) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var o *network.OracleError
	if errors.As(err, &o) {
		class, hint := classify(o.ErrCode)
		text := strings.TrimSpace(o.ErrMsg)
		if text == "" {
			text = fmt.Sprintf("ORA-%05d", o.ErrCode)
		}
		return &connectors.Error{Class: class, Hint: hint, Err: errors.New(text)}
	}
	class, hint := classifyClient(err)
	if errors.Is(err, io.EOF) {
		// Whoever reads rows would take it for the end of them.
		err = errors.New("the server closed the connection")
	}
	return &connectors.Error{Class: class, Hint: hint, Err: err}
}

const (
	hintUndo   = "What the rows were at that SCN is overwritten. Raise UNDO_RETENTION (or set RETENTION GUARANTEE on the undo tablespace), then load the table anew with --reload."
	hintMoved  = "The table was altered, truncated, moved or shrunk after the load's SCN: load it anew with --reload, and leave it alone meanwhile."
	hintLogin  = "Check `user` and `password`."
	hintGrants = "Grant the user what it lacks: GRANT CREATE SESSION, and for each table GRANT SELECT, FLASHBACK ON it."
)

// classify says what the engine may do about an error of the database, and what
// the operator should.
func classify(code int) (connectors.Class, string) {
	switch code {
	case 1555, 22924, 1562:
		return connectors.LostPosition, hintUndo
	case 8180, 8181, 8182, 8183, 8184, 8185, 8186, 8187, 8188, 8189:
		return connectors.LostPosition, "That SCN is not of this database any more, or of another one. Load the tables anew with --reload."
	case 1466, 8103, 1410:
		return connectors.LostPosition, hintMoved
	case 1017, 1005, 1004, 28000, 28001, 28040, 1045, 28009, 1035:
		return connectors.Permission, hintLogin
	case 12505, 12514, 12504:
		return connectors.Permission, "Check `service` or `sid`: the listener knows none of that name."
	case 1031, 41900, 1720:
		return connectors.Permission, hintGrants
	case 942, 4043:
		return connectors.Schema, "There is no such table, or the user may not see it: GRANT SELECT, FLASHBACK ON it, or plan again."
	case 904, 932, 1445, 22816:
		return connectors.Schema, "The table is not what the plan was made for: plan again."
	case 1652, 1653, 1654, 4030, 4031, 4036, 1114:
		return connectors.Full, "The database is out of memory or of temporary space."
	case 18, 20, 12516, 12518, 12519, 12520:
		return connectors.Transient, "The database has no session left: lower `workers`, or raise PROCESSES."
	case 28, 54, 1012, 1013, 1033, 1034, 1089, 1090, 1092, 2396, 3113, 3114, 3135, 12170, 12528, 12537, 12541, 12547, 25408:
		return connectors.Transient, ""
	case 1401, 1722, 1830, 1839, 1841, 1843, 1858, 1861, 1878, 1426, 1457:
		return connectors.Data, ""
	}
	return connectors.Fatal, ""
}

// classifyClient does the same for an error that no database sent.
func classifyClient(err error) (connectors.Class, string) {
	var (
		authority  x509.UnknownAuthorityError
		name       x509.HostnameError
		invalid    x509.CertificateInvalidError
		unverified *tls.CertificateVerificationError
		record     tls.RecordHeaderError
		network    net.Error
	)
	switch {
	case errors.As(err, &authority), errors.As(err, &name), errors.As(err, &invalid), errors.As(err, &unverified):
		return connectors.Permission, "The server's certificate was not accepted: name the authority that signed it with `tls_ca`, and the host as the certificate does."
	case errors.As(err, &record):
		return connectors.Permission, "The listener's port speaks no TLS: name its TCPS port, or write tls = \"off\" to send everything in the clear."
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.As(err, &network):
		return connectors.Transient, ""
	}
	// What the driver could not make sense of is most often what is left of a
	// connection: a new one tells whether it is more.
	return connectors.Transient, "The driver did not understand the server. If it happens again, report it with the server's version."
}

// at adds what was being done, and to which table, to an error that has its class.
func at(op, table string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &connectors.Error{Op: op, Table: table, Class: connectors.ClassOf(err), Err: err}
}
