package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// server is how sessions of one pipeline are opened. It is never written down
// as a DSN: a password in one ends up in errors.
type server struct {
	connection Connection
	password   string
	tls        *tls.Config // nil: in the clear
	name       string      // "penstock/<pipeline>/": what the session's role is put behind
	settings   map[string]string
	patience   patience
	takes      int          // sessions that the plan takes, at most; 0: not known
	tell       func(string) // what a person should hear; may be nil
}

// Roles of sessions, the last part of their application_name.
const (
	roleControl = "control"
	roleLoad    = "load"
	roleFinish  = "finish"
	roleSource  = "source"
	roleRead    = "read"
	roleWatch   = "watch"
)

// maxSession is how long an application_name may be: the server cuts it where
// it cuts identifiers. Roles take up to 16 of it.
const maxSession = maxName - 16

// newServer resolves the password and reads the authority's certificates.
func newServer(c Connection, p patience, env connectors.Env) (*server, error) {
	// Escaped, no name is the beginning of another one's sessions, and the
	// server's cut and its question marks for what is not ASCII never apply.
	name := "penstock/" + url.PathEscape(env.Pipeline) + "/"
	if len(name) > maxSession {
		return nil, &connectors.Error{Op: "pipeline", Table: env.Pipeline, Class: connectors.Fatal,
			Err: fmt.Errorf("its name is too long to tell its sessions at the server by it"), Hint: "Give it a name of at most 36 letters and digits."}
	}
	s := &server{connection: c, name: name, patience: p, takes: env.Connections, tell: env.Tell, settings: map[string]string{
		"client_encoding":               "UTF8",
		"DateStyle":                     "ISO, YMD",
		"IntervalStyle":                 "postgres",
		"TimeZone":                      "UTC",
		"default_transaction_isolation": "read committed",
		"default_transaction_read_only": "off",
		"statement_timeout":             "0",
		"lock_timeout":                  "30s",
		// A source may pause while a chunk is open; for longer than this, locks
		// are not held.
		"idle_in_transaction_session_timeout": "5min",
		"idle_session_timeout":                "0",
		"tcp_user_timeout":                    "60s", // a client that is gone from the network
		// Compiling a batch's statement costs more than running it.
		"jit": "off",
		// How values are written and read that travel as text.
		"extra_float_digits": "3", "bytea_output": "hex", "lc_monetary": "C", "xmloption": "content", "standard_conforming_strings": "on",
	}}
	if !c.Password.IsZero() {
		v, err := env.Secrets.Resolve(c.Password)
		if err != nil {
			return nil, &connectors.Error{Op: "password of " + c.User, Class: connectors.Permission, Err: err}
		}
		s.password = v.Reveal()
	}
	if env.TLS != "off" && !isSocket(c.Host) {
		s.tls = &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12}
		if env.TLSCA != "" {
			pool, err := authority(env)
			if err != nil {
				return nil, err
			}
			s.tls.RootCAs = pool
		}
	}
	return s, nil
}

func isSocket(host string) bool { return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") }

func authority(env connectors.Env) (*x509.CertPool, error) {
	path := env.TLSCA
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, filepath.FromSlash(path))
	}
	pem, err := os.ReadFile(path)
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(pem) {
		err = fmt.Errorf("%s holds no certificate in PEM form", env.TLSCA)
	}
	if err != nil {
		return nil, &connectors.Error{Op: "tls_ca", Class: connectors.Permission, Err: err, Hint: "Name the file of the authority that signed the server's certificate."}
	}
	return pool, nil
}

// connect opens a session that is watched. more are settings beside those of
// every session.
func (s *server) connect(ctx context.Context, role string, more map[string]string) (*pgconn.PgConn, error) {
	conn, err := s.open(ctx, role, more)
	if err != nil {
		return nil, err
	}
	if err := s.watch(ctx, conn, role); err != nil {
		closeNow(conn)
		return nil, s.at("connect to", orCancelled(ctx, err))
	}
	return conn, nil
}

// open opens a session that nobody watches yet.
func (s *server) open(ctx context.Context, role string, more map[string]string) (*pgconn.PgConn, error) {
	c, err := s.config(role, more)
	if err != nil {
		return nil, err
	}
	l := &line{}
	c.BuildFrontend = l.frontend
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		return nil, s.at("connect to", s.crowded(orCancelled(ctx, err)))
	}
	conn.CustomData()[lineKey] = l
	return conn, nil
}

// crowded says in an error of a server that has no session left how many are
// needed.
func (s *server) crowded(err error) error {
	var pg *pgconn.PgError
	var e *connectors.Error
	if s.takes > 0 && errors.As(err, &pg) && pg.Code == "53300" && errors.As(err, &e) {
		e.Hint = fmt.Sprintf("The plan takes up to %d connections of it: write a lower `workers` in the pipeline, or raise max_connections (or the limit of the role or the database) at the server.", s.takes)
	}
	return err
}

// say tells a person what goes on.
func (s *server) say(text string) {
	if s.tell != nil {
		s.tell(text)
	}
}

// localBuffer is what the kernel holds of a unix socket's octets. Its own 208 KiB
// make a sender of megabytes wait, and be woken, so often that it costs a third
// of what sending does; TCP finds its size itself.
const localBuffer = 1 << 20

// config makes pgconn's configuration, which only its parser may make, and
// then replaces all that the parser took from this process's environment.
func (s *server) config(role string, more map[string]string) (*pgconn.Config, error) {
	c, err := pgconn.ParseConfig("sslmode=disable")
	if err != nil {
		return nil, &connectors.Error{Op: "connect", Class: connectors.Fatal, Err: err, Hint: "A PG... variable of the environment can't be read: unset it."}
	}
	at := s.connection
	c.Host, c.Port, c.Database, c.User, c.Password = at.Host, uint16(at.Port), at.Database, at.User, s.password
	c.TLSConfig, c.Fallbacks, c.ValidateConnect, c.AfterConnect = s.tls, nil, nil, nil
	c.KerberosSrvName, c.KerberosSpn, c.SSLNegotiation, c.ChannelBinding, c.RequireAuth = "", "", "", "prefer", ""
	c.ConnectTimeout = s.patience.connect
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 6}, Control: boundUnacknowledged}
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if local, ok := conn.(*net.UnixConn); ok {
			_ = local.SetWriteBuffer(localBuffer) // it would only be slower
		}
		return &watched{Conn: conn}, nil
	}
	c.RuntimeParams = maps.Clone(s.settings)
	c.RuntimeParams["application_name"] = s.name + role
	maps.Copy(c.RuntimeParams, more)
	return c, nil
}

// at names the database in an error that has its class.
func (s *server) at(op string, err error) error {
	return at(fmt.Sprintf("%s database %s on %s:%d as %s", op, s.connection.Database, s.connection.Host, s.connection.Port, s.connection.User), "", err)
}

// reconnect opens a session in place of a lost one, whose server process may not
// know yet that it is: until it does, it holds its locks.
func (s *server) reconnect(ctx context.Context, old *pgconn.PgConn, role string, more map[string]string) (*pgconn.PgConn, error) {
	c, err := s.connect(ctx, role, more)
	if err != nil || old == nil {
		return c, err
	}
	closeNow(old)
	if _, err := exec(ctx, c, endSession, int64(old.PID()), s.name+role); err != nil {
		closeNow(c)
		return nil, err
	}
	return c, nil
}

const endSession = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND pid <> pg_backend_pid() AND datname = current_database() AND usename = current_user AND application_name = $2"

// closeNow ends a session without waiting for what it was doing.
func closeNow(c *pgconn.PgConn) {
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = c.Close(ctx) // it is closed in any case
}
