package oracletest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
)

// Server serves one Database on a port of the loopback.
type Server struct {
	Host     string
	Port     int
	Service  string // what clients ask for
	User     string
	Password string
	DB       *Database
	// Denied are views and packages that the user may not see, in upper case as
	// their statements name them: V$DATABASE, DBA_EXTENTS, V$MYSTAT.
	Denied map[string]bool
	// Withheld are the rights on tables that the user lacks: "SELECT ON SCOTT.T",
	// "FLASHBACK ON SCOTT.T".
	Withheld map[string]bool
	Version  string // as PRODUCT_COMPONENT_VERSION has it
	Limits   Limits
	// Distinct turns bit vectors off: every row carries every value, as when no
	// value repeats that of the row before.
	Distinct bool

	listener net.Listener
	sessions sync.WaitGroup
	count    atomic.Int64 // of sessions, ever
	sent     atomic.Int64 // octets, ever

	mu     sync.Mutex
	open   map[*session]bool
	closed bool
	faults faults
	wrong  []error
}

// Limits are how many sessions there may be.
type Limits struct {
	Used, Processes int // of the instance
	SessionsPerUser int // of the user's profile; 0: no limit
	Undo            int // seconds, undo_retention
}

// NewServer starts a server of db. Close must be called, or Test's cleanup.
func NewServer(db *Database) (*Server, error) { return serve(db, nil) }

// NewTLSServer starts one that speaks TLS from the first octet (TCPS).
func NewTLSServer(db *Database, cert tls.Certificate) (*Server, error) {
	return serve(db, &tls.Config{Certificates: []tls.Certificate{cert}})
}

func serve(db *Database, secure *tls.Config) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	at := l.Addr().(*net.TCPAddr)
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	s := &Server{Host: at.IP.String(), Port: at.Port, Service: "DOUBLE", User: "PENSTOCK", Password: "wire/double@1", DB: db,
		Denied: map[string]bool{}, Withheld: map[string]bool{}, Version: "19.0.0.0.0", Limits: Limits{Used: 40, Processes: 300, Undo: 900}, listener: l, open: map[*session]bool{}}
	go s.listen()
	return s, nil
}

func (s *Server) listen() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		x := &session{transport: newTransport(c), server: s, id: s.count.Add(1), cursors: map[int]*cursor{}}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.open[x] = true
		s.sessions.Add(1)
		s.mu.Unlock()
		go func() {
			defer s.sessions.Done()
			err := x.serve()
			_ = c.Close()
			s.mu.Lock()
			delete(s.open, x)
			if !harmless(err) {
				s.wrong = append(s.wrong, fmt.Errorf("session %d: %w", x.id, err))
			}
			s.mu.Unlock()
		}()
	}
}

// harmless are the ends of a session that say nothing against its client.
func harmless(err error) bool {
	var network *net.OpError
	return err == nil || errors.Is(err, errLeft) || errors.Is(err, errStranger) || errors.Is(err, errSpoilt) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network)
}

// Close ends all sessions and waits for them. What clients did wrong (a message
// that does not parse, a statement that is not ours) is its error, so that a test
// sees it even where the client swallowed the answer.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	_ = s.listener.Close()
	for x := range s.open {
		_ = x.conn.Close()
	}
	s.mu.Unlock()
	s.sessions.Wait()
	return errors.Join(s.wrong...)
}

// Sessions is how many sessions there have been.
func (s *Server) Sessions() int { return int(s.count.Load()) }

// Open is how many sessions there are.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Sent is how many octets have gone to clients.
func (s *Server) Sent() int64 { return s.sent.Load() }

// Programs are what the open sessions call themselves.
func (s *Server) Programs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for x := range s.open {
		out = append(out, x.program)
	}
	return out
}

// unknown remembers a statement that is not ours.
func (s *Server) unknown(sql string) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Errorf("a statement that the double does not know: %s", sql))
	return &Error{Code: 900, Text: "invalid SQL statement: the wire double answers none but its own: " + sql}
}
