// Command verify measures comparing a target with its source: a million
// big_table rows a side, equal and with one row changed. Each case runs in a
// process of its own against ends that another one has loaded.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"penstock/connectors/all"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
	"penstock/runtime/verify"

	_ "modernc.org/sqlite"
)

var (
	rows    = flag.Int64("rows", 1_000_000, "rows a side")
	repeat  = flag.Int("repeat", 3, "runs of each case; medians are printed")
	profile = flag.String("cpuprofile", "", "write a CPU profile of one case")
	oneCase = flag.String("case", "", "run one case in this process (used by the command itself)")
	in      = flag.String("in", "", "the folder of the case's ends (used by the command itself)")
)

// ends of a comparison, by pipeline.
var ends = []struct{ name, source, target string }{
	{"synthetic_delimited", "made", "files"},
	{"synthetic_sqlite", "made", "first"},
	{"sqlite_sqlite", "again", "second"},
}

func specText() string {
	text := fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "made" {
  table "t" {
    preset = "big_table"
    rows   = %d
    seed   = 1
  }
}
source "sqlite" "again" { path = "first.db" }
target "sqlite" "first" { path = "first.db" }
target "sqlite" "second" { path = "second.db" }
target "delimited" "files" { path = "files" }
`, *rows)
	for _, e := range ends {
		text += fmt.Sprintf("pipeline %q {\n  from = source.%s\n  to = target.%s\n  table \"t\" {}\n}\n", e.name, e.source, e.target)
	}
	return text
}

func main() {
	flag.Parse()
	err := runAll
	switch *oneCase {
	case "":
	case "load":
		err = load
	default:
		err = measure
	}
	if err := err(); err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(1)
	}
}

func compile(pipeline string) (*plan.Plan, error) {
	reg := all.Registry()
	spec, found := lang.Parse(map[string][]byte{"verify.hcl": []byte(specText())}, *in, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		return nil, fmt.Errorf("%s: %s", found[0].Summary, found[0].Detail)
	}
	p, found := planner.Compile(context.Background(), spec, reg, planner.Options{Only: []string{pipeline}})
	if p == nil {
		return nil, fmt.Errorf("%s: %s", found[0].Summary, found[0].Detail)
	}
	return p, nil
}

// load fills all targets.
func load() error {
	for _, e := range ends {
		p, err := compile(e.name)
		if err != nil {
			return err
		}
		if res := runtime.Run(context.Background(), p, runtime.Options{Registry: all.Registry(), Dir: *in}); res.Exit != 0 {
			return fmt.Errorf("load %s: exit %d: %+v", e.name, res.Exit, res.Pipelines[0].Error)
		}
	}
	return nil
}

// change makes one row of second.db differ, or be again what it was.
func change(set string) error {
	db, err := sql.Open("sqlite", filepath.Join(*in, "second.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("UPDATE t SET short_string = "+set+" WHERE id = ?", *rows/2)
	return err
}

// measure compares once and prints the figures. CPU is that of the process, from
// before the comparison to after it.
func measure() error {
	name, differs := strings.CutSuffix(*oneCase, "_one_row_differs")
	p, err := compile(name)
	if err != nil {
		return err
	}
	if differs {
		if err := change("short_string || ' '"); err != nil {
			return err
		}
		defer change("rtrim(short_string)")
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	was, wall := usage(), time.Now()
	res := verify.Run(context.Background(), p, verify.Options{Registry: all.Registry(), Dir: *in, Limit: 100})
	took, now := time.Since(wall), usage()
	goruntime.ReadMemStats(&after)
	want := 0
	if differs {
		want = 3
	}
	if res.Exit != want || res.Err != nil {
		return fmt.Errorf("exit %d, want %d: %+v", res.Exit, want, res.Pipelines)
	}
	if t := res.Pipelines[0].Tables[0]; t.SourceSide.Rows != *rows || t.TargetSide.Rows != *rows || int(t.Different) != want/3 {
		return fmt.Errorf("compared %+v", t)
	}
	cpu := time.Duration(now.Utime.Nano()-was.Utime.Nano()) + time.Duration(now.Stime.Nano()-was.Stime.Nano())
	fmt.Printf("rows_per_second=%.0f cpu_us_per_row=%.4f allocs_per_row=%.5f peak_rss_mib=%.1f\n",
		float64(*rows)/took.Seconds(), float64(cpu.Microseconds())/float64(*rows), float64(after.Mallocs-before.Mallocs)/float64(*rows), float64(now.Maxrss)/1024)
	return nil
}

func usage() (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // RUSAGE_SELF can't fail
	}
	return u
}

// runAll loads the ends once, then runs the cases in turns and prints medians.
func runAll() error {
	dir, err := os.MkdirTemp("", "penstock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("unknown\n")
	}
	fmt.Printf("# %d CPUs, load average before: %s", goruntime.NumCPU(), load)
	child := func(name string) (string, error) {
		var out bytes.Buffer
		cmd := exec.Command(os.Args[0], "-case", name, "-in", dir, "-rows", strconv.FormatInt(*rows, 10))
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return out.String(), nil
	}
	if _, err := child("load"); err != nil {
		return err
	}
	cases := []string{"synthetic_delimited", "synthetic_sqlite", "sqlite_sqlite_one_row_differs", "sqlite_sqlite"}
	keys := []string{"rows_per_second", "cpu_us_per_row", "allocs_per_row", "peak_rss_mib"}
	figures := map[string][]float64{}
	for range *repeat {
		for _, c := range cases {
			out, err := child(c)
			if err != nil {
				return err
			}
			for _, kv := range strings.Fields(out) {
				k, v, _ := strings.Cut(kv, "=")
				f, err := strconv.ParseFloat(v, 64)
				if err != nil {
					return fmt.Errorf("%s printed %q", c, out)
				}
				figures[c+k] = append(figures[c+k], f)
			}
		}
	}
	for _, c := range cases {
		fmt.Printf("case=verify_%s", c)
		for i, k := range keys {
			v := figures[c+k]
			slices.Sort(v)
			fmt.Printf(" %s=%.*f", k, []int{0, 3, 4, 0}[i], v[len(v)/2])
		}
		fmt.Println()
	}
	return nil
}
