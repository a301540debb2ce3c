package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// rollbackTime is how long a server may take to throw a transaction away before
// the session is closed instead.
const rollbackTime = 10 * time.Second

// failure gives an error of pgconn its class and hint. sql is what ran.
func failure(err error, sql string) error {
	var done *connectors.Error
	if errors.As(err, &done) {
		return err
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		class, hint := classify(pg.Code)
		return &connectors.Error{Class: class, Hint: hint, Err: serverError(pg, class, sql)}
	}
	class, hint := classifyClient(err)
	return &connectors.Error{Class: class, Hint: hint, Err: err}
}

// serverError is the server's message; a statement that failed for a reason
// that is not known here is shown with it.
func serverError(pg *pgconn.PgError, class connectors.Class, sql string) error {
	text := serverText(pg)
	if class == connectors.Fatal && sql != "" {
		text += fmt.Sprintf(", in %.200q", sql)
	}
	return &stateError{text: text, pg: pg}
}

// stateError is an error of the server with its SQLSTATE.
type stateError struct {
	text string
	pg   *pgconn.PgError
}

func (e *stateError) Error() string { return fmt.Sprintf("%s [%s]", e.text, e.pg.Code) }
func (e *stateError) Unwrap() error { return e.pg }

// classify says what the engine may do about a SQLSTATE, and what the operator should.
func classify(state string) (connectors.Class, string) {
	switch state {
	case "40001", "40P01": // a serialization failure, a deadlock
		return connectors.Transient, ""
	case "55P03":
		return connectors.Transient, "Another session holds a lock for longer than 30 seconds: see pg_locks, and end it."
	case "57P01", "57P02", "57P03", "57P05", "25P03", "57014": // shut down, crashed, starting, idle too long, cancelled
		return connectors.Transient, ""
	case "53300":
		return connectors.Transient, "The server has no connection left: lower `workers`, or raise max_connections."
	case "53100":
		return connectors.Full, "Free space on the server's disk, then run again."
	case "53200":
		return connectors.Full, "The server is out of memory: lower `workers`, or look at its settings."
	case "42501":
		return connectors.Permission, "Grant the user what the message names."
	case "28P01", "28000":
		return connectors.Permission, "Check `user`, `password` and the server's pg_hba.conf."
	case "3D000":
		return connectors.Permission, "There is no such database: check `database`."
	case "3F000":
		return connectors.Schema, "Create it first: CREATE SCHEMA, with USAGE and CREATE for the user; or check `schema`."
	case "25006":
		return connectors.Fatal, "The server takes no writes: it is a standby, or read only. Connect to the primary."
	case "22P03":
		return connectors.Schema, "A column's type is not the plan's: plan again."
	case "42P01", "42703", "42704", "42804", "42P10", "428C9", "42P07", "42710", "42P16":
		return connectors.Schema, "The database is not what the plan was made for: plan again."
	case "0A000":
		return connectors.Fatal, "The server can't do that to this table: for TRUNCATE of a table that others refer to, empty it by hand and load with existing = \"append\"."
	}
	switch state[:min(2, len(state))] {
	case "08":
		return connectors.Transient, ""
	case "22", "23":
		return connectors.Data, ""
	}
	return connectors.Fatal, ""
}

// classifyClient does the same for an error that no server sent.
func classifyClient(err error) (connectors.Class, string) {
	var (
		authority  x509.UnknownAuthorityError
		name       x509.HostnameError
		invalid    x509.CertificateInvalidError
		unverified *tls.CertificateVerificationError
		record     tls.RecordHeaderError
		network    net.Error
		connect    *pgconn.ConnectError
		stall      *stallError
	)
	switch {
	case errors.As(err, &stall):
		return connectors.Transient, ""
	case errors.As(err, &authority), errors.As(err, &name), errors.As(err, &invalid), errors.As(err, &unverified), errors.As(err, &record):
		return connectors.Permission, "The server's certificate was not accepted: name the authority that signed it with `tls_ca`, and the host as the certificate does."
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return connectors.Permission, "The server offers no TLS. Turn it on there (ssl = on), or write tls = \"off\" to send everything in the clear."
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return connectors.Transient, ""
	case errors.As(err, &connect):
		return connectors.Permission, "Check `host`, `port`, `user` and `password`."
	case strings.Contains(err.Error(), "conn closed"), strings.Contains(err.Error(), "unexpected EOF"):
		return connectors.Transient, ""
	}
	return connectors.Fatal, ""
}

// isLost reports an error after which nothing is known of the session's last
// statement: the session is gone.
func isLost(c *pgconn.PgConn, err error) bool {
	return err != nil && (c == nil || c.IsClosed()) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// orCancelled puts the context's error in place of one that it caused.
func orCancelled(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e := ctx.Err(); e != nil {
		return e
	}
	return failure(err, "")
}

// at adds what was being done, and to which table, to an error that has its class.
func at(op, table string, err error) error {
	var classed *connectors.Error // a time-out of ours, for one
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &classed) {
		return err
	}
	return &connectors.Error{Op: op, Table: table, Class: connectors.ClassOf(err), Err: err}
}
