package main

import (
	"fmt"
	"os/exec"
	"strings"

	"penstock/bench/pgbench"
	"penstock/internal/workload"
)

// run empties the target, runs a case and makes sure that it did its work.
func (b *bench) run(l load) (pgbench.Figures, error) {
	table := l.table
	if err := b.Exec("DROP SCHEMA public CASCADE", "CREATE SCHEMA public"); err != nil {
		return pgbench.Figures{}, err
	}
	// Who makes the key behind the rows finds no table, or one that has none.
	made := l.who == "penstock" && l.defers || l.who == "penstock" && l.from == "memory" || (l.who == "pgcopydb" || l.who == "pgferry") && l.defers
	if !made {
		key := !l.noKey && (!l.defers || l.who == "pgloader")
		if err := b.Exec(createTable(table, key)); err != nil {
			return pgbench.Figures{}, err
		}
	}
	var commands []*exec.Cmd
	var behind func() error
	var err error
	switch l.who {
	case "psql":
		commands = b.psql(l)
		// What ours ends with too: a table is ready once the planner knows it.
		after := []string{"ANALYZE " + table}
		if l.defers {
			after = []string{fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", table, strings.Join(workload.Find(table).Key, ", ")), after[0]}
		}
		behind = func() error { return b.Exec(after...) }
	case "pgloader":
		commands, err = b.pgloader(l)
	case "pgferry":
		commands, err = b.pgferry(l)
	case "pgcopydb":
		commands = b.pgcopydb(l)
	default:
		commands = []*exec.Cmd{b.ours(l)}
	}
	if err != nil {
		return pgbench.Figures{}, err
	}
	f, out, err := b.Run(l.rows(), behind, commands...)
	if err != nil {
		return f, err
	}
	if l.from == "memory" { // it measures itself: its rows are made before
		if _, err := fmt.Sscan(out, &f.Rate, &f.Client, &f.Allocs); err != nil {
			return f, fmt.Errorf("%q: %w", out, err)
		}
	}
	n, err := b.Count(table)
	if err == nil && n != l.rows() {
		err = fmt.Errorf("%d rows are there, want %d\n%s", n, l.rows(), out)
	}
	if err == nil && l.defers {
		err = b.keyed(table)
	}
	return f, err
}

// keyed makes sure that the table has its key.
func (b *bench) keyed(table string) error {
	n, err := b.Count("pg_constraint WHERE contype = 'p' AND conrelid = '" + table + "'::regclass")
	if err == nil && n != 1 {
		err = fmt.Errorf("%s has no key", table)
	}
	return err
}
