package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/connectors/all"
)

const mistakesHCL = `penstock { spec = 1 }
locals {
  n = 8
  m = 4
}
variable "rows" {
  type    = number
  default = 1000
}
source "synthetic" "shop" {
  table "big" {
    preset = "big_table"
    rows   = 1000
    seed   = 1
  }
  table "small" {
    preset = "big_table"
    rows   = 10
    seed   = 2
  }
}
target "sqlite" "local" { path = "shop.db" }
source "postgres" "pg" {
  host     = "pg.example.net"
  database = "d"
  user     = "u"
  password = env("PW")
}
pipeline "shop" {
  from    = source.shop
  to      = target.local
  mode    = "snapshot"
  workers = 2
  memory  = "64MiB"
  report { every = "60s" }
  table "big" {
    to     = "big"
    key    = ["id"]
    filter = "small_number != 4"
    expect = 1
    range { count = 2 }
    apply { mode = "copy" }
  }
  table "small" { to = "small" }
}
`

const mistakesYAML = `penstock: {spec: 1}
locals:
  n: 8
  m: 4
variable:
  rows: {type: number, default: 1000}
source:
  synthetic:
    shop:
      table:
        big: {preset: big_table, rows: 1000, seed: 1}
        small: {preset: big_table, rows: 10, seed: 2}
  postgres:
    pg:
      host: pg.example.net
      database: d
      user: u
      password: ${env("PW")}
target:
  sqlite:
    local: {path: shop.db}
pipeline:
  shop:
    from: source.shop
    to: target.local
    mode: snapshot
    workers: 2
    memory: 64MiB
    report: {every: 60s}
    table:
      big:
        to: big
        key: [id]
        filter: small_number != 4
        expect: 1
        range: {count: 2}
        apply: {mode: copy}
      small: {to: small}
`

// edit replaces old by new in one form of the spec; no edit: the mistake can't
// be made in that syntax. A new that begins with "=" is the whole file.
type edit struct{ old, new string }

// The slips that a person makes, each in both syntaxes where it can be made:
// exit code 2, the right code, the right bytes.
func TestMistakesAreNamedAtTheirBytesWithExit2(t *testing.T) {
	for _, m := range []struct {
		name      string
		code      string
		covers    string // the same in both forms
		hcl, yaml edit
	}{
		{"misspelt block", "PEN0101", "pipline", edit{"pipeline \"shop\"", "pipline \"shop\""}, edit{"pipeline:", "pipline:"}},
		{"misspelt attribute", "PEN0102", "wokers", edit{"workers", "wokers"}, edit{"workers", "wokers"}},
		{"wrong nesting", "PEN0103", "count", edit{`range { count = 2 }`, `count = 2`}, edit{`range: {count: 2}`, `count: 2`}},
		{"wrong type in a connector's setting", "PEN0112", "many", edit{"rows   = 10\n", "rows   = \"many\"\n"}, edit{"rows: 10,", `rows: "many",`}},
		{"unknown column in filter", "PEN0301", "smal_number", edit{"small_number", "smal_number"}, edit{"small_number", "smal_number"}},
		{"SQL operator in an expression", "PEN0305", "<>", edit{"!= 4", "<> 4"}, edit{"!= 4", "<> 4"}},
		{"filter that is no condition", "PEN0303", "small_number + 4", edit{"!= 4", "+ 4"}, edit{"!= 4", "+ 4"}},
		{"text against number", "PEN0310", "small_number != 'four'", edit{"!= 4", "!= 'four'"}, edit{"!= 4", "!= 'four'"}},
		{"missing to", "PEN0110", "shop", edit{"  to      = target.local\n", ""}, edit{"    to: target.local\n", ""}},
		{"unknown target", "PEN0201", "target.lcal", edit{"target.local", "target.lcal"}, edit{"target.local", "target.lcal"}},
		{"two tables to one target", "PEN0501", "big", edit{`to = "small"`, `to = "big"`}, edit{"{to: small}", "{to: big}"}},
		{"two patterns on one table", "PEN0404", "*ll", edit{`table "small" { to = "small" }`, "table \"s*\" { to = \"x\" }\n  table \"*ll\" { to = \"y\" }"}, edit{"small: {to: small}", "\"s*\": {to: x}\n      \"*ll\": {to: y}"}},
		{"wrong expect", "PEN0405", "7", edit{"expect = 1", "expect = 7"}, edit{"expect: 1", "expect: 7"}},
		{"key column that isn't there", "PEN0420", "idd", edit{`["id"]`, `["idd"]`}, edit{"[id]", "[idd]"}},
		{"cycle in locals", "PEN0210", "n", edit{"n = 8\n  m = 4", "n = local.m\n  m = local.n"}, edit{"n: 8\n  m: 4", "n: ${local.m}\n  m: ${local.n}"}},
		{"undeclared variable", "PEN0211", "var.nope", edit{"workers = 2", "workers = var.nope"}, edit{"workers: 2", "workers: ${var.nope}"}},
		{"literal password", "PEN0220", "hunter2", edit{`env("PW")`, `"hunter2"`}, edit{`${env("PW")}`, "hunter2"}},
		{"env outside a secret", "PEN0221", "env", edit{`"pg.example.net"`, `env("HOST")`}, edit{"pg.example.net", `${env("HOST")}`}},
		{"duplicate names", "PEN0120", "shop", edit{`source "postgres" "pg"`, `source "postgres" "shop"`}, edit{"    pg:\n", "    shop:\n"}},
		{"bad size", "PEN0114", "64", edit{`"64MiB"`, `"64"`}, edit{"64MiB", `"64"`}},
		{"bad duration", "PEN0114", "60", edit{`"60s"`, `"60"`}, edit{"60s", `"60"`}},
		{"memory too small for a batch a worker", "PEN0701", "64KiB", edit{"64MiB", "64KiB"}, edit{"64MiB", "64KiB"}},
		{"mode that the target lacks", "PEN0530", "array", edit{`mode = "copy"`, `mode = "array"`}, edit{"mode: copy", "mode: array"}},
		{"YAML tag slip", "PEN0015", "!deleted", edit{}, edit{"filter: small_number != 4", "filter: !deleted"}},
		{"YAML flow-brace slip", "PEN0016", "${local.n}", edit{}, edit{"range: {count: 2}", "range: {count: ${local.n}}"}},
		{"two documents", "PEN0013", "---", edit{}, edit{"locals:", "---\nlocals:"}},
		{"tab indentation", "PEN0014", "\t", edit{}, edit{"  n: 8", "\tn: 8"}},
		{"empty file", "PEN0012", "", edit{"=", ""}, edit{"=", ""}},
	} {
		for form, e := range map[string]edit{"hcl": m.hcl, "yaml": m.yaml} {
			if e == (edit{}) {
				continue
			}
			t.Run(m.name+"/"+form, func(t *testing.T) {
				base := map[string]string{"hcl": mistakesHCL, "yaml": mistakesYAML}[form]
				text := ""
				if e.old != "=" {
					if text = strings.Replace(base, e.old, e.new, 1); text == base {
						t.Fatalf("%q is not in the spec", e.old)
					}
				}
				checkMistake(t, form, text, m.code, m.covers)
			})
		}
	}
}

func TestSpecOfTheMistakesIsSoundWithoutThem(t *testing.T) {
	for form, text := range map[string]string{"hcl": mistakesHCL, "yaml": mistakesYAML} {
		code, found := validate(t, form, text)
		if code != 0 || len(found) != 0 {
			t.Errorf("%s: exit code %d, %+v", form, code, found)
		}
	}
}

// found is what a test needs of a JSON diagnostic.
type found struct {
	Code     string
	Severity string
	Summary  string
	Range    struct {
		Filename   string
		Start, End struct{ Byte int }
	}
}

func validate(t *testing.T, form, text string) (int, []found) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec."+form)
	writeFile(t, path, text)
	var stdout, stderr bytes.Buffer
	a := &app{registry: all.Registry(), stdout: &stdout, stderr: &stderr, lookupEnv: func(string) (string, bool) { return "", false }}
	code := a.execute(context.Background(), []string{"validate", path, "--json"})
	var doc struct {
		FormatVersion int `json:"format_version"`
		Errored       bool
		Diagnostics   []found
	}
	if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
		t.Fatalf("%v in %s", err, stdout.String())
	}
	if doc.FormatVersion != 1 || doc.Errored != (code != 0) {
		t.Errorf("format_version %d, errored %v, exit code %d", doc.FormatVersion, doc.Errored, code)
	}
	if strings.Contains(stdout.String()+stderr.String(), "hunter2") && strings.Contains(text, "hunter2") {
		t.Error("the password shows")
	}
	return code, doc.Diagnostics
}

func checkMistake(t *testing.T, form, text, want, covers string) {
	t.Helper()
	code, diags := validate(t, form, text)
	if code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	for _, d := range diags {
		if d.Range.Start.Byte < 0 || d.Range.End.Byte > len(text) || d.Range.Start.Byte > d.Range.End.Byte {
			t.Errorf("%s lies outside its file: %+v", d.Code, d.Range)
			continue
		}
		if d.Code == want && text[d.Range.Start.Byte:d.Range.End.Byte] == covers {
			return
		}
	}
	t.Errorf("want %s at %q, got:", want, covers)
	for _, d := range diags {
		t.Errorf("  %s %s at %q", d.Code, d.Summary, text[max(0, d.Range.Start.Byte):min(len(text), d.Range.End.Byte)])
	}
	if _, err := os.Stat("shop.db"); err == nil {
		t.Error("validate made a file")
	}
}
