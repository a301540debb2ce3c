package lsp

import (
	"context"
	"fmt"
	"strings"

	"penstock/lang"
)

// hover says what the word at a place means; nil where nothing is known of it.
func (s *server) hover(ctx context.Context, path string, pos position) *hover {
	t, ok := s.open[path]
	if !ok {
		return nil
	}
	offset := t.offset(pos)
	from, to := offset, offset
	quoted := placeOf(path, t.s, offset).quoted
	for from > 0 && (isWordByte(t.s, from-1) || quoted && t.s[from-1] == '.') {
		from--
	}
	for to < len(t.s) && (isWordByte(t.s, to) || quoted && t.s[to] == '.') {
		to++
	}
	word := t.s[from:to]
	if word == "" {
		return nil
	}
	if said := s.meaning(ctx, path, placeOf(path, t.s, from), word); said != "" {
		return &hover{markdown(said), t.span(from, to)}
	}
	return nil
}

func (s *server) meaning(ctx context.Context, path string, p place, word string) string {
	sc, ok := scopeOf(s.grammar, p.keys)
	if !ok {
		return ""
	}
	switch {
	case p.attr != "":
		f := sc.block.Field(p.attr)
		if f == nil {
			return ""
		}
		if f.Form == lang.FormColumns || f.Form == lang.FormExpression {
			if said := s.columnDoc(ctx, path, sc, word); said != "" {
				return said
			}
		}
		return fieldDoc(f)
	case sc.label >= 0 && len(sc.block.Kinds) > 0 && sc.label == 0:
		if def := s.options.Registry.Find(word); def != nil {
			return fmt.Sprintf("**%s**: %s", word, def.Summary)
		}
	case sc.label >= 0 && sc.block.Name == "table":
		for _, t := range s.tables(ctx, path, sc.pipeline) {
			if strings.EqualFold(t.Name.String(), word) {
				out := fmt.Sprintf("**%s**: %s\n\n| column | type |\n|---|---|\n", t.Name, tableDetail(t))
				for i := range t.Columns {
					out += fmt.Sprintf("| %s | %s |\n", t.Columns[i].Name, columnDetail(&t.Columns[i]))
				}
				return out
			}
		}
	case sc.label >= 0 && sc.block.Name == "column":
		return s.columnDoc(ctx, path, sc, word)
	case sc.label < 0:
		if f := sc.block.Field(word); f != nil {
			return fieldDoc(f)
		}
		if b := sc.block.Block(word); b != nil && b.Doc != "" {
			return fmt.Sprintf("**%s** (block): %s", b.Name, b.Doc)
		}
	}
	return ""
}

func fieldDoc(f *lang.Field) string {
	return fmt.Sprintf("**%s**: %s\n\n%s", f.Name, f.Value(), docOf(f))
}

func (s *server) columnDoc(ctx context.Context, path string, sc scope, word string) string {
	for _, c := range s.columns(ctx, path, sc) {
		if strings.EqualFold(c.Name, word) {
			return strings.TrimSpace(fmt.Sprintf("**%s**: %s\n\n%s", c.Name, columnDetail(c), c.Comment))
		}
	}
	return ""
}
