package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"penstock/internal/event"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// bars draws the tables on a terminal. mpb redraws and keeps printed lines above
// the frame; what its bars show is a line each of the frame, not a table each, so
// that thousands of tables go through a screen of a dozen.
type bars struct {
	frame    *frame
	size     func() (width, height int)
	progress *mpb.Progress

	mu    sync.Mutex
	slots []*mpb.Bar
}

// refresh is how often bars are drawn: fluent, and no work beside a load's.
const refresh = 120 * time.Millisecond

func newBars(w io.Writer, size func() (width, height int), t *event.Tally) *bars {
	if size == nil {
		size = func() (int, int) { return 80, 24 }
	}
	return &bars{
		frame: &frame{tally: t}, size: size,
		progress: mpb.New(mpb.WithConsoleWriter(&console{w: w, size: size}), mpb.WithRefreshRate(refresh)),
	}
}

func (b *bars) show(_ time.Time, e event.Event) {
	if text := notice(e); text != "" {
		width, _ := b.size()
		// The bars go on if a line is lost.
		_, _ = fmt.Fprintln(b.progress, wrap(text, width, "", "  "))
	}
	switch e.(type) {
	case event.TableStarted, event.CompareStarted:
		b.grow()
	}
}

// grow gives the frame as many lines as it now has.
func (b *bars) grow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	width, height := b.size()
	for want := len(b.frame.lines(time.Now(), width, height)); len(b.slots) < want; {
		i := len(b.slots)
		// A total that nothing counts up to: a slot ends when the run does.
		slot, err := b.progress.Add(0, mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
			width, height := b.size()
			if lines := b.frame.lines(time.Now(), width, height); i < len(lines) {
				_, err := io.WriteString(w, lines[i])
				return err
			}
			return nil
		}), mpb.BarFillerTrim())
		if err != nil { // the screen is closed
			return
		}
		b.slots = append(b.slots, slot)
	}
}

func (b *bars) drain() { b.frame.draining.Store(true) }

func (b *bars) close() {
	b.frame.ended.Store(true)
	b.mu.Lock()
	for _, s := range b.slots {
		s.Abort(false)
	}
	b.mu.Unlock()
	b.progress.Wait()
}

// frame is what bars show of a tally.
type frame struct {
	tally    *event.Tally
	draining atomic.Bool
	ended    atomic.Bool
}

// maxBars keeps the bars and what was printed above them on one screen.
const maxBars = 12

// lines are a line a table that this run has begun and, where there are
// several, one for the rest and one for all of them.
func (f *frame) lines(now time.Time, width, height int) []string {
	var begun []event.TableTally
	for _, x := range f.tally.Tables() {
		if !x.Started.IsZero() {
			begun = append(begun, x)
		}
	}
	if len(begun) == 0 {
		return nil
	}
	// A total, a line below the frame and one above it have to fit as well.
	room := max(2, min(maxBars, height-3))
	shown, rest := begun, ""
	if len(begun) > room {
		shown = choose(begun, room-1)
		rest = restLine(begun, shown)
	}
	total, label := f.tally.Total(), "total"
	names := len(label)
	for _, x := range shown {
		names = max(names, runewidth.StringWidth(x.Table))
	}
	names = min(names, max(10, width-2-minBar-percentWidth-leftWidth))
	var out []string
	for _, x := range shown {
		out = append(out, f.line(x.Table, names, x, now, width))
	}
	if rest != "" {
		out = append(out, cut(rest, width))
	}
	if len(begun) > 1 {
		out = append(out, f.line(label, names, total, now, width))
	}
	return out
}

// choose takes n tables for the screen, in their order: first those that are
// moving, then those to come, then the loaded.
func choose(all []event.TableTally, n int) []event.TableTally {
	rank := func(x event.TableTally) int {
		switch {
		case x.Loaded:
			return 2
		case x.Read == 0:
			return 1
		}
		return 0
	}
	take := make([]bool, len(all))
	for r := 0; r < 3; r++ {
		for i := range all {
			if n > 0 && rank(all[i]) == r {
				take[i] = true
				n--
			}
		}
	}
	var out []event.TableTally
	for i, x := range all {
		if take[i] {
			out = append(out, x)
		}
	}
	return out
}

func restLine(all, shown []event.TableTally) string {
	loaded := 0
	for _, x := range all {
		if x.Loaded {
			loaded++
		}
	}
	for _, x := range shown {
		if x.Loaded {
			loaded--
		}
	}
	s := "+ " + plural(len(all)-len(shown), "more table")
	if loaded > 0 {
		s += fmt.Sprintf(", %d of them loaded", loaded)
	}
	return s
}
