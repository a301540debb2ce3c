package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/secret"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestStatesOfTheServerHaveAClass(t *testing.T) {
	tests := []struct {
		state string
		want  connectors.Class
	}{
		{"23505", connectors.Data}, {"23503", connectors.Data}, {"22001", connectors.Data}, {"22021", connectors.Data},
		{"40001", connectors.Transient}, {"40P01", connectors.Transient}, {"55P03", connectors.Transient}, {"08006", connectors.Transient},
		{"57P01", connectors.Transient}, {"57P03", connectors.Transient}, {"53300", connectors.Transient}, {"25P03", connectors.Transient},
		{"53100", connectors.Full}, {"53200", connectors.Full},
		{"42501", connectors.Permission}, {"28P01", connectors.Permission}, {"28000", connectors.Permission}, {"3D000", connectors.Permission},
		{"42P01", connectors.Schema}, {"42703", connectors.Schema}, {"3F000", connectors.Schema}, {"22P03", connectors.Schema},
		{"42601", connectors.Fatal}, {"XX000", connectors.Fatal}, {"25006", connectors.Fatal}, {"", connectors.Fatal},
	}
	for _, c := range tests {
		err := at("copy", "t", failure(fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: c.state, Message: "m", Detail: "Key (id)=(1).", Where: "COPY t, line 3\nmore"}), "COPY t"))
		if got := connectors.ClassOf(err); got != c.want {
			t.Errorf("%s: class %s, want %s", c.state, got, c.want)
		}
		if s := err.Error(); !strings.Contains(s, "Key (id)=(1)") || !strings.Contains(s, "line 3") || strings.Contains(s, "more") {
			t.Errorf("%s: %s", c.state, s)
		}
	}
	for _, err := range []error{io.ErrUnexpectedEOF, net.ErrClosed, &net.OpError{Op: "dial", Err: errors.New("connection refused")}} {
		if got := connectors.ClassOf(failure(err, "")); got != connectors.Transient {
			t.Errorf("%v: class %s, want transient", err, got)
		}
	}
}

// answers listens like a server that says one octet to a request for TLS.
func answers(t *testing.T, octet byte, then func(net.Conn)) *TargetConfig {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := io.ReadFull(c, make([]byte, 8)); err == nil {
				if _, err = c.Write([]byte{octet}); err == nil && then != nil {
					then(c)
				}
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return &TargetConfig{Connection: Connection{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Database: "d", User: "u", Password: secret.Ref{Env: "PW"}}}
}

// A server that is not verified is never told the password, and no error is.
func TestServersThatAreNotVerifiedAreRefused(t *testing.T) {
	https := httptest.NewUnstartedServer(nil)
	https.StartTLS()
	defer https.Close()
	var heard atomic.Int64
	config := answers(t, 'S', func(c net.Conn) {
		n, _ := io.Copy(io.Discard, tls.Server(c, &tls.Config{Certificates: https.TLS.Certificates}))
		heard.Add(n)
	})
	tests := []struct {
		name   string
		config *TargetConfig
		says   string
	}{
		{"no TLS", answers(t, 'N', nil), `tls = "off"`},
		{"unknown authority", config, "tls_ca"},
	}
	env := connectors.Env{Pipeline: "p", TLS: "verify", Secrets: secret.Resolver{Env: func(string) (string, bool) { return "hunter2 hunter2", true }}}
	for _, c := range tests {
		_, err := openTarget(context.Background(), c.config, env)
		if got := connectors.ClassOf(err); err == nil || got != connectors.Permission || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: class %s, %v; want permission and %q", c.name, got, err, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error holds the password: %v", c.name, err)
		}
	}
	if n := heard.Load(); n > 0 {
		t.Errorf("the server was told %d octets", n)
	}
	env.TLSCA = "absent.pem"
	if _, err := openTarget(context.Background(), config, env); connectors.ClassOf(err) != connectors.Permission {
		t.Errorf("an authority that is not there: %v", err)
	}
}

func TestSessionsAreNamedAndSet(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	config := configOf(d)
	config.Triggers = "skip"
	tg, err := openTarget(context.Background(), config, connectors.Env{Pipeline: "a/b ü"})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	c := tg.(*target).session
	for name, want := range map[string]string{"application_name": "penstock/a%2Fb%20%C3%BC/control", "search_path": `"public"`, "lock_timeout": "30s", "session_replication_role": "replica", "jit": "off"} {
		got := ""
		if _, err := query(context.Background(), c, "SELECT current_setting($1)", func(r [][]byte) error { got = string(r[0]); return nil }, name); err != nil || got != want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
		}
	}
	_, err = openTarget(context.Background(), configOf(d), connectors.Env{Pipeline: strings.Repeat("long", 20)})
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a name that the server would cut: %v", err)
	}
	absent := configOf(d)
	absent.Database = "absent"
	if _, err := openTarget(context.Background(), absent, connectors.Env{Pipeline: "p"}); connectors.ClassOf(err) != connectors.Permission || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a database that is not there: %v", err)
	}
}
