package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"penstock/internal/event"
	"penstock/internal/secret"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"
)

// midway is a table of a million rows, of which 450,000 are read and 400,000
// durable after a second.
func midway(name string, at time.Time) *event.Tally {
	y := &event.Tally{}
	addMidway(y, name, at)
	return y
}

func addMidway(y *event.Tally, name string, at time.Time) {
	y.Add(at, event.TableStarted{Pipeline: "p", Table: name, Chunks: 10, Expected: 1_000_000})
	y.Add(at, event.ChunkRead{Pipeline: "p", Table: name, Chunk: 1, Read: 450_000})
	y.Add(at, event.ChunkCommitted{Pipeline: "p", Table: name, Chunk: 1, Read: 400_000, Rows: 300_000})
}

func TestPercentAndTimeLeftOutlastTheRestOnNarrowTerminals(t *testing.T) {
	at := time.Unix(1000, 0)
	for width, want := range map[int][]string{
		40:  {" 40%", "1.5s left"},
		60:  {" 40%", "1.5s left", "400,000 rows/s"},
		80:  {" 40%", "1.5s left", "400,000 rows/s", "read 450,000 of 1,000,000"},
		120: {" 40%", "1.5s left", "400,000 rows/s", "read 450,000 of 1,000,000", "loaded 300,000"},
	} {
		f := &frame{tally: midway("big_table", at)}
		got := f.lines(at.Add(time.Second), width, 24)
		if len(got) != 1 {
			t.Fatalf("width %d: one table has the lines %q", width, got)
		}
		for _, w := range want {
			if !strings.Contains(got[0], w) {
				t.Errorf("width %d: %q lacks %q", width, got[0], w)
			}
		}
		bar := got[0][strings.IndexByte(got[0], '[') : strings.IndexByte(got[0], ']')+1]
		if len(bar) < minBar {
			t.Errorf("width %d: the bar is %q, want %d columns at least", width, bar, minBar)
		}
	}
}

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(1000, 0)
		y := &event.Tally{}
		count := rapid.Int64Range(0, 1<<40)
		for i := range rapid.IntRange(1, 30).Draw(t, "tables") {
			name := rapid.StringMatching(`[a-zä_表]{1,60}`).Draw(t, "name") + fmt.Sprint(i)
			y.Add(at, event.TableStarted{Pipeline: "p", Table: name, Chunks: 3, Expected: count.Draw(t, "expected")})
			if n := count.Draw(t, "read"); rapid.Bool().Draw(t, "begun") {
				y.Add(at, event.ChunkRead{Pipeline: "p", Table: name, Read: n})
				if rapid.Bool().Draw(t, "committed") {
					y.Add(at, event.ChunkCommitted{Pipeline: "p", Table: name, Read: n, Rows: n, Bad: n / 2})
				}
			}
			if rapid.Bool().Draw(t, "loaded") {
				y.Add(at, event.TableLoaded{Pipeline: "p", Table: name})
			}
		}
		f := &frame{tally: y}
		f.draining.Store(rapid.Bool().Draw(t, "draining"))
		f.ended.Store(rapid.Bool().Draw(t, "ended"))
		width, height := rapid.IntRange(20, 200).Draw(t, "width"), rapid.IntRange(4, 50).Draw(t, "height")
		lines := f.lines(at.Add(time.Minute), width, height)
		if len(lines) > maxBars+1 || len(lines) >= max(height, 5) {
			t.Fatalf("%d lines on a screen of %d", len(lines), height)
		}
		for _, l := range lines {
			if n := runewidth.StringWidth(l); n > width {
				t.Fatalf("%d columns, want %d at most: %q", n, width, l)
			}
		}
	})
}

func TestManyTablesTakeElevenBarsARestAndATotal(t *testing.T) {
	at := time.Unix(1000, 0)
	y := &event.Tally{}
	for i := range 16 {
		y.Add(at, event.TableStarted{Pipeline: "p", Table: fmt.Sprintf("t%02d", i), Chunks: 10, Expected: 100})
	}
	y.Add(at, event.TableLoaded{Pipeline: "p", Table: "t03"})
	addMidway(y, "t15", at)
	lines := (&frame{tally: y}).lines(at.Add(time.Second), 80, 40)
	text := strings.Join(lines, "\n")
	if len(lines) != 13 {
		t.Fatalf("%d lines, want 13:\n%s", len(lines), text)
	}
	if !strings.HasPrefix(lines[10], "t15") {
		t.Errorf("the table that moves has no bar:\n%s", text)
	}
	if lines[11] != "+ 5 more tables, 1 of them loaded" || !strings.HasPrefix(lines[12], "total") {
		t.Errorf("the last two lines are not the rest and the total:\n%s", text)
	}
}

func TestWhatABarSaysOfItsTable(t *testing.T) {
	at := time.Unix(1000, 0)
	committed := event.ChunkCommitted{Pipeline: "p", Table: "t", Chunk: 1, Read: 1_000_000, Rows: 750_186}
	started := event.TableStarted{Pipeline: "p", Table: "t", Chunks: 1, Expected: 1_000_000}
	reading := event.ChunkRead{Pipeline: "p", Table: "t", Chunk: 1, Read: 1_000_000}
	loaded := event.TableLoaded{Pipeline: "p", Table: "t", Rows: 750_186}
	for _, c := range []struct {
		name       string
		events     []event.Event
		drain      bool
		want, lack string
	}{
		{"begun", []event.Event{started}, false, "waiting", "left"},
		{"before the first commit", []event.Event{started, reading}, false, "read 1,000,000 of 1,000,000, none committed yet", "left"},
		{"all committed", []event.Event{started, reading, committed}, false, "100%  finishing", "left"},
		{"loaded", []event.Event{started, reading, committed, loaded}, false, "loaded, 750,186 rows  1,000,000 rows/s", "left"},
		{"draining", []event.Event{started, reading}, true, "stopping: up to 1,000,000 rows to commit", "none"},
		{"draining, not begun", []event.Event{started}, true, "left for the next run", "waiting"},
	} {
		y := &event.Tally{}
		for _, e := range c.events {
			when := at
			if e == event.Event(loaded) {
				when = at.Add(time.Second)
			}
			y.Add(when, e)
		}
		f := &frame{tally: y}
		f.draining.Store(c.drain)
		got := f.lines(at.Add(time.Minute), 100, 24)[0]
		if !strings.Contains(got, c.want) || strings.Contains(got, c.lack) {
			t.Errorf("%s: got %q, want %q in it and no %q", c.name, got, c.want, c.lack)
		}
	}
}

// A terminal echoes ^C behind the frame; one that was made narrower wraps it.
func TestConsoleLeavesNothingOfTheFrameBefore(t *testing.T) {
	screen := &terminal{width: 40}
	width := 40
	c := &console{w: screen, size: func() (int, int) { return width, 24 }}
	draw := func(lines int, text string) {
		t.Helper()
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := c.Flush(lines); err != nil {
			t.Fatal(err)
		}
	}
	draw(2, "first [===>   ]\ntotal [===>   ]\n")
	_, _ = screen.Write([]byte("^C"))
	draw(2, "stopping\nfirst [====>  ]\ntotal [====>  ]\n")
	if want := "stopping\nfirst [====>  ]\ntotal [====>  ]"; screen.String() != want {
		t.Errorf("after ^C the screen is\n%s\nwant\n%s", screen, want)
	}
	draw(1, strings.Repeat("x", 40)+"\n")
	// The terminal reflows the line of 40 columns into two.
	width, screen.width = 20, 20
	screen.rows = [][]rune{[]rune("stopping"), []rune(strings.Repeat("x", 20)), []rune(strings.Repeat("x", 20))}
	screen.row, screen.col = 3, 0
	draw(1, "narrow\n")
	if want := "stopping\nnarrow"; screen.String() != want {
		t.Errorf("after a resize the screen is\n%s\nwant\n%s", screen, want)
	}
}

func TestBarsKeepSecretsOffTheScreen(t *testing.T) {
	const canary = "canary-in-a-bar"
	secret.New(canary)
	at := time.Unix(1000, 0)
	screen := &terminal{width: 100}
	y := midway(canary, at)
	b := newBars(screen, func() (int, int) { return 100, 24 }, y)
	b.show(at, event.Notice{Text: "password " + canary})
	b.show(at, event.TableStarted{Pipeline: "p", Table: canary})
	b.close()
	got := screen.String()
	if strings.Contains(got, canary) || !strings.Contains(got, "password ****") || !strings.Contains(got, "40%") {
		t.Errorf("the screen is\n%s", got)
	}
}
