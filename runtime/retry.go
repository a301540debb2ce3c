package runtime

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"penstock/connectors"
	"penstock/internal/event"
)

// errDrained cuts a flight short that a drain has no time for. It is no failure.
var errDrained = errors.New("dropped by a drain")

// errOutgrown says that a chunk dealt to several ranges by hash does not fit
// its share of memory, so that each range has to be read by itself.
var errOutgrown = errors.New("the chunk outgrew its share of memory")

// Backoff bounds the retries of a transient error.
type Backoff struct {
	Attempts int           // tries in all; 0 = DefaultBackoff
	First    time.Duration // wait before the second try; it doubles from there
	Max      time.Duration
}

// DefaultBackoff rides out a restart of a database (about a minute) and no
// outage longer than that: an operator should hear of those.
var DefaultBackoff = Backoff{Attempts: 10, First: 200 * time.Millisecond, Max: 15 * time.Second}

// wait sleeps before attempt n+1 after err (n from 1), half of the time at
// random so that workers do not come back together. It returns err when there
// is no further attempt or ctx ends first, and errDrained when a drain begins.
func (b Backoff) wait(ctx context.Context, drain <-chan struct{}, n int, err error, tell func(event.Retrying)) error {
	if b.Attempts == 0 {
		b = DefaultBackoff
	}
	if connectors.ClassOf(err) != connectors.Transient || n >= b.Attempts || ctx.Err() != nil {
		return err
	}
	d := min(b.First<<(n-1), b.Max)
	if d <= 0 {
		d = b.Max
	}
	d = d/2 + rand.N(d/2+1)
	tell(event.Retrying{Attempt: n, In: d, Error: err.Error()})
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-drain:
		return errDrained
	case <-ctx.Done():
		return err
	}
}

// Wait sleeps before attempt n+1 after err (n from 1), where that may help; else
// it returns err.
func (b Backoff) Wait(ctx context.Context, n int, err error, tell func(event.Retrying)) error {
	return b.wait(ctx, nil, n, err, tell)
}
