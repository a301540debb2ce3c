package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"penstock/internal/diag"
	"penstock/lang"
	"penstock/runtime"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

func (a *app) fmtCommand() *cobra.Command {
	var check, showDiff bool
	cmd := &cobra.Command{
		Use:   "fmt SPEC",
		Short: "Lay out a spec in HCL",
		Long: `Lay out the HCL of a spec (a file, or the files of a folder) in the one usual way:
indentation, blanks, columns of equals signs. Comments stay, and nothing but
white space changes. A file is replaced as a whole, or not at all. "-" reads
standard input and writes standard output.

YAML files are left alone: what lays them out would lose comments or order.

Exit code 3 with --check when a file is not laid out.`,
		Example: `  penstock fmt shop.hcl
  penstock fmt pipelines/ --check --diff`,
		Args:              one("a SPEC", "penstock fmt shop.hcl"),
		ValidArgsFunction: complete("hcl"),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := a.layOut(args[0])
			if err != nil {
				return err
			}
			return a.formatted(args[0], files, check, showDiff)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit with 3 when a file is not laid out")
	cmd.Flags().BoolVar(&showDiff, "diff", false, "write nothing; show what would change")
	return cmd
}

// laidOut is a file that fmt has read.
type laidOut struct {
	File    string `json:"file"`
	State   string `json:"state"` // "same", "changed", "left alone" (YAML), "wrong" (its syntax)
	Diff    string `json:"diff,omitempty"`
	old     []byte
	new     []byte
	problem diag.List
}

// standardInput is how a command line names it.
const standardInput = "-"

// layOut reads the files of a spec.
func (a *app) layOut(path string) ([]laidOut, error) {
	if path == standardInput {
		src, err := io.ReadAll(a.stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return []laidOut{layOutFile("standard input", src)}, nil
	}
	paths, err := lang.Files(path, a.varFiles)
	if err != nil {
		return nil, noSuchFile(path, err)
	}
	if len(paths) == 0 {
		return nil, &runtime.UsageError{Text: fmt.Sprintf("%s: it holds no .hcl, .yaml or .yml file", path)}
	}
	var out []laidOut
	for _, p := range paths {
		switch strings.ToLower(filepath.Ext(p)) {
		case ".yaml", ".yml":
			out = append(out, laidOut{File: p, State: "left alone"})
			continue
		case ".hcl":
		default:
			return nil, &runtime.UsageError{Text: fmt.Sprintf("%s: a spec is a .hcl, .yaml or .yml file, or a folder of them", p)}
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return nil, noSuchFile(p, err)
		}
		out = append(out, layOutFile(p, src))
	}
	return out, nil
}

func layOutFile(name string, src []byte) laidOut {
	f := laidOut{File: name, State: "same", old: src}
	f.new, f.problem = lang.Format(name, src)
	switch {
	case f.new == nil:
		f.State = "wrong"
	case !bytes.Equal(f.new, src):
		f.State = "changed"
		f.Diff = string(diff.Diff(name, lang.Masked(src), name+" laid out", lang.Masked(f.new)))
	}
	return f
}

// formatted writes what was laid out, or says what would be.
func (a *app) formatted(path string, files []laidOut, check, showDiff bool) error {
	stdin := path == standardInput
	changed, wrong := 0, diag.List(nil)
	shown := map[string][]byte{}
	for _, f := range files {
		switch f.State {
		case "wrong":
			wrong = append(wrong, f.problem...)
			shown[f.File] = lang.Masked(f.old)
		case "changed":
			changed++
			if check || showDiff || stdin {
				continue
			}
			if err := replaceFile(f.File, f.new); err != nil {
				return &runtime.UsageError{Text: fmt.Sprintf("%s: %v", f.File, cause(err))}
			}
		}
	}
	if err := diag.WriteWithin(a.stderr, wrong, shown, a.color, a.columns()); err != nil {
		return err
	}
	if err := a.tellFormatted(files, check, showDiff, stdin); err != nil {
		return err
	}
	switch {
	case len(wrong) > 0:
		return exitError(runtime.ExitSpec)
	case check && changed > 0:
		return exitError(runtime.ExitFindings)
	}
	return nil
}

// formatted is what fmt writes.
type formatted struct {
	head
	Files []laidOut `json:"files"`
}

func (a *app) tellFormatted(files []laidOut, check, showDiff, stdin bool) error {
	if a.json {
		doc := formatted{newHead("fmt"), files}
		for _, f := range files {
			doc.Errored = doc.Errored || f.State == "wrong"
		}
		return a.writeJSON(doc)
	}
	for _, f := range files {
		text := ""
		switch {
		case f.State == "left alone":
			fmt.Fprintf(a.stderr, "%s: left alone, it is YAML\n", f.File)
		case stdin && !check && !showDiff:
			text = string(f.new)
		case showDiff:
			text = f.Diff
		case f.State == "changed":
			text = f.File + "\n"
		}
		if _, err := io.WriteString(a.stdout, text); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file that is there anew, with its mode. A link is followed.
func replaceFile(path string, b []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	return replace(path, b, info.Mode().Perm())
}
