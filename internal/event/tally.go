package event

import (
	"sync"
	"time"
)

// Tally sums events up, table by table, for whatever draws them. It may be
// added to and read by many goroutines.
type Tally struct {
	mu     sync.Mutex
	tables []*TableTally
	byName map[string]*TableTally
}

// TableTally is one table's sums.
type TableTally struct {
	Pipeline, Table string
	Expected        int64 // rows to read in this run, by estimate; 0 = unknown
	Read            int64 // rows read by this run
	Committed       int64 // of those, in chunks that are durable
	Filtered        int64
	Rows            int64 // rows at the target by this run
	Before          int64 // rows at the target by earlier runs
	Bad             int64
	Bytes           int64
	Chunks, Done    int
	Retries         int
	Loaded          bool      // or compared
	Compares        bool      // it is compared, not loaded
	Started         time.Time // when its first row was read; until then, when its edges were fixed
	Ended           time.Time // when it was loaded; its rate stands still from then on
}

// Add takes an event that happened at the given time.
func (t *Tally) Add(at time.Time, e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case TableStarted:
		x := t.table(e.Pipeline, e.Table)
		x.Expected, x.Chunks, x.Done, x.Before, x.Started = e.Expected, e.Chunks, e.Done, e.Rows, at
	case ChunkRead:
		x := t.table(e.Pipeline, e.Table)
		if x.Read == 0 {
			x.Started = at // time spent waiting for its turn is no part of its rate
		}
		x.Read += e.Read
		x.Filtered += e.Filtered
		x.Bytes += e.Bytes
	case ChunkCommitted:
		x := t.table(e.Pipeline, e.Table)
		x.Done++
		x.Committed += e.Read
		x.Rows += e.Rows
		x.Bad += e.Bad
	case CompareStarted:
		x := t.table(e.Pipeline, e.Table)
		x.Expected, x.Chunks, x.Started, x.Compares = e.Expected, e.Chunks, at, true
	case CompareRead: // there is nothing to commit
		x := t.table(e.Pipeline, e.Table)
		x.Read += e.Rows
		x.Committed += e.Rows
		x.Rows += e.Rows
		x.Bytes += e.Bytes
	case Compared:
		x := t.table(e.Pipeline, e.Table)
		x.Loaded, x.Ended = true, at
	case Retrying:
		t.table(e.Pipeline, e.Table).Retries++
	case TableLoaded:
		x := t.table(e.Pipeline, e.Table)
		x.Loaded, x.Ended = true, at
	}
}

func (t *Tally) table(pipeline, table string) *TableTally {
	k := pipeline + "\x00" + table
	if x := t.byName[k]; x != nil {
		return x
	}
	if t.byName == nil {
		t.byName = map[string]*TableTally{}
	}
	x := &TableTally{Pipeline: pipeline, Table: table}
	t.byName[k] = x
	t.tables = append(t.tables, x)
	return x
}

// Tables is a copy of the sums, in the order in which tables were first heard of.
func (t *Tally) Tables() []TableTally {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]TableTally, len(t.tables))
	for i, x := range t.tables {
		out[i] = *x
	}
	return out
}

// Total is the sum over tables; Started is the earliest. It is loaded when all
// that this run has begun are.
func (t *Tally) Total() TableTally {
	sum := TableTally{Loaded: true}
	for _, x := range t.Tables() {
		sum.Expected += x.Expected
		sum.Read += x.Read
		sum.Committed += x.Committed
		sum.Filtered += x.Filtered
		sum.Rows += x.Rows
		sum.Before += x.Before
		sum.Bad += x.Bad
		sum.Bytes += x.Bytes
		sum.Chunks += x.Chunks
		sum.Done += x.Done
		sum.Retries += x.Retries
		if !x.Started.IsZero() && (sum.Started.IsZero() || x.Started.Before(sum.Started)) {
			sum.Started = x.Started
		}
		if x.Ended.After(sum.Ended) {
			sum.Ended = x.Ended
		}
		sum.Loaded = sum.Loaded && x.Loaded
		sum.Compares = sum.Compares || x.Compares
	}
	return sum
}

// Verb is what becomes of the rows.
func (x TableTally) Verb() string {
	if x.Compares {
		return "compared"
	}
	return "loaded"
}

// Rate is rows committed per second since the start, until all is loaded.
func (x TableTally) Rate(now time.Time) float64 {
	if x.Loaded {
		now = x.Ended
	}
	d := now.Sub(x.Started).Seconds()
	if x.Started.IsZero() || d <= 0 {
		return 0
	}
	return float64(x.Committed) / d
}

// ETA is how long the rest takes at the rate so far; ok is false while nothing
// is known to reckon with, and when there is no rest.
func (x TableTally) ETA(now time.Time) (d time.Duration, ok bool) {
	r := x.Rate(now)
	if r <= 0 || x.Expected <= 0 || x.Committed >= x.Expected {
		return 0, false
	}
	return time.Duration(float64(x.Expected-x.Committed) / r * float64(time.Second)), true
}
