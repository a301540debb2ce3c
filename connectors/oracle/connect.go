package oracle

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"penstock/connectors"

	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/configurations"
)

// server is how sessions are opened. It is never written down as a DSN: go-ora
// prints the password of one that it can't parse.
type server struct {
	config   SourceConfig
	password string
	tls      *tls.Config // nil: in the clear
	program  string      // what sessions call themselves, V$SESSION.PROGRAM
	wire     *counters   // nil: nobody counts
}

const (
	connectTime = 30 * time.Second
	// silence is how long a server may say nothing while it is asked something.
	// Its first row of a chunk may take a full scan and a sort.
	silence = 15 * time.Minute
	// goodbye is how long a session may take to log off.
	goodbye = 5 * time.Second
	// maxProgram is the length of V$SESSION.PROGRAM.
	maxProgram = 48
)

// newServer resolves the password and reads the authority's certificates.
func newServer(c SourceConfig, env connectors.Env) (*server, error) {
	s := &server{config: c, program: "penstock/" + env.Pipeline}
	if len(s.program) > maxProgram {
		s.program = s.program[:maxProgram]
	}
	v, err := env.Secrets.Resolve(c.Password)
	if err != nil {
		return nil, &connectors.Error{Op: "password of " + c.User, Class: connectors.Permission, Err: err}
	}
	if s.password = v.Reveal(); s.password == "" {
		return nil, &connectors.Error{Op: "password of " + c.User, Class: connectors.Permission, Err: errors.New("it is empty"), Hint: "Oracle takes no login without a password: set the secret that `password` names."}
	}
	if env.TLS != "off" {
		s.tls = &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12}
		if env.TLSCA != "" {
			if s.tls.RootCAs, err = authority(env); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

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

// conn is one session. It belongs to one goroutine at a time.
type conn struct {
	*goora.Connection
	server *server
	line   atomic.Pointer[line]
	bad    bool // it may stand in the middle of an answer: it is closed, never used again
}

// connect opens a session with the settings that every statement relies on.
// fetch is how many rows an answer carries.
func (s *server) connect(ctx context.Context, fetch int) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	c := &conn{server: s}
	g, err := goora.NewConnection("", s.driver(c, fetch))
	if err == nil {
		c.Connection = g
		err = c.watched(ctx, func() error { return g.OpenWithContext(context.WithoutCancel(ctx)) })
	}
	if err == nil {
		err = c.exec(ctx, sqlSession)
	}
	if err != nil {
		c.abandon()
		if errors.Is(err, context.DeadlineExceeded) {
			err = &connectors.Error{Class: connectors.Transient, Err: fmt.Errorf("no answer within %s", connectTime), Hint: "Check `host` and `port`, and that the listener runs."}
		}
		err = failure(err)
		if s.tls != nil && connectors.ClassOf(err) == connectors.Transient {
			err = &connectors.Error{Class: connectors.Transient, Err: err, Hint: "Where the port speaks no TLS, name the listener's TCPS port, or write tls = \"off\" to send everything in the clear."}
		}
		return nil, s.at("connect to", err)
	}
	return c, nil
}

// driver is go-ora's configuration, from typed fields alone.
func (s *server) driver(c *conn, fetch int) *configurations.ConnectionConfig {
	o := &configurations.ConnectionConfig{PrefetchRows: fetch, Lob: configurations.INLINE}
	protocol := "tcp"
	if s.tls != nil {
		protocol, o.TLSConfig = "tcps", s.tls.Clone()
	}
	o.Protocol = protocol
	o.Servers = []configurations.ServerAddr{{Addr: s.config.Host, Port: s.config.Port, Protocol: protocol}}
	o.ServiceName, o.SID = s.config.Service, s.config.SID
	o.UserID, o.DatabaseInfo.Password = s.config.User, s.password
	// With any other zone than UTC the driver moves times that fall into the gap
	// of a change to summer time.
	o.Location = "UTC"
	o.SessionDataUnitSize, o.TransportDataUnitSize = 1<<21, 1<<21
	o.Language, o.Territory = "AMERICAN", "AMERICA"
	o.ProgramName, o.ProgramPath, o.HostName, o.PID = s.program, s.program, hostname(), os.Getpid()
	o.OSUserName, o.DriverName = "penstock", "penstock"
	o.Dialer = dialer{s, c}
	return o
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// dialer opens the connection below the driver and its TLS, so that deadlines
// and cancellation are ours: the driver looks at a context only where a call
// begins.
type dialer struct {
	s *server
	c *conn
}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	nd := net.Dialer{Timeout: connectTime, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 6}}
	n, err := nd.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l := &line{Conn: n, wire: d.s.wire}
	d.c.line.Store(l)
	return l, nil
}

// line is the connection below the driver. The driver's own deadlines are not
// listened to: after one of them it would go on in the middle of an answer.
type line struct {
	net.Conn
	wire *counters

	mu  sync.Mutex
	cut bool
}

func (l *line) SetDeadline(time.Time) error      { return nil }
func (l *line) SetReadDeadline(time.Time) error  { return nil }
func (l *line) SetWriteDeadline(time.Time) error { return nil }

// sever ends the connection for whoever waits on it.
func (l *line) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.cut = true
		_ = l.Conn.Close()
	}
}

func (l *line) Close() error { l.sever(); return nil }

func (l *line) Read(b []byte) (int, error) {
	_ = l.Conn.SetReadDeadline(time.Now().Add(silence))
	n, err := l.Conn.Read(b)
	if l.wire != nil {
		l.wire.in.Add(int64(n))
	}
	return n, err
}

func (l *line) Write(b []byte) (int, error) {
	_ = l.Conn.SetWriteDeadline(time.Now().Add(connectTime))
	n, err := l.Conn.Write(b)
	if l.wire != nil {
		l.wire.out.Add(int64(n))
	}
	return n, err
}

// watched runs a call of the driver. When ctx ends first the connection is cut,
// which ends the call, and the context's error takes the place of the driver's.
// Whatever is no answer of the database makes the session bad.
func (c *conn) watched(ctx context.Context, call func() error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		if l := c.line.Load(); l != nil {
			l.sever()
		}
	})
	defer func() {
		// The driver indexes into answers without looking at their length.
		if p := recover(); p != nil {
			err = fmt.Errorf("the driver could not read the server's answer: %v", p)
		}
		if !stop() {
			c.bad = true
			if e := ctx.Err(); e != nil {
				err = e
			}
			return
		}
		if err != nil && !isAnswer(err) {
			c.bad = true
		}
	}()
	return call()
}

// close logs off, or drops a session that can't be trusted with another word.
func (c *conn) close() {
	if c == nil || c.Connection == nil {
		return
	}
	if c.bad {
		c.abandon()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	_ = c.watched(ctx, c.Connection.Close) // it is gone in any case
	c.abandon()
}

// abandon closes the socket alone.
func (c *conn) abandon() {
	c.bad = true
	if l := c.line.Load(); l != nil {
		l.sever()
	}
}

// at names the database in an error that has its class.
func (s *server) at(op string, err error) error {
	name := s.config.Service
	if name == "" {
		name = s.config.SID
	}
	return at(fmt.Sprintf("%s database %s on %s:%d as %s", op, name, s.config.Host, s.config.Port, s.config.User), "", err)
}
