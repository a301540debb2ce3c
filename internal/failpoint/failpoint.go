//go:build failpoints

// Package failpoint lets crash tests kill a process between any two durable
// steps, and switch a guard off to prove that such a test can fail. Only builds
// with the tag failpoints have it; in others it is nothing, and costs nothing.
package failpoint

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var (
	failName, failAt = parse(os.Getenv("PENSTOCK_FAILPOINT"))
	hits             atomic.Int64
	off              = strings.Split(os.Getenv("PENSTOCK_GUARD_OFF"), ",")
)

func parse(s string) (string, int64) {
	name, n, ok := strings.Cut(s, ":")
	at, err := strconv.ParseInt(n, 10, 64)
	if !ok || err != nil || at < 1 {
		return name, 1
	}
	return name, at
}

// Hit kills the process, as kill -9 does, at the step and the time that
// PENSTOCK_FAILPOINT names: "chunk.rows:3" is the third time of chunk.rows.
func Hit(name string) {
	if name != failName || hits.Add(1) != failAt {
		return
	}
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(syscall.SIGKILL)
	}
	select {} // the signal ends every goroutine; this one must do nothing more
}

// Off reports whether PENSTOCK_GUARD_OFF names the guard, among others with
// commas between them: a negative control.
func Off(guard string) bool { return slices.Contains(off, guard) }
