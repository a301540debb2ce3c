package plan

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Encode writes what encoding/json writes, byte for byte: the plans of all
// examples, and each form that a document has.
func TestEncodeIsWhatEncodingJSONWrites(t *testing.T) {
	type inner struct {
		A int      `json:"a"`
		B []string `json:"b,omitempty"`
	}
	type head struct {
		V int    `json:"v"`
		S string `json:"s,omitempty"`
	}
	type all struct {
		head
		None   []inner         `json:"none"`
		Zero   []inner         `json:"zero"`
		Some   []inner         `json:"some"`
		Ptr    *inner          `json:"ptr,omitempty"`
		Nil    *inner          `json:"nil"`
		Any    any             `json:"any"`
		Raw    json.RawMessage `json:"raw,omitempty"`
		Bytes  []byte          `json:"bytes"`
		Map    map[string]int  `json:"map,omitempty"`
		At     time.Time       `json:"at,omitzero"`
		Hidden string          `json:"-"`
		Bare   bool
		Empty  struct{} `json:"empty"`
		Deep   [][]inner
	}
	type Shown struct {
		C int `json:"c"`
	}
	type pointing struct {
		head
		*Shown
		D int `json:"d"`
	}
	values := []any{
		pointing{head{1, ""}, &Shown{2}, 3}, pointing{head{1, ""}, nil, 3},
		nil, 1, "a<b", []int{}, all{}, &all{}, struct{}{},
		all{head{1, "x"}, []inner{}, nil, []inner{{1, nil}, {2, []string{"<&>", "\u2028", "\xff"}}}, &inner{}, nil, inner{3, nil}, json.RawMessage(`{"k":[1,2]}`),
			[]byte("abc"), map[string]int{"b": 1, "a": 2}, time.Unix(1, 0).UTC(), "h", true, struct{}{}, [][]inner{{}, {{1, nil}}, nil}},
	}
	paths, err := filepath.Glob("../../examples/*/*.plan.json")
	if err != nil || len(paths) < 5 {
		t.Fatalf("plans of the examples: %v (%v)", paths, err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, p, struct {
			head
			Plan *Plan `json:"plan,omitempty"`
		}{head{1, ""}, p})
	}
	for _, v := range values {
		var want, got bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		if err := Encode(&got, v); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%T: got\n%.2000s\nwant\n%.2000s", v, got.String(), want.String())
		}
	}
}
