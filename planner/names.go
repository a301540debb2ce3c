package planner

import (
	"cmp"
	"strconv"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/schema"
)

// foldName applies an endpoint's `names` to a table's name.
func foldName(n schema.Name, names string) schema.Name {
	return schema.Name{Schema: fold(n.Schema, names), Name: fold(n.Name, names)}
}

func fold(s, names string) string {
	if names == "lower" {
		return strings.ToLower(s)
	}
	return s
}

// didYouMean is a sentence with the names nearest to a wrong one, to stand
// behind another sentence, or "".
func didYouMean(wrong string, names []string) string {
	if s := diag.DidYouMean(wrong, names); s != "" {
		return " " + s
	}
	return ""
}

// list writes names as a sentence does: a, b and c.
func list(names []string, and string) string {
	switch len(names) {
	case 0:
		return "none"
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + and + " " + names[last]
}

// natural orders names as people do: FIRENIBBLE2 before FIRENIBBLE10.
func natural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if digit(a[i]) && digit(b[j]) {
			x, y := digits(a[i:]), digits(b[j:])
			p, q := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
				return c
			}
			i, j = i+len(x), j+len(y)
			continue
		}
		if a[i] != b[j] {
			return cmp.Compare(a[i], b[j])
		}
		i, j = i+1, j+1
	}
	return cmp.Or(cmp.Compare(len(a)-i, len(b)-j), cmp.Compare(a, b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) string {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return s[:n]
}

func itoa(n int) string { return strconv.Itoa(n) }

// plural counts things: 1 table, 2 tables. "more" has no plural.
func plural(n int, one string) string {
	if n != 1 && one != "more" {
		one += "s"
	}
	return strconv.Itoa(n) + " " + one
}
