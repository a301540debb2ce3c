package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"penstock/connectors/postgres/postgrestest"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"
)

func TestMain(m *testing.M) {
	testscript.Main(withServers{m}, map[string]func(){
		"penstock": func() { os.Exit(penstock()) },
	})
}

// withServers stops the PostgreSQL server that tests started, after the last one.
type withServers struct{ *testing.M }

func (m withServers) Run() int { return postgrestest.Main(m.M) }

// TestScript plays testdata/script: what a user does, with the whole program.
// Verbs beside testscript's own:
//
//	exits N ARGS...      runs penstock and wants this exit code
//	rows FILE SQL WANT   runs a query on a SQLite file; columns are joined by |, rows by blanks
//	sql FILE SQL         runs statements on a SQLite file
//	play FILE SCRIPT     runs the statements of a file on a SQLite file
//	examples DIR         copies an example's folder into the current one
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"rows":     rows,
			"sql":      execute,
			"play":     execute,
			"examples": examples,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("penstock", args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("penstock %s: %v", strings.Join(args[1:], " "), err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("penstock %s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func rows(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: rows FILE SQL WANT")
	}
	got, err := query(ts.MkAbs(args[0]), args[1])
	ts.Check(err)
	if (got == args[2]) == neg {
		ts.Fatalf("%s gives %q, want %q", args[1], got, args[2])
	}
}

// execute runs statements, given as they are (sql) or in a file (play).
func execute(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE SQL, play FILE SCRIPT")
	}
	text := args[1]
	if _, err := os.Stat(ts.MkAbs(text)); err == nil {
		text = ts.ReadFile(text)
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(text)
	ts.Check(err)
}

// query gives the result of a query as text, NULL as "NULL".
func query(file, text string) (string, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		return "", err
	}
	defer db.Close()
	r, err := db.QueryContext(context.Background(), text)
	if err != nil {
		return "", err
	}
	defer r.Close()
	cols, err := r.Columns()
	if err != nil {
		return "", err
	}
	var lines []string
	for r.Next() {
		vals := make([]any, len(cols))
		for i := range vals {
			vals[i] = new(sql.NullString)
		}
		if err := r.Scan(vals...); err != nil {
			return "", err
		}
		parts := make([]string, len(cols))
		for i, v := range vals {
			parts[i] = "NULL"
			if n := v.(*sql.NullString); n.Valid {
				parts[i] = n.String
			}
		}
		lines = append(lines, strings.Join(parts, "|"))
	}
	return strings.Join(lines, " "), r.Err()
}

// examples copies examples/<dir>, without what a run left there.
func examples(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: examples DIR")
	}
	// The test binary runs in the package's folder.
	from := filepath.Join(repoRoot, "examples", args[0])
	leftover := regexp.MustCompile(`\.db|^\.penstock$`)
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := ts.MkAbs(rel)
		switch {
		case d.IsDir() && leftover.MatchString(d.Name()):
			return filepath.SkipDir
		case leftover.MatchString(d.Name()):
			return nil
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o644)
	})
	ts.Check(err)
}

// repoRoot is the checkout, two folders above this package.
var repoRoot = func() string {
	wd, err := os.Getwd()
	if err != nil {
		panic(fmt.Sprintf("working directory: %v", err))
	}
	return filepath.Dir(filepath.Dir(wd))
}()
