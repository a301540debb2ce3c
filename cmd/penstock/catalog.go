package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

func (a *app) catalogCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Record what a database has, to be checked in",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q for catalog; there is: pull", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(a.pullCommand())
	return cmd
}

// pull is what the flags of catalog pull say.
type pull struct {
	out        string
	check, all bool
}

func (a *app) pullCommand() *cobra.Command {
	var p pull
	cmd := &cobra.Command{
		Use:   "pull SPEC ENDPOINT",
		Short: "Record the catalog of an endpoint in a file",
		Long: `Connect to an endpoint of a spec and record its tables, columns, keys, indexes
and statistics, in a file that validate and plan then read instead of the
database. The file is the one that the endpoint's block names as catalog, or -o
FILE. It is the same for the same database: tables are sorted, and statistics
stand apart at its end.

It holds the tables that the spec's pipelines use, all where none does yet.

--check writes nothing: it compares the file with the database and exits with 4
where they differ, telling each table and column. Statistics may differ, and so
may tables that neither the file has nor the spec uses.`,
		Example: `  penstock catalog pull shop.hcl source.erp
  penstock catalog pull shop.hcl source.erp -o catalog/erp.json
  penstock catalog pull shop.hcl source.erp --check`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("catalog pull takes a SPEC and an ENDPOINT of it, for example: penstock catalog pull shop.hcl source.erp")
			}
			return nil
		},
		ValidArgsFunction: a.completeEndpoint,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pull(cmd.Context(), args[0], args[1], p)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.out, "out", "o", "", "write to `FILE` instead of the one that the spec names; - is standard output")
	f.BoolVar(&p.check, "check", false, "write nothing; exit with 4 where the file is not what the database has")
	f.BoolVar(&p.all, "all", false, "record every table that there is")
	mustComplete(cmd.MarkFlagFilename("out", "json"))
	return cmd
}

// completeEndpoint offers specs, then the endpoints of the spec.
func (a *app) completeEndpoint(c *cobra.Command, args []string, to string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return complete("hcl", "yaml", "yml")(c, args, to)
	}
	spec, err := a.load(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return endpointIDs(spec.spec), cobra.ShellCompDirectiveNoFileComp
}

func endpointIDs(spec *lang.Spec) []string {
	var out []string
	for _, e := range spec.Endpoints {
		out = append(out, string(e.Role)+"."+e.Name.V)
	}
	return out
}

// pulled is what catalog pull writes.
type pulled struct {
	document
	Endpoint    string   `json:"endpoint"`
	File        string   `json:"file,omitempty"`
	Tables      int      `json:"tables"`
	Differences []string `json:"differences"` // from the file as it was, in words
}

func (a *app) pull(ctx context.Context, path, id string, p pull) error {
	c, err := a.load(path)
	if err != nil {
		return err
	}
	if c.diag.HasErrors() {
		if err := a.report("catalog pull", path, "", c); err != nil {
			return err
		}
		return exitError(runtime.ExitSpec)
	}
	ends := planner.Ends(c.spec, a.registry, planner.Options{})
	if ends == nil { // a setting is wrong: compiling says which
		a.plan(ctx, c, planner.Options{})
		if err := a.report("catalog pull", path, "", c); err != nil {
			return err
		}
		return exitError(runtime.ExitSpec)
	}
	end, err := findEnd(ends, id)
	if err != nil {
		return err
	}
	file, stdout := p.out, p.out == "-"
	if file == "" && end.Catalog != "" {
		if file = end.Catalog; !filepath.IsAbs(file) {
			file = filepath.Join(c.spec.Dir, filepath.FromSlash(file))
		}
	}
	if file == "" || stdout && p.check {
		return &runtime.UsageError{Text: fmt.Sprintf("%s names no file: write catalog = %q into its block, or give -o FILE", end.ID, "catalog/"+endName(end.ID)+".json")}
	}
	live, err := a.endCatalog(ctx, c.spec, end)
	if err != nil {
		return err
	}
	var was *schema.Catalog
	if !stdout {
		if was, err = recordedCatalog(file, end.Definition); err != nil && (p.check || !errors.Is(err, fs.ErrNotExist)) {
			if !p.check { // what can't be read is written anew
				fmt.Fprintf(a.stderr, "%s is no catalog, and is replaced: %v\n", file, err)
			} else {
				return &runtime.UsageError{Text: fmt.Sprintf("%s: %v", file, cause(err))}
			}
		}
	}
	if !p.all {
		live = a.usedOf(ctx, c.spec, end, live, was, p.check)
	}
	doc := pulled{document: newDocument("catalog pull"), Endpoint: end.ID, File: file, Tables: len(live.Tables), Differences: []string{}}
	if was != nil {
		doc.Differences = append(doc.Differences, schema.Diff(was, live)...)
	}
	if p.check {
		return a.checked(doc, path)
	}
	b, err := live.Marshal()
	if err != nil {
		return err
	}
	if stdout {
		_, err := a.stdout.Write(b)
		return err
	}
	if err := writeCatalog(file, b); err != nil {
		return &runtime.UsageError{Text: fmt.Sprintf("%s: %v", file, cause(err))}
	}
	if a.json {
		return a.writeJSON(doc)
	}
	for _, d := range doc.Differences {
		fmt.Fprintf(a.stderr, "  %s\n", d)
	}
	fmt.Fprintf(a.stderr, "%s: %s of %s\n", relative(file), plural(len(live.Tables), "table"), end.ID)
	if end.Catalog == "" {
		fmt.Fprintf(a.stderr, "name it in the block of %s: catalog = %q\n", end.ID, filepath.ToSlash(relative(file)))
	}
	return nil
}

// checked reports a comparison.
func (a *app) checked(doc pulled, path string) error {
	doc.Errored = len(doc.Differences) > 0
	if a.json {
		if err := a.writeJSON(doc); err != nil {
			return err
		}
	}
	if !doc.Errored {
		if !a.json {
			fmt.Fprintf(a.stderr, "%s: %s of %s, as the file says\n", relative(doc.File), plural(doc.Tables, "table"), doc.Endpoint)
		}
		return nil
	}
	if !a.json {
		fmt.Fprintf(a.stderr, "%s no longer says what %s has:\n", relative(doc.File), doc.Endpoint)
		for _, d := range doc.Differences {
			fmt.Fprintf(a.stderr, "  %s\n", d)
		}
		fmt.Fprintf(a.stderr, "record it again: %s catalog pull %s %s\n", a.program, quote(path), doc.Endpoint)
	}
	return exitError(runtime.ExitDrift)
}

// findEnd finds an endpoint by its id, or by its name where that is enough.
func findEnd(ends []planner.End, id string) (*planner.End, error) {
	var found []*planner.End
	var ids []string
	for i := range ends {
		e := &ends[i]
		if ids = append(ids, e.ID); e.ID == id {
			return e, nil
		}
		if endName(e.ID) == id {
			found = append(found, e)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return nil, &runtime.UsageError{Text: fmt.Sprintf("%q is no endpoint of the spec; its endpoints are: %s", id, strings.Join(ids, ", "))}
}

// endName is the name in an id: erp of source.erp.
func endName(id string) string {
	_, name, _ := strings.Cut(id, ".")
	return name
}

// endCatalog reads the live catalog of any end.
func (a *app) endCatalog(ctx context.Context, spec *lang.Spec, e *planner.End) (*schema.Catalog, error) {
	if e.Role == lang.Source {
		if e.Definition.Source.Local == nil && !e.CanOpen() {
			return nil, cantOpen(e)
		}
		return a.sourceCatalog(ctx, spec, e)
	}
	if !e.CanOpen() {
		return nil, cantOpen(e)
	}
	t, err := e.Definition.Target.Open(ctx, e.Config, a.env(spec, e, firstOf(e.Pipelines)))
	if err != nil {
		return nil, opening(e, err)
	}
	c, err := t.Catalog(ctx)
	return c, reading(e, errors.Join(err, t.Close()))
}

func cantOpen(e *planner.End) error {
	return &runtime.UsageError{Text: fmt.Sprintf("%s: this version of penstock plans for %s and can't connect to it yet", e.ID, e.Definition.Kind)}
}

// usedOf keeps the tables that the spec's pipelines use; where none does, all.
// A comparison keeps those of the file too.
func (a *app) usedOf(ctx context.Context, spec *lang.Spec, e *planner.End, live, was *schema.Catalog, check bool) *schema.Catalog {
	used := planner.Tables(ctx, spec, a.registry, planner.Options{Catalogs: map[string]*schema.Catalog{e.ID: live}})[e.ID]
	if used == nil && !(check && was != nil) {
		return live
	}
	out := &schema.Catalog{Kind: live.Kind}
	for _, t := range live.Tables {
		if slices.Contains(used, t.Name) || check && slices.ContainsFunc(was.Tables, func(w schema.Table) bool { return w.Name == t.Name }) {
			out.Tables = append(out.Tables, t)
		}
	}
	return out
}

func recordedCatalog(path string, def *connectors.Definition) (*schema.Catalog, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return schema.ParseCatalog(b, def.Kind, def.Types.Parse)
}

// writeCatalog writes a catalog file, and the folders above a new one.
func writeCatalog(path string, b []byte) error {
	if _, err := os.Stat(path); err == nil {
		return replaceFile(path, b)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// Empty, it is replaced like any other: by rename.
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		return err
	}
	return replaceFile(path, b)
}
