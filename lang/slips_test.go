package lang_test

import (
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/lang"

	"github.com/google/go-cmp/cmp"
)

const soundHCL = `penstock { spec = 1 }
variable "rows" {
  type    = number
  default = 1000
}
source "synthetic" "shop" {
  table "big" {
    preset = "big_table"
    rows   = 1000
  }
}
target "sqlite" "local" { path = "shop.db" }
pipeline "shop" {
  from    = source.shop
  to      = target.local
  workers = 4
  bad_rows { action = "discard" }
  table "big" {
    key    = ["id"]
    filter = "small_number != 4"
    range { count = 8 }
    column "short_string" { value = "upper(short_string)" }
    column "big_number" { type = "numeric(10, 2)" }
  }
}
`

const soundYAML = `penstock: {spec: 1}
variable: {rows: {type: number, default: 1000}}
source:
  synthetic:
    shop:
      table:
        big: {preset: big_table, rows: 1000}
target:
  sqlite:
    local: {path: shop.db}
pipeline:
  shop:
    from: source.shop
    to: target.local
    workers: 4
    bad_rows: {action: discard}
    table:
      big:
        key: [id]
        filter: "small_number != 4"
        range: {count: 8}
        column:
          short_string: {value: upper(short_string)}
          big_number: {type: "numeric(10, 2)"}
`

// swap replaces old by new in the sound spec of one syntax.
type swap struct{ old, new string }

// slip is a mistake in one syntax or in both: what is said of it, where, in
// words that must not go missing, and whether the fix restores the meaning of
// the sound spec.
type slip struct {
	name      string
	code      diag.Code
	covers    string
	hcl, yaml swap
	says      string
	mended    bool
	alone     bool // nothing else is said
}

var slips = []slip{
	{"quotes forgotten around a computed column", diag.UnknownName, "upper(short_string)",
		swap{`value = "upper(short_string)"`, `value = upper(short_string)`}, swap{"value: upper(short_string)", `value: "${upper(short_string)}"`}, "the whole of it stands in quotes", true, true},
	{"quotes forgotten around a filter", diag.UnknownName, "small_number != 4",
		swap{`"small_number != 4"`, `small_number != 4`}, swap{`"small_number != 4"`, "${small_number != 4}"}, "the whole of it stands in quotes", true, true},
	{"quotes forgotten around a filter that is no HCL", diag.HCLSyntax, "small_number != 4 and id > 0",
		swap{`"small_number != 4"`, "small_number != 4 and id > 0"}, swap{}, "the whole of it stands in quotes", false, true},
	{"quotes forgotten around single ones", diag.HCLSyntax, "small_number != 4 and short_string == 'a'",
		swap{`"small_number != 4"`, "small_number != 4 and short_string == 'a'"}, swap{}, "the whole of it stands in quotes", false, true},
	{"quotes forgotten around a computed column that is no HCL", diag.HCLSyntax, "short_string || 'x'",
		swap{`"upper(short_string)"`, "short_string || 'x'"}, swap{}, "the whole of it stands in quotes", false, true},
	{"colon for the equals sign", diag.HCLSyntax, `filter: "small_number != 4"`, swap{"filter = ", "filter: "}, swap{}, "filter = ", true, true},
	{"equals sign forgotten", diag.HCLSyntax, `filter "small_number != 4"`, swap{"filter = ", "filter "}, swap{}, "filter = ", true, true},
	{"number with a comma", diag.AmbiguousNumber, "1,000", swap{"rows   = 1000", "rows   = 1,000"}, swap{}, "write 1000", true, true},
	{"quotes forgotten beside a variable", diag.UnknownName, "rows > var.rows",
		swap{`"small_number != 4"`, "rows > var.rows"}, swap{`"small_number != 4"`, "${rows > var.rows}"}, "${...}", false, true},
	{"quotes forgotten around a type", diag.UnknownFunction, "numeric(10, 2)",
		swap{`"numeric(10, 2)"`, "numeric(10, 2)"}, swap{}, "in quotes", true, true},
	{"filter in single quotes", diag.HCLSyntax, "'small_number != 4'",
		swap{`"small_number != 4"`, "'small_number != 4'"}, swap{}, "double quotes", true, true},
	{"block inside a block on one line", diag.HCLOneLine, "range {",
		swap{"    range { count = 8 }\n    column", "    column \"x\" { range { count = 8 } }\n    column"}, swap{}, "one setting", false, true},
	{"brace of a source forgotten", diag.HCLSyntax, "{",
		swap{"    rows   = 1000\n  }\n}\n", "    rows   = 1000\n  }\n"}, swap{}, "The block of line 6 isn't closed: its } is missing before line 11", false, true},
	{"brace of a table in a source forgotten", diag.HCLSyntax, "{",
		swap{"    rows   = 1000\n  }\n}\n", "    rows   = 1000\n}\n"}, swap{}, "The block of line 7 isn't closed: its } is missing before line 10", false, true},
	{"brace behind a heredoc forgotten", diag.HCLSyntax, "{",
		swap{"\"small_number != 4\"\n    range { count = 8 }", "<<END\nsmall_number != 4\nEND\n    range {\n      count = 8"}, swap{}, "The block of line 23 isn't closed: its } is missing before line 25", false, true},
	{"brace at the end forgotten", diag.HCLSyntax, "{",
		swap{"\"numeric(10, 2)\" }\n  }\n}\n", "\"numeric(10, 2)\" }\n  }\n"}, swap{}, "before the end of the file", false, true},
	{"number with underscores", diag.AmbiguousNumber, "1_000",
		swap{"rows   = 1000", "rows   = 1_000"}, swap{"rows: 1000}", "rows: 1_000}"}, "rite", true, true},
	{"undeclared variable for a number", diag.UndeclaredVariable, "var.many",
		swap{"workers = 4", "workers = var.many"}, swap{"workers: 4", "workers: ${var.many}"}, "type = number", false, true},
	{"undeclared variable for a text", diag.UndeclaredVariable, "var.path",
		swap{`path = "shop.db"`, "path = var.path"}, swap{"path: shop.db", "path: '${var.path}'"}, "type = string", false, true},
	{"text variable for a number", diag.WrongType, "var.rows",
		swap{"type    = number\n  default = 1000\n}", "default = \"1000\"\n}\nlocals { w = 1 }"}, swap{}, "", false, true},
	{"where", diag.UnknownSetting, "where", swap{"filter =", "where ="}, swap{"filter:", "where:"}, "filter", true, true},
	{"primary_key", diag.UnknownSetting, "primary_key", swap{"key    =", "primary_key ="}, swap{"key:", "primary_key:"}, "key", true, true},
	{"parallelism", diag.UnknownSetting, "parallelism", swap{"workers =", "parallelism ="}, swap{"workers:", "parallelism:"}, "workers", true, true},
	{"threads of a table", diag.BelongsElsewhere, "threads", swap{"key    =", "threads = 2\n    key ="}, swap{"        key:", "        threads: 2\n        key:"}, "workers, and belongs in pipeline", false, true},
	{"batch_size", diag.UnknownSetting, "batch_size", swap{"key    =", "batch_size = 2\n    key ="}, swap{"        key:", "        batch_size: 2\n        key:"}, "commit", false, true},
	{"write_mode", diag.UnknownSetting, "write_mode", swap{"key    =", "write_mode = \"copy\"\n    key ="}, swap{"        key:", "        write_mode: copy\n        key:"}, "apply", false, true},
	{"source for from", diag.UnknownSetting, "source", swap{"from    =", "source ="}, swap{"    from:", "    source:"}, "from", true, false},
	{"target for to", diag.UnknownSetting, "target", swap{"to      =", "target ="}, swap{"    to:", "    target:"}, "to", true, false},
	{"columns", diag.UnknownBlock, "columns", swap{}, swap{"column:", "columns:"}, `"column"`, true, true},
	{"columns as a list", diag.UnknownSetting, "columns", swap{"key    =", "columns = [\"id\"]\n    key ="}, swap{"        key:", "        columns: [id]\n        key:"}, "column block", false, true},
	{"tables in a pipeline", diag.UnknownBlock, "tables", swap{"  table \"big\" {\n    key", "  tables \"big\" {\n    key"}, swap{"    table:\n      big:\n        key", "    tables:\n      big:\n        key"}, `"table"`, true, false},
	{"file of a target", diag.UnknownSetting, "file", swap{`path = "shop.db"`, `file = "shop.db"`}, swap{"path: shop.db", "file: shop.db"}, "path", true, false},
	{"a small block's setting in a target", diag.UnknownSetting, "limit", swap{`{ path = "shop.db" }`, "{\n  path  = \"shop.db\"\n  limit = 1\n}"}, swap{"{path: shop.db}", "{path: shop.db, limit: 1}"}, "Target sqlite has: cache, pace, path", false, true},
	{"no colon in braces", diag.UnknownSetting, "count 8", swap{}, swap{"count: 8", "count 8"}, "colon", true, true},
	{"no colon before braces", diag.UnknownSetting, "range {count", swap{}, swap{"range: {count", "range {count"}, "colon", true, true},
	{"no colon in a line", diag.YAMLSyntax, `filter "small_number != 4"`, swap{}, swap{"filter: ", "filter "}, "filter: ", true, true},
	{"no colon in the last line", diag.YAMLSyntax, "to target.local", swap{}, swap{"to: target.local", "to target.local"}, "to: target.local", true, true},
	{"column without value", diag.BlockOrSetting, "short_string", swap{}, swap{"short_string: {value: upper(short_string)}", "short_string: upper(short_string)"}, "{value: ...}", true, true},
	{"exclamation mark and more", diag.YAMLTag, "!flag", swap{}, swap{`"small_number != 4"`, "!flag and id > 0"}, "quotes", false, true},
	{"exclamation mark and an operator", diag.YAMLTag, "!small_number", swap{}, swap{`"small_number != 4"`, "!small_number != 4"}, "quotes", false, true},
	{"exclamation mark alone", diag.YAMLTag, "!flag", swap{}, swap{`"small_number != 4"`, "!flag"}, "quotes", false, true},
}

func TestSlipsAreNamedAndTheirFixMeansWhatWasMeant(t *testing.T) {
	for _, s := range slips {
		for file, form := range map[string]struct {
			sound string
			swap
		}{"spec.hcl": {soundHCL, s.hcl}, "spec.yaml": {soundYAML, s.yaml}} {
			if form.swap == (swap{}) {
				continue
			}
			t.Run(s.name+"/"+file, func(t *testing.T) {
				if strings.Count(form.sound, form.old) == 0 {
					t.Fatalf("%q is not in the sound spec", form.old)
				}
				checkSlip(t, s, file, form.sound, strings.Replace(form.sound, form.old, form.new, 1))
			})
		}
	}
}

func checkSlip(t *testing.T, s slip, file, sound, src string) {
	t.Helper()
	if s.says == "" { // the variable's text is used where a number is wanted
		src = strings.Replace(src, "workers = 4", "workers = var.rows", 1)
		s.says = `variable "rows" { type = number }`
	}
	spec, l := parseAll(file, src)
	var found *diag.Diagnostic
	for i := range l {
		checkSound(t, spec, l[i])
		if l[i].Code == s.code && covered(spec, l[i].Subject) == s.covers {
			found = &l[i]
		}
	}
	switch {
	case found == nil:
		t.Fatalf("want %s %q, got:\n  %s\n%s", s.code, s.covers, messages(l), src)
	case !strings.Contains(found.Detail, s.says):
		t.Errorf("got %q, want %q in it", found.Detail, s.says)
	case s.alone && len(l) > 1:
		t.Errorf("want nothing else:\n  %s", messages(l))
	}
	if len(found.Fixes) == 0 {
		if s.mended {
			t.Error("got no fix")
		}
		return
	}
	e := found.Fixes[0]
	fixed := src[:e.Range.Start.Byte] + e.NewText + src[e.Range.End.Byte:]
	spec2, l2 := lang.Parse(map[string][]byte{file: []byte(fixed)}, ".", lang.Options{Connectors: connectors})
	got, l2 := decodeAll(spec2, l2)
	if len(l2) > 0 {
		t.Fatalf("the fix leaves:\n  %s\n%s", messages(l2), fixed)
	}
	spec3, l3 := lang.Parse(map[string][]byte{file: []byte(sound)}, ".", lang.Options{Connectors: connectors})
	want, l3 := decodeAll(spec3, l3)
	if len(l3) > 0 {
		t.Fatalf("the sound spec is not sound:\n  %s", messages(l3))
	}
	if d := cmp.Diff(want, got); s.mended && d != "" {
		t.Errorf("the fixed spec (+) means something else than the sound one (-):\n%s\n%s", d, fixed)
	}
}

func parseAll(file, src string) (*lang.Spec, diag.List) {
	spec, l := lang.Parse(map[string][]byte{file: []byte(src)}, ".", lang.Options{Connectors: connectors})
	_, l = decodeAll(spec, l)
	return spec, l
}
