// Command oracle measures reading from Oracle and loading into PostgreSQL. No
// Oracle is at hand: the server is the wire double, in a process of its own, so
// that the figures are of our side of the wire, beside a loop that fetches the
// same rows with the driver alone.
package main

import (
	"flag"
	"fmt"
	"os"
)

var (
	big    = flag.Int("big", 1_000_000, "rows of big_table")
	nibble = flag.Int("firenibble", 250_000, "rows of firenibble")
	load   = flag.Bool("load", true, "load big_table into a PostgreSQL server as well")
	serve  = flag.String("serve", "", "serve the wire double with the `TABLES` big_table, firenibble, types (commas between them) until standard input ends")
	stall  = flag.String("stall", "", "with -serve: never answer the statements that contain this `TEXT`")
)

func main() {
	flag.Parse()
	run := measure
	if *serve != "" {
		run = serveDouble
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}
