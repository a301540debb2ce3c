// Command validate measures penstock validate and plan of large specs: many
// tables, each with a filter, a computed column and a range, over a recorded
// catalog of 16 columns a table. The program itself runs, once a case, so that
// CPU and peak memory are its own; the last line is the headline case.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

var (
	tables = flag.String("tables", "2000,20000", "sizes of specs")
	cpu    = flag.String("cpuprofile", "", "compile the spec of -spec in this process and write its CPU profile here")
	mem    = flag.String("memprofile", "", "likewise, what it allocated")
	spec   = flag.String("spec", "", "the spec to profile: one that -keep left")
	keep   = flag.String("keep", "", "write the specs into this folder, and leave them there")
)

func main() {
	flag.Parse()
	if *spec != "" {
		if err := profileOf(*spec, *cpu, *mem); err != nil {
			fmt.Fprintln(os.Stderr, "validate:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "validate:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := *keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "penstock-validate-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	program := filepath.Join(dir, "penstock")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/penstock")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("load %s", load)
	}
	for _, size := range strings.Split(*tables, ",") {
		n := 0
		if _, err := fmt.Sscan(size, &n); err != nil {
			return fmt.Errorf("-tables %s: %w", size, err)
		}
		if err := write(dir, n); err != nil {
			return err
		}
		for _, c := range []struct{ command, spec string }{
			{"plan", fmt.Sprintf("%d.hcl", n)}, {"validate", fmt.Sprintf("pattern_%d.hcl", n)}, {"validate", fmt.Sprintf("%d.yaml", n)}, {"validate", fmt.Sprintf("%d.hcl", n)},
		} {
			if err := measure(program, dir, c.command, c.spec, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func measure(program, dir, command, spec string, n int) error {
	cmd := exec.Command(program, command, spec)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", command, spec, err, stderr.String())
	}
	took := time.Since(start)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("this system does not tell what a process used")
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("case=%s_%s operations_per_second=%.0f cpu_us_per_operation=%.1f cpu_seconds=%.2f peak_rss_mib=%d\n",
		command, strings.NewReplacer(".", "_").Replace(spec), float64(n)/took.Seconds(), float64(cpu.Microseconds())/float64(n), cpu.Seconds(), usage.Maxrss/1024)
	return nil
}

// columns of every table, as Oracle writes their types.
var columns = []struct{ name, native string }{
	{"ID", "NUMBER(18)"}, {"STATUS", "NUMBER(5)"}, {"AMOUNT", "NUMBER(12,2)"}, {"TOTAL", "NUMBER"}, {"NAME", "VARCHAR2(50)"}, {"CITY", "VARCHAR2(100)"},
	{"CODE", "CHAR(3)"}, {"NOTE", "CLOB"}, {"CREATED", "DATE"}, {"CHANGED", "TIMESTAMP(6)"}, {"RATE", "FLOAT(126)"}, {"FLAGS", "NUMBER(3)"},
	{"OWNER", "VARCHAR2(30)"}, {"PHONE", "VARCHAR2(30)"}, {"MAIL", "VARCHAR2(200)"}, {"RANK", "NUMBER(9)"},
}

// write writes the catalog of n tables and three specs over it.
func write(dir string, n int) error {
	type column struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Nullable bool   `json:"nullable,omitempty"`
	}
	type name struct {
		Schema string `json:"schema"`
		Name   string `json:"name"`
	}
	type key struct {
		Name    string   `json:"name"`
		Columns []string `json:"columns"`
	}
	type table struct {
		Name    name     `json:"name"`
		Columns []column `json:"columns"`
		Key     key      `json:"primary_key"`
		Storage string   `json:"storage"`
	}
	var cols []column
	for i, c := range columns {
		cols = append(cols, column{c.name, c.native, i > 0})
	}
	catalog := struct {
		FormatVersion int            `json:"format_version"`
		Kind          string         `json:"kind"`
		Tables        []table        `json:"tables"`
		Statistics    map[string]any `json:"statistics"`
	}{1, "oracle", nil, map[string]any{}}
	head := fmt.Sprintf(`penstock { spec = 1 }
source "oracle" "erp" {
  host     = "erp.example.net"
  service  = "erp"
  user     = "penstock"
  password = env("ERP_PASSWORD")
  catalog  = "catalog_%d.json"
}
target "postgres" "wh" {
  host     = "wh.example.net"
  database = "wh"
  user     = "penstock"
  password = env("WH_PASSWORD")
}
pipeline "all" {
  from = source.erp
  to   = target.wh
`, n)
	var hcl, yaml strings.Builder
	hcl.WriteString(head)
	fmt.Fprintf(&yaml, `penstock: {spec: 1}
source: {oracle: {erp: {host: erp.example.net, service: erp, user: penstock, password: '${env("ERP_PASSWORD")}', catalog: catalog_%d.json}}}
target: {postgres: {wh: {host: wh.example.net, database: wh, user: penstock, password: '${env("WH_PASSWORD")}'}}}
pipeline:
  all:
    from: source.erp
    to: target.wh
    table:
`, n)
	for i := range n {
		t := fmt.Sprintf("T%05d", i)
		catalog.Tables = append(catalog.Tables, table{name{"APP", t}, cols, key{t + "_PK", []string{"ID"}}, "heap"})
		catalog.Statistics["APP."+t] = map[string]any{"rows": 1000 * (i + 1), "bytes": 100_000 * (i + 1)}
		fmt.Fprintf(&hcl, `  table "APP.%s" {
    filter = "STATUS != 4 and AMOUNT > 0"
    column "TOTAL" { type = "numeric" }
    column "NAME" { value = "upper(NAME)" }
    range { count = 8 }
  }
`, t)
		fmt.Fprintf(&yaml, `      APP.%s:
        filter: STATUS != 4 and AMOUNT > 0
        column:
          TOTAL: {type: numeric}
          NAME: {value: upper(NAME)}
        range: {count: 8}
`, t)
	}
	hcl.WriteString("}\n")
	pattern := head + `  table "APP.*" {
    filter = "STATUS != 4 and AMOUNT > 0"
    column "TOTAL" { type = "numeric" }
    column "NAME" { value = "upper(NAME)" }
    range { count = 8 }
  }
}
`
	b, err := json.MarshalIndent(catalog, "", "  ")
	if err != nil {
		return err
	}
	for file, text := range map[string]string{
		fmt.Sprintf("catalog_%d.json", n): string(b), fmt.Sprintf("%d.hcl", n): hcl.String(), fmt.Sprintf("%d.yaml", n): yaml.String(), fmt.Sprintf("pattern_%d.hcl", n): pattern,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
