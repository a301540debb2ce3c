package diag

import "slices"

// Doc describes a code, for docs/diagnostics.md and `penstock explain`.
type Doc struct {
	Code    Code   `json:"code"`
	Title   string `json:"title"`          // as in the summary
	Meaning string `json:"meaning"`        // when it is given, and what to do: whole sentences
	Bad     string `json:"bad,omitempty"`  // a spec fragment that gives it, in HCL, else in YAML
	Good    string `json:"good,omitempty"` // the fragment mended
}

// Codes lists every code that Penstock can give, sorted.
func Codes() []Doc {
	all := slices.Concat(langCodes, rowexprCodes, plannerCodes, liveCodes)
	slices.SortFunc(all, func(a, b Doc) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}
