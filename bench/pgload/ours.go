package main

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"syscall"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres"
	"penstock/connectors/postgres/postgrestest"
	"penstock/connectors/synthetic"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/internal/workload"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"
)

func runChild(what, socket string, n int64) error {
	if what == "send" {
		return send(socket, n)
	}
	f := strings.Fields(what)
	return pipeline(socket, n, f[0], f[1], f[2])
}

// pipeline loads made-up rows as a user does: a spec, its plan, its run.
func pipeline(socket string, n int64, workers, mode, indexes string) error {
	if indexes == "none" { // a table without a key stands there
		indexes = "keep"
	}
	text := fmt.Sprintf(`penstock { spec = 1 }
source "synthetic" "s" {
  table "big_table" {
    preset = "big_table"
    rows   = %d
    seed   = 1
  }
}
target "postgres" "d" {
  host     = %q
  database = "postgres"
  user     = %q
}
pipeline "load" {
  from    = source.s
  to      = target.d
  workers = %s
  table "big_table" {
    range { count = %s }
    apply {
      mode    = %q
      indexes = %q
    }
  }
}
`, n, socket, postgrestest.User, workers, workers, mode, indexes)
	dir, err := os.MkdirTemp("", "penstock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reg := connectors.NewRegistry(synthetic.Definition(), postgres.Definition())
	spec, found := lang.Parse(map[string][]byte{"load.hcl": []byte(text)}, dir, lang.Options{Connectors: planner.Connectors(reg)})
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
