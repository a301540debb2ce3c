// Command follow reads a backlog of pgbench's changes out of PostgreSQL's log,
// each run from its own copy of one slot: pg_recvlogical into /dev/null, Penstock
// into nothing, and Penstock into another database. Runs are interleaved, and
// figures are medians.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"penstock/bench/pgbench"
	"penstock/connectors/postgres/postgrestest"
)

const (
	source, copied = "shop", "shop_copy"
	slot           = "penstock_follow"
)

// tables are pgbench's, of which history gets a key.
var tables = []string{"pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"}

func main() {
	child := flag.String("child", "", "follow a slot to a place in the log, \"socket slot place into\", and end (for this program's own use)")
	changes := flag.Int("changes", 2_000_000, "of the backlog, about: a transaction of pgbench has four")
	runs := flag.Int("runs", 3, "of each case; the figures are medians")
	only := flag.String("only", "", "cases whose name contains this")
	flag.Parse()
	if *child != "" {
		exit(follow(context.Background(), strings.Fields(*child)))
	}
	exit(compare(*changes, *runs, *only))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "follow:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func compare(changes, runs int, only string) error {
	s, err := pgbench.StartWith(postgrestest.LogicalSettings())
	if err != nil {
		return err
	}
	s.Describe()
	b := &bench{server: s}
	err = b.backlog(changes)
	for _, c := range []string{"into_postgres", "recvlogical", "discard"} {
		b.figures = append(b.figures, &figures{name: c})
	}
	for run := 0; run < runs && err == nil; run++ {
		for _, f := range b.figures {
			if err = b.once(f, only); err != nil {
				break
			}
		}
	}
	if err == nil {
		b.print()
	}
	return errors.Join(err, s.Close())
}

type bench struct {
	server  *pgbench.Server
	end     string // of the backlog
	changes int64
	slots   int
	figures []*figures
}

type figures struct {
	name string
	runs []pgbench.Figures
}

// backlog makes the tables, a copy of them, the slot, and then the changes.
func (b *bench) backlog(changes int) error {
	if err := b.server.Exec("CREATE DATABASE " + source); err != nil {
		return err
	}
	tool := func(args ...string) error {
		c := exec.Command(b.server.Program("pgbench"), append([]string{"-h", b.server.Socket, "-U", postgrestest.User, "-n"}, append(args, source)...)...)
		c.Env = append(c.Environ(), "PGOPTIONS=-c synchronous_commit=off")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("pgbench: %w\n%s", err, out)
		}
		return nil
	}
	if err := tool("-i", "-q", "-s", "10"); err != nil {
		return err
	}
	publish := "CREATE PUBLICATION " + slot + " FOR TABLE " + strings.Join(tables, ", ") + " WITH (publish_via_partition_root = true)"
	if err := b.in(source, "ALTER TABLE pgbench_history ADD id bigserial PRIMARY KEY", publish); err != nil {
		return err
	}
	if err := b.server.Exec("CREATE DATABASE "+copied+" TEMPLATE "+source, "VACUUM"); err != nil {
		return err
	}
	if err := b.in(source, "SELECT pg_create_logical_replication_slot('"+slot+"', 'pgoutput')"); err != nil {
		return err
	}
	const clients = 4
	each := max(1, changes/4/clients)
	if err := tool("-c", fmt.Sprint(clients), "-M", "prepared", "-t", fmt.Sprint(each)); err != nil {
		return err
	}
	b.changes = int64(4 * clients * each)
	return b.ask(source, "SELECT pg_logical_emit_message(true, '', '')", &b.end)
}

// in runs statements in a database.
func (b *bench) in(database string, sql ...string) error {
	for _, q := range sql {
		var ignored string
		if err := b.ask(database, q, &ignored); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a statement, and gives the first value of its first row.
func (b *bench) ask(database, sql string, into *string) error {
	c, err := b.server.Connect(context.Background(), database)
	if err != nil {
		return err
	}
	defer c.Close(context.Background())
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	if first := results[0]; len(first.Rows) > 0 {
		*into = string(first.Rows[0][0])
	}
	return nil
}

// once carries out one run of a case, on a copy of the slot.
func (b *bench) once(f *figures, only string) error {
	if !strings.Contains(f.name, only) {
		return nil
	}
	b.slots++
	name := fmt.Sprintf("%s_%d", slot, b.slots)
	if err := b.in(source, fmt.Sprintf("SELECT pg_copy_logical_replication_slot('%s', '%s')", slot, name)); err != nil {
		return err
	}
	var cmd *exec.Cmd
	switch f.name {
	case "recvlogical":
		cmd = exec.Command("pg_recvlogical", "-h", b.server.Socket, "-U", postgrestest.User, "-d", source, "--slot", name, "--start", "--no-loop", "--endpos", b.end, "-f", "/dev/null",
			"-o", "proto_version=1", "-o", "publication_names="+slot, "-o", "binary=true")
	default:
		cmd = exec.Command(os.Args[0], "-child", strings.Join([]string{b.server.Socket, name, b.end, f.name}, " "))
	}
	if f.name == "into_postgres" {
		// As it was when the slot began.
		if err := b.server.Exec("DROP DATABASE IF EXISTS target", "CREATE DATABASE target TEMPLATE "+copied); err != nil {
			return err
		}
	}
	got, out, err := b.server.Run(b.changes, nil, cmd)
	if err != nil {
		return err
	}
	if f.name != "recvlogical" {
		var n int64
		if _, err := fmt.Sscanf(out, "changes=%d allocs=%g", &n, &got.Allocs); err != nil || n != b.changes {
			return fmt.Errorf("%s came to %q, want %d changes", f.name, out, b.changes)
		}
	}
	if f.name == "into_postgres" {
		if err := b.equal(); err != nil {
			return err
		}
	}
	f.runs = append(f.runs, got)
	return b.in(source, "SELECT pg_drop_replication_slot('"+name+"')")
}

// equal compares both databases, table by table.
func (b *bench) equal() error {
	for _, t := range tables {
		var want, got string
		sql := "SELECT count(*)::text || ' ' || sum(hashtextextended(t::text, 0)) FROM " + t + " t"
		if err := b.ask(source, sql, &want); err != nil {
			return err
		}
		if err := b.ask("target", sql, &got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s differs: rows and sum %s, want %s", t, got, want)
		}
	}
	return nil
}

func (b *bench) print() {
	var peer pgbench.Figures
	for _, f := range b.figures {
		if f.name == "recvlogical" && f.runs != nil {
			peer = pgbench.Median(f.runs)
		}
	}
	fmt.Printf("# load average after: %s", pgbench.Load())
	for _, f := range b.figures {
		if f.runs == nil {
			continue
		}
		m := pgbench.Median(f.runs)
		line := fmt.Sprintf("case=%s changes=%d changes_per_second=%.0f cpu_us_per_change=%.3f server_cpu_us_per_change=%.3f peak_rss_mib=%.0f", f.name, b.changes, m.Rate, m.Client, m.Server, m.Peak)
		if f.name != "recvlogical" {
			line += fmt.Sprintf(" allocs_per_change=%.3f", m.Allocs)
			if peer.Rate > 0 {
				line += fmt.Sprintf(" ratio_vs_recvlogical=%.2f", m.Rate/peer.Rate)
			}
		}
		fmt.Println(line)
	}
}
