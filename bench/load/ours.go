package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"penstock/connectors"
	"penstock/connectors/delimited"
	"penstock/connectors/postgres"
	"penstock/connectors/postgres/postgrestest"
	"penstock/connectors/sqlite"
	"penstock/connectors/synthetic"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/internal/workload"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"
)

// spec is a load of ours, for a process of this program.
type spec struct {
	table   string
	from    string // "synthetic", "file", "sqlite"; "memory" has no spec
	to      string // "sqlite", or a database
	workers int
	mode    string
	indexes string
}

// ours is the command of a case.
func (b *bench) ours(l load) *exec.Cmd {
	s := spec{table: l.table, from: l.from, to: postgrestest.User, workers: l.workers, mode: l.mode, indexes: "keep"}
	if l.defers {
		s.indexes = "defer"
	}
	return b.command(s, l.rows())
}

// command starts this program again as a loader.
func (b *bench) command(s spec, n int64) *exec.Cmd {
	what := "memory"
	if s.from != "memory" {
		what = b.text(s, n)
	}
	return exec.Command(os.Args[0], "-child", what, "-at", b.Socket, "-rows", fmt.Sprint(n))
}

// text is the spec as a user would write it.
func (b *bench) text(s spec, n int64) string {
	var t strings.Builder
	t.WriteString("penstock { spec = 1 }\n")
	switch s.from {
	case "file":
		fmt.Fprintf(&t, "source \"delimited\" \"s\" {\n  delimiter = \"|\"\n  header    = false\n  quote     = \"\"\n  table %q {\n    path = %q\n    key  = [%q]\n", s.table, filepath.Join(b.Dir, s.table+"-*.text"), workload.Find(s.table).Key[0])
		for _, c := range workload.Find(s.table).Columns {
			fmt.Fprintf(&t, "    column %q {\n      type     = %q\n      nullable = false\n    }\n", c.Name, native(c, s.from))
		}
		t.WriteString("  }\n}\n")
	case "sqlite":
		fmt.Fprintf(&t, "source \"sqlite\" \"s\" { path = %q }\n", b.sqliteFile(s.table))
	default:
		fmt.Fprintf(&t, "source \"synthetic\" \"s\" {\n  table %q {\n    preset = %q\n    rows   = %d\n    seed   = 1\n  }\n}\n", s.table, s.table, n)
	}
	if s.to == "sqlite" {
		fmt.Fprintf(&t, "target \"sqlite\" \"d\" { path = %q }\n", b.sqliteFile(s.table))
	} else {
		fmt.Fprintf(&t, "target \"postgres\" \"d\" {\n  host     = %q\n  database = %q\n  user     = %q\n}\n", b.Socket, s.to, postgrestest.User)
	}
	fmt.Fprintf(&t, "pipeline \"load\" {\n  from    = source.s\n  to      = target.d\n  workers = %d\n  table %q {\n    range { count = %d }\n    apply {\n", s.workers, s.table, s.workers)
	if s.mode != "" {
		fmt.Fprintf(&t, "      mode    = %q\n", s.mode)
	}
	if s.indexes != "" {
		fmt.Fprintf(&t, "      indexes = %q\n", s.indexes)
	}
	t.WriteString("    }\n")
	if s.to == "sqlite" || s.from == "sqlite" { // in words that all peers read, and as the table has them
		for _, c := range workload.Find(s.table).Columns {
			fmt.Fprintf(&t, "    column %q { type = %q }\n", c.Name, native(c, s.to))
		}
	}
	t.WriteString("  }\n}\n")
	return t.String()
}

// native is a column's type in the words of a kind of endpoint.
func native(c schema.Column, kind string) string {
	if c.Native == "double" && kind != "sqlite" {
		return "double precision"
	}
	return c.Native
}

func runChild(what, socket string, n int64) error {
	if what == "memory" {
		return send(socket, n)
	}
	return pipeline(what)
}

// pipeline carries a spec out.
func pipeline(text string) error {
	dir, err := os.MkdirTemp("", "penstock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reg := connectors.NewRegistry(synthetic.Definition(), delimited.Definition(), sqlite.Definition(), postgres.Definition())
	spec, found := lang.Parse(map[string][]byte{"load.hcl": []byte(text)}, dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		return fmt.Errorf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	p, found := planner.Compile(context.Background(), spec, reg, planner.Options{})
	if p == nil {
		return fmt.Errorf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	debug.SetGCPercent(runtime.GCPercent) // as the program does
	res := runtime.Run(context.Background(), p, runtime.Options{Registry: reg, Dir: dir})
	if res.Exit != 0 {
		return fmt.Errorf("exit %d: %+v", res.Exit, res.Pipelines[0].Error)
	}
	return nil
}

// send loads batches that are there before: what it takes is encoding, sending
// and waiting. It prints rows a second, microseconds of CPU and allocations a row.
func send(socket string, n int64) error {
	ctx := context.Background()
	def := postgres.Definition()
	preset := workload.Find("big_table")
	l := connectors.Load{Source: "big_table", Table: schema.Name{Name: "big_table"}, Create: true, Existing: connectors.ExistingError, Mode: "copy", Digest: "-", Definition: "{}"}
	var types []schema.Type
	var columns []int
	for i, c := range preset.Columns {
		native, err := def.Types.Render(c.Type)
		if err != nil {
			return err
		}
		l.Columns = append(l.Columns, connectors.TargetColumn{Name: c.Name, Native: native, Type: c.Type})
		types, columns = append(types, c.Type), append(columns, i)
	}
	for _, s := range def.Target.Explain.Prepare(l) {
		l.Prepare = append(l.Prepare, s.SQL)
	}
	config := &postgres.TargetConfig{Connection: postgres.Connection{Host: socket, Port: 5432, Database: postgrestest.User, User: postgrestest.User}, Schema: "public"}
	tg, err := def.Target.Open(ctx, config, connectors.Env{Pipeline: "send"})
	if err != nil {
		return err
	}
	defer tg.Close()
	if _, err := tg.Claim(ctx, connectors.Owner{PID: os.Getpid()}); err != nil {
		return err
	}
	const size = 100_000
	var chunks []ranges.Chunk
	for i := range n / size {
		chunks = append(chunks, ranges.Chunk{ID: int(i) + 1, Range: 1})
	}
	if err := tg.Begin(ctx, l, connectors.Start{Generation: 1, Chunks: chunks}); err != nil {
		return err
	}
	w, err := tg.OpenLoad(ctx, l)
	if err != nil {
		return err
	}
	defer w.Close()
	made := workload.Table{Preset: preset, Seed: 1, Number: 1}
	pool := batch.NewPool(types, batch.Limits{})
	var batches []*batch.Batch
	for from := int64(1); from <= size; from += 5000 {
		b := pool.Builder()
		made.Fill(b, columns, from, 5000)
		batches = append(batches, b.Seal())
	}
	var before, after goruntime.MemStats
	var cpu time.Duration
	var began time.Time
	for i, c := range chunks {
		if i == 1 { // the first chunk grows the buffers
			goruntime.ReadMemStats(&before)
			cpu, began = cpuTime(), time.Now()
		}
		m := connectors.Marker{Table: l.Source, Generation: 1, Chunk: c.ID}
		if _, err := w.Begin(ctx, m); err != nil {
			return err
		}
		for _, b := range batches {
			if err := w.Write(ctx, b, nil); err != nil {
				return err
			}
		}
		if _, err := w.Commit(ctx, m); err != nil {
			return err
		}
	}
	used, took := cpuTime()-cpu, time.Since(began)
	goruntime.ReadMemStats(&after)
	counted := float64(n - size)
	fmt.Printf("%.0f %.4f %.6f\n", counted/took.Seconds(), float64(used.Microseconds())/counted, float64(after.Mallocs-before.Mallocs)/counted)
	return nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // RUSAGE_SELF can't fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
