// Command gen writes docs/diagnostics.md from the codes in package diag.
package main

import (
	"fmt"
	"os"

	"penstock/internal/diag"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], diag.Markdown(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
