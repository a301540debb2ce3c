//go:build unix && !linux

package postgrestest

import "os/exec"

// startBound starts a server. Only Linux ends it with a process that is killed.
func startBound(cmd *exec.Cmd) error { return cmd.Start() }
