package main

import (
	"fmt"
	"time"

	"penstock/internal/event"
	"penstock/internal/units"
)

// screen shows a run's progress to people on standard error.
type screen interface {
	show(now time.Time, e event.Event)
	drain() // from now on the run only ends what it has begun
	close()
}

func (a *app) newScreen(t *event.Tally, every time.Duration) screen {
	if a.terminal {
		return newBars(a.screen, a.size, t)
	}
	return newLines(a.stderr, t, every)
}

// notice is the line of an event that people should read as it happens; ""
// for the others. Tables that were loaded earlier are left to the closing
// report: there may be hundreds.
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
	}
	return ""
}

// rowsRead are the rows read so far. A chunk that is tried again is read again,
// which must not count as more rows than there are.
func rowsRead(x event.TableTally) int64 {
	if x.Expected > 0 && x.Committed <= x.Expected {
		return min(x.Read, x.Expected)
	}
	return x.Read
}

// uncommitted are rows that are read and not yet durable: what a drain has
// still to do at most.
func uncommitted(x event.TableTally) int64 { return max(0, rowsRead(x)-x.Committed) }

// percent is how much of a table's rows are read and durable; ok is false where
// their number is not known.
func percent(x event.TableTally) (n int64, ok bool) {
	if x.Expected <= 0 {
		return 0, false
	}
	return min(100, 100*x.Committed/x.Expected), true
}

// read says how far reading is.
func read(x event.TableTally) string {
	s := "read " + units.Count(rowsRead(x))
	if x.Expected > 0 {
		s += " of " + units.Count(x.Expected)
	}
	return s
}

func rate(perSecond float64) string { return units.Count(int64(perSecond)) + " rows/s" }

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
