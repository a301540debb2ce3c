package lsp

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/lang"
)

// choice is something that may stand at a place.
type choice struct {
	text   string
	kind   int
	detail string
	doc    string
	suffix string // what is written behind it
}

// complete lists what may stand at a place. It is never nil.
func (s *server) complete(ctx context.Context, path string, pos position) []completionItem {
	t, ok := s.open[path]
	if !ok {
		return []completionItem{}
	}
	offset := t.offset(pos)
	p := placeOf(path, t.s, offset)
	start := wordStart(t.s, offset, p.quoted)
	items := []completionItem{}
	for _, c := range s.choices(ctx, path, p) {
		item := completionItem{Label: c.text, Kind: c.kind, Detail: c.detail, TextEdit: textEdit{t.span(start, offset), c.text + c.suffix}}
		if c.doc != "" {
			doc := markdown(c.doc)
			item.Documentation = &doc
		}
		items = append(items, item)
	}
	return items
}

// wordStart is where the word before a byte begins. Names of tables and columns
// may hold dots and signs, up to the quote before them.
func wordStart(src string, offset int, quoted bool) int {
	i := offset
	for i > 0 && (isWordByte(src, i-1) || quoted && src[i-1] == '.') {
		i--
	}
	return i
}

func (s *server) choices(ctx context.Context, path string, p place) []choice {
	sc, ok := scopeOf(s.grammar, p.keys)
	if !ok {
		return nil
	}
	if p.attr == "" && sc.label >= 0 {
		return s.labels(ctx, path, p, sc)
	}
	if p.attr == "" {
		return names(path, sc.block)
	}
	f := sc.block.Field(p.attr)
	if f == nil {
		return nil
	}
	return s.values(ctx, path, p, sc, f)
}

// names are the settings and blocks of a block.
func names(path string, b *lang.Block) []choice {
	set, open := " = ", " "
	if isYAML(path) {
		set, open = ": ", ":"
	}
	var out []choice
	for i := range b.Fields {
		f := &b.Fields[i]
		out = append(out, choice{f.Name, kindProp, detailOf(f), docOf(f), set})
	}
	for _, in := range b.Blocks {
		out = append(out, choice{in.Name, kindModule, "block", in.Doc, open})
	}
	return out
}

func detailOf(f *lang.Field) string {
	if f.Required {
		return plain(f.Value()) + ", required"
	}
	return plain(f.Value())
}

func plain(s string) string { return strings.ReplaceAll(s, "`", "") }

// docOf is what a setting means, in Markdown.
func docOf(f *lang.Field) string {
	s := f.Doc
	if f.Default != "" {
		s += "\n\nDefault: " + f.Default
	}
	return s
}

// labels are what a block may be called: kinds of connectors, tables, columns.
func (s *server) labels(ctx context.Context, path string, p place, sc scope) []choice {
	var out []choice
	quote, end := "", ""
	switch {
	case isYAML(path):
		end = ":"
	case !p.quoted:
		quote = `"`
	}
	add := func(text string, kind int, detail string) {
		name := text
		if isYAML(path) && strings.ContainsAny(text, " :#'\"{}[],&*?|>%@`") {
			name = `"` + text + `"`
		}
		out = append(out, choice{quote + name + quote, kind, detail, "", end})
	}
	switch {
	case len(sc.block.Kinds) > 0 && sc.label == 0:
		for _, k := range sc.block.Kinds {
			add(k.Name, kindValue, s.options.Registry.Find(k.Name).Summary)
		}
	case sc.block.Name == "table" && sc.pipeline != "":
		for _, t := range s.tables(ctx, path, sc.pipeline) {
			add(t.Name.String(), kindStruct, tableDetail(t))
		}
	case sc.block.Name == "column" && sc.table != "":
		for _, c := range s.columns(ctx, path, sc) {
			add(c.Name, kindField, columnDetail(c))
		}
	}
	return out
}

// values are what a setting may be.
func (s *server) values(ctx context.Context, path string, p place, sc scope, f *lang.Field) []choice {
	var out []choice
	quote := ""
	if !isYAML(path) && !p.quoted {
		quote = `"`
	}
	add := func(text string, kind int, detail string) {
		out = append(out, choice{quote + text + quote, kind, detail, "", ""})
	}
	bare := func(text, detail string) { out = append(out, choice{text, kindValue, detail, "", ""}) }
	switch f.Form {
	case lang.FormWord, lang.FormWords:
		for _, w := range f.Words {
			add(w, kindValue, "")
		}
	case lang.FormBool:
		bare("true", "")
		bare("false", "")
	case lang.FormCount:
		add("auto", kindValue, "")
	case lang.FormSource, lang.FormTarget:
		if spec := s.last[path]; spec != nil {
			for _, e := range spec.Endpoints {
				if (e.Role == lang.Source) == (f.Form == lang.FormSource) {
					bare(string(e.Role)+"."+e.Name.V, e.Kind.V)
				}
			}
		}
	case lang.FormTables:
		for _, t := range s.tables(ctx, path, sc.pipeline) {
			add(t.Name.String(), kindStruct, tableDetail(t))
		}
	case lang.FormColumns:
		for _, c := range s.columns(ctx, path, sc) {
			add(c.Name, kindField, columnDetail(c))
		}
	case lang.FormExpression:
		if !isYAML(path) && !p.quoted {
			return nil // a quote first
		}
		for _, c := range s.columns(ctx, path, sc) {
			out = append(out, choice{c.Name, kindField, columnDetail(c), "", ""})
		}
	}
	return out
}

func tableDetail(t *schema.Table) string {
	s := fmt.Sprintf("%d columns", len(t.Columns))
	if key := t.DefaultKey(); key != nil {
		s += ", key " + strings.Join(key, ", ")
	}
	return s
}

func columnDetail(c *schema.Column) string {
	s := c.Native
	if !c.Nullable {
		s += ", not null"
	}
	return s
}

// tables are those of a pipeline's source, as far as they can be known without
// a connection.
func (s *server) tables(ctx context.Context, path, pipeline string) []*schema.Table {
	spec := s.last[path]
	if spec == nil {
		return nil
	}
	i := slices.IndexFunc(spec.Pipelines, func(p *lang.Pipeline) bool { return p.Name.V == pipeline })
	if i < 0 {
		return nil
	}
	e := spec.Endpoint(lang.Source, spec.Pipelines[i].From.Name)
	if e == nil {
		return nil
	}
	def := s.options.Registry.Find(e.Kind.V)
	if def == nil || def.Source == nil {
		return nil
	}
	c := s.catalog(ctx, spec, e, def)
	if c == nil {
		return nil
	}
	var out []*schema.Table
	for i := range c.Tables {
		out = append(out, &c.Tables[i])
	}
	return out
}

// catalog is an endpoint's recorded catalog, or what a local one says of
// itself; nil where neither can be had. The check has said why.
func (s *server) catalog(ctx context.Context, spec *lang.Spec, e *lang.Endpoint, def *connectors.Definition) *schema.Catalog {
	if e.Catalog.Set {
		path := e.Catalog.V
		if !filepath.IsAbs(path) {
			path = filepath.Join(spec.Dir, filepath.FromSlash(path))
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		c, err := schema.ParseCatalog(src, def.Kind, def.Types.Parse)
		if err != nil {
			return nil
		}
		return c
	}
	if def.Source.Local == nil {
		return nil
	}
	config := def.Source.Config()
	if _, l := e.Decode(config); l.HasErrors() {
		return nil
	}
	c, err := def.Source.Local(ctx, config, connectors.Env{Dir: spec.Dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil
	}
	return c
}

// columns are those of the table that a place is in.
func (s *server) columns(ctx context.Context, path string, sc scope) []*schema.Column {
	var out []*schema.Column
	for _, t := range s.tables(ctx, path, sc.pipeline) {
		if !strings.EqualFold(t.Name.String(), sc.table) {
			continue
		}
		for i := range t.Columns {
			out = append(out, &t.Columns[i])
		}
		return out
	}
	return nil
}
