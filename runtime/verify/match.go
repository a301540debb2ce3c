package verify

import (
	"bytes"
	"cmp"
	"slices"

	"penstock/internal/ranges"
)

// finding is a row that differs, known by its hashes.
type finding struct {
	kind           Kind
	key            ranges.Hash128
	source, target *entry // nil where that side lacks it
	sole           bool   // its key has one row at most on either side
}

// found counts what differs and keeps some of each kind.
type found struct {
	counts map[Kind]int64
	kept   map[Kind][]finding
	most   int // kept of a kind
}

func newFound(most int) *found {
	return &found{counts: map[Kind]int64{}, kept: map[Kind][]finding{}, most: most}
}

func (f *found) add(x finding) {
	f.counts[x.kind]++
	if len(f.kept[x.kind]) < f.most {
		f.kept[x.kind] = append(f.kept[x.kind], x)
	}
}

// listed are most findings in all: an equal share of each kind, and what the
// others leave of theirs.
func (f *found) listed() []finding {
	var out []finding
	for i := 0; len(out) < f.most; i++ {
		more := false
		for _, k := range []Kind{MissingRow, ExtraRow, DifferentRow} {
			if i < len(f.kept[k]) && len(out) < f.most {
				out = append(out, f.kept[k][i])
				more = true
			}
		}
		if !more {
			break
		}
	}
	return out
}

// match finds what differs in a group. Rows of one key are matched as they are
// equal; of those left over, one of each side are one row that differs.
func match(a, b []entry, f *found) {
	for _, list := range [][]entry{a, b} {
		slices.SortFunc(list, func(x, y entry) int { return cmp.Or(compare(x.key, y.key), compare(x.row, y.row)) })
	}
	for len(a) > 0 || len(b) > 0 {
		var key ranges.Hash128
		if len(b) == 0 || len(a) > 0 && compare(a[0].key, b[0].key) <= 0 {
			key = a[0].key
		} else {
			key = b[0].key
		}
		n, m := run(a, key), run(b, key)
		if n == 1 && m == 1 && a[0].row == b[0].row { // nearly all
			a, b = a[1:], b[1:]
			continue
		}
		left, right := apart(a[:n], b[:m])
		pairs := min(len(left), len(right))
		sole := n <= 1 && m <= 1
		for i := range left {
			x := finding{kind: MissingRow, key: key, source: &left[i], sole: sole}
			if i < pairs {
				x.kind, x.target = DifferentRow, &right[i]
			}
			f.add(x)
		}
		for i := pairs; i < len(right); i++ {
			f.add(finding{kind: ExtraRow, key: key, target: &right[i], sole: sole})
		}
		a, b = a[n:], b[m:]
	}
}

// run is how many entries at the beginning have this key.
func run(list []entry, key ranges.Hash128) int {
	n := 0
	for n < len(list) && list[n].key == key {
		n++
	}
	return n
}

// apart leaves out what is on both sides, as often as it is on both.
func apart(a, b []entry) (left, right []entry) {
	for len(a) > 0 && len(b) > 0 {
		switch c := compare(a[0].row, b[0].row); {
		case c < 0:
			left, a = append(left, a[0]), a[1:]
		case c > 0:
			right, b = append(right, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(left, a...), append(right, b...)
}

func compare(a, b ranges.Hash128) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// byKey orders listed rows as people look for them: by their keys, numbers by
// their size.
func byKey(a, b *Row) int {
	for i := range a.Key {
		if i >= len(b.Key) {
			break
		}
		x, y := a.Key[i].Value.Text, b.Key[i].Value.Text
		if isNumber(x) && isNumber(y) && x[0] != '-' && y[0] != '-' {
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			continue
		}
		if c := bytes.Compare([]byte(x), []byte(y)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Hash, b.Hash))
}

func isNumber(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (i > 0 || s[i] != '-') {
			return false
		}
	}
	return s != "" && s != "-"
}
