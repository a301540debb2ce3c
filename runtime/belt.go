package runtime

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/runtime/rows"
)

// job is what a reader takes: the chunks of one table that are read together.
// It is one chunk, or the parts that one stretch is dealt to by hash.
type job struct {
	table *table
	parts []ranges.Chunk
}

// piece is a batch that went through filter and expressions, with the rows of
// each part of its job that count.
type piece struct {
	rows *batch.Batch
	sel  []batch.Selection // by part
	size int64
}

// flight is a job between reader and writer. All of it is guarded by its belt.
type flight struct {
	job    *job
	pieces []*piece // read and not released; nil once released
	held   int64    // bytes of pieces
	ended  bool     // the reader is through
	err    error    // the reader gave up
	full   bool     // the job outgrew its share of memory
	taken  bool     // a writer is on it
	partly bool     // pieces were released before the commit: a retry reads again
	gone   bool     // off the belt, or read again past it
	dead   bool     // the reader failed for good before a writer was on it

	counts counts
}

// counts are rows of a chunk on their way.
type counts struct {
	read     int64
	filtered int64 // left out by the filter
	bytes    int64
	bad      []rows.Bad
}

func (c *counts) add(d counts) {
	c.read += d.read
	c.filtered += d.filtered
	c.bytes += d.bytes
	c.bad = append(c.bad, d.bad...)
}

// belt carries flights from readers to writers within a bound of memory. A job
// takes a slot before it is read and gives it back when it is committed or
// dropped. Slots are taken in the order of the jobs, so the oldest flight
// always has one and an ordered belt cannot starve.
//
// A flight that outgrows its slot's share waits until a writer takes it, and
// from then on passes through piece by piece.
type belt struct {
	ordered bool  // writers take flights in the order they were begun
	share   int64 // bytes of a slot

	mu       sync.Mutex
	changed  sync.Cond
	slots    int
	todo     []*job // the next one last
	flights  []*flight
	draining bool // begin nothing new, drop what is not read whole
	err      error
	idle     idle
}

// idle is how long goroutines waited, summed over them.
type idle struct{ readers, writers time.Duration }

func newBelt(slots int, share int64, ordered bool) *belt {
	b := &belt{ordered: ordered, share: share, slots: slots}
	b.changed.L = &b.mu
	return b
}

// add puts jobs on the list before any is taken.
func (b *belt) add(jobs []*job) { b.todo = append(b.todo, jobs...) }

// sort puts the heaviest table first, tables of one weight in the plan's
// order, and leaves the jobs of a table as they are. The next one is the last
// of the list.
func (b *belt) sort() {
	slices.SortStableFunc(b.todo, func(x, y *job) int { return cmp.Compare(y.table.weight, x.table.weight) })
	slices.Reverse(b.todo)
}

// drain stops readers from beginning anything and drops what is not read whole.
func (b *belt) drain() { b.set(func() { b.draining = true }) }

// stop ends everything with an error; the first one counts.
func (b *belt) stop(err error) {
	b.set(func() {
		if b.err == nil {
			b.err = err
		}
	})
}

func (b *belt) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	b.changed.Broadcast()
}

// watch stops the belt when ctx ends. The returned function ends the watch.
func (b *belt) watch(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() { b.stop(ctx.Err()) })
}

// begin gives a reader its next flight; nil when there will be none.
func (b *belt) begin() *flight {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.err != nil, b.draining, len(b.todo) == 0:
			return nil
		case b.slots > 0 && len(b.todo) > 0:
			b.slots--
			f := &flight{job: b.todo[len(b.todo)-1]}
			b.todo = b.todo[:len(b.todo)-1]
			b.flights = append(b.flights, f)
			return f
		}
		b.wait(&b.idle.readers)
	}
}

// put adds a piece to a flight, waiting while the flight is over its share. It
// reports false when the flight is of no use any more: the piece is released,
// and the reader goes on to its next.
func (b *belt) put(f *flight, p *piece, n counts) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f.held > 0 && f.held+p.size > b.share && b.err == nil && !b.dropped(f) {
		if !f.full {
			f.full = true
			b.changed.Broadcast()
		}
		b.wait(&b.idle.readers)
	}
	if b.err != nil || b.dropped(f) {
		p.rows.Release()
		return false
	}
	f.pieces = append(f.pieces, p)
	f.held += p.size
	f.counts.add(n)
	b.changed.Broadcast()
	return true
}

// dropped reports that nobody has a use for what a reader adds to the flight.
func (b *belt) dropped(f *flight) bool { return f.gone || b.draining && !f.ended }

// end says that the reader is through with a flight: read whole, or failed. A
// failure before a writer took the flight is final; after it, the writer reads
// the chunk by itself.
func (b *belt) end(f *flight, err error) {
	b.set(func() {
		f.err = err
		f.ended = err == nil
		if err != nil && !f.taken {
			f.clear()
			f.dead = !errors.Is(err, errOutgrown)
		}
	})
}

// fits reports whether a piece has room beside what the flight holds.
func (b *belt) fits(f *flight, size int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return f.held == 0 || f.held+size <= b.share
}

// leave gives up a flight that a drain or an error has cut short, unless a
// writer has it: that one will see.
func (b *belt) leave(f *flight) {
	b.set(func() {
		if !f.taken {
			b.remove(f)
		} else if f.err == nil {
			f.err = errDrained
		}
	})
}

// restart empties a flight so that its reader can read it again; false when a
// writer has already taken some of it.
func (b *belt) restart(f *flight) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.taken {
		return false
	}
	f.clear()
	f.full = false
	f.counts = counts{}
	return true
}

// take gives a writer its next flight: one that is read whole, or full, or
// failed. nil when there will be none.
func (b *belt) take() *flight {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if b.err != nil {
			return nil
		}
		for _, f := range b.flights {
			if f.taken {
				if b.ordered {
					break
				}
				continue
			}
			// A full flight that a drain will drop is its reader's to leave.
			if f.ended || f.err != nil || f.full && !b.draining {
				f.taken = true
				return f
			}
			if b.ordered {
				break
			}
		}
		if b.onlyTaken() && (b.draining || len(b.todo) == 0) {
			return nil
		}
		b.wait(&b.idle.writers)
	}
}

// wait waits for a change and counts the time.
func (b *belt) wait(sum *time.Duration) {
	from := time.Now()
	b.changed.Wait()
	*sum += time.Since(from)
}

// onlyTaken reports that other writers have all that is on the belt.
func (b *belt) onlyTaken() bool {
	for _, f := range b.flights {
		if !f.taken {
			return false
		}
	}
	return true
}

// piece waits for piece i of a taken flight. It returns nil at the end of the
// flight, and the reader's error when it failed.
func (b *belt) piece(f *flight, i int) (*piece, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.err != nil:
			return nil, b.err
		case i < len(f.pieces):
			return f.pieces[i], nil
		case f.err != nil:
			return nil, f.err
		case f.ended:
			return nil, nil
		}
		b.wait(&b.idle.writers)
	}
}

// written says that piece i is in the target's transaction. A flight that is
// not whole in memory lets go of it, so that its reader can go on.
func (b *belt) written(f *flight, i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !f.full {
		return
	}
	f.partly = true
	p := f.pieces[i]
	f.pieces[i] = nil
	f.held -= p.size
	p.rows.Release()
	b.changed.Broadcast()
}

// onBelt says where a writer gets a taken flight from: the belt, or its chunk's
// source once more. A retry can use the belt only while every piece is there.
func (b *belt) onBelt(f *flight, retry bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if retry && (!f.ended || f.partly) || errors.Is(f.err, errOutgrown) {
		f.gone = true
		f.clear()
		b.changed.Broadcast()
		return false
	}
	return true
}

// done removes a taken flight, committed or not, and gives its slot back.
func (b *belt) done(f *flight) { b.set(func() { b.remove(f) }) }

func (b *belt) remove(f *flight) {
	if i := slices.Index(b.flights, f); i >= 0 {
		b.flights = slices.Delete(b.flights, i, i+1)
		f.gone = true
		f.clear()
		b.slots++
	}
}

func (f *flight) clear() {
	for _, p := range f.pieces {
		if p != nil {
			p.rows.Release()
		}
	}
	f.pieces, f.held = f.pieces[:0], 0
}
