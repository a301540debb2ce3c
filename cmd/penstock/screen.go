package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"penstock/internal/event"
	"penstock/internal/secret"
	"penstock/internal/units"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// screen shows a run's progress to people on standard error.
type screen interface {
	show(now time.Time, e event.Event)
	close()
}

func (a *app) newScreen(t *event.Tally, every time.Duration) screen {
	if a.terminal {
		return newBars(a.screen, t)
	}
	return newLines(a.stderr, t, every)
}

// notice is the line of an event that people should read as it happens; ""
// for the others.
func notice(e event.Event) string {
	switch e := e.(type) {
	case event.Notice:
		return e.Text
	case event.PipelineStarted:
		if e.Resumed {
			return fmt.Sprintf("%s: an earlier run left something unfinished; going on with it", e.Pipeline)
		}
	case event.Retrying:
		where := e.Table
		if e.Chunk > 0 {
			where += fmt.Sprintf(" chunk %d", e.Chunk)
		}
		return fmt.Sprintf("%s: %s; trying again in %s (attempt %d failed)", where, e.Error, e.In.Round(time.Millisecond), e.Attempt)
	case event.TableLoaded:
		if e.Already != "" {
			return fmt.Sprintf("%s: %s rows were loaded at %s already; --reload %s loads it again", e.Table, units.Count(e.Rows), e.Already, e.Table)
		}
	}
	return ""
}

// progressLine is one line of sums: what is durable, how fast, how long still.
// last is what an earlier line said of the same table, lastAt when.
func progressLine(name string, x event.TableTally, now time.Time, last int64, lastAt time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s rows", name, units.Count(x.Committed))
	if x.Expected > 0 {
		fmt.Fprintf(&b, " of %s (%d%%)", units.Count(x.Expected), min(100, 100*x.Committed/x.Expected))
	}
	fmt.Fprintf(&b, ", %s rows/s", units.Count(int64(x.Rate(now))))
	if d := now.Sub(lastAt).Seconds(); !lastAt.IsZero() && d > 0 {
		fmt.Fprintf(&b, ", since last %s rows/s", units.Count(int64(float64(x.Committed-last)/d)))
	}
	if eta, ok := x.ETA(now); ok {
		fmt.Fprintf(&b, ", about %s left", short(eta))
	}
	if x.Bad > 0 {
		fmt.Fprintf(&b, ", %s bad", units.Count(x.Bad))
	}
	return b.String()
}

// short prints a duration as people say it.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

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
			text += fmt.Sprintf(", %d of %d are there from earlier (%s rows)", e.Done, e.Chunks, units.Count(e.Rows))
		}
	case event.TableLoaded:
		if text == "" {
			text = fmt.Sprintf("%s: loaded, %s rows", e.Table, units.Count(e.Rows))
		}
	}
	if text == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "%s %s\n", now.Format("15:04:05"), text)
}

func (l *lines) report(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	running := 0
	for _, x := range l.tally.Tables() {
		if x.Loaded || x.Started.IsZero() {
			continue
		}
		running++
		fmt.Fprintf(l.w, "%s %s\n", now.Format("15:04:05"), progressLine(x.Table, x, now, l.last[x.Table], l.lastAt))
		l.last[x.Table] = x.Committed
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

// bars draws a bar a table on a terminal, up to maxBars, and one for all.
type bars struct {
	tally    *event.Tally
	progress *mpb.Progress

	mu     sync.Mutex
	bars   map[string]*mpb.Bar
	hidden int
}

// maxBars keeps the bars and what was printed above them on one screen.
const maxBars = 12

func newBars(w io.Writer, t *event.Tally) *bars {
	return &bars{tally: t, bars: map[string]*mpb.Bar{}, progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(34), mpb.WithRefreshRate(120*time.Millisecond))}
}

func (b *bars) show(_ time.Time, e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text := notice(e); text != "" {
		// From the first column of a cleared line: a terminal echoes ^C where the
		// bars left the cursor. The bars go on if a line is lost.
		_, _ = fmt.Fprintln(b.progress, "\r\x1b[K"+secret.Scrub(text))
	}
	switch e := e.(type) {
	case event.TableStarted:
		if e.Chunks > e.Done {
			b.add(e.Table, e.Expected)
		}
	case event.ChunkCommitted:
		if bar := b.bars[e.Table]; bar != nil {
			bar.IncrInt64(e.Read)
		}
	case event.TableLoaded:
		if bar := b.bars[e.Table]; bar != nil {
			bar.SetTotal(-1, true)
		}
	}
}

func (b *bars) add(table string, expected int64) {
	if len(b.bars) >= maxBars {
		b.hidden++
		return
	}
	sums := func() event.TableTally {
		for _, x := range b.tally.Tables() {
			if x.Table == table {
				return x
			}
		}
		return event.TableTally{}
	}
	// Bars begin as "unknown"; a total of 0 would be complete at once.
	b.bars[table] = b.progress.AddBar(max(expected, 1),
		mpb.PrependDecorators(decor.Name(table, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			_, rest, _ := strings.Cut(progressLine("", sums(), time.Now(), 0, time.Time{}), ": ")
			return " " + rest
		})),
	)
}

func (b *bars) close() {
	b.mu.Lock()
	for _, bar := range b.bars {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	b.mu.Unlock()
	b.progress.Wait()
}
