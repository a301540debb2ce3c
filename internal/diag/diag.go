// Package diag holds diagnostics: what is wrong with a spec, where, why, and
// what to write instead. Diagnostics are values, collected and never returned
// at the first.
package diag

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Code names a kind of diagnostic for ever: PEN0301.
type Code string

// Severity says whether a spec can be used.
type Severity uint8

const (
	Error   Severity = iota // the spec can't be used
	Warning                 // it can, and this should be read
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one finding. Subject lies inside a file that was read.
type Diagnostic struct {
	Code     Code
	Severity Severity
	Summary  string    // one line, no full stop, no position in it
	Detail   string    // why, and what to write instead: whole sentences
	Subject  hcl.Range // the bytes it is about
	Related  []Related // other places that take part
	Fixes    []Edit    // where the mending is mechanical
	Mend     []string  // statements or commands that mend it elsewhere, as they are to be run
}

// Related is another place that takes part in a diagnostic.
type Related struct {
	Message string
	Range   hcl.Range
}

// Edit replaces the bytes of Range by NewText.
type Edit struct {
	Title   string
	Range   hcl.Range
	NewText string
}

// List is the diagnostics of one command.
type List []Diagnostic

// Errorf adds an error whose detail is formatted.
func (l *List) Errorf(code Code, at hcl.Range, summary, detail string, args ...any) *Diagnostic {
	return l.add(code, Error, at, summary, detail, args)
}

// Warnf adds a warning whose detail is formatted.
func (l *List) Warnf(code Code, at hcl.Range, summary, detail string, args ...any) *Diagnostic {
	return l.add(code, Warning, at, summary, detail, args)
}

func (l *List) add(code Code, s Severity, at hcl.Range, summary, detail string, args []any) *Diagnostic {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	*l = append(*l, Diagnostic{Code: code, Severity: s, Summary: summary, Detail: detail, Subject: at})
	return &(*l)[len(*l)-1]
}

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sorted returns the diagnostics by file and position, each once.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Subject.Filename, b.Subject.Filename), cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte),
			cmp.Compare(a.Subject.End.Byte, b.Subject.End.Byte), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Summary, b.Summary))
	})
	return slices.CompactFunc(out, func(a, b Diagnostic) bool {
		return a.Code == b.Code && a.Subject == b.Subject && a.Summary == b.Summary && a.Detail == b.Detail
	})
}

// Apart returns the diagnostics that are about other bytes than the errors of
// earlier: what a later pass found in a spec that an earlier one refused, less
// what follows from that refusal.
func (l List) Apart(earlier List) List {
	return slices.DeleteFunc(slices.Clone(l), func(d Diagnostic) bool {
		return slices.ContainsFunc(earlier, func(e Diagnostic) bool {
			return e.Severity == Error && share(e.Subject, d.Subject)
		})
	})
}

// share reports whether two ranges have a byte in common, or one of them is
// empty and stands in or at the other.
func share(a, b hcl.Range) bool {
	if a.Filename != b.Filename {
		return false
	}
	if a.Empty() || b.Empty() {
		return a.Start.Byte <= b.End.Byte && b.Start.Byte <= a.End.Byte
	}
	return a.Start.Byte < b.End.Byte && b.Start.Byte < a.End.Byte
}
