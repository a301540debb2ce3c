//go:build !linux

package postgres

import "syscall"

// boundUnacknowledged does nothing where there is no such bound: the watch of
// each session finds the same, later.
func boundUnacknowledged(string, string, syscall.RawConn) error { return nil }
