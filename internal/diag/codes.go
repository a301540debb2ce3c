package diag

import "slices"

// Doc describes a code for docs/diagnostics.md.
type Doc struct {
	Code    Code
	Title   string // as in the summary
	Meaning string // when it is given, and what to do: whole sentences
	Bad     string // a spec fragment that gives it, in HCL
	Good    string // the fragment mended
}

// Codes lists every code that Penstock can give, sorted.
func Codes() []Doc {
	all := slices.Concat(langCodes, rowexprCodes, plannerCodes)
	slices.SortFunc(all, func(a, b Doc) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}
