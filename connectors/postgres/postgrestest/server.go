//go:build unix

package postgrestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options say how a server is made.
type Options struct {
	// Durable keeps fsync on, for figures that are to be believed. Without it a
	// killed server may lose its data, which no test here asks for.
	Durable bool
	// Settings are lines of postgresql.conf beside ours, as name to value.
	Settings map[string]string
}

// Server is a running server. Its superuser is postgres and has no password.
type Server struct {
	Socket  string // folder of the unix socket: the host to connect to
	Port    int
	Version string // "15.18"

	dir    string
	bin    string
	args   []string
	cmd    *exec.Cmd
	exited chan error
	log    *bytes.Buffer
}

// User is the superuser of every server.
const User = "postgres"

// Start makes a cluster and starts its server. Stop must be called.
func Start(o Options) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "penstock-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{Socket: dir, Port: 5432, dir: dir, bin: bin, log: &bytes.Buffer{}, exited: make(chan error, 1)}
	if err := s.start(o); err != nil {
		return nil, errors.Join(fmt.Errorf("start a PostgreSQL server of %s: %w\n%s", bin, err, s.log), s.Stop())
	}
	return s, nil
}

// binaries finds the folder of a server's programs: the one on PATH, else the
// newest where Debian and its kin put them.
func binaries() (string, error) {
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil { // the other programs stand beside it
			return filepath.Dir(p), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	slices.SortFunc(found, func(a, b string) int { return versionOf(a) - versionOf(b) })
	if len(found) == 0 {
		return "", errors.New("no PostgreSQL server is installed: apt-get install -y postgresql, or put the folder that holds initdb and postgres on PATH")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func versionOf(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// owner is who the server runs as: PostgreSQL refuses to run as root.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(User)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no user %s to run it as: %w", User, err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

func (s *Server) start(o Options) error {
	who, err := owner()
	if err != nil {
		return err
	}
	if who != nil {
		if err := os.Chown(s.dir, int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(s.dir, "data")
	initdb := s.command(who, "initdb", "-D", data, "-U", User, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s.args = []string{"-D", data, "-k", s.dir, "-p", strconv.Itoa(s.Port), "-c", "listen_addresses="}
	if !o.Durable {
		s.args = append(s.args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	for name, value := range o.Settings {
		s.args = append(s.args, "-c", name+"="+value)
	}
	return s.serve(who)
}

// serve starts the cluster's server, and waits until it answers.
func (s *Server) serve(who *syscall.Credential) error {
	s.cmd = s.command(who, "postgres", s.args...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := startBound(s.cmd); err != nil {
		s.cmd = nil
		return err
	}
	go func() { s.exited <- s.cmd.Wait() }()
	return s.ready()
}

func (s *Server) command(who *syscall.Credential, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	return cmd
}

// ready waits until the server answers.
func (s *Server) ready() error {
	deadline := time.Now().Add(60 * time.Second)
	for {
		c, err := s.Connect(context.Background(), User)
		if err == nil {
			s.Version, _, _ = strings.Cut(c.ParameterStatus("server_version"), " ")
			return c.Close(context.Background())
		}
		select {
		case e := <-s.exited:
			s.exited <- e
			return fmt.Errorf("it ended: %v", e)
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it does not answer: %w", err)
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
}

// Connect connects to a database as the superuser.
func (s *Server) Connect(ctx context.Context, database string) (*pgconn.PgConn, error) {
	c, err := pgconn.ParseConfig("sslmode=disable")
	if err != nil {
		return nil, err
	}
	c.Host, c.Port, c.User, c.Password, c.Database = s.Socket, uint16(s.Port), User, "", database
	c.Fallbacks, c.ValidateConnect = nil, nil
	c.RuntimeParams = map[string]string{"application_name": "postgrestest"}
	return pgconn.ConnectConfig(ctx, c)
}

// Stop ends the server and removes its cluster. It may be called twice.
func (s *Server) Stop() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGINT) // fast shutdown: sessions are ended
		select {
		case <-s.exited:
		case <-time.After(30 * time.Second):
			_ = s.cmd.Process.Kill()
			<-s.exited
		}
		s.cmd = nil
	}
	return os.RemoveAll(s.dir)
}

// Restart ends the server at once, as a crash does, and starts it again.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.restart(t, syscall.SIGQUIT) // immediate shutdown
}

// RestartFast ends the server's sessions and then the server, and starts it again.
func (s *Server) RestartFast(t testing.TB) {
	t.Helper()
	s.restart(t, syscall.SIGINT) // fast shutdown
}

func (s *Server) restart(t testing.TB, by syscall.Signal) {
	t.Helper()
	_ = s.cmd.Process.Signal(by)
	<-s.exited
	who, err := owner()
	if err == nil {
		err = s.serve(who)
	}
	if err != nil {
		t.Fatalf("start the server again: %v\n%s", err, s.log)
	}
}

// PID is the process id of the postmaster.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Program is the path of a program of the server's version, psql for one.
func (s *Server) Program(name string) string { return filepath.Join(s.bin, name) }

// common is a server that tests share.
type common struct {
	once   sync.Once
	server *Server
	err    error
}

var shared, logical common

func (c *common) get(t testing.TB, o Options) *Server {
	t.Helper()
	c.once.Do(func() { c.server, c.err = Start(o) })
	if c.err != nil {
		t.Fatal(c.err)
	}
	return c.server
}

// Main runs the tests of a package and then stops the servers that they shared.
// TestMain hands its result to os.Exit.
func Main(m *testing.M) int {
	code := m.Run()
	for _, s := range []*Server{shared.server, logical.server} {
		if s == nil {
			continue
		}
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the PostgreSQL server:", err)
			code = max(code, 1)
		}
	}
	return code
}

// Shared is the server that all tests of this process share. It fails the test
// where none can be had; no test that needs it is ever skipped.
func Shared(t testing.TB) *Server {
	t.Helper()
	return shared.get(t, Options{})
}

// Logical is another server that all tests of this process share, whose log can
// be followed.
func Logical(t testing.TB) *Server {
	t.Helper()
	return logical.get(t, Options{Settings: LogicalSettings()})
}

// LogicalSettings are those of a server whose log can be followed.
func LogicalSettings() map[string]string {
	return map[string]string{"wal_level": "logical", "max_replication_slots": "100", "max_wal_senders": "100"}
}
