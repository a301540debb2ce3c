package ranges

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"penstock/internal/batch"
	"penstock/internal/schema"

	"github.com/zeebo/xxh3"
)

var update = flag.Bool("update", false, "rewrite the table in docs/hash.md")

// vector is a key with what testdata/vectors.py made of it.
type vector struct {
	Key []struct {
		Type  string  `json:"type"`
		Value *string `json:"value"` // canonical text; nil = NULL
	} `json:"key"`
	Encoding    string `json:"encoding"`
	Hash        string `json:"hash"`
	RangeOf8    int32  `json:"range_of_8"`
	RangeOf1000 int32  `json:"range_of_1000"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	src, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	if err := json.Unmarshal(src, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// typeOf reads the few type names of the vectors.
func typeOf(t *testing.T, name string) schema.Type {
	t.Helper()
	word, limits, limited := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	var kind schema.Kind
	if err := kind.UnmarshalText([]byte(word)); err != nil {
		t.Fatal(err)
	}
	typ := schema.Of(kind)
	if limited {
		if _, err := fmt.Sscanf(limits+",0", "%d,%d", &typ.Precision, &typ.Scale); err != nil {
			t.Fatalf("type %q: %v", name, err)
		}
	}
	return typ
}

// batchOf is one row of the vector's key.
func batchOf(t *testing.T, v vector) (*batch.Batch, []int) {
	t.Helper()
	var types []schema.Type
	var columns []int
	for i, k := range v.Key {
		types = append(types, typeOf(t, k.Type))
		columns = append(columns, i)
	}
	b := batch.NewPool(types, batch.Limits{}).Builder()
	for i, k := range v.Key {
		if k.Value == nil {
			b.Column(i).AppendNull()
		} else if err := batch.ParseText(b.Column(i), []byte(*k.Value)); err != nil {
			t.Fatalf("%s %q: %v", k.Type, *k.Value, err)
		}
	}
	return b.Seal(), columns
}

func TestPublishedVectors(t *testing.T) {
	for _, v := range vectors(t) {
		b, columns := batchOf(t, v)
		h := NewHasher(columns)
		var enc []byte
		for i := range columns {
			enc = AppendKey(enc, b.Columns[i], 0)
		}
		if got := hex.EncodeToString(enc); got != v.Encoding {
			t.Errorf("%s: got encoding %s, want %s", v, got, v.Encoding)
		}
		hash, _ := h.Hash(b, 0)
		if got := fmt.Sprintf("%016x", hash); got != v.Hash {
			t.Errorf("%s: got hash %s, want %s", v, got, v.Hash)
		}
		for n, want := range map[int]int32{1: 1, 8: v.RangeOf8, 1000: v.RangeOf1000} {
			if got := h.Ranges(b, nil, n, nil); len(got) != 1 || got[0] != want {
				t.Errorf("%s: got range %v of %d, want %d", v, got, n, want)
			}
		}
	}
}

// TestOurHashIsXXH3 holds the library to every branch on the length that the
// algorithm has, by the vectors' long keys and the empty input.
func TestOurHashIsXXH3(t *testing.T) {
	const empty = 0x2d06800538d394c2 // from the reference implementation
	if got := xxh3.Hash(nil); got != empty {
		t.Errorf("got %x for no input, want %x", got, uint64(empty))
	}
	seen := map[string]bool{}
	for _, v := range vectors(t) {
		switch n := len(v.Encoding) / 2; {
		case n <= 3:
			seen["1-3"] = true
		case n <= 8:
			seen["4-8"] = true
		case n <= 16:
			seen["9-16"] = true
		case n <= 128:
			seen["17-128"] = true
		case n <= 240:
			seen["129-240"] = true
		default:
			seen["241-"] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("the vectors have keys of lengths %v, want all six branches", seen)
	}
}

// String is the key as the page shows it; long values are cut in the middle.
func (v vector) String() string {
	var parts []string
	for _, k := range v.Key {
		text := "NULL"
		if k.Value != nil {
			text = "`" + *k.Value + "`"
			if n := len(*k.Value); n > 64 {
				text = fmt.Sprintf("`%s...` (%d bytes)", (*k.Value)[:20], n)
			}
		}
		parts = append(parts, k.Type+" "+text)
	}
	return strings.Join(parts, ", ")
}

func TestGoldenPageShowsTheVectors(t *testing.T) {
	const path, from, to = "../../docs/hash.md", "<!-- vectors -->\n", "<!-- /vectors -->"
	table := "| key | encoding | hash | range of 8 | of 1000 |\n|---|---|---|---|---|\n"
	for _, v := range vectors(t) {
		enc := v.Encoding
		if len(enc) > 80 {
			enc = enc[:40] + "... (" + fmt.Sprint(len(enc)/2) + " bytes)"
		}
		table += fmt.Sprintf("| %s | %s | %s | %d | %d |\n", v, enc, v.Hash, v.RangeOf8, v.RangeOf1000)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(src), from)
	old, after, ok2 := strings.Cut(rest, to)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the vectors: it wants the lines %q and %q", path, from, to)
	}
	if old == table {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not that of testdata/vectors.json: go test ./internal/ranges -update rewrites it", path)
	}
	if err := os.WriteFile(path, []byte(before+from+table+to+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
