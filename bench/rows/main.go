// Command rows measures the load path from made-up rows: into a writer that
// reads and discards every value, and into SQLite beside bare multi-row VALUES.
// Each case runs in a process of its own, so that peak memory is its own; the
// last line is the headline case.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"penstock/bench/discard"
	"penstock/connectors"
	"penstock/connectors/sqlite"
	"penstock/connectors/synthetic"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"
)

var (
	oneCase = flag.String("case", "", "run one case in this process (used by the command itself)")
	repeat  = flag.Int("repeat", 3, "runs of each case; medians are printed")
	profile = flag.String("cpuprofile", "", "write a CPU profile of one case")
)

// cases in the order in which they are printed. Rows are in millions.
var cases = []struct {
	name   string
	target string
	preset string
	rows   int64
}{
	{"discard_firenibble_1m", "discard", "firenibble", 1},
	{"discard_big_table_1m", "discard", "big_table", 1},
	{"discard_big_table_10m", "discard", "big_table", 10},
	{"sqlite_bare_values_2m", "bare", "big_table", 2},
	{"sqlite_big_table_2m", "sqlite", "big_table", 2},
}

func main() {
	flag.Parse()
	if *oneCase != "" {
		if err := runCase(*oneCase); err != nil {
			fmt.Fprintln(os.Stderr, "rows:", err)
			os.Exit(1)
		}
		return
	}
	if err := runAll(); err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
		os.Exit(1)
	}
}

// runAll runs the cases in turns, so that a noisy moment hits all of them, and
// prints the median of each figure.
func runAll() error {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("unknown")
	}
	fmt.Printf("# %d CPUs, load average before: %s", goruntime.NumCPU(), load)
	figures := map[string]map[string][]float64{}
	for range *repeat {
		for _, c := range cases {
			var out bytes.Buffer
			cmd := exec.Command(os.Args[0], "-case", c.name)
			cmd.Stdout, cmd.Stderr = &out, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if figures[c.name] == nil {
				figures[c.name] = map[string][]float64{}
			}
			for _, kv := range strings.Fields(out.String()) {
				k, v, _ := strings.Cut(kv, "=")
				f, err := strconv.ParseFloat(v, 64)
				if err != nil {
					continue
				}
				figures[c.name][k] = append(figures[c.name][k], f)
			}
		}
	}
	bare := median(figures["sqlite_bare_values_2m"]["rows_per_second"])
	for _, c := range cases {
		f := figures[c.name]
		fmt.Printf("case=%s rows_per_second=%.0f cpu_us_per_row=%.3f allocs_per_row=%.4f peak_rss_mib=%.0f",
			c.name, median(f["rows_per_second"]), median(f["cpu_us_per_row"]), median(f["allocs_per_row"]), median(f["peak_rss_mib"]))
		if c.target == "sqlite" {
			fmt.Printf(" ratio_vs_bare_values=%.2f", median(f["rows_per_second"])/bare)
		}
		fmt.Println()
	}
	return nil
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	sort.Float64s(v)
	return v[len(v)/2]
}

// runCase runs one case and prints its figures. CPU is that of the process,
// from before the plan to after the report.
func runCase(name string) error {
	for _, c := range cases {
		if c.name != name {
			continue
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
		dir, err := os.MkdirTemp("", "penstock-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		rows := c.rows * 1_000_000
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		cpu, wall := cpuTime(), time.Now()
		if c.target == "bare" {
			err = bareValues(filepath.Join(dir, "bare.db"), rows)
		} else {
			err = pipeline(dir, c.target, c.preset, rows)
		}
		if err != nil {
			return err
		}
		took, used := time.Since(wall), cpuTime()-cpu
		goruntime.ReadMemStats(&after)
		fmt.Printf("case=%s rows_per_second=%.0f cpu_us_per_row=%.4f allocs_per_row=%.5f peak_rss_mib=%.1f\n", name,
			float64(rows)/took.Seconds(), float64(used.Microseconds())/float64(rows), float64(after.Mallocs-before.Mallocs)/float64(rows), peakMiB())
		return nil
	}
	return fmt.Errorf("no case %q", name)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // RUSAGE_SELF can't fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func peakMiB() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Maxrss) / 1024
}

// specText is the job of every case: a filter, a computed column, eight ranges.
func specText(target, preset string, rows int64) string {
	filter, column, value := "small_number != 4", "short_string", "upper(short_string)"
	if preset == "firenibble" {
		filter, column, value = "f3 >= -1000000000", "f8", "lower(f8)"
	}
	settings := ""
	if target == "sqlite" {
		settings = `path = "load.db"`
	}
	return fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "t" {
    preset = %q
    rows   = %d
    seed   = 1
  }
}
target %q "d" {
  %s
}
pipeline "load" {
  from   = source.s
  to     = target.d
  memory = "64MiB"
  table "t" {
    filter = %q
    column %q { value = %q }
    range { count = 8 }
  }
}
`, preset, rows, target, settings, filter, column, value)
}

// pipeline plans and runs the job.
func pipeline(dir, target, preset string, rows int64) error {
	sink := discard.New()
	reg := connectors.NewRegistry(synthetic.Definition(), sqlite.Definition(), sink.Definition())
	spec, found := lang.Parse(map[string][]byte{"load.hcl": []byte(specText(target, preset, rows))}, dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		return fmt.Errorf("%s: %s", found[0].Summary, found[0].Detail)
	}
	p, found := planner.Compile(context.Background(), spec, reg, planner.Options{})
	if p == nil {
		return fmt.Errorf("%s: %s", found[0].Summary, found[0].Detail)
	}
	res := runtime.Run(context.Background(), p, runtime.Options{Registry: reg, Dir: dir})
	if res.Exit != 0 {
		return fmt.Errorf("exit %d: %+v", res.Exit, res.Pipelines[0].Error)
	}
	t := res.Pipelines[0].Tables[0]
	if t.Read != rows || t.Rows+t.Filtered != rows || t.Rows == 0 {
		return fmt.Errorf("%d rows read, %d loaded, %d filtered out of %d", t.Read, t.Rows, t.Filtered, rows)
	}
	return nil
}
