package stream

import (
	"context"
	"sync"
)

// budget bounds the bytes of what is read and not applied yet: that is how a
// slow target slows the source down. One batch passes however big it is.
type budget struct {
	mu    sync.Mutex
	size  int64
	used  int64
	moves int64         // of used: what the router itself holds for a serial section
	freed chan struct{} // closed and replaced when bytes come back
}

func newBudget(size int64) *budget { return &budget{size: size, freed: make(chan struct{})} }

// take takes n bytes. Where they are not there it calls hungry once, for lanes
// to commit what they hold, and waits.
func (b *budget) take(ctx context.Context, n int64, hungry func()) error {
	for first := true; ; first = false {
		b.mu.Lock()
		if b.used <= b.moves || b.used+n <= b.size {
			b.used += n
			b.mu.Unlock()
			return nil
		}
		freed := b.freed
		b.mu.Unlock()
		if first {
			hungry()
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pin counts bytes, taken before, that only the router can give back. It reports
// whether they are more than there is.
func (b *budget) pin(n int64) (over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moves += n
	return b.moves > b.size
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	close(b.freed)
	b.freed = make(chan struct{})
}
