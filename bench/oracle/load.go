package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"penstock/bench/pgbench"
	"penstock/connectors/postgres/postgrestest"
)

// loads runs the load of examples/big_table in each of its ways, into a server
// of its own.
func loads(d *double, rows int64) (err error) {
	s, err := pgbench.Start()
	if err != nil {
		return err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	s.Describe()
	bin := filepath.Join(s.Dir, "penstock")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/penstock").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "erp.secret"), []byte(d.Password), 0o600); err != nil {
		return err
	}
	var base float64
	for _, c := range []struct{ name, mode, indexes string }{
		{"row", "row", "keep"}, {"array", "array", "keep"}, {"copy_key_first", "copy", "keep"}, {"copy", "copy", "defer"},
	} {
		spec := filepath.Join(s.Dir, c.name+".hcl")
		if err := os.WriteFile(spec, []byte(d.spec(s, c.mode, c.indexes)), 0o600); err != nil {
			return err
		}
		if err := s.Exec("DROP TABLE IF EXISTS big_table", "DROP SCHEMA IF EXISTS penstock CASCADE", "DROP TABLE IF EXISTS penstock_table, penstock_chunk, penstock_pipeline, penstock_script CASCADE"); err != nil {
			return err
		}
		f, out, err := s.Run(rows, nil, exec.Command(bin, "run", spec))
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", c.name, err, out)
		}
		if n, err := s.Count("big_table"); err != nil || n != rows {
			return fmt.Errorf("%s: %d rows in the table, want %d (%v)", c.name, n, rows, err)
		}
		if base == 0 {
			base = f.Rate
		}
		fmt.Printf("case=load_%s %s ratio_vs_row=%.2f\n", c.name, f, f.Rate/base)
	}
	return nil
}

func (d *double) spec(s *pgbench.Server, mode, indexes string) string {
	return fmt.Sprintf(`penstock { spec = 1 }
source "oracle" "erp" {
  host     = %q
  port     = %d
  service  = %q
  user     = %q
  password = file("erp.secret")
  tls      = "off"
}
target "postgres" "booker" {
  host     = %q
  port     = %d
  database = "postgres"
  user     = %q
}
pipeline "bench_%s_%s" {
  from    = source.erp
  to      = target.booker
  workers = 2
  table "SCOTT.BIG_TABLE" {
    to = "public.big_table"
    column "ID" { type = "bigint" }
    column "SMALL_NUMBER" { type = "integer" }
    column "BIG_NUMBER" { type = "bigint" }
    column "CREATED_DATE" { type = "timestamp(0)" }
    range { count = 8 }
    apply {
      mode    = %q
      indexes = %q
    }
  }
}
`, d.Host, d.Port, d.Service, d.User, s.Socket, s.Port, postgrestest.User, mode, indexes, mode, indexes)
}
