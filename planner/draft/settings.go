package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"penstock/internal/diag"
	"penstock/lang"
)

// given is settings of the command line as a tree: path=shop.db,
// table.orders.path=orders.csv.
type given struct {
	value string
	in    map[string]*given
	order []string
}

func parseSettings(set []string, side string) (*given, error) {
	root := &given{}
	for _, s := range set {
		rest, ok := strings.CutPrefix(s, side)
		if !ok {
			continue
		}
		path, value, ok := strings.Cut(rest, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("--set %s: write it as %sSETTING=VALUE", s, side)
		}
		root.set(path, value)
	}
	return root, nil
}

func (g *given) set(path, value string) {
	for _, name := range strings.Split(path, ".") {
		if g.in == nil {
			g.in = map[string]*given{}
		}
		if g.in[name] == nil {
			g.in[name] = &given{}
			g.order = append(g.order, name)
		}
		g = g.in[name]
	}
	g.value = value
}

// settings drafts what stands in a block: what is given, examples for what has
// to be there, and the rest as comments.
func settings(b *lang.Block, g *given, at, env string) ([]item, error) {
	var out, rest []item
	for _, name := range g.order {
		if b.Field(name) == nil && b.Block(name) == nil {
			var have []string
			for _, f := range b.Fields {
				have = append(have, f.Name)
			}
			return nil, fmt.Errorf("--set %s.%s: there is no such setting. %s", at, name, diag.DidYouMean(name, have))
		}
	}
	for _, f := range b.Fields {
		v := g.in[f.Name]
		switch {
		case v != nil:
			value, err := typed(f, v.value)
			if err != nil {
				return nil, fmt.Errorf("--set %s.%s: %w", at, f.Name, err)
			}
			out = append(out, setting(f.Name, value))
		case f.Form == lang.FormSecret && (f.Required || f.Example != ""):
			out = append(out, setting(f.Name, secretOf(env+"_"+strings.ToUpper(f.Name))))
		case f.Example != "":
			value, err := typed(f, f.Example)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", at, f.Name, err)
			}
			s := setting(f.Name, value)
			s.note = "an example: " + strings.TrimSuffix(strings.ReplaceAll(f.Doc, "`", ""), ".")
			out = append(out, s)
		case f.Required:
			return nil, fmt.Errorf("%s needs %s: give it with --set %s.%s=VALUE", b.Name, f.Name, at, f.Name)
		case f.Default == "" || strings.Contains(f.Default, " ") || f.Default == "none": // nothing to show
		default:
			rest = append(rest, optional(f))
		}
	}
	for _, in := range b.Blocks {
		names := []string{""}
		under := g.in[in.Name]
		if len(in.Labels) > 0 {
			names = nil
			if under != nil {
				names = under.order
			}
			if len(names) == 0 {
				switch {
				case in.Example == "" && !in.Required:
					continue
				case in.Example == "":
					return nil, fmt.Errorf("%s takes %ss: give each with --set %s.%s.NAME.SETTING=VALUE", b.Name, in.Name, at, in.Name)
				}
				names = []string{in.Example}
			}
		} else if under == nil && !in.Required {
			continue
		}
		for _, name := range names {
			sub, labels, path := under, []string(nil), at+"."+in.Name
			if name != "" {
				labels, path = []string{name}, path+"."+name
				if under != nil {
					sub = under.in[name]
				}
			}
			if sub == nil {
				sub = &given{}
			}
			body, err := settings(in, sub, path, env)
			if err != nil {
				return nil, err
			}
			out = append(out, block(in.Name, labels, body...))
		}
	}
	return append(out, rest...), nil
}

// typed is a value of the command line in its setting's form.
func typed(f lang.Field, text string) (any, error) {
	switch f.Form {
	case lang.FormInteger, lang.FormCount:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("it takes a number")
		}
		return n, nil
	case lang.FormBool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("it takes true or false")
		}
		return v, nil
	case lang.FormTexts, lang.FormWords, lang.FormColumns:
		return strings.Split(text, ","), nil
	case lang.FormSecret:
		name, ok := strings.CutPrefix(text, "env:")
		if !ok {
			return nil, fmt.Errorf("a secret is never written in a spec: name its environment variable, as in env:NAME")
		}
		return secretOf(name), nil
	case lang.FormWord:
		if !slices.Contains(f.Words, text) {
			return nil, fmt.Errorf("it takes one of: %s", strings.Join(f.Words, ", "))
		}
	}
	return text, nil
}

// optional is a setting that has a plain default, as a comment.
func optional(f lang.Field) item {
	text := strings.Trim(f.Default, "`")
	s := setting(f.Name, raw(text))
	if f.Form == lang.FormWord {
		s.value = text
	}
	s.off, s.note = true, strings.TrimSuffix(strings.ReplaceAll(f.Doc, "`", ""), ".")
	return s
}
