package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"
	"time"

	"penstock/bench/pgbench"
	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"

	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/configurations"
)

var ctx = context.Background()

func measure() error {
	fmt.Printf("# the source is the wire double, in a process of its own on this machine: figures of our side\n# %d CPUs; load average before: %s", runtime.NumCPU(), pgbench.Load())
	for _, t := range []struct {
		serve, name string
		rows        int
		fetch       int
	}{{"firenibble", "APP_DB.FIRENIBBLE1", *nibble, 4096}, {"big_table", "SCOTT.BIG_TABLE", *big, 8192}} {
		d, stop, err := startDouble(t.serve)
		if err != nil {
			return err
		}
		for _, readers := range []int{1, 2, 4} {
			bare, err := timed(t.rows, readers, func() (int, error) { return d.bare(t.name, t.fetch) })
			if err == nil {
				var ours figures
				if ours, err = timed(t.rows, readers, func() (int, error) { return d.ours(t.name) }); err == nil {
					fmt.Printf("case=%s_readers_%d %s goora_rows_per_second=%.0f goora_cpu_us_per_row=%.2f ratio_vs_goora=%.3f cpu_ratio_vs_goora=%.3f\n",
						t.serve, readers, ours, bare.rate, bare.cpu, ours.rate/bare.rate, ours.cpu/bare.cpu)
				}
			}
			if err != nil {
				stop()
				return err
			}
		}
		if *load && t.serve == "big_table" {
			err = loads(d, int64(t.rows))
		}
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

type figures struct {
	rate, cpu, allocs float64
}

func (f figures) String() string {
	return fmt.Sprintf("rows_per_second=%.0f cpu_us_per_row=%.2f allocs_per_row=%.2f", f.rate, f.cpu, f.allocs)
}

// timed runs a reader of all rows so many times at once: the best of three.
func timed(rows, readers int, read func() (int, error)) (best figures, err error) {
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cpu, began := used(), time.Now()
		var wg sync.WaitGroup
		errs := make([]error, readers)
		for i := range readers {
			wg.Go(func() {
				n, err := read()
				if err == nil && n != rows {
					err = fmt.Errorf("%d rows of %d", n, rows)
				}
				errs[i] = err
			})
		}
		wg.Wait()
		took := time.Since(began)
		if err := errors.Join(errs...); err != nil {
			return best, err
		}
		runtime.ReadMemStats(&after)
		all := float64(rows * readers)
		if rate := all / took.Seconds(); rate > best.rate {
			best = figures{rate, (used() - cpu).Seconds() * 1e6 / all, float64(after.Mallocs-before.Mallocs) / all}
		}
	}
	return best, nil
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of ourselves: it can't fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bare fetches a table with the driver and does nothing with the rows.
func (d *double) bare(table string, fetch int) (n int, err error) {
	o := &configurations.ConnectionConfig{PrefetchRows: fetch, Lob: configurations.INLINE}
	o.Servers = []configurations.ServerAddr{{Addr: d.Host, Port: d.Port, Protocol: "tcp"}}
	o.ServiceName, o.UserID, o.DatabaseInfo.Password, o.Location, o.Protocol = d.Service, d.User, d.Password, "UTC", "tcp"
	o.SessionDataUnitSize, o.TransportDataUnitSize = 1<<21, 1<<21
	c, err := goora.NewConnection("", o)
	if err == nil {
		err = c.Open()
	}
	if err != nil {
		return 0, err
	}
	defer c.Close()
	stmt := goora.NewStmt(d.Read[table], c)
	defer stmt.Close()
	set, err := stmt.Query_([]driver.NamedValue{{Ordinal: 1, Value: int64(d.SCN)}})
	if err != nil {
		return 0, err
	}
	row := make([]driver.Value, len(set.Columns()))
	for {
		switch err := set.Next(row); err {
		case nil:
			n++
		case io.EOF:
			return n, nil
		default:
			return n, err
		}
	}
}

// ours reads a table into batches, chunk by chunk.
func (d *double) ours(table string) (n int, err error) {
	src, err := d.open()
	if err != nil {
		return 0, err
	}
	defer src.Close()
	cat, err := src.Catalog(ctx)
	if err != nil {
		return 0, err
	}
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	var t *schema.Table
	for i := range cat.Tables {
		if cat.Tables[i].Name.String() == table {
			t = &cat.Tables[i]
		}
	}
	x := connectors.Extract{Table: t, Columns: columnsOf(t), Split: connectors.Split{Kind: connectors.SplitBlocks, Count: 8, ChunkRows: 100_000}}
	chunks, err := snap.Split(ctx, t, x.Split)
	if err != nil {
		return 0, err
	}
	var types []schema.Type
	for _, c := range t.Columns {
		types = append(types, c.Type)
	}
	pool := batch.NewPool(types, batch.Limits{})
	for _, k := range chunks {
		r, err := snap.OpenChunk(ctx, x, k)
		if err != nil {
			return n, err
		}
		for {
			b := pool.Builder()
			err := r.Read(ctx, b)
			n += b.Rows()
			b.Discard()
			if err == io.EOF {
				break
			}
			if err != nil {
				_ = r.Close() // err is what matters
				return n, err
			}
		}
		if err := r.Close(); err != nil {
			return n, err
		}
	}
	return n, nil
}
