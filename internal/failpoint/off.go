//go:build !failpoints

// Package failpoint lets crash tests kill a process between any two durable
// steps, and switch a guard off to prove that such a test can fail. Only builds
// with the tag failpoints have it; in others it is nothing, and costs nothing.
package failpoint

// Hit does nothing in this build.
func Hit(string) {}

// Off is false in this build: every guard is on.
func Off(string) bool { return false }
