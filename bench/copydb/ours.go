package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"penstock/connectors"
	"penstock/connectors/postgres"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"
)

// ours starts this program again as a copier. Setting bad rows aside needs each
// row by itself: rows are then decoded and encoded.
func (b *bench) ours(t table, defers, decoded bool) *exec.Cmd {
	indexes, more := "keep", ""
	if defers {
		indexes = "defer"
	}
	if decoded {
		more = "  bad_rows { action = \"discard\" }\n"
	}
	end := func(role, name, database string) string {
		return fmt.Sprintf("%s \"postgres\" %q {\n  host     = %q\n  database = %q\n  user     = %q\n}\n", role, name, b.server.Socket, database, postgrestest.User)
	}
	text := "penstock { spec = 1 }\n" + end("source", "s", t.name) + end("target", "d", "copy") +
		fmt.Sprintf("pipeline \"copy\" {\n  from    = source.s\n  to      = target.d\n  workers = %d\n%s  table %q {\n    apply { indexes = %q }\n  }\n}\n", b.workers, more, t.name, indexes)
	return exec.Command(os.Args[0], "-child", text)
}

// carry plans a spec from the source as it is and carries it out.
func carry(text string) error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "penstock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reg := connectors.NewRegistry(postgres.Definition())
	spec, found := lang.Parse(map[string][]byte{"copy.hcl": []byte(text)}, dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		return fmt.Errorf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	catalogs := map[string]*schema.Catalog{}
	for _, e := range planner.Ends(spec, reg, planner.Options{}) {
		if e.ID != "source.s" {
			continue
		}
		src, err := e.Definition.Source.Open(ctx, e.Config, connectors.Env{Pipeline: "copy", TLS: e.TLS})
		if err != nil {
			return err
		}
		catalogs[e.ID], err = src.Catalog(ctx)
		if err != nil {
			return err
		}
		if err := src.Close(); err != nil {
			return err
		}
	}
	p, found := planner.Compile(ctx, spec, reg, planner.Options{Catalogs: catalogs})
	if p == nil {
		return fmt.Errorf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	res := runtime.Run(ctx, p, runtime.Options{Registry: reg, Dir: dir})
	if res.Exit != 0 {
		return fmt.Errorf("exit %d: %+v", res.Exit, res.Pipelines[0].Error)
	}
	return nil
}
