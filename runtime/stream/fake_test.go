package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/schema"
)

// Two tables of one shape: a key, a counter of the row's changes, and a column
// that updates may leave out.
var tables = []*schema.Table{shape("a"), shape("b")}

func shape(name string) *schema.Table {
	return &schema.Table{Name: schema.Name{Name: name}, Columns: []schema.Column{
		{Name: "k", Type: schema.Of(schema.Int64)}, {Name: "n", Type: schema.Of(schema.Int64)}, {Name: "v", Type: schema.Of(schema.Int64)},
	}}
}

type row struct{ n, v int64 }

// place is a row's table and key.
type place struct {
	table string
	key   int64
}

// event is a change as the source has it.
type entry struct {
	op     change.Op
	table  int
	old, k int64
	row    row
	set    change.Mask
}

// source is a log of transactions with what its changes leave behind.
type source struct {
	log   [][]entry
	state map[place]row
}

// write makes transactions: inserts, updates, deletes, runs of key moves, now
// and then a truncate.
func (s *source) write(r *rand.Rand, transactions int) {
	const keys = 12
	for range transactions {
		var t []entry
		for range 1 + r.IntN(5) {
			table, k := r.IntN(len(tables)), r.Int64N(keys)
			p := place{tables[table].Name.Name, k}
			old, there := s.state[p]
			now := row{n: old.n + 1, v: r.Int64N(1000)}
			switch x := r.IntN(100); {
			case !there:
				now.n = 1
				t = append(t, entry{op: change.Insert, table: table, k: k, row: now, set: change.Whole(3)})
				s.state[p] = now
			case x < 3: // rows shift up by one from k, the last into a free place
				last := k
				for ; ; last++ {
					if _, ok := s.state[place{p.table, last}]; !ok {
						break
					}
				}
				moved := map[place]row{}
				for from := k; from < last; from++ { // ascending: each new key is taken when it is named
					m := s.state[place{p.table, from}]
					m.n++
					t = append(t, entry{op: change.Update, table: table, old: from, k: from + 1, row: m, set: change.Whole(3)})
					moved[place{p.table, from + 1}] = m
				}
				delete(s.state, p)
				maps.Copy(s.state, moved)
			case x < 4:
				t = append(t, entry{op: change.Truncate, table: table})
				maps.DeleteFunc(s.state, func(q place, _ row) bool { return q.table == p.table })
			case x < 70:
				set := change.Whole(3)
				if r.IntN(2) == 0 {
					set, now.v = change.MaskOf(3, 0, 1), old.v
				}
				t = append(t, entry{op: change.Update, table: table, old: k, k: k, row: now, set: set})
				s.state[p] = now
			default:
				t = append(t, entry{op: change.Delete, table: table, old: k})
				delete(s.state, p)
			}
		}
		s.log = append(s.log, t)
	}
}

func (s *source) changes() (n int64) {
	for _, t := range s.log {
		n += int64(len(t))
	}
	return n
}

func at(commit, ordinal int) change.Position {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(commit)), uint32(ordinal))
}

var errLost = &connectors.Error{Op: "test", Class: connectors.Transient, Err: errors.New("connection lost")}

// world is a source, a target and what breaks between them.
type world struct {
	mu     sync.Mutex
	rand   *rand.Rand
	faults float64 // chance of one, at each thing that can break
	source source

	now      state
	flushed  state // what a restart of the target comes back to
	lossy    bool  // it restarts now and then, to what was flushed
	restarts int
	owner    int // the claim that has the lanes
	control  int // restarts that the connection of Advance and Serial has seen
	discard  int // transactions of the log that the source may have thrown away
	faulted  map[string]int
	wrong    []string
}

// state is what is in the target.
type state struct {
	rows map[place]row
	at   []connectors.Checkpoint
}

func (s state) clone() state { return state{maps.Clone(s.rows), slices.Clone(s.at)} }

func newWorld(seed uint64, lanes, transactions int) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 1)), faulted: map[string]int{}}
	w.source.state = map[place]row{}
	w.source.write(w.rand, transactions)
	w.now.rows = map[place]row{}
	for i := range lanes {
		w.now.at = append(w.now.at, connectors.Checkpoint{Lane: i, Epoch: 1, Position: at(0, 0), Resume: change.Resume(at(0, 0))})
	}
	w.flushed = w.now.clone()
	return w
}

// breaks decides whether something breaks here. w.mu is held.
func (w *world) breaks(what string) bool {
	if w.rand.Float64() >= w.faults {
		return false
	}
	w.faulted[what]++
	return true
}

func (w *world) fault(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// restart brings the target back to what it had flushed.
func (w *world) restart() {
	if w.lossy && w.rand.Float64() < w.faults {
		epochs := w.now.at
		w.now = w.flushed.clone()
		for i := range w.now.at { // claims are flushed at once
			w.now.at[i].Epoch = epochs[i].Epoch
		}
		w.restarts++
	}
}

// reader reads the log from a resume: the number of a transaction that is whole.
type reader struct {
	w    *world
	next int // transaction
	from int // entry of it
	pool change.Pool
}

func (w *world) open(_ context.Context, c connectors.Checkpoint) (connectors.ChangeReader, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := int(binary.BigEndian.Uint32(c.Position)) // the transaction that is needed next
	if first > 0 && first <= len(w.source.log) && int(binary.BigEndian.Uint32(c.Position[4:])) < len(w.source.log[first-1]) {
		first--
	}
	if first < w.discard {
		return nil, &connectors.Error{Op: "open", Class: connectors.LostPosition, Err: fmt.Errorf("transaction %d is needed, %d were discarded", first, w.discard)}
	}
	n := int(binary.BigEndian.Uint32(c.Resume))
	if n > first {
		w.fault("the resume %d lies behind transaction %d, which is needed", n, first)
	}
	return &reader{w: w, next: max(n, w.discard)}, nil
}

func (*reader) Source() string { return "source" }
func (*reader) Close() error   { return nil }

func (r *reader) Read(ctx context.Context) (*change.Batch, error) {
	if r.next == len(r.w.source.log) { // nothing new comes
		select {
		case <-time.After(3 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if r.w.breaks("read") {
		return nil, errLost
	}
	b := r.pool.Batch()
	for n := 1 + r.w.rand.IntN(12); n > 0 && r.next < len(r.w.source.log); n-- {
		t := r.w.source.log[r.next]
		e := t[r.from]
		set := b.SetOf(tables[e.table], nil)
		im := b.Sets[set]
		c := change.Change{Op: e.op, Set: set, Before: -1, After: -1, Position: at(r.next+1, r.from+1), End: r.from == len(t)-1}
		if e.op == change.Delete || e.op == change.Update && e.old != e.k {
			c.Before = add(&im.Before, e.old, row{}, change.MaskOf(3, 0))
		}
		if e.op == change.Insert || e.op == change.Update {
			c.After = add(&im.After, e.k, e.row, e.set)
		}
		b.Changes = append(b.Changes, c)
		if r.from++; r.from == len(t) {
			r.next, r.from = r.next+1, 0
		}
	}
	b.Resume = change.Resume(at(r.next, 0))
	if r.next == len(r.w.source.log) {
		b.Through = at(r.next+1, 0)
	}
	return b, nil
}

func add(m *change.Image, k int64, r row, set change.Mask) int32 {
	m.Columns[0].AppendInt(k)
	for i, v := range []int64{r.n, r.v} {
		if set.Has(i + 1) {
			m.Columns[i+1].AppendInt(v)
		} else {
			m.Columns[i+1].AppendNull()
		}
	}
	return m.Add(set)
}

func (r *reader) Confirm(_ context.Context, at change.Resume) error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.discard = max(r.w.discard, int(binary.BigEndian.Uint32(at)))
	return nil
}

// Checkpoints is not called by a stream itself.
func (w *world) Checkpoints(context.Context, int, connectors.Checkpoint) ([]connectors.Checkpoint, error) {
	return nil, errors.New("not asked for")
}

func (w *world) Flushed(context.Context) (connectors.Checkpoint, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushed = w.now.clone()
	least := w.flushed.at[0]
	for _, c := range w.flushed.at {
		if c.Position.Compare(least.Position) < 0 {
			least = c
		}
	}
	return least, nil
}

func (w *world) OpenApply(_ context.Context, l connectors.Lane) (connectors.ChangeApplier, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &applier{w: w, lane: l.At.Lane, epoch: l.At.Epoch, owner: w.owner, restarts: w.restarts}, nil
}

type applier struct {
	w     *world
	lane  int
	epoch int64
	owner int // of the claim
	// restarts that its connection has lived through.
	restarts int
}

func (a *applier) Close() error { return nil }

func (a *applier) Reclaim(context.Context) (connectors.Checkpoint, error) {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	if a.w.breaks("before a claim") {
		return connectors.Checkpoint{}, errLost
	}
	a.restarts = a.w.restarts
	c := &a.w.now.at[a.lane]
	if a.w.owner != a.owner || c.Epoch < a.epoch {
		return *c, &connectors.Error{Op: "claim", Class: connectors.Fenced, Err: errors.New("another epoch")}
	}
	c.Epoch++
	a.w.flushed.at[a.lane].Epoch = c.Epoch
	if a.w.breaks("after a claim") {
		return connectors.Checkpoint{}, errLost
	}
	a.epoch = c.Epoch
	return *c, nil
}

func (a *applier) Apply(_ context.Context, n *change.Net, from, to connectors.Checkpoint) (connectors.Applied, error) {
	w := a.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.restarts != w.restarts {
		return connectors.Applied{}, errLost
	}
	if w.breaks("before the commit") {
		w.restart()
		return connectors.Applied{}, errLost
	}
	s := w.now.clone()
	if err := s.step(from, to.Position); err != nil {
		return connectors.Applied{}, err
	}
	to.Epoch, to.Source = s.at[a.lane].Epoch, "source"
	s.at[a.lane] = to
	var rows int64
	for _, g := range n.Groups(nil) {
		for _, r := range g.Rows {
			cols, i := n.Key(r)
			p := place{g.Table.Name.Name, cols[0].Ints[i]}
			old, there := s.rows[p]
			if there == (g.Kind == change.NetInsert) {
				return connectors.Applied{}, &connectors.Error{Op: "apply", Class: connectors.Mismatch, Err: fmt.Errorf("%s of %v, which is there: %t", g.Kind, p, there)}
			}
			rows++
			if g.Kind == change.NetDelete {
				delete(s.rows, p)
				continue
			}
			c, i := n.Value(r, 1)
			now := row{n: c.Ints[i], v: old.v}
			if c, i := n.Value(r, 2); c != nil {
				now.v = c.Ints[i]
			}
			if g.Kind == change.NetUpdate && now.n <= old.n {
				w.fault("%v goes back from change %d to %d", p, old.n, now.n)
			}
			s.rows[p] = now
		}
	}
	w.now = s
	if w.breaks("after the commit") {
		w.restart()
		return connectors.Applied{}, errLost
	}
	return connectors.Applied{Net: rows, Rows: rows}, nil
}

// step is the compare-and-set of a lane's row.
func (s state) step(from connectors.Checkpoint, to change.Position) error {
	have := s.at[from.Lane]
	switch {
	case have.Epoch != from.Epoch:
		return &connectors.Error{Op: "apply", Class: connectors.Fenced, Err: errors.New("another epoch")}
	case have.Position.Compare(from.Position) != 0:
		return &connectors.Error{Op: "apply", Class: connectors.LostPosition, Err: fmt.Errorf("lane %d is at %s, not %s", from.Lane, have.Position, from.Position)}
	case to.Compare(from.Position) <= 0:
		return &connectors.Error{Op: "apply", Class: connectors.LostPosition, Err: fmt.Errorf("lane %d would go from %s to %s", from.Lane, from.Position, to)}
	}
	return nil
}

func (w *world) Advance(_ context.Context, lanes []connectors.Checkpoint, to connectors.Checkpoint) (moved []int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.control != w.restarts || w.breaks("before idle lanes move") {
		w.control = w.restarts
		return nil, errLost
	}
	for _, l := range lanes {
		c := &w.now.at[l.Lane]
		if c.Epoch == l.Epoch && c.Position.Compare(to.Position) < 0 {
			c.Position, c.Resume, c.Source = to.Position, to.Resume, to.Source
			moved = append(moved, l.Lane)
		}
	}
	if w.breaks("after idle lanes moved") {
		return nil, errLost
	}
	return moved, nil
}

func (w *world) Serial(_ context.Context, x connectors.Section) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.control != w.restarts || w.breaks("before a serial section") {
		w.control = w.restarts
		return errLost
	}
	s := w.now.clone()
	for i, l := range x.Lanes {
		if err := s.step(l, x.To.Position); err != nil {
			return err
		}
		c := &s.at[l.Lane]
		c.Position, c.Resume, c.Source = x.To.Position, x.To.Resume, x.To.Source
		if i == 0 {
			c.Changes += x.To.Changes
		}
	}
	moved := map[place][]row{}
	put := func() {
		for p, r := range moved {
			if len(r) > 0 {
				s.rows[p] = r[len(r)-1]
			}
		}
		clear(moved)
	}
	for _, ref := range x.Changes {
		c := ref.Change()
		set := ref.Batch.Sets[c.Set]
		table := set.Table.Name.Name
		if c.Op == change.Truncate {
			put()
			maps.DeleteFunc(s.rows, func(p place, _ row) bool { return p.table == table })
			continue
		}
		old := place{table, set.Before.Columns[0].Ints[c.Before]}
		was, there := s.rows[old]
		if there {
			delete(s.rows, old)
		} else if came := moved[old]; len(came) > 0 {
			was, moved[old] = came[0], came[1:]
		} else {
			return &connectors.Error{Op: "apply", Class: connectors.Mismatch, Err: fmt.Errorf("%v moves and is not there", old)}
		}
		now := row{n: set.After.Columns[1].Ints[c.After], v: set.After.Columns[2].Ints[c.After]}
		if now.n <= was.n {
			w.fault("%v goes back from change %d to %d as it moves", old, was.n, now.n)
		}
		p := place{table, set.After.Columns[0].Ints[c.After]}
		moved[p] = append(moved[p], now)
	}
	put()
	w.now = s
	if w.breaks("after a serial section") {
		return errLost
	}
	return nil
}
