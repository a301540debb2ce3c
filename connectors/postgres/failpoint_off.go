//go:build !failpoints

package postgres

// failpoint and markerOutside exist for crash tests, in builds with the tag
// failpoints. Here they are nothing, and cost nothing.
func failpoint(string) {}

const markerOutside = false
