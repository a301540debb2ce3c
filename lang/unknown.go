package lang

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"
)

// unknown reports a name that does not fit where it stands. A name that fits
// elsewhere is sent there; else the nearest that fits here is offered.
func (r *reader) unknown(w written, s *shape) {
	if r.plural(w, s) || r.colonLost(w, s) || r.synonym(w, s) {
		return
	}
	places := r.places(w.name, s)
	if len(places) > 0 && places[0].parent != s && !above(places[0], s) && nearest(w.name, s.names()) != "" {
		places = nil // a slip in a name of this block is likelier than a block far away
	}
	if len(places) > 0 {
		var detail string
		switch p := places[0]; {
		case p.parent == s:
			detail = fmt.Sprintf("It belongs under %s: move it one level down.", p.name)
		case above(p, s):
			detail = fmt.Sprintf("It belongs in %s: move it up.", p.name)
		default:
			var ns []string
			for _, p := range places {
				if !slices.Contains(ns, p.name) {
					ns = append(ns, p.name)
				}
			}
			detail = fmt.Sprintf("It belongs in %s.", orList(ns[:min(len(ns), 4)]))
		}
		r.diags.Errorf(diag.BelongsElsewhere, w.at, fmt.Sprintf("%q does not belong in %s", w.name, s.name), "%s", detail)
		return
	}
	if r.synonymElsewhere(w, s) {
		return
	}
	code, noun := diag.UnknownSetting, "setting"
	if w.block {
		code, noun = diag.UnknownBlock, "block"
	}
	d := r.diags.Errorf(code, w.at, fmt.Sprintf("Unknown %s %q", noun, w.name), "%s", "")
	if near := nearest(w.name, s.names()); near != "" {
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Fixes = []diag.Edit{{Title: "write " + near, Range: w.at, NewText: near}}
		return
	}
	d.Detail = fmt.Sprintf("%s has: %s.", capital(s.name), strings.Join(s.names(), ", "))
	if len(s.names()) == 0 {
		d.Detail = fmt.Sprintf("%s has no settings.", capital(s.name))
	}
}

// plural reports blocks that were written under the plural of their name, such
// as tables: that word may be a setting somewhere, and a block is no setting.
func (r *reader) plural(w written, s *shape) bool {
	one := strings.TrimSuffix(w.name, "s")
	if !w.block || one == w.name || s.block(one) == nil {
		return false
	}
	d := r.diags.Errorf(diag.UnknownBlock, w.at, fmt.Sprintf("Unknown block %q", w.name), "Did you mean %q?", one)
	d.Fixes = []diag.Edit{{Title: "write " + one, Range: w.at, NewText: one}}
	return true
}

// colonLost reports `{count 8}` and `range {count: 8}`: YAML takes the space
// for a part of the key.
func (r *reader) colonLost(w written, s *shape) bool {
	name, value, ok := strings.Cut(w.name, " ")
	if !ok || !s.has(name) {
		return false
	}
	mended := name + ": " + strings.TrimSpace(value)
	d := r.diags.Errorf(diag.UnknownSetting, w.at, fmt.Sprintf("No colon behind %q", name), "YAML reads all of this as one key. Write a colon and a space behind %s.", name)
	d.Fixes = []diag.Edit{{Title: "write " + mended, Range: w.at, NewText: mended}}
	return true
}

// places lists the shapes that have a name: those below s first, then those
// above it, then all others.
func (r *reader) places(name string, s *shape) []*shape {
	var out []*shape
	for _, root := range append([]*shape{r.root}, r.configs...) {
		root.walk(func(p *shape) {
			if p != s && p.has(name) && !unrelated(p, s) {
				out = append(out, p)
			}
		})
	}
	rank := func(p *shape) int {
		switch {
		case p.parent == s:
			return 0
		case above(p, s):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b *shape) int { return rank(a) - rank(b) })
	return out
}

// unrelated reports a block whose settings mean nothing in an endpoint: the
// small ones inside a pipeline, whose names are words that a connector may have
// for something else.
func unrelated(p, s *shape) bool {
	inPipeline := func(s *shape) bool {
		for ; s != nil; s = s.parent {
			if s.name == "pipeline" {
				return true
			}
		}
		return false
	}
	return !inPipeline(s) && s.parent != nil && inPipeline(p) && len(p.blocks) == 0
}

func above(p, s *shape) bool {
	for q := s.parent; q != nil; q = q.parent {
		if q == p {
			return true
		}
	}
	return false
}

// nearest is the option that a name was probably meant to be, or "".
func nearest(name string, options []string) string {
	if near := diag.Nearest(name, options); len(near) > 0 {
		return near[0]
	}
	return ""
}

func orList(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " or " + s[len(s)-1]
}

func quoteAll(s []string) []string {
	out := make([]string, len(s))
	for i, v := range s {
		out[i] = `"` + v + `"`
	}
	return out
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
