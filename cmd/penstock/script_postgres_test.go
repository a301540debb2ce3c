package main

import (
	"testing"

	"penstock/connectors/postgres/postgrestest"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestPostgresScript plays testdata/postgres, each script with an empty database
// of its own. Its specs have the variables socket, database and user. Beside the
// verbs of TestScript:
//
//	pg SQL        runs statements there
//	pg SQL WANT   runs a query: columns are joined by |, rows by blanks
func TestPostgresScript(t *testing.T) {
	server := postgrestest.Shared(t)
	type key struct{}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/postgres",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			d := server.Database(t)
			e.Values[key{}] = d
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PENSTOCK_VAR_socket", d.Socket)
			e.Setenv("PENSTOCK_VAR_database", d.Name)
			e.Setenv("PENSTOCK_VAR_user", postgrestest.User)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"sql":   execute,
			"pg": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 1 || len(args) > 2 {
					ts.Fatalf("usage: pg SQL [WANT]")
				}
				got := ts.Value(key{}).(*postgrestest.Database).Ask(t, args[0])
				if len(args) == 2 && got != args[1] {
					ts.Fatalf("%s gives %q, want %q", args[0], got, args[1])
				}
			},
		},
	})
}
