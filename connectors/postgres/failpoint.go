//go:build failpoints

package postgres

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Crash tests name a durable step and which time it must be the last thing that
// the process does: PENSTOCK_FAILPOINT="chunk.rows:3".
var (
	failName, failAt = parseFailpoint(os.Getenv("PENSTOCK_FAILPOINT"))
	failHits         atomic.Int64

	// markerOutside is the negative control of those tests: it marks a chunk
	// after its rows' commit, so that a crash in between doubles rows.
	markerOutside = os.Getenv("PENSTOCK_TEST_POSTGRES_MARKER") == "outside"
)

func parseFailpoint(s string) (string, int64) {
	name, n, ok := strings.Cut(s, ":")
	at, err := strconv.ParseInt(n, 10, 64)
	if !ok || err != nil || at < 1 {
		return name, 1
	}
	return name, at
}

// failpoint kills the process, as kill -9 does, at the chosen hit of the chosen name.
func failpoint(name string) {
	if name != failName || failHits.Add(1) != failAt {
		return
	}
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(syscall.SIGKILL)
	}
	select {} // the signal ends every goroutine; this one must do nothing more
}
