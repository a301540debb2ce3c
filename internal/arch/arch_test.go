package arch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// tree is the layout that DESIGN.md describes: change both in one commit.
var tree = rules{
	module: "penstock",

	// What stands at the top. Folders whose names begin with a dot, and bin,
	// where make puts what it builds, are not looked at.
	top: []string{"lang", "planner", "runtime", "connectors", "examples", "cmd", "internal", "bench", "docs"},

	// A package is ruled by the first row that it fits. "*" stands for a part of
	// one path element, "..." at the end for all that is below. Test files are
	// exempt: they may use what they like to check their package.
	table: []row{
		{"internal/schema", nil},
		{"internal/batch", of("schema")},
		{"internal/change", of("schema", "batch")},
		{"internal/workload", of("schema", "batch", "change")},
		{"internal/ranges", of("schema", "batch")},
		{"internal/rowexpr", of("schema", "batch", "diag")},
		{"internal/event", of("schema")},
		{"internal/diag", nil},
		{"internal/secret", nil},
		{"internal/units", nil},
		{"internal/failpoint", nil},
		{"internal/filelock", nil},
		{"internal/arch", nil},

		{"connectors", internals},
		{"connectors/all", []string{"connectors", "connectors/*"}},
		{"connectors/conformance", append([]string{"connectors"}, internals...)},
		{"connectors/*", append([]string{"connectors"}, internals...)}, // never each other
		{"connectors/*/*test", internals},

		{"lang", of("schema", "diag", "secret", "units")}, // no connector, no catalog
		{"planner/plan", append([]string{"connectors"}, of("schema", "ranges", "diag", "secret", "units")...)},
		{"planner/draft", append([]string{"lang", "connectors"}, internals...)},
		{"planner/plan/page", append([]string{"connectors", "planner/plan"}, of("units")...)},
		{"planner/plan/comment", append([]string{"connectors", "planner/plan"}, of("diag", "units")...)},
		{"planner", append([]string{"lang", "connectors", "planner/plan"}, internals...)},
		{"runtime/stream", append([]string{"connectors"}, internals...)},
		{"runtime/checkpoint", append([]string{"connectors"}, of("change", "ranges")...)},
		{"runtime/rows", append([]string{"planner/plan", "connectors"}, of("schema", "batch", "change", "ranges", "rowexpr")...)},
		{"runtime/verify", append([]string{"planner/plan", "connectors", "runtime", "runtime/checkpoint", "runtime/rows"}, internals...)},
		{"runtime", append([]string{"planner/plan", "connectors", "runtime/checkpoint", "runtime/rows", "runtime/stream"}, internals...)}, // never lang

		// Programs wire things together.
		{"cmd/...", []string{"..."}},
		{"bench/...", []string{"..."}},
		{"internal/diag/gen", of("diag")}, // writes docs/diagnostics.md
	},

	// Packages of others that are refused, and why.
	refused: map[string]string{
		"github.com/apache/arrow-go/*/arrow/compute": "16 MB of binary for what a selection does",
	},

	// An import for its side effects hides what a program is made of.
	blank: []row{
		{"...", []string{"embed"}},                            // go:embed asks for it
		{"connectors/sqlite", []string{"modernc.org/sqlite"}}, // database/sql drivers register themselves
		{"bench/rows", []string{"modernc.org/sqlite"}},        // likewise; it measures database/sql itself
		{"bench/verify", []string{"modernc.org/sqlite"}},      // likewise; it changes a row
		{"bench/load", []string{"modernc.org/sqlite"}},        // likewise; it mends a file
	},

	// What a package does must follow from its arguments; only programs read
	// the environment, and hand on what they read.
	environment: []string{"cmd/..."},

	names: []string{"pkg", "util", "utils", "common", "types", "helpers", "base", "misc"},
}

var internals = of("schema", "batch", "change", "workload", "ranges", "rowexpr", "event", "diag", "secret", "units", "failpoint", "filelock")

func of(names ...string) []string {
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = "internal/" + n
	}
	return paths
}

func TestTreeKeepsTheRules(t *testing.T) {
	root := moduleRoot(t)
	faults, packages := tree.check(os.DirFS(root))
	for _, f := range faults {
		t.Error(f)
	}
	if !slices.Contains(packages, "internal/arch") {
		t.Errorf("the check did not reach its own package under %s; it saw %q", root, packages)
	}
}

// moduleRoot is the folder of go.mod, upwards from the test's own.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}

// The checker itself is checked: a sound tree passes, and each fault added to
// it is found, alone and at its line.
func TestEachFaultIsReported(t *testing.T) {
	const pkg = "// Package x is.\npackage x\n"
	cases := []struct {
		name, file, text string
		want             string // what the one report must hold; "" for none
	}{
		{"nothing wrong", "lang/more.go", "package lang\n", ""},
		{"allowed import", "lang/more.go", "package lang\nimport _d \"penstock/internal/diag\"\n", ""},
		{"runtime imports lang", "runtime/more.go", "package runtime\nimport \"penstock/lang\"\n",
			"runtime/more.go:2: runtime may not import lang"},
		{"lang imports connectors", "lang/more.go", "package lang\nimport \"penstock/connectors\"\n",
			"lang/more.go:2: lang may not import connectors"},
		{"a connector imports another", "connectors/a/a.go", pkg + "import \"penstock/connectors/b\"\n",
			"connectors/a/a.go:3: connectors/a may not import connectors/b"},
		{"a package below another is not the other", "runtime/more.go", "package runtime\nimport \"penstock/planner/plan/deep\"\n",
			"runtime/more.go:2: runtime may not import planner/plan/deep"},
		{"all imports a connector", "connectors/all/all.go", pkg + "import \"penstock/connectors/a\"\n", ""},
		{"a program imports anything", "cmd/penstock/more.go", "package main\nimport \"penstock/lang\"\n", ""},
		{"a test imports anything", "runtime/more_test.go", "package runtime\nimport \"penstock/lang\"\n", ""},
		{"crash tests' build keeps the table", "runtime/more.go", "//go:build failpoints\n\npackage runtime\nimport \"penstock/lang\"\n",
			"runtime/more.go:4: runtime may not import lang"},
		{"a generator is a program", "lang/gen.go", "//go:build ignore\n\npackage main\nimport (\n\"os\"\n\"penstock/runtime\"\n)\nvar _ = os.Getenv(\"A\")\n", ""},
		{"no row for a package", "internal/new/new.go", pkg, "internal/new: no row of the import table fits it"},
		{"refused import", "lang/more.go", "package lang\nimport \"github.com/apache/arrow-go/v18/arrow/compute/exec\"\n",
			"lang/more.go:2: import of github.com/apache/arrow-go/v18/arrow/compute/exec: 16 MB"},
		{"no package comment", "connectors/a/a.go", "package a\n", "connectors/a: no package comment"},
		{"a comment in a test file does not count", "runtime/checkpoint/a_test.go", pkg, ""},
		{"bad folder", "cmd/util/util.go", pkg, "cmd/util: a package may not be called util"},
		{"bad package clause", "cmd/good/good.go", "// Package common is.\npackage common\n", "cmd/good: a package may not be called common"},
		{"init", "lang/more.go", "package lang\n\nfunc init() {}\n", "lang/more.go:3: func init"},
		{"a method called init is no init", "lang/more.go", "package lang\ntype a int\nfunc (a) init() {}\n", ""},
		{"blank import", "runtime/more.go", "package runtime\nimport _ \"modernc.org/sqlite\"\n",
			"runtime/more.go:2: blank import of modernc.org/sqlite"},
		{"blank import with a reason", "connectors/sqlite/a.go", pkg + "import _ \"modernc.org/sqlite\"\n", ""},
		{"embed", "lang/more.go", "package lang\nimport _ \"embed\"\n", ""},
		{"dot import", "lang/more.go", "package lang\nimport . \"strings\"\n", "lang/more.go:2: dot import of strings"},
		{"environment", "lang/more.go", "package lang\nimport \"os\"\nvar a = os.Getenv(\"A\")\n",
			"lang/more.go:3: os.Getenv outside of programs"},
		{"environment, renamed, as a value", "lang/more.go", "package lang\nimport std \"os\"\nvar a = std.LookupEnv\n",
			"lang/more.go:3: os.LookupEnv outside of programs"},
		{"environment in a program", "cmd/penstock/more.go", "package main\nimport \"os\"\nvar a = os.Getenv(\"A\")\n", ""},
		{"environment in crash tests' build", "lang/more.go", "//go:build failpoints\n\npackage lang\nimport \"os\"\nvar a = os.Getenv(\"A\")\n", ""},
		{"a negated tag is the normal build", "lang/more.go", "//go:build !failpoints\n\npackage lang\nfunc init() {}\n",
			"lang/more.go:4: func init"},
		{"stray folder at the top", "pkgs/x/notes.txt", "", "pkgs: not in the layout"},
		{"code at the top", "main.go", "package main\n", "main.go: no Go files at the top"},
		{"unreadable Go", "lang/more.go", "package lang\nimport 5\n", "lang/more.go:2:"},
		{"testdata is not code", "lang/testdata/bad.go", "package util\nfunc init() {}\n", ""},
		{"what make builds is not code", "bin/x.go", "package util\n", ""},
		{"a folder that begins with a dot", ".ci/x.go", "package util\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := sound()
			files[c.file] = &fstest.MapFile{Data: []byte(c.text)}
			faults, _ := tree.check(files)
			switch {
			case c.want == "" && len(faults) > 0:
				t.Errorf("got %q, want no fault, for %s:\n%s", faults, c.file, c.text)
			case c.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0], c.want)):
				t.Errorf("got %q, want one fault that begins with %q, for %s:\n%s", faults, c.want, c.file, c.text)
			}
		})
	}
}

func TestMissingFolderOfTheLayoutIsReported(t *testing.T) {
	files := sound()
	delete(files, "docs/page.md")
	faults, _ := tree.check(files)
	if want := "docs: in the layout"; len(faults) != 1 || !strings.HasPrefix(faults[0], want) {
		t.Errorf("got %q, want one fault that begins with %q", faults, want)
	}
}

func TestPatternsFitWholePaths(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"lang", "lang", true}, {"lang", "language", false}, {"lang", "lang/deep", false},
		{"connectors/*", "connectors/a", true}, {"connectors/*", "connectors", false}, {"connectors/*", "connectors/a/b", false},
		{"connectors/*/*test", "connectors/a/atest", true}, {"connectors/*/*test", "connectors/a/wire", false},
		{"cmd/...", "cmd", true}, {"cmd/...", "cmd/a/b", true}, {"cmd/...", "cmdline", false},
		{"a/*/c/...", "a/v2/c/d", true}, {"a/*/c/...", "a/v2", false},
		{"...", "anything/at/all", true},
	} {
		if got := fits(c.pattern, c.name); got != c.want {
			t.Errorf("fits(%q, %q): got %t, want %t", c.pattern, c.name, got, c.want)
		}
	}
}

// sound is a small tree that breaks no rule.
func sound() fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod":                  "module penstock\n",
		"lang/lang.go":            "// Package lang is.\npackage lang\n",
		"planner/plan/plan.go":    "// Package plan is.\npackage plan\n",
		"runtime/run.go":          "// Package runtime is.\npackage runtime\nimport \"penstock/planner/plan\"\n",
		"connectors/c.go":         "// Package connectors is.\npackage connectors\n",
		"connectors/b/b.go":       "// Package b is.\npackage b\nimport \"penstock/connectors\"\n",
		"cmd/penstock/main.go":    "// Penstock is.\npackage main\n",
		"internal/schema/s.go":    "// Package schema is.\npackage schema\n",
		"examples/one/one.hcl":    "",
		"examples/one/a_test.go":  "package one_test\n",
		"bench/README.md":         "",
		"docs/page.md":            "",
		"lang/testdata/x/y/z.txt": "",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}
