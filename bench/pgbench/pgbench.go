// Package pgbench runs loaders beside one another against a PostgreSQL server
// of its own and measures each: rows a second, the CPU of the loader with all
// its processes, that of the server, and peak memory.
package pgbench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"penstock/connectors/postgres/postgrestest"

	"github.com/jackc/pgx/v5/pgconn"
)

// Settings are the server's, the same for every competitor: what DBAs set for
// a load, and nothing that a crash would make them regret.
var Settings = map[string]string{
	"shared_buffers": "1GB", "max_wal_size": "24GB", "checkpoint_timeout": "1h", "maintenance_work_mem": "256MB",
	"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "autovacuum": "off",
}

// Server is the server, with a connection for what lies between the loads.
type Server struct {
	*postgrestest.Server
	Conn *pgconn.PgConn
	Dir  string // for files that the loaders read
}

// Start starts the server. Close must be called.
func Start() (*Server, error) { return StartWith(nil) }

// StartWith is Start with settings beside those of every server.
func StartWith(more map[string]string) (*Server, error) {
	settings := maps.Clone(Settings)
	maps.Copy(settings, more)
	pg, err := postgrestest.Start(postgrestest.Options{Durable: true, Settings: settings})
	if err != nil {
		return nil, err
	}
	s := &Server{Server: pg}
	if s.Conn, err = pg.Connect(context.Background(), postgrestest.User); err == nil {
		s.Dir, err = os.MkdirTemp("", "penstock-bench-")
	}
	if err != nil {
		_ = pg.Stop() // err is what matters
		return nil, err
	}
	return s, nil
}

// Close stops the server and removes its files.
func (s *Server) Close() error {
	_ = os.RemoveAll(s.Dir) // a folder of temporary files
	return s.Stop()
}

// Describe prints the server and how loaded the machine is.
func (s *Server) Describe() {
	var set []string
	for k, v := range Settings {
		set = append(set, k+"="+v)
	}
	slices.Sort(set)
	fmt.Printf("# PostgreSQL %s on a unix socket, logged tables, %s\n# %d CPUs; load average before: %s", s.Version, strings.Join(set, " "), goruntime.NumCPU(), Load())
}

// Load is the machine's load average, with its line's end.
func Load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown\n"
	}
	return string(b)
}

// Exec runs statements that return nothing.
func (s *Server) Exec(sql ...string) error {
	for _, q := range sql {
		if _, err := s.Conn.Exec(context.Background(), q).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// Count counts a table's rows.
func (s *Server) Count(table string) (n int64, err error) {
	r, err := s.Conn.Exec(context.Background(), "SELECT count(*) FROM "+table).ReadAll()
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(string(r[0].Rows[0][0]), &n)
	return n, err
}

// Figures are of one run.
type Figures struct {
	Rate   float64 // rows a second
	Client float64 // microseconds of CPU a row, of the loader and the processes it waited for
	Server float64 // the same of the server's processes
	Peak   float64 // MiB, resident, of the loader's greatest process
	Allocs float64 // heap allocations a row, where the loader counts them
}

// Run measures the commands, which begin together and share n rows, from the
// first one's start to the last one's end and what then runs behind them.
func (s *Server) Run(n int64, behind func() error, commands ...*exec.Cmd) (Figures, string, error) {
	if err := s.Exec("CHECKPOINT"); err != nil {
		return Figures{}, "", err
	}
	before := len(s.children())
	server, began := s.cpu(), time.Now()
	outs := make([]strings.Builder, len(commands))
	for i, c := range commands {
		c.Stdout, c.Stderr = &outs[i], &outs[i]
		if err := c.Start(); err != nil {
			return Figures{}, "", err
		}
	}
	var f Figures
	var failed error
	for i, c := range commands {
		if err := c.Wait(); err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w\n%s", c.Path, err, outs[i].String())
		}
		f.Client += (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		f.Peak = max(f.Peak, peak(c))
	}
	if failed == nil && behind != nil {
		failed = behind()
	}
	took := time.Since(began)
	s.settle(before)
	f.Rate, f.Client, f.Server = float64(n)/took.Seconds(), f.Client*1e6/float64(n), (s.cpu()-server)*1e6/float64(n)
	return f, outs[0].String(), failed
}

// Median takes each figure's own.
func Median(list []Figures) Figures {
	pick := func(of func(*Figures) *float64) float64 {
		v := make([]float64, len(list))
		for i := range list {
			v[i] = *of(&list[i])
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return Figures{
		Rate: pick(func(f *Figures) *float64 { return &f.Rate }), Client: pick(func(f *Figures) *float64 { return &f.Client }),
		Server: pick(func(f *Figures) *float64 { return &f.Server }), Peak: pick(func(f *Figures) *float64 { return &f.Peak }),
		Allocs: pick(func(f *Figures) *float64 { return &f.Allocs }),
	}
}

// String is the figures as pairs for a line.
func (f Figures) String() string {
	return fmt.Sprintf("rows_per_second=%.0f cpu_us_per_row=%.3f server_cpu_us_per_row=%.3f peak_rss_mib=%.0f", f.Rate, f.Client, f.Server, f.Peak)
}

// Ratios sets the figures against a peer's of the same run.
func (f Figures) Ratios(peer string, p Figures) string {
	return fmt.Sprintf(" ratio_vs_%s=%.2f server_cpu_ratio_vs_%s=%.2f", peer, f.Rate/p.Rate, peer, f.Server/p.Server)
}
