// Package stream carries changes from a source's log to a target: one reader, a
// router that keeps their order by key, lanes that each apply their share and
// remember how far they are in the same transaction, so that each change is
// applied exactly once whatever breaks in between.
package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/event"

	"golang.org/x/sync/errgroup"
)

// Options are a stream's parts. All but those that say so must be given.
type Options struct {
	Pipeline string
	// Open opens the source's log so that all behind the position of at is read:
	// at its resume, or where the source has discarded up to a later point that
	// does not lie behind the position, there. Without a position it is the
	// beginning that the source's options say.
	Open func(ctx context.Context, at connectors.Checkpoint) (connectors.ChangeReader, error)
	// Target is claimed, and its lanes' rows are At, by lane.
	Target connectors.ApplyTarget
	At     []connectors.Checkpoint
	Tables []connectors.StreamTable
	Mode   string
	Loose  bool
	Route  Route

	Rows   int64         // net changes at which a lane commits
	Bytes  int64         // of changes, about, at which it commits; 0 = no bound
	Every  time.Duration // after which it commits what it has; 0 = no bound
	Linger time.Duration // how long a lane waits for more before it commits less
	Memory int64         // bytes of batches that are read and not applied; at least one batch passes
	Idle   time.Duration // how often lanes without changes are moved, and the source is told what it may discard

	Until change.Position // end when all up to here is applied; nil = go on
	Drain <-chan struct{} // closed: apply what is read and end
	// Retry waits before attempt n (from 1) after a transient error, or returns
	// the error that ends the stream.
	Retry  func(ctx context.Context, n int, err error) error
	Events event.Sink

	off string // a guard that a test switches off, to see that it is needed
}

// errReread says that the lanes' rows are not what this process thought: all
// that is read is dropped, and reading begins again from the rows.
var errReread = errors.New("the checkpoints went back")

// Run streams until Until, a drain, or an error. It returns the lanes' rows as
// this process knows them.
func Run(ctx context.Context, o Options) ([]connectors.Checkpoint, error) {
	s := &stream{o: &o, at: o.At, tables: map[string]*connectors.StreamTable{}}
	for i := range o.Tables {
		s.tables[o.Tables[i].Source.Name.String()] = &o.Tables[i]
	}
	for attempt, claimed := 1, true; ; attempt++ {
		before := s.least()
		var err error
		if !claimed {
			err = s.reclaim(ctx)
			claimed = err == nil
		}
		if claimed {
			err = s.attempt(ctx)
			claimed = false
		}
		switch {
		case err == nil:
			return s.at, nil
		case ctx.Err() != nil:
			return s.at, ctx.Err()
		case !errors.Is(err, errReread) && connectors.ClassOf(err) != connectors.Transient:
			return s.at, err
		case s.least().Position.Compare(before.Position) > 0:
			attempt = 1 // it got somewhere
		}
		if err := o.Retry(ctx, attempt, err); err != nil {
			return s.at, err
		}
	}
}

// stream is a stream between two readings of the lanes' rows.
type stream struct {
	o      *Options
	at     []connectors.Checkpoint // lanes' rows, as they stood at the beginning of an attempt
	tables map[string]*connectors.StreamTable
}

// least is the row of the lane that is furthest behind.
func (s *stream) least() connectors.Checkpoint {
	l := s.at[0]
	for _, c := range s.at[1:] {
		if c.Position.Compare(l.Position) < 0 {
			l = c
		}
	}
	return l
}

// reclaim reads every lane's row again, past whatever this process still has
// open at the target.
func (s *stream) reclaim(ctx context.Context) error {
	for i := range s.at {
		a, err := s.o.Target.OpenApply(ctx, s.lane(i))
		if err != nil {
			return fmt.Errorf("lane %d: %w", i, err)
		}
		c, err := a.Reclaim(ctx)
		if cerr := a.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("lane %d: %w", i, err)
		}
		s.at[i] = c
	}
	return nil
}

func (s *stream) lane(i int) connectors.Lane {
	return connectors.Lane{At: s.at[i], Tables: s.o.Tables, Mode: s.o.Mode, Loose: s.o.Loose}
}

// attempt reads from the lane that is furthest behind and applies, until the
// end or an error. Goroutines: one a lane, the router, the confirmer; the router
// closes what it sends on.
func (s *stream) attempt(ctx context.Context) error {
	reader, err := s.o.Open(ctx, s.least())
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	source := reader.Source()
	for i := range s.at {
		switch id := s.at[i].Source; id {
		case source:
		case "":
			s.at[i].Source = source
		default:
			return errors.Join(&connectors.Error{Op: "stream", Table: s.o.Pipeline, Class: connectors.LostPosition, Position: s.at[i].Position,
				Err:  fmt.Errorf("the source is %s, and lane %d has applied changes of %s", source, i, id),
				Hint: "Point the spec to the database that it was, or drop the pipeline and load its tables again."}, reader.Close())
		}
	}
	r := &router{s: s, reader: reader, budget: newBudget(s.o.Memory)}
	g, ctx := errgroup.WithContext(ctx)
	for i := range s.at {
		applier, err := s.o.Target.OpenApply(ctx, s.lane(i))
		if err != nil {
			err = fmt.Errorf("lane %d: %w", i, err)
			for _, l := range r.lanes {
				err = errors.Join(err, l.applier.Close())
			}
			return errors.Join(err, reader.Close())
		}
		r.lanes = append(r.lanes, newLane(s, i, applier, r.budget))
	}
	for _, l := range r.lanes {
		g.Go(func() error { return l.run(ctx) })
	}
	ended := make(chan struct{})
	g.Go(func() error {
		defer func() {
			for _, l := range r.lanes {
				close(l.items)
			}
			close(ended)
		}()
		return r.run(ctx)
	})
	g.Go(func() error { return r.confirmer(ctx, ended) })
	err = g.Wait()
	for i, l := range r.lanes {
		s.at[i] = l.at
		err = errors.Join(err, l.applier.Close())
	}
	return errors.Join(err, reader.Close())
}
