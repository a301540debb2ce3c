// Package draft writes the first spec of a pipeline from a catalog: one that
// plans as it stands, with what may be changed beside it as comments.
package draft

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/lang"
)

// Syntax is what a spec is written in.
type Syntax string

const (
	HCL  Syntax = "hcl"
	YAML Syntax = "yaml"
)

// Options say what to draft.
type Options struct {
	Registry   *connectors.Registry
	Connectors []lang.Connector // of the registry
	From, To   string           // kinds
	Catalog    string           // path of the source's recorded catalog, as the spec names it; "": the source is asked, if it is local
	Set        []string         // settings: source.path=shop.db, source.table.orders.path=orders.csv
	Name       string           // of the pipeline
	Dir        string           // that paths are relative to
	Syntax     Syntax
	ReadFile   func(path string) ([]byte, error)
}

// perTable is how many tables get a block each; of more, each schema gets a
// pattern.
const perTable = 40

// Write drafts a spec. An error says what else has to be given.
func Write(ctx context.Context, o Options) ([]byte, error) {
	from, err := endpoint(o, lang.Source, o.From)
	if err != nil {
		return nil, err
	}
	to, err := endpoint(o, lang.Target, o.To)
	if err != nil {
		return nil, err
	}
	if left := unused(o.Set); len(left) > 0 {
		return nil, fmt.Errorf("--set %s: write source.SETTING=VALUE or target.SETTING=VALUE", left[0])
	}
	catalog, err := catalogOf(ctx, o, from)
	if err != nil {
		return nil, err
	}
	origin := "what " + o.From + " says of itself"
	if o.Catalog != "" {
		origin = o.Catalog
	}
	spec := []item{
		comment("From %s to %s, drafted from %s by penstock init.", o.From, o.To, origin),
		comment("Read it, change what is a guess, then: penstock validate, penstock plan."),
		block("penstock", nil, setting("spec", 1)),
		from, to,
		pipeline(o, catalog),
	}
	if o.Syntax == YAML {
		return yamlText(spec), nil
	}
	text, l := lang.Format("spec.hcl", hclText(spec))
	if l.HasErrors() {
		return nil, fmt.Errorf("the draft has a fault, which is Penstock's own: %s", l[0].Summary)
	}
	return text, nil
}

func unused(set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(s string) bool {
		return strings.HasPrefix(s, "source.") || strings.HasPrefix(s, "target.")
	})
}

// catalogOf is the recorded catalog, or what a local source says of itself.
func catalogOf(ctx context.Context, o Options, source item) (*schema.Catalog, error) {
	def := o.Registry.Find(o.From)
	if o.Catalog != "" {
		path := o.Catalog
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Dir, path)
		}
		src, err := o.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--catalog %s: %w", o.Catalog, err)
		}
		c, err := schema.ParseCatalog(src, o.From, def.Types.Parse)
		if err != nil {
			return nil, fmt.Errorf("--catalog %s: %w", o.Catalog, err)
		}
		return c, nil
	}
	if def.Source.Local == nil {
		return nil, fmt.Errorf("%s is a server, and init connects to none: give its recorded catalog with --catalog FILE", o.From)
	}
	head := hclText([]item{block("penstock", nil, setting("spec", 1)), source})
	spec, l := lang.Parse(map[string][]byte{"spec.hcl": head}, o.Dir, lang.Options{Connectors: o.Connectors})
	if l.HasErrors() || len(spec.Endpoints) != 1 {
		return nil, fmt.Errorf("the settings of the source don't fit: %s", l[0].Summary)
	}
	config := def.Source.Config()
	if _, l := spec.Endpoints[0].Decode(config); l.HasErrors() {
		return nil, fmt.Errorf("the settings of the source don't fit: %s. %s", l[0].Summary, l[0].Detail)
	}
	c, err := def.Source.Local(ctx, config, connectors.Env{Dir: o.Dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("the tables of the source can't be had: %w", err)
	}
	return c, nil
}

// pipeline drafts the pipeline with its tables.
func pipeline(o Options, catalog *schema.Catalog) item {
	in := []item{
		setting("from", raw("source."+o.From)),
		setting("to", raw("target."+o.To)),
	}
	p := lang.Grammar(o.Connectors).Block("pipeline")
	for _, f := range p.Fields {
		if f.Name == "workers" || f.Name == "memory" {
			in = append(in, optional(f))
		}
	}
	in = append(in, comment("Set bad rows aside, and end with exit code 3, rather than stop at the first:"),
		off(block("bad_rows", nil, setting("action", "discard"))))
	to := o.Registry.Find(o.To)
	tables := slices.Clone(catalog.Tables)
	slices.SortStableFunc(tables, func(a, b schema.Table) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	taken := map[string]bool{}
	byPattern := map[string]int{}
	if len(tables) > perTable {
		for _, t := range tables {
			byPattern[pattern(t.Name)]++
		}
		for _, t := range tables {
			p := pattern(t.Name)
			if n := byPattern[p]; n > 0 {
				in = append(in, comment("%d tables; a table of this schema with a block of its own is not taken by the pattern.", n),
					block("table", []string{p}))
				byPattern[p] = 0
			}
		}
	}
	for i := range tables {
		t := table(&tables[i], to, taken)
		if len(byPattern) > 0 && len(t.in) == 0 {
			continue // the pattern says all of it
		}
		in = append(in, t)
	}
	return block("pipeline", []string{o.Name}, in...)
}

func pattern(n schema.Name) string {
	if n.Schema == "" {
		return "*"
	}
	return n.Schema + ".*"
}

// endpoint drafts a source or a target block.
func endpoint(o Options, role lang.Role, kind string) (item, error) {
	side := lang.Grammar(o.Connectors).Block(string(role))
	b := side.Kind(kind)
	if b == nil {
		var have []string
		for _, k := range side.Kinds {
			have = append(have, k.Name)
		}
		return item{}, fmt.Errorf("%s is no %s; these are: %s", kind, role, strings.Join(have, ", "))
	}
	given, err := parseSettings(o.Set, string(role)+".")
	if err != nil {
		return item{}, err
	}
	if role == lang.Source && o.Catalog != "" {
		given.set("catalog", filepath.ToSlash(o.Catalog))
	}
	if def := o.Registry.Find(kind); def.Source != nil && def.Source.Local != nil || def.Target != nil && def.Target.Local != nil {
		b.Fields = slices.DeleteFunc(b.Fields, func(f lang.Field) bool { return f.Name == "tls" && given.in["tls"] == nil })
	}
	if host := b.Field("host"); host != nil && role == lang.Target && o.From == o.To {
		host.Example = "target.example.net" // the source's would be one place with it
	}
	in, err := settings(b, given, string(role), strings.ToUpper(kind))
	if err != nil {
		return item{}, err
	}
	return block(string(role), []string{kind, kind}, in...), nil
}
