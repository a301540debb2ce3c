package connectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"penstock/internal/batch"

	"pgregory.net/rapid"
)

// taker is a table that refuses some rows: it goes by their numbers, and names
// the refused one or does not.
type taker struct {
	bad   map[int32]bool
	names bool
	// single: it can add rows one by one
	single bool
	after  map[int32]int32 // a row that goes in only behind another one
	in     []int32
	calls  int
	rows   int // of all calls
}

func (k *taker) try(sel batch.Selection) error {
	k.calls++
	k.rows += len(sel)
	for i, row := range sel {
		first, waits := k.after[row]
		waits = waits && !slices.Contains(k.in, first) && !slices.Contains(sel, first)
		if !k.bad[row] && !waits {
			continue
		}
		r := &Refusal{Reason: "bad", Waits: waits}
		if k.names {
			r.At = i + 1
		}
		return &Error{Class: Data, Err: r}
	}
	k.in = append(k.in, sel...)
	return nil
}

// each is what a target has for rows one by one.
func (k *taker) each(sel batch.Selection, bad func(int32, *Refusal) error) error {
	for i := range sel {
		var r *Refusal
		if err := k.try(sel[i : i+1]); errors.As(err, &r) {
			if err := bad(sel[i], r); err != nil {
				return err
			}
		}
	}
	k.calls -= len(sel) - 1
	return nil
}

func isolated(t interface{ Fatal(...any) }, k *taker, rows int, sel batch.Selection) (bad []int32) {
	each := k.each
	if !k.single {
		each = nil
	}
	err := Isolate(context.Background(), rows, sel, k.try, each, func(row int32, why *Refusal) error {
		bad = append(bad, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

func TestIsolateLeavesOutExactlyTheRowsThatAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 400).Draw(t, "rows")
		density := rapid.SampledFrom([]int{0, 1, 10, 50, 100}).Draw(t, "bad in a hundred")
		k := &taker{bad: map[int32]bool{}, names: rapid.Bool().Draw(t, "the target names rows"), single: rapid.Bool().Draw(t, "one by one")}
		var want, good []int32
		for i := range int32(rows) {
			if rapid.IntRange(1, 100).Draw(t, "row") <= density {
				k.bad[i] = true
				want = append(want, i)
			} else {
				good = append(good, i)
			}
		}
		if got := isolated(t, k, rows, nil); !slices.Equal(got, want) {
			t.Fatalf("refused %v, want %v", got, want)
		}
		if !slices.Equal(k.in, good) {
			t.Fatalf("in, in this order: %v, want %v", k.in, good)
		}
	})
}

// The work is bounded by the rows, and not by rows times bad rows.
func TestIsolateCostsAFewTimesItsRows(t *testing.T) {
	const rows = 8192
	for _, every := range []int32{1, 2, 10, 100, 1000, rows} {
		for i := range 4 {
			names, single := i&1 > 0, i&2 > 0
			k := &taker{bad: map[int32]bool{}, names: names, single: single}
			for i := every - 1; i < rows; i += every {
				k.bad[i] = true
			}
			if bad := isolated(t, k, rows, nil); len(bad) != len(k.bad) {
				t.Errorf("one in %d: %d bad rows, want %d", every, len(bad), len(k.bad))
			}
			if k.rows > 8*rows {
				t.Errorf("one in %d, named %v, one by one %v: %d rows were sent for %d in %d pieces", every, names, single, k.rows, rows, k.calls)
			}
			t.Logf("one in %d, named %v, one by one %v: %d rows sent in %d pieces", every, names, single, k.rows, k.calls)
		}
	}
}

func TestIsolateLooksOnlyAtSelectedRows(t *testing.T) {
	k := &taker{bad: map[int32]bool{3: true, 4: true}}
	if bad := isolated(t, k, 10, batch.Selection{1, 3, 5}); !slices.Equal(bad, []int32{3}) || !slices.Equal(k.in, []int32{1, 5}) {
		t.Errorf("bad %v, in %v", bad, k.in)
	}
	k = &taker{}
	if isolated(t, k, 10, batch.Selection{}); k.calls != 0 {
		t.Errorf("%d calls for no row", k.calls)
	}
}

// A row that refers to one behind it is tried again when that one is there.
func TestIsolateTriesRowsAgainThatWaitForOthers(t *testing.T) {
	k := &taker{bad: map[int32]bool{5: true}, after: map[int32]int32{0: 9, 9: 7, 1: 5, 2: 77}}
	bad := isolated(t, k, 10, nil)
	slices.Sort(bad)
	slices.Sort(k.in)
	if !slices.Equal(bad, []int32{1, 2, 5}) || !slices.Equal(k.in, []int32{0, 3, 4, 6, 7, 8, 9}) {
		t.Errorf("bad %v, in %v", bad, k.in)
	}
}

func TestIsolateStopsAtOtherErrors(t *testing.T) {
	lost := &Error{Class: Transient, Err: errors.New("lost")}
	n := 0
	err := Isolate(context.Background(), 10, nil, func(batch.Selection) error {
		if n++; n == 3 {
			return lost
		}
		return &Error{Class: Data, Err: errors.New("no row is named, and nothing is known of it")}
	}, nil, func(int32, *Refusal) error { return nil })
	if !errors.Is(err, lost) {
		t.Errorf("got %v, want %v", err, lost)
	}
	enough := fmt.Errorf("enough")
	err = Isolate(context.Background(), 10, nil, (&taker{bad: map[int32]bool{2: true}}).try, nil, func(int32, *Refusal) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("got %v, want what bad returned", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Isolate(ctx, 10, nil, (&taker{}).try, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context has ended", err)
	}
}
