// Command pgload measures rows into PostgreSQL: Penstock from made-up rows
// beside psql's \copy of files that are ready in text and in binary format. It
// starts a server of its own, with fsync, full_page_writes and logged tables;
// the runs of a round follow each other, and the medians of the rounds are
// printed, the headline case last.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"sort"
	"strings"
	"time"

	"penstock/connectors/postgres/postgrestest"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	rows   = flag.Int64("rows", 2_000_000, "rows of big_table in each load")
	repeat = flag.Int("repeat", 3, "rounds; medians are printed")
	// Of the processes that the command starts of itself.
	child = flag.String("child", "", "")
	at    = flag.String("at", "", "")
)

// settings are of the server, for every competitor.
var settings = map[string]string{"shared_buffers": "1GB", "max_wal_size": "24GB", "checkpoint_timeout": "1h", "autovacuum": "off"}

// load is a case: who loads, and into what.
type load struct {
	name    string
	peer    string // "text", "binary": psql; "" is ours
	child   string // ours: "workers mode indexes"
	keyed   bool   // the key is in place before the first row
	modes   bool   // of the comparison of modes, 200,000 rows
	against []string
}

var loads = []load{
	{name: "psql_text_nokey", peer: "text"},
	{name: "psql_binary_nokey", peer: "binary"},
	{name: "penstock_copy_1_nokey", child: "1 copy none", against: []string{"psql_text_nokey", "psql_binary_nokey"}},
	{name: "psql_text_key", peer: "text", keyed: true},
	{name: "psql_binary_key", peer: "binary", keyed: true},
	{name: "penstock_row_200k", child: "1 row keep", modes: true},
	{name: "penstock_array_200k", child: "1 array keep", modes: true, against: []string{"penstock_row_200k"}},
	{name: "penstock_copy_200k", child: "1 copy keep", modes: true, against: []string{"penstock_row_200k"}},
	{name: "penstock_copy_deferred_200k", child: "1 copy defer", modes: true, against: []string{"penstock_row_200k"}},
	{name: "penstock_send", child: "send", against: []string{"psql_text_nokey"}},
	{name: "penstock_copy_1_key", child: "1 copy keep", against: []string{"psql_text_key", "psql_binary_key"}},
	{name: "penstock_copy_2_key", child: "2 copy keep", against: []string{"psql_text_key", "psql_binary_key"}},
	{name: "penstock_copy_8_key", child: "8 copy keep", against: []string{"psql_text_key", "psql_binary_key"}},
	{name: "penstock_copy_2_deferred", child: "2 copy defer", against: []string{"psql_text_key", "psql_binary_key"}},
}

const modeRows = 200_000

func main() {
	flag.Parse()
	run := rounds
	if *child != "" {
		run = func() error { return runChild(*child, *at, *rows) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pgload:", err)
		os.Exit(1)
	}
}

// bench is a server with a table and its files.
type bench struct {
	*postgrestest.Server
	conn *pgconn.PgConn
	dir  string
}

const table = "(id bigint NOT NULL%s, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL)"

func rounds() error {
	s, err := postgrestest.Start(postgrestest.Options{Durable: true, Settings: settings})
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	conn, err := s.Connect(context.Background(), postgrestest.User)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "penstock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{Server: s, conn: conn, dir: dir}
	average, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("# PostgreSQL %s, %v, fsync, full_page_writes, logged tables; %d CPUs, load average before: %s", s.Version, settings, goruntime.NumCPU(), average)
	if err := b.files(); err != nil {
		return err
	}
	found := map[string][]figures{}
	for range *repeat {
		for _, l := range loads {
			f, err := b.one(l)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			found[l.name] = append(found[l.name], f)
		}
	}
	for _, l := range loads {
		m := median(found[l.name])
		fmt.Printf("case=%s rows_per_second=%.0f cpu_us_per_row=%.3f server_cpu_us_per_row=%.3f peak_rss_mib=%.0f", l.name, m.rate, m.client, m.server, m.peak)
		if l.child == "send" {
			fmt.Printf(" allocs_per_row=%.5f", m.allocs)
		}
		for _, peer := range l.against {
			p := median(found[peer])
			fmt.Printf(" ratio_vs_%s=%.2f server_cpu_ratio_vs_%s=%.2f", peer, m.rate/p.rate, peer, m.server/p.server)
		}
		fmt.Println()
	}
	average, _ = os.ReadFile("/proc/loadavg")
	fmt.Printf("# load average after: %s", average)
	return nil
}

// figures of one run.
type figures struct{ rate, client, server, peak, allocs float64 }

func median(list []figures) figures {
	pick := func(of func(figures) float64) float64 {
		v := make([]float64, len(list))
		for i, f := range list {
			v[i] = of(f)
		}
		sort.Float64s(v)
		return v[len(v)/2]
	}
	return figures{
		rate: pick(func(f figures) float64 { return f.rate }), client: pick(func(f figures) float64 { return f.client }), server: pick(func(f figures) float64 { return f.server }),
		peak: pick(func(f figures) float64 { return f.peak }), allocs: pick(func(f figures) float64 { return f.allocs }),
	}
}

func (b *bench) exec(sql ...string) error {
	for _, s := range sql {
		if _, err := b.conn.Exec(context.Background(), s).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// files makes what psql copies, written by the server itself.
func (b *bench) files() error {
	if err := b.exec("CREATE TABLE big_table " + fmt.Sprintf(table, "")); err != nil {
		return err
	}
	if out, err := b.self("2 copy none", *rows).CombinedOutput(); err != nil {
		return fmt.Errorf("make the rows: %w\n%s", err, out)
	}
	for _, format := range []string{"text", "binary"} {
		f, err := os.Create(b.file(format))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		if _, err := b.conn.CopyTo(context.Background(), w, "COPY big_table TO STDOUT (FORMAT "+format+")"); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) file(format string) string { return filepath.Join(b.dir, "big_table."+format) }

// self is this program as one of the loaders.
func (b *bench) self(what string, n int64) *exec.Cmd {
	return exec.Command(os.Args[0], "-child", what, "-at", b.Socket, "-rows", fmt.Sprint(n))
}

func (b *bench) psql(format string) *exec.Cmd {
	return exec.Command(b.Program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", b.Socket, "-p", fmt.Sprint(b.Port), "-U", postgrestest.User, "-d", postgrestest.User,
		"-c", fmt.Sprintf(`\copy big_table from '%s' with (format %s)`, b.file(format), format))
}

// one empties the table, and what Penstock remembers of it, and runs a case.
func (b *bench) one(l load) (figures, error) {
	if err := b.exec("DROP TABLE IF EXISTS big_table, penstock_owner, penstock_table, penstock_chunk, penstock_script"); err != nil {
		return figures{}, err
	}
	n, cmd := *rows, (*exec.Cmd)(nil)
	if l.modes {
		n = modeRows
	}
	if l.peer != "" || strings.HasSuffix(l.child, "none") {
		key := ""
		if l.keyed {
			key = " PRIMARY KEY"
		}
		if err := b.exec("CREATE TABLE big_table " + fmt.Sprintf(table, key)); err != nil {
			return figures{}, err
		}
	}
	if cmd = b.psql(l.peer); l.peer == "" {
		cmd = b.self(l.child, n)
	}
	if err := b.exec("CHECKPOINT"); err != nil {
		return figures{}, err
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	before := len(b.children())
	server, began := b.cpu(), time.Now()
	if err := cmd.Run(); err != nil {
		return figures{}, fmt.Errorf("%w\n%s", err, out.String())
	}
	took := time.Since(began)
	b.settle(before)
	server = b.cpu() - server
	f := figures{rate: float64(n) / took.Seconds(), server: server * 1e6 / float64(n), peak: peak(cmd)}
	f.client = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / float64(n)
	if l.child == "send" { // it measures itself: its rows are made before
		if _, err := fmt.Sscan(out.String(), &f.rate, &f.client, &f.allocs); err != nil {
			return f, fmt.Errorf("%q: %w", out.String(), err)
		}
	}
	return f, b.check(n)
}

// check makes sure that the case did its work.
func (b *bench) check(n int64) error {
	r, err := b.conn.Exec(context.Background(), "SELECT count(*) FROM big_table").ReadAll()
	if err != nil {
		return err
	}
	if got := string(r[0].Rows[0][0]); got != fmt.Sprint(n) {
		return fmt.Errorf("%s rows are there, want %d", got, n)
	}
	return nil
}
