package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/draft"
	"penstock/runtime"

	"github.com/spf13/cobra"
)

func (a *app) initCommand() *cobra.Command {
	o := draft.Options{}
	syntax := ""
	cmd := &cobra.Command{
		Use:   "init [SPEC]",
		Short: "Draft a spec from a catalog",
		Long: `Draft the spec of a pipeline that loads every table of a catalog: a block a table,
with what each column needs so that it plans as it stands, and the settings with
defaults as comments. The catalog of a server is a recorded one, of a local source
what it says of itself. Nothing is connected to, and a file that is there stays.

Without SPEC the draft goes to standard output. --set gives settings of the
endpoints; a secret is named by its environment variable.`,
		Example: `  penstock init shop.hcl --from oracle --to postgres --catalog catalog/erp.json
  penstock init shop.yaml --from sqlite --to postgres --set source.path=shop.db
  penstock init --from delimited --to sqlite --set source.table.orders.path='dump/*.csv'
  penstock init shop.hcl --from postgres --to sqlite --catalog pg.json --set source.host=pg1 --set source.password=env:PG_PASSWORD`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return one("a SPEC", "penstock init shop.hcl --from sqlite --to postgres")(c, args)
		},
		ValidArgsFunction: complete("hcl", "yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			return a.draft(cmd, path, syntax, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.From, "from", "", "`kind` of the source")
	f.StringVar(&o.To, "to", "", "`kind` of the target")
	f.StringVar(&o.Catalog, "catalog", "", "recorded catalog `file` of the source")
	f.StringArrayVar(&o.Set, "set", nil, "a setting of an endpoint, as `source.path=shop.db`; may be repeated")
	f.StringVar(&syntax, "syntax", "", "hcl or yaml; by default as SPEC is named, else hcl")
	mustComplete(cmd.MarkFlagRequired("from"))
	mustComplete(cmd.MarkFlagRequired("to"))
	mustComplete(cmd.MarkFlagFilename("catalog", "json"))
	kinds := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.registry.Kinds(), cobra.ShellCompDirectiveNoFileComp
	}
	mustComplete(cmd.RegisterFlagCompletionFunc("from", kinds))
	mustComplete(cmd.RegisterFlagCompletionFunc("to", kinds))
	mustComplete(cmd.RegisterFlagCompletionFunc("syntax", cobra.FixedCompletions([]string{"hcl", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

func (a *app) draft(cmd *cobra.Command, path, syntax string, o draft.Options) error {
	usage := func(format string, args ...any) error {
		return &runtime.UsageError{Text: fmt.Sprintf(format, args...)}
	}
	o.Registry, o.Connectors, o.ReadFile = a.registry, planner.Connectors(a.registry), os.ReadFile
	o.Dir, o.Name, o.Syntax = ".", o.From+"_to_"+o.To, draft.HCL
	name := "spec.hcl"
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case path == "" && syntax == "yaml", ext == ".yaml", ext == ".yml":
		o.Syntax, name = draft.YAML, "spec.yaml"
	case path == "" && (syntax == "" || syntax == "hcl"), ext == ".hcl":
	case path == "":
		return usage("--syntax %s: it is hcl or yaml", syntax)
	default:
		return usage("%s: the name of a spec ends in .hcl, .yaml or .yml", path)
	}
	if path != "" {
		if syntax != "" && syntax != string(o.Syntax) {
			return usage("--syntax %s: %s is named otherwise", syntax, path)
		}
		o.Dir, name = filepath.Dir(path), path
		stem := strings.Trim(notInName.ReplaceAllString(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), "_"), "_-0123456789")
		if stem != "" && len(stem) <= 40 {
			o.Name = stem
		}
		if _, err := os.Lstat(path); err == nil {
			return usage("%s: there is such a file already, and init writes over none", path)
		}
	}
	if o.Catalog != "" && !filepath.IsAbs(o.Catalog) {
		if rel, err := filepath.Rel(o.Dir, o.Catalog); err == nil {
			o.Catalog = rel
		}
	}
	text, err := draft.Write(cmd.Context(), o)
	if err != nil {
		return usage("%s", err)
	}
	spec, found := lang.Parse(map[string][]byte{name: text}, o.Dir, lang.Options{LookupEnv: a.lookupEnv, Connectors: o.Connectors})
	_, more := planner.Compile(cmd.Context(), spec, a.registry, planner.Options{})
	found = append(found, more.Apart(found)...).Sorted()
	if path == "" {
		if _, err := a.stdout.Write(text); err != nil {
			return err
		}
	} else if err := createFile(path, text); err != nil {
		return usage("%s: %v", path, cause(err))
	}
	doc := newDocument("init")
	doc.Errored, doc.Diagnostics = found.HasErrors(), found.Records(spec.Files)
	if found.HasErrors() {
		if a.json && path != "" {
			if err := a.writeJSON(doc); err != nil {
				return err
			}
		}
		fmt.Fprintf(a.stderr, "The draft doesn't plan yet, with %s to mend:\n\n", found.Summary())
		if err := diag.WriteWithin(a.stderr, found, spec.Files, a.color, a.columns()); err != nil {
			return err
		}
		return exitError(runtime.ExitFindings)
	}
	if path == "" {
		return nil
	}
	if a.json {
		return a.writeJSON(doc)
	}
	fmt.Fprintf(a.stderr, "%s is drafted, and plans as it stands\nNext: %s plan %s\n", path, a.program, quote(path))
	return nil
}

// createFile writes a file that is not there.
func createFile(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "create", Path: path, Err: errors.New("there is such a file already")}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
