package diag

import (
	"cmp"
	"slices"
	"strings"
)

// most is how many names a message offers in place of a wrong one.
const most = 3

// Nearest gives the names, at most three, that a slip of the finger could have
// turned into wrong, the likeliest first. Case counts for nothing, and neither
// does the schema before a name's dot where wrong has no dot itself.
func Nearest(wrong string, names []string) []string {
	if wrong == "" {
		return nil
	}
	type candidate struct {
		name  string
		slips int
	}
	var found []candidate
	low := strings.ToLower(wrong)
	for _, n := range names {
		have := strings.ToLower(n)
		d := slips(low, have)
		if i := strings.LastIndexByte(have, '.'); i >= 0 && !strings.Contains(low, ".") {
			d = min(d, slips(low, have[i+1:]))
		}
		if d < far {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Or(a.slips-b.slips, cmp.Compare(a.name, b.name)) })
	var out []string
	for _, f := range found[:min(most, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// DidYouMean is a sentence that offers the nearest names, or "".
func DidYouMean(wrong string, names []string) string {
	near := Nearest(wrong, names)
	switch len(near) {
	case 0:
		return ""
	case 1:
		return "Did you mean " + near[0] + "?"
	}
	return "Nearest: " + strings.Join(near, ", ") + "."
}

// far is the distance of two words of which neither is a slip for the other.
const far = 1 << 10

// slips counts the slips between two words: a letter left out, added, changed,
// or two neighbours swapped (the optimal string alignment distance). A third of
// the letters is where a slip ends and another word begins, and hardly anybody
// misses the first letter and another one: such words are far.
func slips(a, b string) int {
	limit := max(1, min(len(a), len(b))/3)
	if d := len(a) - len(b); d > limit || -d > limit || a == "" || b == "" {
		return far
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	d := last[len(b)]
	if d > limit || d > 1 && a[0] != b[0] {
		return far
	}
	return d
}
