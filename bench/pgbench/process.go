package pgbench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpu is what the server's processes have used, living and ended, in seconds.
// Sessions must have ended: one that is ending is counted twice or not at all.
func (s *Server) cpu() float64 {
	_, ticks := stat(s.PID(), true)
	for _, pid := range s.children() {
		_, t := stat(pid, false)
		ticks += t
	}
	return float64(ticks) / 100 // USER_HZ
}

// children are the server's processes below the first one.
func (s *Server) children() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		pid, err := strconv.Atoi(filepath.Base(p))
		if err != nil {
			continue
		}
		if parent, _ := stat(pid, false); parent == s.PID() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// settle waits until the server has no more processes than n.
func (s *Server) settle(n int) {
	for range 500 {
		if len(s.children()) <= n {
			return
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
}

// stat reads a process's parent and its ticks of CPU, with those of the
// children that it has waited for where they are asked for.
func stat(pid int, children bool) (parent int, ticks int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// The name before may hold blanks and brackets.
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	at := func(i int) int64 { n, _ := strconv.ParseInt(f[i], 10, 64); return n }
	ticks = at(11) + at(12)
	if children {
		ticks += at(13) + at(14)
	}
	return int(at(1)), ticks
}

func peak(cmd *exec.Cmd) float64 {
	u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(u.Maxrss) / 1024
}
