package checkpoint

import (
	"errors"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/ranges"
)

func chunk(id int, done bool) connectors.ChunkState {
	c := connectors.ChunkState{Chunk: ranges.Chunk{ID: id, Range: 1}, Done: done}
	if done {
		c.Rows, c.BadRows = 10, 1
	}
	return c
}

func TestDecide(t *testing.T) {
	state := func(loaded bool, chunks ...connectors.ChunkState) *connectors.TableState {
		return &connectors.TableState{Generation: 3, Digest: "d", Definition: `{"filter":"a"}`, Point: []byte("p"), Loaded: loaded, Chunks: chunks}
	}
	for name, c := range map[string]struct {
		state      *connectors.TableState
		want       Want
		action     Action
		generation int
		pending    int
	}{
		"nothing known":                     {nil, Want{Digest: "d"}, Begin, 1, 0},
		"some done, durable point":          {state(false, chunk(1, true), chunk(2, false)), Want{Digest: "d", Durable: true}, Continue, 3, 1},
		"none done, durable point":          {state(false, chunk(1, false), chunk(2, false)), Want{Digest: "d", Durable: true}, Continue, 3, 2},
		"some done, the point is gone":      {state(false, chunk(1, true), chunk(2, false)), Want{Digest: "d"}, Restart, 4, 0},
		"none done, the point is gone":      {state(false, chunk(1, false), chunk(2, false)), Want{Digest: "d"}, Begin, 4, 0},
		"all done, not finished":            {state(false, chunk(1, true), chunk(2, true)), Want{Digest: "d"}, Complete, 3, 0},
		"an empty table, not finished":      {state(false), Want{Digest: "d"}, Complete, 3, 0},
		"loaded":                            {state(true, chunk(1, true)), Want{Digest: "d"}, Loaded, 3, 0},
		"loaded, reload":                    {state(true, chunk(1, true)), Want{Digest: "d", Reload: true}, Restart, 4, 0},
		"loaded as another table, reload":   {state(true, chunk(1, true)), Want{Digest: "other", Reload: true}, Restart, 4, 0},
		"unfinished, durable, reload":       {state(false, chunk(1, true), chunk(2, false)), Want{Digest: "d", Durable: true, Reload: true}, Restart, 4, 0},
		"nothing known of a reloaded table": {nil, Want{Digest: "d", Reload: true}, Begin, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decide(c.state, c.want)
			if err != nil {
				t.Fatal(err)
			}
			if got.Action != c.action || got.Generation != c.generation || len(got.Pending) != c.pending {
				t.Errorf("got %s, generation %d, %d pending; want %s, %d, %d", got.Action, got.Generation, len(got.Pending), c.action, c.generation, c.pending)
			}
			if got.Action == Continue && (got.Done*10 != int(got.Rows) || string(got.Point) != "p") {
				t.Errorf("%d chunks done with %d rows at point %q", got.Done, got.Rows, got.Point)
			}
		})
	}
}

func TestDriftNamesEachFieldWithBothValues(t *testing.T) {
	s := &connectors.TableState{Generation: 1, Digest: "old", Definition: `{"filter":"a > 1","key":["id"],"n":12345678901234567890}`}
	_, err := Decide(s, Want{Digest: "new", Definition: `{"filter":"a > 2","n":12345678901234567890,"on_nul":"strip"}`})
	var d *Drift
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a Drift", err)
	}
	for _, want := range []string{`filter was "a > 1", is "a > 2"`, `key was ["id"], is unset`, `on_nul was unset, is "strip"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "n was") {
		t.Errorf("%q names a field that is equal", err)
	}
}

func TestDriftNamesTheColumnOfAList(t *testing.T) {
	s := &connectors.TableState{Digest: "old", Definition: `{"columns":[{"name":"a","type":{"kind":"int64"}},{"name":"b"}],"range":{"count":8}}`}
	_, err := Decide(s, Want{Digest: "new", Definition: `{"columns":[{"name":"a","type":{"kind":"int32"}},{"name":"c"}],"range":{"count":4}}`})
	for _, want := range []string{`columns a type kind was "int64", is "int32"`, `columns b was {"name":"b"}, is unset`, `columns c was unset, is {"name":"c"}`, `range count was 8, is 4`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	s = &connectors.TableState{Digest: "old", Definition: `{"columns":[{"name":"a"},{"name":"b"}]}`}
	if _, err := Decide(s, Want{Digest: "new", Definition: `{"columns":[{"name":"b"},{"name":"a"}]}`}); err == nil || !strings.Contains(err.Error(), "columns is in another order") {
		t.Errorf("%v does not say that the order changed", err)
	}
}

func TestDriftOfAnUnreadableDefinitionStillStops(t *testing.T) {
	_, err := Decide(&connectors.TableState{Digest: "old", Definition: "not json"}, Want{Digest: "new", Definition: `{"a":1}`})
	if err == nil || !strings.Contains(err.Error(), "a was unset, is 1") {
		t.Errorf("got %v", err)
	}
	_, err = Decide(&connectors.TableState{Digest: "old", Definition: "{}"}, Want{Digest: "new", Definition: `{}`})
	if err == nil || !strings.Contains(err.Error(), "its digest") {
		t.Errorf("got %v", err)
	}
}
