// Command load measures tables into PostgreSQL: Penstock from made-up rows,
// from files and from SQLite, beside psql with text and binary files, pgloader,
// pgferry and pgcopydb. It starts a server of its own, with fsync,
// full_page_writes and logged tables, the same for all; the loads of a round
// follow each other, and the medians of the rounds are printed, the headline
// case last.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"

	"penstock/bench/pgbench"
)

var (
	big    = flag.Int64("big", 5_000_000, "rows of big_table")
	nibble = flag.Int64("firenibble", 1_000_000, "rows of firenibble")
	repeat = flag.Int("repeat", 3, "rounds; medians are printed")
	choose = flag.String("only", "", "run the cases that match this `REGEXP`, and the peers that they stand against")
	ferry  = flag.String("pgferry", "", "a pgferry `PROGRAM`; without it pgferry is left out")
	// Of the processes that the command starts of itself.
	child = flag.String("child", "", "")
	at    = flag.String("at", "", "")
	rows  = flag.Int64("rows", 0, "")
)

func main() {
	flag.Parse()
	run := measure
	if *child != "" {
		run = func() error { return runChild(*child, *at, *rows) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// measure runs the rounds.
func measure() (err error) {
	chosen, err := chosen()
	if err != nil {
		return err
	}
	s, err := pgbench.Start()
	if err != nil {
		return err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	b := &bench{Server: s, peers: findPeers()}
	s.Describe()
	fmt.Printf("# big_table of %d rows, firenibble of %d; medians of %d rounds; %s\n", *big, *nibble, *repeat, b.peers)
	if err := b.prepare(chosen); err != nil {
		return err
	}
	found := map[string][]pgbench.Figures{}
	for round := range *repeat {
		for _, c := range chosen {
			if !b.peers.have(c.who) || round > 0 && c.once() {
				continue
			}
			f, err := b.run(c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d: %s %s\n", round+1, c.name, f)
			found[c.name] = append(found[c.name], f)
		}
	}
	for _, c := range chosen {
		if found[c.name] == nil {
			fmt.Printf("# case %s: left out, %s is not here\n", c.name, c.who)
			continue
		}
		m := pgbench.Median(found[c.name])
		fmt.Printf("case=%s %s", c.name, m)
		if c.from == "memory" {
			fmt.Printf(" allocs_per_row=%.5f", m.Allocs)
		}
		for _, peer := range c.against {
			if found[peer] != nil {
				fmt.Print(m.Ratios(peer, pgbench.Median(found[peer])))
			}
		}
		fmt.Println()
	}
	fmt.Printf("# load average after: %s", pgbench.Load())
	return nil
}

// chosen are the cases to run: those that -only matches and what they are
// compared with, in their order.
func chosen() ([]load, error) {
	want, err := regexp.Compile(*choose)
	if err != nil {
		return nil, err
	}
	need := map[string]bool{}
	for _, c := range loads() {
		if want.MatchString(c.name) {
			need[c.name] = true
			for _, peer := range c.against {
				need[peer] = true
			}
		}
	}
	var out []load
	for _, c := range loads() {
		if need[c.name] {
			out = append(out, c)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("-only %s matches no case", *choose)
	}
	return out, nil
}
