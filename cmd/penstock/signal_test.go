package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A signal ends a run in order: what is read whole is committed, the exit code
// names the signal, and the next run does the rest.
func TestSignalDrainsARunAndTheNextOneGoesOn(t *testing.T) {
	bin := buildWithFailpoints(t)
	for _, c := range []struct {
		signal os.Signal
		exit   int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			spec, db := filepath.Join(dir, "spec.hcl"), filepath.Join(dir, "cut.db")
			writeFile(t, spec, strings.Replace(crashSpec(db, ""), "200000", "300000", 1))
			cmd := exec.Command(bin, "run", spec, "--json")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 1<<20)
			last, sent := "", false
			for lines.Scan() {
				last = lines.Text()
				if !sent && strings.HasPrefix(last, `{"event":"chunk_committed"`) {
					sent = true
					if err := cmd.Process.Signal(c.signal); err != nil {
						t.Fatal(err)
					}
				}
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.exit {
				t.Fatalf("exit code %d, want %d\n%s", got, c.exit, stderr.String())
			}
			if !strings.HasPrefix(last, `{"event":"run_finished"`) || !strings.Contains(last, `"drained":true`) {
				t.Errorf("the last line is %.200s", last)
			}
			if !strings.Contains(stderr.String(), "cut short after") {
				t.Errorf("the report does not say how to go on:\n%s", stderr.String())
			}
			if n, err := query(db, "SELECT count(*) > 0 AND count(*) < 300000 FROM t"); err != nil || n != "1" {
				t.Errorf("some and not all rows: got %s (%v)", n, err)
			}
			if out, err := exec.Command(bin, "run", spec).CombinedOutput(); err != nil {
				t.Fatalf("the run after the signal: %v\n%s", err, out)
			}
			if n, err := query(db, "SELECT count(*) = 300000 AND count(DISTINCT id) = 300000 FROM t"); err != nil || n != "1" {
				t.Errorf("every row once: got %s (%v)", n, err)
			}
		})
	}
}

// Other commands end at once: nothing of theirs is worth an orderly end.
func TestSignalEndsAPlanAtOnce(t *testing.T) {
	bin := buildWithFailpoints(t)
	fifo := filepath.Join(t.TempDir(), "spec.hcl")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "plan", fifo)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Opening the other end waits until the program reads.
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() || s.Signal() != syscall.SIGINT {
		t.Errorf("the plan ended with %s, want the signal", cmd.ProcessState)
	}
}
