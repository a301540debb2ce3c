package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"penstock/connectors"
	"penstock/internal/event"
)

// options are those of every test here.
func (w *world) options(order Order) Options {
	o := Options{
		Pipeline: "p", Open: w.open, Target: w, At: w.now.clone().at, Route: Route{Order: order, Lanes: len(w.now.at)},
		Rows: 7, Linger: 5 * time.Millisecond, Memory: 20000, Idle: 20 * time.Millisecond, Until: at(len(w.source.log)+1, 0),
		Events: event.Discard,
		Retry: func(ctx context.Context, _ int, _ error) error {
			select {
			case <-time.After(time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
	for _, t := range tables {
		o.Tables = append(o.Tables, connectors.StreamTable{Source: t, Target: t.Name, Key: []int{0}})
	}
	return o
}

// check compares the target with the source.
func (w *world) check() error {
	if len(w.wrong) > 0 {
		return errors.New(w.wrong[0])
	}
	if !maps.Equal(w.now.rows, w.source.state) {
		return fmt.Errorf("the target has %v, want %v", w.now.rows, w.source.state)
	}
	var n int64
	for _, c := range w.now.at {
		n += c.Changes
		if c.Position.Compare(at(len(w.source.log), 0)) < 0 {
			return fmt.Errorf("lane %d stayed behind at %s", c.Lane, c.Position)
		}
	}
	if want := w.source.changes(); n != want {
		return fmt.Errorf("%d changes were applied, the log has %d", n, want)
	}
	return nil
}

// play runs a stream through faults, seed by seed, and returns what went wrong.
func play(t *testing.T, seeds int, off string, each func(*world)) (failed int, faults map[string]int, first error) {
	faults = map[string]int{}
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(seed, 1+int(seed%5), 60)
			w.faults = 0.05
			if each != nil {
				each(w)
			}
			o := w.options([]Order{ByKey, ByKey, ByTable, ByCommit}[seed%4])
			o.off = off
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err := Run(ctx, o)
			if err == nil {
				err = w.check()
			}
			if err != nil {
				failed++
				if first == nil {
					first = fmt.Errorf("seed %d: %w", seed, err)
				}
			}
			for k, n := range w.faulted {
				faults[k] += n
			}
			faults["restart"] += w.restarts
		})
	}
	return failed, faults, first
}

func TestEachChangeIsAppliedOnceWhateverBreaks(t *testing.T) {
	failed, faults, first := play(t, 400, "", nil)
	if failed > 0 {
		t.Errorf("%d of 400 failed; %v", failed, first)
	}
	for _, what := range []string{"read", "before the commit", "after the commit", "before a claim", "after a claim", "before idle lanes move", "after idle lanes moved", "before a serial section", "after a serial section"} {
		if faults[what] == 0 {
			t.Errorf("nothing broke at %q: the test shows nothing of it", what)
		}
	}
	t.Log(faults)
}

func TestEachChangeIsAppliedOnceWhenTheTargetForgetsCommits(t *testing.T) {
	failed, faults, first := play(t, 200, "", func(w *world) { w.lossy, w.faults = true, 0.1 })
	if failed > 0 {
		t.Errorf("%d of 200 failed; %v", failed, first)
	}
	if faults["restart"] == 0 {
		t.Error("the target was never restarted")
	}
}

// Each guard is there for something: without it the same seeds go wrong.
func TestWithoutAGuardChangesAreLostOrDoubled(t *testing.T) {
	for _, tc := range []struct {
		off  string
		each func(*world)
	}{
		{"routed", nil},
		{"reclaim", nil},
		{"drain", nil},
		{"went back", func(w *world) { w.lossy, w.faults = true, 0.1 }},
	} {
		t.Run(tc.off, func(t *testing.T) {
			if failed, _, _ := play(t, 60, tc.off, tc.each); failed == 0 {
				t.Errorf("without %q all is well: the guard does nothing, or the test can't see it", tc.off)
			}
		})
	}
}

func TestALaneWithoutChangesDoesNotHoldTheSourcesLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 4, 40)
		w.source.state = map[place]row{}
		w.source.log = nil // of one key, so that three lanes are idle
		for i := range int64(40) {
			w.source.log = append(w.source.log, []entry{{op: 1, k: 0, row: row{n: 1, v: i}, set: "\x07"}, {op: 3, old: 0}})
		}
		o := w.options(ByKey)
		drain := make(chan struct{})
		o.Until, o.Drain = nil, drain
		done := make(chan error, 1)
		go func() { _, err := Run(t.Context(), o); done <- err }()
		time.Sleep(100 * time.Millisecond) // of the bubble's clock: a few times Idle
		synctest.Wait()
		w.mu.Lock()
		discard := w.discard
		w.mu.Unlock()
		if discard != 40 {
			t.Errorf("the source may discard %d transactions of 40", discard)
		}
		close(drain)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err := w.check(); err != nil {
			t.Error(err)
		}
	})
}

func TestAnotherSourceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 2, 5)
		w.now.at[1].Source = "another"
		_, err := Run(t.Context(), w.options(ByKey))
		if connectors.ClassOf(err) != connectors.LostPosition {
			t.Errorf("%v, want a lost position", err)
		}
	})
}

func TestAFencedLaneStopsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 2, 50)
		o := w.options(ByKey)
		w.owner, w.now.at[0].Epoch, w.now.at[1].Epoch = 2, 9, 9
		_, err := Run(t.Context(), o)
		if connectors.ClassOf(err) != connectors.Fenced {
			t.Errorf("%v, want fenced", err)
		}
		if len(w.now.rows) > 0 {
			t.Errorf("a fenced stream left %v", w.now.rows)
		}
	})
}

// Table a was loaded at a later point than table b, as after a crash in a load:
// its changes up to there are in its rows, and are not applied again.
func TestChangesBeforeATablesPointAreLeftOut(t *testing.T) {
	const loaded = 30
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(5, 3, 0)
		r := rand.New(rand.NewPCG(5, 5))
		w.source.write(r, loaded)
		left := int64(0)
		for p, v := range w.source.state {
			if p.table == "a" {
				w.now.rows[p] = v
			}
		}
		for _, x := range w.source.log {
			for _, e := range x {
				if tables[e.table].Name.Name == "a" {
					left++
				}
			}
		}
		w.flushed = w.now.clone()
		w.source.write(r, 30)
		o := w.options(ByKey)
		o.Tables[0].After = at(loaded, 1<<20)
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if len(w.wrong) > 0 || !maps.Equal(w.now.rows, w.source.state) {
			t.Errorf("the target has %v, want %v; %v", w.now.rows, w.source.state, w.wrong)
		}
		var n int64
		for _, c := range w.now.at {
			n += c.Changes
		}
		if want := w.source.changes() - left; n != want || left == 0 {
			t.Errorf("%d changes were applied, want %d of %d", n, want, w.source.changes())
		}
	})
}
