package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// tablePool makes one-column batches for belt tests.
var tablePool = batch.NewPool([]schema.Type{schema.Of(schema.Int64)}, batch.Limits{})

func somePiece(size int64) *piece {
	b := tablePool.Builder()
	b.Column(0).AppendInt(1)
	return &piece{rows: b.Seal(), sel: make([]batch.Selection, 1), size: size}
}

func someJobs(t *table, n int) []*job {
	var out []*job
	for i := range n {
		out = append(out, &job{table: t, parts: []ranges.Chunk{{ID: i + 1, Range: 1}}})
	}
	return out
}

func TestOrderedBeltGivesFlightsInTheOrderTheyWereBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBelt(4, 100, true)
		b.add(someJobs(&table{weight: 1}, 3))
		b.sort()
		f1, f2, f3 := b.begin(), b.begin(), b.begin()
		b.end(f3, nil)
		b.end(f2, nil)
		var got []*flight
		go func() {
			for f := b.take(); f != nil; f = b.take() {
				got = append(got, f)
				b.done(f)
			}
		}()
		synctest.Wait()
		if len(got) != 0 {
			t.Fatalf("took chunk %d before chunk 1 was read", got[0].job.parts[0].ID)
		}
		b.end(f1, nil)
		synctest.Wait()
		if len(got) != 3 || got[0] != f1 || got[1] != f2 || got[2] != f3 {
			t.Fatalf("took %d flights, want chunks 1, 2, 3 in order", len(got))
		}
	})
}

// A reader that waits for memory must not keep the oldest flight from passing:
// its writer takes it while it is still being read.
func TestOutgrownFlightPassesThroughPieceByPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBelt(1, 100, true)
		b.add(someJobs(&table{weight: 1}, 1))
		const pieces = 10
		go func() {
			f := b.begin()
			for range pieces {
				if !b.put(f, somePiece(60), counts{read: 1}) {
					t.Error("put was refused")
				}
			}
			b.end(f, nil)
		}()
		f := b.take()
		n, most := 0, int64(0)
		for {
			p, err := b.piece(f, n)
			if err != nil {
				t.Fatal(err)
			}
			if p == nil {
				break
			}
			b.mu.Lock()
			most = max(most, f.held)
			b.mu.Unlock()
			b.written(f, n)
			n++
		}
		if n != pieces || f.counts.read != pieces {
			t.Errorf("got %d pieces and %d rows, want %d of each", n, f.counts.read, pieces)
		}
		if most > 120 {
			t.Errorf("the flight held %d bytes, want at most its share (100) and one piece begun before it was full", most)
		}
		if b.onBelt(f, true) {
			t.Error("a retry would write from memory what memory no longer has")
		}
	})
}

func TestFlightWholeInMemoryIsRetriedFromMemory(t *testing.T) {
	b := newBelt(1, 100, false)
	b.add(someJobs(&table{weight: 1}, 1))
	f := b.begin()
	b.put(f, somePiece(60), counts{read: 1})
	b.end(f, nil)
	f = b.take()
	for range 3 { // tries
		p, err := b.piece(f, 0)
		if err != nil || p == nil {
			t.Fatalf("piece 0: %v, %v", p, err)
		}
		b.written(f, 0)
		if !b.onBelt(f, true) {
			t.Fatal("the flight is whole and would be read again")
		}
	}
}

func TestDrainCommitsWhatIsReadWholeAndDropsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBelt(4, 100, true)
		b.add(someJobs(&table{weight: 1}, 4))
		b.sort()
		f1, f2, f3 := b.begin(), b.begin(), b.begin()
		b.put(f1, somePiece(10), counts{})
		b.put(f2, somePiece(10), counts{})
		b.end(f2, nil)
		// f3 outgrows its share and waits.
		waiting := make(chan bool)
		go func() {
			b.put(f3, somePiece(80), counts{})
			waiting <- b.put(f3, somePiece(80), counts{})
		}()
		synctest.Wait()
		b.drain()
		if <-waiting {
			t.Error("a reader that waits for memory was not let go by the drain")
		}
		b.leave(f3)
		if b.put(f1, somePiece(10), counts{}) {
			t.Error("a drain took another piece of an unread flight")
		}
		b.leave(f1)
		if f := b.begin(); f != nil {
			t.Error("a drain let a reader begin")
		}
		if f := b.take(); f != f2 {
			t.Fatal("the flight that was read whole was not given to the writer")
		}
		b.done(f2)
		if f := b.take(); f != nil {
			t.Error("a drained belt gave another flight")
		}
		if b.slots != 4 {
			t.Errorf("%d slots are free, want all 4", b.slots)
		}
	})
}

func TestDrainCutsShortAFlightThatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBelt(2, 100, true)
		b.add(someJobs(&table{weight: 1}, 1))
		f := b.begin()
		go func() {
			for b.put(f, somePiece(80), counts{}) {
			}
			b.leave(f)
		}()
		synctest.Wait()
		if got := b.take(); got != f {
			t.Fatal("the full flight was not given to the writer")
		}
		b.drain()
		_, err := b.piece(f, 1)
		if !errors.Is(err, errDrained) {
			t.Errorf("piece gave %v, want errDrained", err)
		}
		b.done(f)
	})
}

func TestContextEndFreesEveryoneWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBelt(1, 100, false)
		defer b.watch(ctx)()
		b.add(someJobs(&table{weight: 1}, 2))
		f := b.begin()
		done := make(chan bool, 3)
		go func() { b.put(f, somePiece(90), counts{}); done <- b.put(f, somePiece(90), counts{}) }()
		go func() { done <- b.begin() != nil }()
		go func() { b.take(); done <- b.take() != nil }()
		synctest.Wait()
		cancel()
		for range 3 {
			if <-done {
				t.Error("someone went on after the context had ended")
			}
		}
	})
}

func TestBiggestTableGoesFirst(t *testing.T) {
	b := newBelt(10, 100, false)
	small, big := &table{name: "small", weight: 10}, &table{name: "big", weight: 1000}
	same := &table{name: "same", weight: 10}
	b.add(someJobs(small, 2))
	b.add(someJobs(same, 1))
	b.add(someJobs(big, 2))
	b.sort()
	var got []string
	for range 5 {
		f := b.begin()
		got = append(got, fmt.Sprint(f.job.table.name, f.job.parts[0].ID))
	}
	if want := []string{"big1", "big2", "small1", "small2", "same1"}; !slices.Equal(got, want) {
		t.Fatalf("jobs came as %v, want %v", got, want)
	}
}
