// Package checkpoint decides, from what a target remembers, how far each task
// is and what a run has to do about it.
package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/ranges"
)

// Action is what a run does with a table.
type Action uint8

const (
	Begin    Action = iota + 1 // nothing is there: cut it and load it
	Continue                   // read the pending chunks at the same point
	Restart                    // the point is gone: empty the table and load it from a new one
	Complete                   // every chunk is done: run the finishing steps
	Loaded                     // nothing to do
)

func (a Action) String() string {
	return [...]string{"", "begin", "continue", "restart", "complete", "loaded"}[a]
}

// Task is the state of one table's load.
type Task struct {
	Action     Action
	Generation int             // the generation to load under
	Point      change.Position // Continue: where the done rows were read at
	Pending    []ranges.Chunk  // Continue
	Chunks     int             // of the generation, Begin and Restart: not known yet
	Done       int
	Rows, Bad  int64 // of the done chunks
	LoadedAt   string
}

// Want is what the plan and the command line ask of the table.
type Want struct {
	Digest     string
	Definition string
	Durable    bool // the source can read the stored point again
	Reload     bool
}

// Drift says that a table was begun under another definition.
type Drift struct {
	Fields []string // the fields that differ, with both values
}

func (d *Drift) Error() string {
	return "the spec or the catalog has changed since this table's load was begun: " + strings.Join(d.Fields, "; ")
}

// Decide says what to do about a table. s is nil when the target knows nothing
// of it. A changed definition is a *Drift, unless the table is reloaded.
func Decide(s *connectors.TableState, w Want) (Task, error) {
	if s == nil {
		return Task{Action: Begin, Generation: 1}, nil
	}
	if w.Reload {
		return Task{Action: Restart, Generation: s.Generation + 1}, nil
	}
	if s.Digest != w.Digest {
		return Task{}, &Drift{Fields: Difference(s.Definition, w.Definition)}
	}
	t := Task{Generation: s.Generation, Point: s.Point, Chunks: len(s.Chunks), LoadedAt: s.UpdatedAt}
	for _, c := range s.Chunks {
		if c.Done {
			t.Done++
			t.Rows += c.Rows
			t.Bad += c.BadRows
		} else {
			t.Pending = append(t.Pending, c.Chunk)
		}
	}
	switch {
	case s.Loaded:
		t.Action = Loaded
	case len(t.Pending) == 0:
		t.Action = Complete
	case !w.Durable && t.Done == 0:
		return Task{Action: Begin, Generation: s.Generation + 1}, nil
	case !w.Durable:
		// Reading the pending chunks at a later point would lose rows that have
		// moved from a pending chunk to a done one in between.
		return Task{Action: Restart, Generation: s.Generation + 1}, nil
	default:
		t.Action = Continue
	}
	return t, nil
}

// Difference names the fields of two JSON objects that are not equal. In a list
// of things with names it says which of them.
func Difference(was, is string) []string {
	out := compare("", object(was), object(is), nil)
	if len(out) == 0 {
		out = append(out, "its digest")
	}
	return out
}

func compare(path string, was, is any, out []string) []string {
	if reflect.DeepEqual(was, is) {
		return out
	}
	a, aok := named(was)
	b, bok := named(is)
	if !aok || !bok {
		return append(out, fmt.Sprintf("%s was %s, is %s", path, short(was), short(is)))
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if _, ok := b[k]; !ok {
			out = append(out, fmt.Sprintf("%s was %s, is unset", join(path, k), short(a[k])))
			continue
		}
		out = compare(join(path, k), a[k], b[k], out)
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok {
			out = append(out, fmt.Sprintf("%s was unset, is %s", join(path, k), short(b[k])))
		}
	}
	if len(out) == 0 && path != "" {
		out = append(out, path+" is in another order")
	}
	return out
}

func join(path, k string) string {
	if path == "" {
		return k
	}
	return path + " " + k
}

// named is a JSON object, or a list of objects by their names, as a map.
func named(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case []any:
		m := map[string]any{}
		for _, e := range v {
			o, ok := e.(map[string]any)
			if !ok {
				return nil, false
			}
			name, ok := o["name"].(string)
			if !ok {
				return nil, false
			}
			m[name] = o
		}
		return m, len(m) == len(v)
	}
	return nil, false
}

func object(s string) map[string]any {
	m := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	// A definition that can't be read is one of another version: all of it differs.
	_ = dec.Decode(&m)
	return m
}

func short(v any) string {
	if v == nil {
		return "unset"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return fmt.Sprint(v)
	}
	s := strings.TrimSpace(b.String())
	if r := []rune(s); len(r) > 80 {
		return string(r[:77]) + "..."
	}
	return s
}
