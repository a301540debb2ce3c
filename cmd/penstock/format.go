package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"penstock/internal/diag"
	"penstock/planner/plan"
	"penstock/planner/plan/comment"

	"github.com/spf13/cobra"
)

// Formats that --format takes: a plan file has no places that annotations could stand at.
var (
	specFormats = []string{"text", "json", "github", "sarif", "markdown"}
	planFormats = []string{"text", "json", "markdown"}
)

// formatFlag gives a command --format, of whose json --json is the short form.
func (a *app) formatFlag(cmd *cobra.Command, formats []string) {
	cmd.Flags().StringVar(&a.format, "format", "text", "what standard output gets, a `FORMAT` of "+strings.Join(formats, ", "))
	mustComplete(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		switch {
		case !slices.Contains(formats, a.format):
			return fmt.Errorf("--format=%s: write one of %s", a.format, strings.Join(formats, ", "))
		case a.json && a.format != "text" && a.format != "json":
			return fmt.Errorf("--json and --format=%s are two documents: ask for one", a.format)
		}
		a.json = a.json || a.format == "json"
		return nil
	}
}

// forMachine reports that standard output has a document, or annotations, and
// not the text for people.
func (a *app) forMachine() bool { return a.json || a.format != "text" && a.format != "" }

// report writes what a compilation found: text for people on standard error,
// and to standard output the document that was asked for. run is the command
// that carries the plan out.
func (a *app) report(command, spec, run string, c *compiled) error {
	if err := diag.WriteWithin(a.stderr, c.diag, c.spec.Files, a.color, a.columns()); err != nil {
		return err
	}
	switch {
	case a.json:
		d := newDocument(command)
		d.Errored, d.Diagnostics, d.Changes = c.diag.HasErrors(), c.diag.Records(c.spec.Files), c.changes
		if command != "validate" { // which asks whether there is a plan, and not for it
			d.Plan = c.plan
		}
		return a.writeJSON(d)
	case a.format == "github":
		return diag.WriteGitHub(a.stdout, c.diag, c.spec.Files, a.repositoryPath())
	case a.format == "sarif":
		b, err := diag.SARIF(c.diag, diag.SARIFOptions{Version: buildVersion(), Files: c.spec.Files, Path: a.repositoryPath()})
		if err == nil {
			_, err = a.stdout.Write(b)
		}
		return err
	case a.format == "markdown":
		return comment.Write(a.stdout, comment.Comment{Command: command, Of: spec, Diagnostics: c.diag.Records(c.spec.Files), Plan: c.plan, Run: run, Baseline: c.baseline, Changes: c.changes})
	}
	return nil
}

// asked is the format that a command line asks for, also where that stands
// behind the mistake that ended its reading.
func asked(args []string) string {
	f := ""
	for i, s := range args {
		if v, ok := strings.CutPrefix(s, "--format="); ok {
			f = v
		} else if s == "--format" && i+1 < len(args) {
			f = args[i+1]
		}
	}
	if slices.Contains(args, "--json") {
		return "json"
	}
	return f
}

// refuseIn writes why a command did nothing, in a format other than JSON.
func (a *app) refuseIn(format, message string) {
	var b []byte
	switch format {
	case "github":
		b = []byte(diag.GitHubError("penstock", message))
	case "sarif":
		b, _ = diag.SARIF(nil, diag.SARIFOptions{Version: buildVersion(), Failure: message})
	case "markdown":
		b = []byte(comment.Failure(message))
	}
	// The message is on standard error, should this one fail.
	_, _ = a.stdout.Write(b)
}

// repositoryPath gives files the paths that a review knows them by: relative to
// the checkout of a GitHub job, else to the working folder. What is outside of
// that stays absolute.
func (a *app) repositoryPath() func(string) string {
	root, err := os.Getwd()
	if err != nil {
		root = ""
	}
	checkout := root
	if a.lookupEnv != nil {
		if w, ok := a.lookupEnv("GITHUB_WORKSPACE"); ok && filepath.IsAbs(w) {
			checkout = w
		}
	}
	return func(name string) string {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		for _, base := range []string{checkout, root} {
			if r, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(r) {
				return filepath.ToSlash(r)
			}
		}
		return filepath.ToSlash(path)
	}
}

// showPlan writes a plan that stands for itself in the format asked for.
func (a *app) showPlan(path string, p *plan.Plan, run string) error {
	switch {
	case a.json:
		d := newDocument("show")
		d.Plan = p
		return a.writeJSON(d)
	case a.format == "markdown":
		return comment.Write(a.stdout, comment.Comment{Command: "show", Of: path, Plan: p, Run: run})
	}
	return plan.Text(a.stdout, p, plan.TextOptions{Run: run, Width: a.width})
}
