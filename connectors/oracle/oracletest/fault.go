package oracletest

import (
	"errors"
	"strings"
)

// Error is an error of the database.
type Error struct {
	Code int
	Text string
}

// Harm is what a fault does to an answer.
type Harm uint8

const (
	Drop    Harm = iota // the connection closes in place of the answer
	Cut                 // it closes in the middle of the answer
	Stall               // there is no answer, until the client breaks the call or leaves
	Fail                // the answer is an error
	Garble              // the answer is of a kind that no client knows
	Forever             // as Drop, for this message and all that follow
)

// Fault spoils the answer to one message of clients, counted over all sessions.
type Fault struct {
	At        int    // the how-manieth message, from 1
	Statement string // count only executions and fetches of statements that contain this
	Harm      Harm
	Err       *Error // of Fail
}

// faults is the script.
type faults struct {
	script   Fault
	armed    bool
	messages int // since Spoil
	matched  int
	struck   int
}

// Spoil scripts a fault in place of the one before. Messages are counted from now.
func (s *Server) Spoil(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults{script: f, armed: true}
}

// Heal takes the fault away and says how often it struck.
func (s *Server) Heal() (struck int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.armed = false
	return s.faults.struck
}

// Messages is how many messages clients have sent since Spoil.
func (s *Server) Messages() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.messages
}

// fault counts a message of the session and returns the fault that is due.
func (c *session) fault() *Fault {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.faults
	f.messages++
	n := f.messages
	if f.script.Statement != "" {
		if !strings.Contains(c.running, f.script.Statement) {
			return nil
		}
		f.matched++
		n = f.matched
	}
	if !f.armed || n < f.script.At || n > f.script.At && f.script.Harm != Forever {
		return nil
	}
	f.struck++
	due := f.script
	return &due
}

var errSpoilt = errors.New("a scripted fault")

// spoil does the harm. done reports that the answer is replaced.
func (c *session) spoil(f *Fault, answer []byte) (done bool, err error) {
	switch f.Harm {
	case Stall:
		return true, nil
	case Fail:
		m := &message{}
		m.status(status{err: f.Err})
		c.data(m.b)
		return true, c.send()
	case Garble:
		c.data([]byte{0xEE, 1, 2, 3})
		return true, c.send()
	case Cut:
		c.data(answer)
		c.out = c.out[:len(c.out)/2]
		if err := c.send(); err != nil {
			return true, err
		}
	}
	return true, errSpoilt
}

// Struck is how often the scripted fault has struck so far.
func (s *Server) Struck() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.struck
}
