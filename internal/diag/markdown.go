package diag

import (
	"bytes"
	"fmt"
	"strings"
)

//go:generate go run ./gen ../../docs/diagnostics.md

// Markdown is docs/diagnostics.md: every code with what it means, a fragment
// that gives it, and the fragment mended.
func Markdown() []byte {
	var b bytes.Buffer
	b.WriteString(`# Diagnostics

Every message about a spec has a code that never changes its meaning. Errors keep a spec from being
used (exit 2); warnings do not. This page is written by ` + "`go generate ./internal/diag`" + `.

| codes | about |
|---|---|
| PEN00xx | files and syntax |
| PEN01xx | blocks and settings |
| PEN02xx | values, references, secrets |
| PEN03xx | row expressions: filters and computed columns |
| PEN04xx | catalogs and tables |
| PEN05xx | keys, ranges and modes |
| PEN06xx | types |
| PEN07xx | resources |
`)
	for _, d := range Codes() {
		fmt.Fprintf(&b, "\n## %s %s\n\n%s\n", d.Code, d.Title, d.Meaning)
		if d.Bad != "" {
			fmt.Fprintf(&b, "\nThis gives it:\n\n```\n%s\n```\n", strings.TrimRight(d.Bad, "\n"))
		}
		if d.Good != "" {
			fmt.Fprintf(&b, "\nMended:\n\n```\n%s\n```\n", strings.TrimRight(d.Good, "\n"))
		}
	}
	return b.Bytes()
}
