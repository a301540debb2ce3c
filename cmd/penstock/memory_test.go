package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// mostMemory is what a run of 8 workers takes at most, whatever its tables: 16
// MiB a worker for rows and what is sent of them, and 72 MiB besides.
const mostMemory = 8*16 + 72

// A real process with the defaults, more rows than its memory holds, and a
// target that is slower than its source: every slot is full. The bound is on
// memory that is resident, as the kernel counted it.
func TestEightWorkersTakeTwoHundredMiBAtMost(t *testing.T) {
	made := func(preset string, rows int) string {
		return fmt.Sprintf("source \"synthetic\" \"s\" {\n  table \"t\" {\n    preset = %q\n    rows   = %d\n    seed   = 7\n  }\n}\n", preset, rows)
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, source string }{
		{"narrow rows", made("big_table", 1_500_000)},
		{"wide rows", made("firenibble", 400_000)},
		// The plan takes a text without a length for a short one: chunks outgrow their share.
		{"rows of a hundred times the estimate", fmt.Sprintf("source \"delimited\" \"s\" {\n  table \"t\" {\n    path = %q\n    key = [\"id\"]\n    column \"id\" { type = \"bigint\" }\n    column \"v\" { type = \"text\" }\n  }\n}\n", wideFile(t, dir, 40_000, 4000))},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := postgrestest.Shared(t).Database(t)
			spec := filepath.Join(t.TempDir(), "spec.hcl")
			writeFile(t, spec, "penstock { spec = 1 }\n"+c.source+fmt.Sprintf("target \"postgres\" \"d\" {\n  host     = %q\n  database = %q\n  user     = %q\n}\npipeline \"p\" {\n  from = source.s\n  to   = target.d\n  table \"t\" {}\n}\n", d.Socket, d.Name, postgrestest.User))
			cmd := exec.Command("penstock", "run", spec)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
			t.Logf("peak %d MiB", peak)
			if peak > mostMemory {
				t.Errorf("the process took %d MiB, want %d at most", peak, mostMemory)
			}
		})
	}
}

// wideFile writes a file of rows whose second field has size bytes.
func wideFile(t *testing.T, dir string, rows, size int) string {
	t.Helper()
	path := filepath.Join(dir, "wide.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "id,v")
	text := bytes.Repeat([]byte("wide "), size/5)
	for i := range rows {
		fmt.Fprintf(w, "%d,%s\n", i, text)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}
