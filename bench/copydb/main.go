// Command copydb copies tables from one PostgreSQL database into another beside
// psql pipes, pg_dump and pgcopydb: with the key in place, and with the key made
// after the rows. Runs are interleaved, and figures are medians.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"penstock/bench/pgbench"
	"penstock/connectors/postgres/postgrestest"
)

// table is a table to copy, made by the server itself.
type table struct {
	name    string
	columns string
	key     string
	fill    string // of generate_series(1, N) AS i
	rows    int64
}

var tables = []table{
	{"big_table", "id bigint NOT NULL, small_number integer NOT NULL, big_number bigint NOT NULL, short_string varchar(50) NOT NULL, created_date timestamp NOT NULL", "id",
		"i, 1 + i % 4, 100 + i % 9900, left(translate(md5(i::text) || md5((i + 1)::text), '0123456789', 'ghijklmnop'), (10 + i % 41)::int), timestamp '2025-01-01' + (i % 366) * interval '1 day'", 5_000_000},
	{"firenibble", "f0 numeric(38,0) NOT NULL, f1 numeric(38,0), f2 numeric(38,0), f3 integer, f4 double precision, f5 double precision, f6 double precision, f7 double precision, f8 varchar(128), f9 varchar(128), f10 timestamp, f11 timestamp, f12 timestamp, f13 varchar(128), f14 varchar(128), f15 varchar(128)", "f0",
		"i, 1000000000000000000 + i * 7919::numeric, 1000000000000000000 + i * 104729::numeric, i % 1000000, random(), random(), random(), random(), md5(i::text), md5((i+1)::text), timestamp '5000-01-01' + i * interval '1 hour', timestamp '6000-01-01' + i * interval '1 minute', timestamp '7000-01-01' + i * interval '1 second', md5((i+2)::text), md5((i+3)::text), md5((i+4)::text)", 1_000_000},
}

// peer is a way to copy a table.
type peer struct {
	name     string
	commands func(b *bench, t table, defers bool) []*exec.Cmd
	makes    bool // it makes the table and its key itself
	deferred bool // it knows only keys that are made after the rows
}

var peers = []peer{
	{"psql_text", func(b *bench, t table, _ bool) []*exec.Cmd { return []*exec.Cmd{b.pipe(t, "text", "")} }, false, false},
	{"psql_binary", func(b *bench, t table, _ bool) []*exec.Cmd { return []*exec.Cmd{b.pipe(t, "binary", "")} }, false, false},
	{"psql_binary_two", func(b *bench, t table, _ bool) []*exec.Cmd {
		half := t.rows / 2
		return []*exec.Cmd{b.pipe(t, "binary", fmt.Sprintf("%s <= %d", t.key, half)), b.pipe(t, "binary", fmt.Sprintf("%s > %d", t.key, half))}
	}, false, false},
	{"pg_dump", func(b *bench, t table, _ bool) []*exec.Cmd {
		return []*exec.Cmd{b.shell(fmt.Sprintf("%s -h %s -U postgres -d %s | %s -q -h %s -U postgres -d copy", b.server.Program("pg_dump"), b.server.Socket, t.name, b.server.Program("psql"), b.server.Socket))}
	}, true, true},
	{"pgcopydb", func(b *bench, t table, _ bool) []*exec.Cmd {
		uri := func(db string) string {
			return fmt.Sprintf("postgresql:///%s?host=%s&user=postgres", db, b.server.Socket)
		}
		c := exec.Command("pgcopydb", "clone", "--source", uri(t.name), "--target", uri("copy"), "--table-jobs", "2", "--index-jobs", "2", "--split-tables-larger-than", "64MB", "--skip-vacuum", "--dir", b.server.Dir+"/pgcopydb", "--restart")
		c.Env = append(c.Environ(), "TMPDIR="+b.server.Dir)
		return []*exec.Cmd{c}
	}, true, true},
	{"penstock_decoded", func(b *bench, t table, defers bool) []*exec.Cmd { return []*exec.Cmd{b.ours(t, defers, true)} }, true, false},
	{"penstock", func(b *bench, t table, defers bool) []*exec.Cmd { return []*exec.Cmd{b.ours(t, defers, false)} }, true, false},
}

type bench struct {
	server  *pgbench.Server
	workers int
}

// pipe is psql out of the source into psql into the copy.
func (b *bench) pipe(t table, format, where string) *exec.Cmd {
	from := t.name
	if where != "" {
		from = fmt.Sprintf("(SELECT * FROM %s WHERE %s)", t.name, where)
	}
	psql := b.server.Program("psql") + " -q -h " + b.server.Socket + " -U postgres -d "
	return b.shell(fmt.Sprintf(`%s%s -c "COPY %s TO STDOUT (FORMAT %s)" | %scopy -c "COPY %s FROM STDIN (FORMAT %s)"`, psql, t.name, from, format, psql, t.name, format))
}

func (b *bench) shell(line string) *exec.Cmd { return exec.Command("sh", "-ec", line) }

func main() {
	child := flag.String("child", "", "carry out a spec and end (for this program's own use)")
	scale := flag.Float64("scale", 1, "of the rows: 1 is 5,000,000 of big_table and 1,000,000 of firenibble")
	runs := flag.Int("runs", 3, "of each case; the figures are medians")
	only := flag.String("only", "", "cases whose name contains this")
	flag.Parse()
	if *child != "" {
		exit(carry(*child))
	}
	s, err := pgbench.Start()
	if err != nil {
		exit(err)
	}
	err = (&bench{server: s, workers: 2}).all(*scale, *runs, *only)
	exit(errors.Join(err, s.Close()))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "copydb:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (b *bench) all(scale float64, runs int, only string) error {
	b.server.Describe()
	if out, err := exec.Command("pgcopydb", "--version").Output(); err == nil {
		fmt.Printf("# %s\n", strings.SplitN(string(out), "\n", 2)[0])
	}
	for _, t := range tables {
		t.rows = max(2, int64(float64(t.rows)*scale))
		if err := b.prepare(t); err != nil {
			return err
		}
		for _, defers := range []bool{false, true} {
			if err := b.compare(t, defers, runs, only); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare makes the table in a database of its own.
func (b *bench) prepare(t table) error {
	if err := b.server.Exec("CREATE DATABASE " + t.name); err != nil {
		return err
	}
	return b.in(t.name, fmt.Sprintf("CREATE TABLE %s (%s); INSERT INTO %s SELECT %s FROM generate_series(1::bigint, %d) AS i; ALTER TABLE %s ADD PRIMARY KEY (%s);", t.name, t.columns, t.name, t.fill, t.rows, t.name, t.key), "VACUUM ANALYZE "+t.name)
}

// in runs statements in a database.
func (b *bench) in(database string, sql ...string) error {
	args := []string{"-q", "-v", "ON_ERROR_STOP=1", "-h", b.server.Socket, "-U", postgrestest.User, "-d", database}
	for _, q := range sql {
		args = append(args, "-c", q)
	}
	if out, err := exec.Command(b.server.Program("psql"), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// compare runs every peer in turn, as often as asked, and prints the medians.
func (b *bench) compare(t table, defers bool, runs int, only string) error {
	kind := "key_in_place"
	if defers {
		kind = "key_deferred"
	}
	figures := map[string][]pgbench.Figures{}
	for range runs {
		for _, p := range peers {
			name := fmt.Sprintf("%s_%s_%s", t.name, kind, p.name)
			if !strings.Contains(name, only) || p.deferred && !defers {
				continue
			}
			if p.name == "pgcopydb" {
				if _, err := exec.LookPath("pgcopydb"); err != nil {
					continue
				}
			}
			f, err := b.once(t, p, defers)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			figures[p.name] = append(figures[p.name], f)
		}
	}
	best := pgbench.Figures{}
	for _, p := range peers {
		list := figures[p.name]
		if len(list) == 0 {
			continue
		}
		f := pgbench.Median(list)
		if strings.HasPrefix(p.name, "psql_binary") && f.Rate > best.Rate {
			best = f
		}
		line := fmt.Sprintf("case=%s_%s_%s rows=%d runs=%d %s", t.name, kind, p.name, t.rows, len(list), f)
		if strings.HasPrefix(p.name, "penstock") && best.Rate > 0 {
			line += f.Ratios("psql_binary", best)
		}
		fmt.Println(line)
	}
	fmt.Printf("# load average after: %s", pgbench.Load())
	return nil
}

// once copies the table into an empty database and counts it there.
func (b *bench) once(t table, p peer, defers bool) (pgbench.Figures, error) {
	if err := b.server.Exec("DROP DATABASE IF EXISTS copy WITH (FORCE)", "CREATE DATABASE copy"); err != nil {
		return pgbench.Figures{}, err
	}
	key := fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", t.name, t.key)
	var behind func() error
	if !p.makes {
		made := []string{fmt.Sprintf("CREATE TABLE %s (%s)", t.name, t.columns)}
		after := []string{"ANALYZE " + t.name} // as ours ends
		if defers {
			after = append([]string{key}, after...)
		} else {
			made = append(made, key)
		}
		behind = func() error { return b.in("copy", after...) }
		if err := b.in("copy", made...); err != nil {
			return pgbench.Figures{}, err
		}
	}
	f, out, err := b.server.Run(t.rows, behind, p.commands(b, t, defers)...)
	if err != nil {
		return f, fmt.Errorf("%w\n%s", err, out)
	}
	return f, b.in("copy", fmt.Sprintf("DO $$ BEGIN ASSERT (SELECT count(*) FROM %s) = %d; ASSERT (SELECT count(*) FROM pg_constraint WHERE conrelid = '%s'::regclass AND contype = 'p') = 1; END $$", t.name, t.rows, t.name))
}
