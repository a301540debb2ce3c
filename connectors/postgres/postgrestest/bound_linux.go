package postgrestest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startBound starts a server that ends when this process does, however it
// ends: a killed test must not leave a cluster running. The kernel watches the
// thread that started it, so that thread stays for good.
func startBound(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
		err := cmd.Start()
		started <- err
		if err == nil {
			select {}
		}
	}()
	return <-started
}
