package diag

import (
	"slices"
	"strings"
)

// Find returns what is known of a code: PEN0520, in small letters, or its
// number alone. Where there is none, near are the codes it may have been meant
// to be.
func Find(code string) (d Doc, near []string, ok bool) {
	want := strings.ToUpper(strings.TrimSpace(code))
	if digits := strings.TrimLeft(want, "0123456789"); digits == "" && want != "" && len(want) <= 4 {
		want = "PEN" + "0000"[len(want):] + want
	}
	all := Codes()
	if i := slices.IndexFunc(all, func(d Doc) bool { return string(d.Code) == want }); i >= 0 {
		return all[i], nil, true
	}
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = string(d.Code)
	}
	// All codes look alike, so that a slip leaves many candidates: those with the
	// fewest, and of these the ones with which it shares more.
	shared := func(name string) int {
		n := 0
		for n < len(name) && n < len(want) && name[n] == want[n] {
			n++
		}
		return n
	}
	names = slices.DeleteFunc(names, func(n string) bool { return slips(want, n) > 1 })
	slices.SortStableFunc(names, func(a, b string) int { return shared(b) - shared(a) })
	return Doc{}, names[:min(most, len(names))], false
}
