package lsp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSessionFromHelloToGoodbye(t *testing.T) {
	c := start(t)
	var hello struct {
		Capabilities struct {
			TextDocumentSync struct{ Change int }
			PositionEncoding string
			HoverProvider    bool
		}
	}
	c.call("initialize", map[string]any{"capabilities": map[string]any{}}, &hello)
	if hello.Capabilities.TextDocumentSync.Change != 1 || hello.Capabilities.PositionEncoding != "utf-16" || !hello.Capabilities.HoverProvider {
		t.Errorf("got %+v", hello)
	}
	c.notify("initialized", map[string]any{})
	for _, ext := range []string{".hcl", ".yaml"} {
		path, src := example(t, "big_table", ext)
		for _, d := range c.open(path, src) {
			if d.Severity == 1 {
				t.Errorf("%s: %s %s", ext, d.Code, d.Message)
			}
		}
	}
	c.call("shutdown", nil, nil)
	c.notify("exit", nil)
	if err := <-c.served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestClientThatGoesAwayIsNoSuccess(t *testing.T) {
	c := start(t)
	c.call("initialize", map[string]any{}, nil)
	_ = c.to.Close()
	if err := <-c.served; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("got %v", err)
	}
}

// A fault is published at its place, in UTF-16, and its fix mends it.
func TestFixOfAFaultMendsIt(t *testing.T) {
	for _, ext := range []string{".hcl", ".yaml"} {
		c := start(t)
		path, src := example(t, "big_table", ext)
		bad := strings.Replace(src, "workers", "wokers", 1)
		if bad == src {
			t.Fatalf("%s: no workers in\n%s", ext, src)
		}
		found := c.open(path, bad)
		i := slices.IndexFunc(found, func(d diagnostic) bool { return d.Code == "PEN0102" })
		if i < 0 {
			t.Fatalf("%s: got %+v, want PEN0102", ext, found)
		}
		d := found[i]
		text := newText(bad)
		if got := bad[text.offset(d.Range.Start):text.offset(d.Range.End)]; got != "wokers" {
			t.Errorf("%s: covers %q, want wokers", ext, got)
		}
		var actions []codeAction
		c.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uriOf(path)}, "range": d.Range, "context": map[string]any{"diagnostics": []diagnostic{d}}}, &actions)
		if len(actions) == 0 {
			t.Fatalf("%s: no fix", ext)
		}
		e := actions[0].Edit.Changes[uriOf(path)][0]
		mended := bad[:text.offset(e.Range.Start)] + e.NewText + bad[text.offset(e.Range.End):]
		if mended != src {
			t.Errorf("%s: %q gives\n%s", ext, actions[0].Title, mended)
		}
		for _, d := range c.change("textDocument/didChange", path, mended) {
			if d.Severity == 1 {
				t.Errorf("%s: after the fix: %s", ext, d.Message)
			}
		}
	}
}

const headHCL = `penstock { spec = 1 }
source "oracle" "erp" {
  host     = "h"
  service  = "s"
  user     = "u"
  password = env("P")
  catalog  = "catalog/erp.json"
}
target "postgres" "pg" {
  host     = "h"
  database = "d"
  user     = "u"
}
`

const headYAML = `penstock: {spec: 1}
source:
  oracle:
    erp: {host: h, service: s, user: u, password: '${env("P")}', catalog: catalog/erp.json}
target:
  postgres:
    pg: {host: h, database: d, user: u}
`

func TestCompletionKnowsThePlace(t *testing.T) {
	goodHCL := headHCL + "pipeline \"p\" {\n  from = source.erp\n  to   = target.pg\n  table \"SCOTT.BIG_TABLE\" {}\n}\n"
	goodYAML := headYAML + "pipeline:\n  p:\n    from: source.erp\n    to: target.pg\n    table:\n      SCOTT.BIG_TABLE: {}\n"
	inHCL := func(s string) string { return strings.Replace(goodHCL, `table "SCOTT.BIG_TABLE" {}`, s, 1) }
	inYAML := func(s string) string { return strings.Replace(goodYAML, "SCOTT.BIG_TABLE: {}\n", s, 1) }
	for _, c := range []struct {
		name, ext, src string
		want           []string // among the labels
		not            []string
	}{
		{"blocks at the top", ".hcl", goodHCL + "|", []string{"pipeline", "source", "variable"}, []string{"workers", "table"}},
		{"kinds of sources", ".hcl", goodHCL + "source \"|", []string{"oracle", "sqlite", "synthetic"}, []string{"kafka", "firebolt"}},
		{"settings of a connector", ".hcl", goodHCL + "source \"sqlite\" \"x\" {\n  |\n}\n", []string{"path", "busy_timeout", "throttle"}, []string{"host", "names"}},
		{"settings of a pipeline", ".hcl", inHCL("wo|"), []string{"workers", "table", "bad_rows"}, []string{"filter"}},
		{"tables of the catalog", ".hcl", inHCL("table \"|"), []string{"SCOTT.BIG_TABLE"}, nil},
		{"settings of a table", ".hcl", inHCL("table \"SCOTT.BIG_TABLE\" {\n    |\n  }"), []string{"filter", "key", "column", "range"}, []string{"workers"}},
		{"columns for a label", ".hcl", inHCL("table \"SCOTT.BIG_TABLE\" {\n    column \"|\n  }"), []string{"ID", "SMALL_NUMBER"}, nil},
		{"columns in a list", ".hcl", inHCL("table \"SCOTT.BIG_TABLE\" {\n    key = [\"|\"]\n  }"), []string{"ID"}, []string{"filter"}},
		{"columns in an expression", ".hcl", inHCL("table \"SCOTT.BIG_TABLE\" {\n    filter = \"SMALL_NUMBER > 1 and |\"\n  }"), []string{"BIG_NUMBER"}, nil},
		{"columns in an expression not closed", ".hcl", inHCL("table \"SCOTT.BIG_TABLE\" {\n    filter = \"|\n  }"), []string{"BIG_NUMBER"}, nil},
		{"words", ".hcl", inHCL("mode = \"|\""), []string{"snapshot", "cdc"}, nil},
		{"words without their quotes", ".hcl", inHCL("mode = |"), []string{`"snapshot"`}, nil},
		{"truth values", ".hcl", inHCL("bad_rows {\n    values = |\n  }"), []string{"true", "false"}, nil},
		{"endpoints", ".hcl", headHCL + "pipeline \"p\" {\n  from = |\n}\n", []string{"source.erp"}, []string{"target.pg"}},
		{"inside a small block", ".hcl", inHCL("table \"SCOTT.BIG_TABLE\" {\n    range {\n      |\n    }\n  }"), []string{"by", "count", "split"}, []string{"filter"}},
		{"behind a small block", ".hcl", inHCL("table \"SCOTT.BIG_TABLE\" {\n    range { count = 2 }\n    |\n  }"), []string{"filter"}, []string{"count"}},

		{"blocks at the top", ".yaml", goodYAML + "|", []string{"pipeline", "source", "variable"}, []string{"workers"}},
		{"kinds of sources", ".yaml", strings.Replace(goodYAML, "source:\n", "source:\n  |\n", 1), []string{"oracle", "sqlite"}, []string{"kafka"}},
		{"settings of a connector", ".yaml", strings.Replace(goodYAML, "source:\n", "source:\n  sqlite:\n    x:\n      |\n", 1), []string{"path", "busy_timeout"}, []string{"host"}},
		{"settings of a pipeline", ".yaml", strings.Replace(goodYAML, "    table:\n", "    wo|\n    table:\n", 1), []string{"workers", "table"}, []string{"filter"}},
		{"tables of the catalog", ".yaml", inYAML("|\n"), []string{"SCOTT.BIG_TABLE"}, nil},
		{"settings of a table", ".yaml", inYAML("SCOTT.BIG_TABLE:\n        |\n"), []string{"filter", "key", "column"}, []string{"workers"}},
		{"settings of a table in a flow", ".yaml", inYAML("SCOTT.BIG_TABLE: {|}\n"), []string{"filter", "key"}, nil},
		{"columns for a label", ".yaml", inYAML("SCOTT.BIG_TABLE:\n        column:\n          |\n"), []string{"ID"}, nil},
		{"columns in a list", ".yaml", inYAML("SCOTT.BIG_TABLE:\n        key: [|]\n"), []string{"ID"}, []string{"filter"}},
		{"columns in a list of lines", ".yaml", inYAML("SCOTT.BIG_TABLE:\n        key:\n          - |\n"), []string{"ID"}, nil},
		{"columns in an expression", ".yaml", inYAML("SCOTT.BIG_TABLE:\n        filter: SMALL_NUMBER > 1 and |\n"), []string{"BIG_NUMBER"}, nil},
		{"words", ".yaml", inYAML("SCOTT.BIG_TABLE: {existing: |}\n"), []string{"truncate"}, nil},
		{"words of a setting on its own line", ".yaml", strings.Replace(goodYAML, "    table:\n", "    mode: |\n    table:\n", 1), []string{"snapshot"}, nil},
		{"endpoints", ".yaml", headYAML + "pipeline:\n  p:\n    to: |\n", []string{"target.pg"}, []string{"source.erp"}},
	} {
		t.Run(c.name+c.ext, func(t *testing.T) {
			path, _ := example(t, "big_table", c.ext)
			good := goodHCL
			if c.ext == ".yaml" {
				good = goodYAML
			}
			cl := start(t)
			for _, d := range cl.open(path, good) {
				if d.Severity == 1 {
					t.Fatalf("the spec to begin with: %s", d.Message)
				}
			}
			got := cl.labels(path, c.src)
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("got %q, want %q among them", got, w)
				}
			}
			for _, w := range c.not {
				if slices.Contains(got, w) {
					t.Errorf("got %q, want no %q", got, w)
				}
			}
		})
	}
}

func TestHoverSaysWhatAWordMeans(t *testing.T) {
	path, src := example(t, "big_table", ".hcl")
	body := headHCL + "pipeline \"p\" {\n  from = source.erp\n  to   = target.pg\n  wor|kers = 2\n  table \"SCOTT.BIG_TABLE\" {\n    filter = \"SMALL_NUMBER > 1\"\n    column \"ID\" { type = \"bigint\" }\n  }\n}\n"
	c := start(t)
	c.open(path, src)
	for mark, want := range map[string]string{
		"wor|kers":       "How many chunks",
		"tab|le \"SCOTT": "A table of the source",
		"SCOTT.BIG|_T":   "| ID | NUMBER",
		"\"SMALL|_NUM":   "**SMALL_NUMBER**: NUMBER",
		"column \"I|D":   "**ID**: NUMBER",
		"or|acle\" \"e":  "**oracle**",
		"serv|ice":       "Service name",
	} {
		at := strings.Replace(mark, "|", "", 1)
		text := strings.Replace(strings.Replace(body, "wor|kers", "workers", 1), at, mark, 1)
		var h *hover
		c.ask("textDocument/hover", path, text, &h)
		if h == nil || !strings.Contains(h.Contents.Value, want) {
			t.Errorf("%s: got %+v, want %q", mark, h, want)
		}
	}
}

// An error of one file of a folder is told in that file.
func TestFolderIsOneSpec(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.hcl"), filepath.Join(dir, "b.yaml")
	head := "penstock { spec = 1 }\nsource \"synthetic\" \"s\" {\n  table \"t\" {\n    preset = \"big_table\"\n    rows   = 10\n  }\n}\ntarget \"sqlite\" \"d\" { path = \"x.db\" }\n"
	if err := os.WriteFile(a, []byte(head), 0o644); err != nil {
		t.Fatal(err)
	}
	src := "pipeline:\n  p: {from: source.s, to: target.d, table: {t: {}}}\n"
	if err := os.WriteFile(b, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t)
	if found := c.open(b, src); len(found) != 0 {
		t.Errorf("got %+v, want nothing", found)
	}
	found := c.change("textDocument/didChange", b, strings.Replace(src, "source.s", "source.x", 1))
	if len(found) != 1 || found[0].Code != "PEN0201" {
		t.Errorf("got %+v, want PEN0201", found)
	}
}

// Positions count UTF-16 units, whatever stands before them.
func TestPositionsAreUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("aé日𝒳\r\n\t"))).Draw(t, "text")
		x := newText(s)
		for i := range s {
			if i > 0 && s[i-1] == '\r' && s[i] == '\n' {
				continue // inside of a line's end there is no place
			}
			p := x.position(i)
			if got := x.offset(p); got != i {
				t.Fatalf("%q: byte %d is %+v, which is byte %d", s, i, p, got)
			}
			line, units := 0, 0
			for _, r := range strings.ReplaceAll(s[:i], "\r\n", "\n") {
				switch {
				case r == '\n' || r == '\r':
					line, units = line+1, 0
				case r > 0xffff:
					units += 2
				default:
					units++
				}
			}
			if p.Line != line || p.Character != units {
				t.Fatalf("%q: byte %d is %+v, want %d:%d", s, i, p, line, units)
			}
		}
	})
}

// Every beginning of a spec is what an editor sends while it is written.
func TestHalfTypedSpecsGetAnswers(t *testing.T) {
	for _, ext := range []string{".hcl", ".yaml"} {
		path, src := example(t, "big_table", ext)
		c := start(t)
		c.open(path, "")
		for i := 0; i <= len(src); i += 1 + len(src)/60 {
			c.labels(path, src[:i]+"|")
			var h *hover
			c.ask("textDocument/hover", path, src[:i]+"|"+src[i:], &h)
		}
	}
}

func FuzzPlaces(f *testing.F) {
	for _, s := range []string{headHCL, headYAML, "a: {b: [c", "a \"b", "}}}", "- - a: b", "a: |\n  b"} {
		f.Add(s, len(s))
	}
	f.Fuzz(func(t *testing.T, src string, offset int) {
		offset = min(max(offset, 0), len(src))
		for _, p := range []place{hclPlace(src, offset), yamlPlace(src, offset)} {
			if len(p.keys) > len(src) {
				t.Errorf("%d keys in %d bytes", len(p.keys), len(src))
			}
		}
		x := newText(src)
		if got := x.offset(x.position(offset)); got > offset {
			t.Errorf("byte %d came back as %d", offset, got)
		}
	})
}
