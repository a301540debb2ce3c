package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"penstock/internal/event"
	"penstock/internal/units"
)

// lines writes a line a table and a total at every interval: for logs.
type lines struct {
	w     io.Writer
	tally *event.Tally
	stop  chan struct{}
	ended sync.WaitGroup

	mu     sync.Mutex
	last   map[string]int64
	lastAt time.Time
}

func newLines(w io.Writer, t *event.Tally, every time.Duration) *lines {
	l := &lines{w: w, tally: t, stop: make(chan struct{}), last: map[string]int64{}}
	l.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				l.report(now)
			case <-l.stop:
				return
			}
		}
	})
	return l
}

func (l *lines) show(now time.Time, e event.Event) {
	text := notice(e)
	switch e := e.(type) {
	case event.TableStarted:
		text = fmt.Sprintf("%s: reading %s", e.Table, plural(e.Chunks-e.Done, "chunk"))
		if e.Done > 0 {
			text += fmt.Sprintf("; %d of %d are there from earlier (%s)", e.Done, e.Chunks, plural64(e.Rows, "row"))
		}
	case event.CompareStarted:
		text = fmt.Sprintf("%s: reading both sides, %s", e.Table, plural(e.Chunks, "chunk"))
	case event.Compared:
		text = fmt.Sprintf("%s: %s", e.Table, e.State)
	case event.TableLoaded:
		if e.Already == "" {
			text = fmt.Sprintf("%s: loaded, %s", e.Table, plural64(e.Rows, "row"))
		}
	}
	if text == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "%s %s\n", now.Format("15:04:05"), text)
}

// drain writes where each table stands: the next interval may be far off.
func (l *lines) drain() { l.report(time.Now()) }

func (l *lines) report(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	running := 0
	for _, x := range l.tally.Tables() {
		if x.Loaded || x.Started.IsZero() {
			continue
		}
		running++
		key := x.Pipeline + "\x00" + x.Table
		fmt.Fprintf(l.w, "%s %s\n", now.Format("15:04:05"), progressLine(x.Table, x, now, l.last[key], l.lastAt))
		l.last[key] = x.Committed
	}
	if running > 1 {
		x := l.tally.Total()
		fmt.Fprintf(l.w, "%s %s\n", now.Format("15:04:05"), progressLine("total", x, now, l.last[""], l.lastAt))
		l.last[""] = x.Committed
	}
	l.lastAt = now
}

func (l *lines) close() {
	close(l.stop)
	l.ended.Wait()
}

// progressLine is one line of sums: what is read, what is durable, how fast,
// how long still. last is what an earlier line said of the same table, lastAt
// when.
func progressLine(name string, x event.TableTally, now time.Time, last int64, lastAt time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s %s", name, read(x), x.Verb(), units.Count(x.Rows))
	if n, ok := percent(x); ok {
		fmt.Fprintf(&b, " (%d%% done)", n)
	}
	fmt.Fprintf(&b, ", %s", rate(x.Rate(now)))
	if d := now.Sub(lastAt).Seconds(); !lastAt.IsZero() && d > 0 {
		fmt.Fprintf(&b, ", since last %s", rate(float64(x.Committed-last)/d))
	}
	if eta, ok := x.ETA(now); ok {
		fmt.Fprintf(&b, ", about %s left", short(eta))
	}
	if x.Bad > 0 {
		fmt.Fprintf(&b, ", %s bad", units.Count(x.Bad))
	}
	return b.String()
}
