package runtime

import (
	"context"
	"errors"
	"slices"

	"penstock/connectors"
	"penstock/runtime/checkpoint"
)

// Exit codes of a run. Their numbers are part of the command line's contract.
const (
	ExitOK         = 0
	ExitFailed     = 1   // what was done is kept; run it again to resume
	ExitSpec       = 2   // spec, plan or command line wrong; nothing was done
	ExitFindings   = 3   // finished, with rows set aside
	ExitDrift      = 4   // the plan no longer fits the spec or the catalog
	ExitHeld       = 5   // held or fenced by another run
	ExitPosition   = 6   // source position lost, another source, or a gap
	ExitAccess     = 7   // authentication or TLS
	ExitFull       = 8   // disk or memory bound reached
	ExitInterrupt  = 130 // cut short by SIGINT
	ExitTerminated = 143 // cut short by SIGTERM
)

// ExitCode is the exit code that an error of a run stands for.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	var drift *checkpoint.Drift
	var usage *UsageError
	switch {
	case errors.As(err, &usage):
		return ExitSpec
	case errors.As(err, &drift):
		return ExitDrift
	case errors.Is(err, context.Canceled):
		return ExitFailed
	}
	switch connectors.ClassOf(err) {
	case connectors.Permission:
		return ExitAccess
	case connectors.Schema:
		return ExitDrift
	case connectors.LostPosition:
		return ExitPosition
	case connectors.Held, connectors.Fenced:
		return ExitHeld
	case connectors.Full:
		return ExitFull
	}
	return ExitFailed
}

// severity orders exit codes from the worst. A signal's code stands between
// failures and findings: a run cut short has failed nothing, and is not done.
var severity = []int{ExitPosition, ExitFull, ExitAccess, ExitHeld, ExitDrift, ExitSpec, ExitFailed, ExitInterrupt, ExitTerminated, ExitFindings, ExitOK}

// Worst is the exit code of several pipelines.
func Worst(codes ...int) int {
	at := len(severity) - 1
	for _, c := range codes {
		if i := slices.Index(severity, c); i >= 0 && i < at {
			at = i
		}
	}
	return severity[at]
}

// UsageError says that a plan or a command line can't be carried out as it
// stands; nothing was done.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }
