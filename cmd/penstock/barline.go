package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"penstock/internal/event"
	"penstock/internal/units"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	minBar       = 10 // with its ends
	maxBar       = 30
	percentWidth = len("  100%")
	leftWidth    = len("  59m59s left")
)

// fact is a piece of a bar's line. Where the line is short, facts go whose rank
// is highest, or stand in their brief form; those of rank 0 stay.
type fact struct {
	rank  int
	text  string
	brief string
}

// line draws a table in width columns: its name, a bar, and what fits of its
// facts.
func (f *frame) line(name string, names int, x event.TableTally, now time.Time, width int) string {
	facts := f.facts(x, now)
	room := width - names - 1
	used := 0
	fits := make([]string, len(facts))
	for rank := 0; rank <= maxRank; rank++ {
		for i, c := range facts {
			if c.rank != rank {
				continue
			}
			for _, s := range []string{c.text, c.brief} {
				if n := 2 + runewidth.StringWidth(s); s != "" && (rank == 0 || used+n+minBar <= room) {
					used += n
					fits[i] = s
					break
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString(pad(cut(name, names), names))
	b.WriteByte(' ')
	if n := min(maxBar, room-used); n >= minBar {
		b.WriteString(meter(x, n))
	}
	for _, s := range fits {
		if s != "" {
			b.WriteString("  " + s)
		}
	}
	return cut(b.String(), width)
}

// maxRank is the highest rank that facts have.
const maxRank = 5

// facts are in the order in which they stand.
func (f *frame) facts(x event.TableTally, now time.Time) []fact {
	var facts []fact
	bad := func() {
		if x.Bad > 0 {
			facts = append(facts, fact{rank: 2, text: units.Count(x.Bad) + " bad"})
		}
	}
	speed := fact{rank: 3, text: rate(x.Rate(now))}
	if x.Loaded {
		facts = append(facts, fact{text: x.Verb() + ", " + plural64(x.Rows+x.Before, "row")}, speed)
		bad()
		return facts
	}
	if n, ok := percent(x); ok {
		facts = append(facts, fact{text: fmt.Sprintf("%3d%%", n)})
	}
	state := f.state(x, now)
	state.rank = 1
	facts = append(facts, state)
	if x.Committed == 0 {
		return facts
	}
	bad()
	return append(facts, speed, fact{rank: 4, text: read(x)}, fact{rank: 5, text: x.Verb() + " " + units.Count(x.Rows)})
}

// state says what a table waits for, or for how long.
func (f *frame) state(x event.TableTally, now time.Time) fact {
	open, stopping := uncommitted(x), f.draining.Load()
	eta, reckoned := x.ETA(now)
	switch {
	case f.ended.Load():
		return fact{text: "not finished"}
	case x.Done >= x.Chunks:
		return fact{text: "finishing"}
	case stopping && open > 0:
		return fact{text: "stopping: up to " + plural64(open, "row") + " to commit", brief: "stopping"}
	case stopping:
		return fact{text: "left for the next run", brief: "left"}
	case x.Read == 0:
		return fact{text: "waiting"}
	case x.Committed == 0:
		// Short of the first commit nothing else would move.
		return fact{text: read(x) + ", none committed yet", brief: units.Count(rowsRead(x)) + " read"}
	case reckoned:
		return fact{text: short(eta) + " left"}
	}
	return fact{} // its number of rows is not known
}

// meter is a bar of n columns.
func meter(x event.TableTally, n int) string {
	s := decor.Statistics{AvailableWidth: n, Total: x.Expected, Current: min(x.Committed, x.Expected), Completed: x.Loaded}
	if x.Loaded {
		s.Total, s.Current = 1, 1
	}
	var b strings.Builder
	if err := mpb.BarStyle().Build().Fill(&b, s); err != nil { // a Builder takes all
		return ""
	}
	return b.String()
}

// cut shortens a text to n columns.
func cut(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) { // in a table's name; it would move the cursor
			return '?'
		}
		return r
	}, s)
	return runewidth.Truncate(s, n, "…")
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-runewidth.StringWidth(s)))
}
