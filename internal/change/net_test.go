package change_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"penstock/internal/change"
	"penstock/internal/schema"

	"pgregory.net/rapid"
)

// pair has a key of two columns, of which the second is looked at only where
// the first is equal, and two more columns.
var pair = &schema.Table{Name: schema.Name{Name: "pair"}, Columns: []schema.Column{
	{Name: "k1", Type: schema.Of(schema.Int64)}, {Name: "a", Type: schema.Of(schema.Int64)},
	{Name: "k2", Type: schema.Of(schema.Text)}, {Name: "b", Type: schema.Of(schema.Text), Nullable: true},
}}

var pairKey = []int{0, 2}

// row is a row of pair: what is at the target.
type row struct {
	a int64
	b string // "" = NULL
}

type key struct {
	k1 int64
	k2 string
}

// source writes changes into batches as a connector does, and does them to a
// state of its own.
type source struct {
	pool    change.Pool
	batches []*change.Batch
	state   map[key]row
	at      int64
}

func (s *source) batch(cut bool) *change.Batch {
	if len(s.batches) == 0 || cut {
		s.batches = append(s.batches, s.pool.Batch())
	}
	return s.batches[len(s.batches)-1]
}

func image(m *change.Image, k key, r row, present change.Mask) int32 {
	m.Columns[0].AppendInt(k.k1)
	m.Columns[2].AppendString(k.k2)
	if present.Has(1) {
		m.Columns[1].AppendInt(r.a)
	} else {
		m.Columns[1].AppendNull()
	}
	if present.Has(3) && r.b != "" {
		m.Columns[3].AppendString(r.b)
	} else {
		m.Columns[3].AppendNull()
	}
	return m.Add(present)
}

func (s *source) add(cut bool, op change.Op, k key, r row, set change.Mask) {
	b := s.batch(cut)
	set0 := b.SetOf(pair, pairKey)
	im := b.Sets[set0]
	s.at++
	c := change.Change{Op: op, Set: set0, Before: -1, After: -1, Position: change.Position(fmt.Sprintf("%09d", s.at)), Hash: uint64(k.k1 & 1)} // hashes that collide
	if op == change.Delete || op == change.DeleteThere {
		c.Before = image(&im.Before, k, row{}, change.MaskOf(4, pairKey...))
	} else {
		c.After = image(&im.After, k, r, set)
	}
	b.Changes = append(b.Changes, c)
	old, there := s.state[k]
	switch op {
	case change.Insert, change.Upsert:
		s.state[k] = r
	case change.Update:
		if there {
			if set.Has(1) {
				old.a = r.a
			}
			if set.Has(3) {
				old.b = r.b
			}
			s.state[k] = old
		}
	default:
		delete(s.state, k)
	}
}

// apply does net changes to a target and checks what each kind promises.
func apply(n *change.Net, target map[key]row) error {
	for _, g := range n.Groups(nil) {
		var last key
		for i, r := range g.Rows {
			cols, at := n.Key(r)
			k := key{cols[0].Ints[at], string(cols[2].Bytes(at))}
			if i > 0 && (k.k1 < last.k1 || k.k1 == last.k1 && k.k2 <= last.k2) {
				return fmt.Errorf("%s: key %v comes after %v", g.Kind, k, last)
			}
			last = k
			old, there := target[k]
			switch g.Kind {
			case change.NetDelete, change.NetUpdate, change.NetReplace:
				if !there && !n.Loose {
					return fmt.Errorf("%s of %v, which is not there", g.Kind, k)
				}
			case change.NetInsert:
				if there {
					return fmt.Errorf("insert of %v, which is there", k)
				}
			}
			if g.Kind == change.NetDelete || g.Kind == change.NetDeleteIf {
				delete(target, k)
				continue
			}
			if g.Kind == change.NetUpdate && !there {
				continue
			}
			whole := g.Kind != change.NetUpdate
			if whole {
				old = row{}
			}
			if whole || g.Set.Has(1) {
				c, i := n.Value(r, 1)
				old.a = c.Ints[i]
			}
			if whole || g.Set.Has(3) {
				old.b = ""
				if c, i := n.Value(r, 3); !c.IsNull(i) {
					old.b = string(c.Bytes(i))
				}
			}
			target[k] = old
		}
	}
	return nil
}

var sets = []change.Mask{change.Whole(4), change.MaskOf(4, 0, 2, 1), change.MaskOf(4, 0, 2, 3), change.MaskOf(4, 0, 2)}

func drawRow(t *rapid.T) row {
	return row{a: rapid.Int64Range(0, 9).Draw(t, "a"), b: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "b")}
}

func drawKey(t *rapid.T) key {
	return key{k1: rapid.Int64Range(-2, 2).Draw(t, "k1"), k2: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "k2")}
}

// fold folds all of a source's changes.
func fold(n *change.Net, s *source) error {
	for _, b := range s.batches {
		n.Hold(b)
		for i := range b.Changes {
			if err := n.Fold(b, i); err != nil {
				return err
			}
		}
		b.Release()
	}
	return nil
}

func TestNetChangesLeaveWhatTheChangesLeave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &source{state: map[key]row{}}
		for range rapid.IntRange(0, 6).Draw(t, "before") {
			s.state[drawKey(t)] = drawRow(t)
		}
		target := maps.Clone(s.state)
		n := &change.Net{}
		for range rapid.IntRange(1, 3).Draw(t, "commits") {
			for range rapid.IntRange(0, 30).Draw(t, "changes") {
				k := drawKey(t)
				ops := []change.Op{change.Insert, change.Upsert, change.DeleteThere}
				if _, there := s.state[k]; there {
					ops = []change.Op{change.Update, change.Update, change.Update, change.Delete, change.Upsert, change.DeleteThere}
				}
				op := rapid.SampledFrom(ops).Draw(t, "op")
				set := sets[0]
				if op == change.Update {
					set = rapid.SampledFrom(sets).Draw(t, "set")
				}
				s.add(rapid.Bool().Draw(t, "cut"), op, k, drawRow(t), set)
			}
			if err := fold(n, s); err != nil {
				t.Fatalf("a valid sequence conflicts: %v", err)
			}
			if err := apply(n, target); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(target, s.state) {
				t.Fatalf("target %v, want %v", target, s.state)
			}
			n.Reset()
			s.batches = nil
		}
	})
}

func TestLooseNetChangesTakeWhatCantBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &source{state: map[key]row{}}
		for range rapid.IntRange(0, 6).Draw(t, "before") {
			s.state[drawKey(t)] = drawRow(t)
		}
		target := maps.Clone(s.state)
		n := &change.Net{Loose: true}
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			op := rapid.SampledFrom([]change.Op{change.Insert, change.Update, change.Delete, change.Upsert, change.DeleteThere}).Draw(t, "op")
			set := sets[0]
			if op == change.Update {
				set = rapid.SampledFrom(sets).Draw(t, "set")
			}
			s.add(rapid.Bool().Draw(t, "cut"), op, drawKey(t), drawRow(t), set)
		}
		if err := fold(n, s); err != nil {
			t.Fatal(err)
		}
		if err := apply(n, target); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(target, s.state) {
			t.Fatalf("target %v, want %v", target, s.state)
		}
	})
}

func TestWhatCantFollowIsAConflict(t *testing.T) {
	for _, tc := range [][]change.Op{
		{change.Insert, change.Insert}, {change.Update, change.Insert}, {change.Upsert, change.Insert},
		{change.Delete, change.Update}, {change.Delete, change.Delete}, {change.DeleteThere, change.Update},
		{change.Insert, change.Delete, change.Update}, {change.Insert, change.Delete, change.Delete},
		{change.Delete, change.Insert, change.Insert},
	} {
		s := &source{state: map[key]row{}}
		for _, op := range tc {
			s.add(false, op, key{1, "a"}, row{a: 1}, sets[0])
		}
		n := &change.Net{}
		err := fold(n, s)
		var c *change.Conflict
		if !errors.As(err, &c) || c.Op != tc[len(tc)-1] || n.Changes != int64(len(tc)-1) {
			t.Errorf("%v: %v after %d changes, want a conflict at the last one", tc, err, n.Changes)
		}
	}
}

func TestRowsOfParentsComeEarlierAndGoLater(t *testing.T) {
	parent := &schema.Table{Name: schema.Name{Name: "parent"}, Columns: pair.Columns}
	child := &schema.Table{Name: schema.Name{Name: "child"}, Columns: pair.Columns}
	var pool change.Pool
	b := pool.Batch()
	add := func(t *schema.Table, op change.Op, k int64) {
		set := b.SetOf(t, pairKey)
		c := change.Change{Op: op, Set: set, Before: -1, After: -1, Position: change.Position{byte(len(b.Changes))}, Hash: uint64(k)<<1 | uint64(set)}
		if op == change.Delete {
			c.Before = image(&b.Sets[set].Before, key{k, "a"}, row{}, change.MaskOf(4, pairKey...))
		} else {
			c.After = image(&b.Sets[set].After, key{k, "a"}, row{}, sets[0])
		}
		b.Changes = append(b.Changes, c)
	}
	add(parent, change.Insert, 1)
	add(child, change.Insert, 1)
	add(child, change.Delete, 2)
	add(parent, change.Delete, 2)
	n := &change.Net{}
	n.Hold(b)
	for i := range b.Changes {
		if err := n.Fold(b, i); err != nil {
			t.Fatal(err)
		}
	}
	rank := func(t *schema.Table) int { return slices.Index([]*schema.Table{parent, child}, t) }
	var got []string
	for _, g := range n.Groups(rank) {
		got = append(got, fmt.Sprint(g.Kind, " ", g.Table.Name))
	}
	want := []string{"delete child", "delete parent", "insert parent", "insert child"}
	if !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestABatchGoesBackToItsPoolWithItsLastHolder(t *testing.T) {
	var pool change.Pool
	b := pool.Batch()
	b.SetOf(pair, pairKey)
	n := &change.Net{}
	n.Hold(b)
	b.Release()
	if other := pool.Batch(); other == b {
		t.Fatal("a batch that a net holds was given out again")
	}
	n.Reset()
	if again := pool.Batch(); again != b || len(again.Changes) != 0 {
		t.Error("a released batch was not recycled, or not emptied")
	}
	defer func() {
		if recover() == nil {
			t.Error("a second release did not panic")
		}
	}()
	b.Release()
	b.Release()
}

func BenchmarkFold(b *testing.B) {
	const keys = 10_000
	var pool change.Pool
	var batches []*change.Batch
	for range 3 { // three passes of updates over all keys
		x := pool.Batch()
		set := x.SetOf(pair, pairKey)
		for k := range int64(keys) {
			a := image(&x.Sets[set].After, key{k, "a"}, row{a: k}, sets[0])
			x.Changes = append(x.Changes, change.Change{Op: change.Update, Set: set, Before: -1, After: a, Position: change.Position{1}, Hash: uint64(k) * 0x9e3779b97f4a7c15})
		}
		batches = append(batches, x)
	}
	n := &change.Net{}
	b.ReportAllocs()
	for b.Loop() {
		for _, x := range batches {
			n.Hold(x)
			for i := range x.Changes {
				if err := n.Fold(x, i); err != nil {
					b.Fatal(err)
				}
			}
		}
		if g := n.Groups(nil); len(g) != 1 {
			b.Fatal(len(g))
		}
		n.Reset()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(3*keys), "ns/change")
}
