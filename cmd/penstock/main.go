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
	// A reader of the JSON lines that goes away must not end a load: writing
	// fails then, and nothing else.
	signal.Ignore(syscall.SIGPIPE)
	// The Oracle driver prints to standard output, which is for results alone.
	stdout := os.Stdout
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stdout = null
	}
	a := &app{
		program:   os.Args[0],
		registry:  all.Registry(),
		stdin:     os.Stdin,
		stdout:    stdout,
		stderr:    os.Stderr,
		terminal:  term.IsTerminal(int(os.Stderr.Fd())),
		color:     term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		size:      func() (int, int) { return terminalSize(os.Stderr) },
		lookupEnv: os.LookupEnv,
	}
	if term.IsTerminal(int(stdout.Fd())) {
		a.width, _ = terminalSize(stdout)
	}
	return a.execute(context.Background(), os.Args[1:])
}

// terminalSize is a terminal's size in characters, or the usual one where it
// does not know its own, as on a serial line.
func terminalSize(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}
