package main

import (
	"fmt"
	"strings"
)

// load is a case: who loads which table from what, and into what.
type load struct {
	name    string
	who     string // "penstock" or a peer
	table   string
	from    string // "synthetic", "file", "sqlite", "memory", "text", "binary", "postgres"
	workers int
	defers  bool // the key comes after the rows, its making counted
	noKey   bool // there is no key at all
	mode    string
	few     int64 // rows, where not the whole table is loaded
	against []string
}

// modeRows is what every mode of apply loads, also the slow ones.
const modeRows = 200_000

// loads are all cases in the order that a round runs them. Each of ours stands
// behind the peers that it is compared with.
func loads() (out []load) {
	add := func(l load) string {
		l.name = l.who + "_" + l.from + "_" + l.table
		if l.mode != "" {
			l.name += "_" + l.mode
		}
		l.name += fmt.Sprintf("_%d", l.workers)
		switch {
		case l.noKey:
			l.name += "_nokey"
		case l.defers:
			l.name += "_deferred"
		default:
			l.name += "_key"
		}
		out = append(out, l)
		return l.name
	}
	for _, table := range []string{"firenibble", "big_table"} {
		for _, defers := range []bool{false, true} {
			for _, workers := range []int{1, 2, 4} {
				of := func(who, from string, against ...string) string {
					return add(load{who: who, table: table, from: from, workers: workers, defers: defers, against: against})
				}
				text, binary := of("psql", "text"), of("psql", "binary")
				peers := []string{text, binary}
				if workers > 1 { // and the one stream that most people load by
					peers = append(peers, strings.Replace(text, fmt.Sprintf("_%d_", workers), "_1_", 1))
				}
				if workers == 2 { // the others once, with as many workers as there are CPUs
					peers = append(peers, of("pgloader", "file"))
					if table == "big_table" {
						peers = append(peers, of("pgcopydb", "postgres"))
						from := []string{of("pgloader", "sqlite"), of("pgferry", "sqlite")}
						of("penstock", "sqlite", from...)
					}
				}
				of("penstock", "file", peers...)
				of("penstock", "synthetic", peers...)
			}
		}
	}
	text := add(load{who: "psql", table: "big_table", from: "text", workers: 1, noKey: true})
	binary := add(load{who: "psql", table: "big_table", from: "binary", workers: 1, noKey: true})
	add(load{who: "penstock", table: "big_table", from: "synthetic", workers: 1, noKey: true, against: []string{text, binary}})
	add(load{who: "penstock", table: "big_table", from: "memory", workers: 1, noKey: true, against: []string{text}})
	add(load{who: "penstock", table: "big_table", from: "synthetic", workers: 8, against: []string{"psql_text_big_table_4_key"}})
	// GoldenGate's own test, in its order: single rows, batched rows, COPY, COPY
	// and the key behind it.
	row := add(load{who: "penstock", table: "big_table", from: "synthetic", workers: 1, mode: "row", few: modeRows})
	for _, mode := range []string{"array", "copy"} {
		add(load{who: "penstock", table: "big_table", from: "synthetic", workers: 1, mode: mode, few: modeRows, against: []string{row}})
	}
	add(load{who: "penstock", table: "big_table", from: "synthetic", workers: 1, mode: "copy", few: modeRows, defers: true, against: []string{row}})
	// The headline last.
	for i := range out {
		if out[i].name == "penstock_synthetic_big_table_2_deferred" {
			out = append(append(out[:i:i], out[i+1:]...), out[i])
			break
		}
	}
	return out
}

func size(table string) int64 {
	if table == "firenibble" {
		return *nibble
	}
	return *big
}

// rows is how many rows a case loads.
func (l load) rows() int64 {
	switch {
	case l.few > 0:
		return l.few
	case l.who == "pgloader" && l.from == "file":
		return size(l.table) / pieces // its rate is what counts, and it takes a while
	}
	return size(l.table)
}

// once reports a loader that is so slow that one round tells enough.
func (l load) once() bool { return l.who == "pgloader" || l.who == "pgferry" }
