package lang

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"
)

// synonyms are words that other tools and SQL use, with what the language calls
// the same thing, the likeliest first. A dot leads into a block.
var synonyms = map[string][]string{
	"where": {"filter"}, "condition": {"filter"}, "predicate": {"filter"},
	"batch": {"commit.rows"}, "batch_size": {"commit.rows"}, "batch_rows": {"commit.rows"}, "chunk_size": {"commit.rows"},
	"parallelism": {"workers", "count"}, "parallel": {"workers", "count"}, "threads": {"workers", "count"},
	"concurrency": {"workers", "count"}, "jobs": {"workers", "count"},
	"parts": {"count", "range.count"}, "partitions": {"count", "range.count"}, "ranges": {"count", "range.count"}, "buckets": {"count", "range.count"},
	"columns": {"column", "by"}, "fields": {"column"}, "field": {"column"},
	"source": {"from"}, "src": {"from", "source"},
	"target": {"to"}, "destination": {"to", "target"}, "dest": {"to", "target"}, "sink": {"to", "target"},
	"rename": {"to"}, "as": {"to"}, "alias": {"to"},
	"primary_key": {"key"}, "primary_keys": {"key"}, "unique_key": {"key"}, "pk": {"key"},
	"write_mode": {"apply.mode"}, "load_mode": {"apply.mode"}, "if_exists": {"existing"}, "on_exists": {"existing"},
	"expression": {"value"}, "expr": {"value"}, "formula": {"value"}, "sql": {"value"},
	"datatype": {"type"}, "data_type": {"type"},
	"ignore": {"drop", "exclude"}, "skip": {"drop", "exclude"}, "include": {"tables"},
	"on_error": {"bad_rows.action", "action"}, "error_policy": {"bad_rows.action", "action"},
	"interval": {"every", "report.every"}, "memory_limit": {"memory"}, "version": {"spec"}, "secret": {"sensitive"},
	"file": {"path"}, "filename": {"path"}, "database": {"path"}, "db": {"path", "database"}, "dbname": {"database"},
	"hostname": {"host"}, "server": {"host"}, "username": {"user"}, "login": {"user"}, "passwd": {"password"}, "pwd": {"password"},
	"row_count": {"rows"}, "num_rows": {"rows"},
}

// synonym reports a name that means something which the shape calls otherwise.
// It is false where the shape has no such thing.
func (r *reader) synonym(w written, s *shape) bool {
	for _, path := range synonyms[w.name] {
		block, setting, nested := strings.Cut(path, ".")
		code, noun := diag.UnknownSetting, "setting"
		if w.block {
			code, noun = diag.UnknownBlock, "block"
		}
		summary := fmt.Sprintf("Unknown %s %q", noun, w.name)
		switch {
		case nested:
			if b := s.block(block); b == nil || !b.in.has(setting) || w.block {
				continue
			}
			form := fmt.Sprintf("%s { %s = ... }", block, setting)
			if r.isYAML(w) {
				form = fmt.Sprintf("%s: {%s: ...}", block, setting)
			}
			r.diags.Errorf(code, w.at, summary, "It is called %s, and stands in a block of its own: write `%s`.", setting, form)
			return true
		case slices.Contains(s.attrs, path) && !w.block, s.block(path) != nil && w.block:
			d := r.diags.Errorf(code, w.at, summary, "It is called %s here.", path)
			d.Fixes = []diag.Edit{{Title: "write " + path, Range: w.at, NewText: path}}
			return true
		case s.block(path) != nil:
			r.diags.Errorf(code, w.at, summary, "There is a %s block instead, one for each.", path)
			return true
		}
	}
	return false
}

// synonymElsewhere reports a name that another block of the language calls
// otherwise.
func (r *reader) synonymElsewhere(w written, s *shape) bool {
	for _, path := range synonyms[w.name] {
		if strings.Contains(path, ".") {
			continue
		}
		for _, p := range r.places(path, s) {
			if above(p, s) && p.parent != nil {
				r.diags.Errorf(diag.BelongsElsewhere, w.at, fmt.Sprintf("%q does not belong in %s", w.name, s.name),
					"It is called %s, and belongs in %s: move it up.", path, p.name)
				return true
			}
		}
	}
	return false
}

func (r *reader) isYAML(w written) bool {
	return strings.HasSuffix(w.at.Filename, ".yaml") || strings.HasSuffix(w.at.Filename, ".yml")
}
