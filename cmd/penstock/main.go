// Command penstock plans and runs pipelines that move tables between databases.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"penstock/connectors/all"

	"golang.org/x/term"
)

func main() {
	os.Exit(penstock())
}

// penstock runs the command line with this process's streams.
func penstock() int {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	a := &app{
		registry:  all.Registry(),
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		terminal:  term.IsTerminal(int(os.Stderr.Fd())),
		color:     term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		lookupEnv: os.LookupEnv,
		signals:   signals,
	}
	return a.execute(context.Background(), os.Args[1:])
}
